"""Reading of the corpus from a graph that may change meanwhile."""

from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np

from cypher.graph import Graph, Row
from schema.errors import GraphBusy, LexgraphError, NotReady
from schema.identifiers import number_stem
from schema.labels import UNCITED
from search.corpus.corpus import NO_END, NO_START, Corpus, CorpusText, Ints, days_of


@contextmanager
def steady_law(graph: Graph) -> Generator[str]:
    """Around several reads that belong to one law; gives its fingerprint.

    On a server each read is a transaction of its own, and an ingest may end between two of them.

    Raises:
        GraphBusy: another process changed the law meanwhile; what was read is of no use.
        NotReady: the law is being loaded, or its load was cut off.
    """
    law = _fingerprint(graph)
    if not law and graph.rows("acts"):
        raise NotReady("the law is being loaded, or its load was cut off: run `lexgraph ingest` again")
    changed = "the law changed while it was read: try again"
    try:
        yield law
    except Exception as error:  # rows that do not fit together, as an article whose act came later
        if isinstance(error, LexgraphError) or _fingerprint(graph) == law:
            raise
        raise GraphBusy(changed) from None
    if _fingerprint(graph) != law:
        raise GraphBusy(changed)


def _fingerprint(graph: Graph) -> str:
    return graph.rows("graph_row")[0]["corpus_sha256"]


def read_corpus(graph: Graph) -> tuple[Corpus, CorpusText]:
    """The corpus of a graph, with its words.

    Raises:
        GraphBusy, NotReady: as `steady_law`.
    """
    with steady_law(graph) as law:
        return _read_corpus(graph, law)


def _read_corpus(graph: Graph, law: str) -> tuple[Corpus, CorpusText]:
    acts = graph.rows("acts")
    below: dict[str, list[tuple[int, bool, Row]]] = defaultdict(list)
    for row in graph.rows("corpus_sections"):
        below[row["parent_id"]].append((row["position"], True, row))
    for row in graph.rows("corpus_articles"):
        below[row["parent_id"]].append((row["position"], False, row))
    sections: list[Row] = []
    articles: list[Row] = []
    section_parent: list[int] = []
    article_parent: list[int] = []
    article_act: list[int] = []
    for number, act in enumerate(acts):
        stack = [(-1 - number, child) for child in _reversed(below[act["id"]])]
        while stack:
            parent, (_, is_section, row) = stack.pop()
            if is_section:
                stack += [(len(sections), child) for child in _reversed(below[row["id"]])]
                sections.append(row)
                section_parent.append(parent)
            else:
                articles.append(row)
                article_parent.append(parent)
                article_act.append(number)
    position = {row["id"]: i for i, row in enumerate(articles)}
    versions = sorted(
        (position[r["article_id"]], days_of(r["valid_from"], NO_START), days_of(r["valid_to"], NO_END))
        for r in graph.rows("wording_days")
    )
    pairs = sorted((position[r["article"]], position[r["target"]]) for r in graph.rows("corpus_citations"))
    stems = [(row["act_id"], number_stem(row["number"]) or row["id"]) for row in articles]
    corpus = Corpus(
        sha256=law,
        acts=[act["id"] for act in acts],
        sections=[row["id"] for row in sections],
        articles=[row["id"] for row in articles],
        kinds=[act["kind"] for act in acts],
        jurisdictions=[act["jurisdiction"] for act in acts],
        article_parent=np.array(article_parent, np.int32),
        section_parent=np.array(section_parent, np.int32),
        article_act=np.array(article_act, np.int32),
        stem=_group_numbers(stems),
        valid_from=np.array([days_of(row["valid_from"], NO_START) for row in articles], np.int32),
        valid_to=np.array([days_of(row["valid_to"], NO_END) for row in articles], np.int32),
        versions=np.array(versions, np.int32).reshape(-1, 3),
        cites=np.array(pairs, np.int32).reshape(-1, 2),
        authority=np.array([row["authority"] or UNCITED for row in articles], np.float32),
    )
    text = CorpusText(
        titles=[act["title"] for act in acts],
        headings=[row["heading"] for row in sections],
        numbers=[row["number"] for row in articles],
        texts=[row["text"] for row in articles],
        languages=[act["language"] for act in acts],
        article_headings=[row["heading"] or "" for row in articles],
    )
    return corpus, text


def _reversed(children: list[tuple[int, bool, Row]]) -> list[tuple[int, bool, Row]]:
    return sorted(children, key=lambda child: (child[0], child[2]["id"]), reverse=True)


def _group_numbers(keys: Sequence[tuple[str, str]]) -> Ints:
    numbers: dict[tuple[str, str], int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int32)
