"""Citations of a graph by where they point."""

from collections.abc import Iterator

from cypher.graph import Graph
from ingest.citations.link import KnownLaw


def citation_counts(graph: Graph) -> list[tuple[str, int]]:
    """Return how many citations point to each kind of target, inside the graph and outside."""
    counts = [(f"to {row['label'].lower()}s of the graph", row["n"]) for row in graph.rows("citation_counts")]
    counts += [(f"outside: {row['kind']}", row["n"]) for row in graph.rows("outside_counts")]
    return counts + [(f"acts outside: {row['type']}", row["n"]) for row in graph.rows("outside_relation_counts")]


def outside_lines(graph: Graph) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield what points outside the graph: who cites, kind and name of the target, the words, and the reason."""
    law = KnownLaw.of(graph)
    pointing = [(row["article"], row["target_kind"], row["target"], row["text"]) for row in graph.rows("outside_citations")]
    pointing += [(row["act"], row["type"], row["target"], row["evidence"]) for row in graph.rows("outside_relations")]
    for place, kind, target, words in pointing:
        reason = law.resolve(target)
        yield place, kind, target, " ".join(words.split()), reason if isinstance(reason, str) else ""
