"""Reading of the corpus from a graph that may change meanwhile."""

from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from cypher.graph import Graph, Row
from schema.errors import GraphBusy, LexgraphError, NotReady
from schema.filter import is_present
from schema.identifiers import number_stem
from schema.labels import UNCITED
from schema.records import Act
from schema.wordings import place_of, stays
from search.corpus.corpus import NAMES, NO_END, NO_START, Corpus, CorpusText, Ints, Mask, days_of


@contextmanager
def steady_law(graph: Graph) -> Generator[str]:
    """Surround several reads that belong to one law; gives its fingerprint.

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
    """Read the corpus of a graph, with its words.

    Raises:
        GraphBusy, NotReady: as `steady_law`.
    """
    with steady_law(graph) as law:
        return _read_corpus(graph, law)


def _read_corpus(graph: Graph, law: str) -> tuple[Corpus, CorpusText]:
    acts = graph.rows("acts")
    tree = _Tree()
    below = _children(graph)
    for number, act in enumerate(acts):
        tree.add(number, act["id"], below)
    articles, sections = tree.articles, tree.sections
    position = {row["id"]: i for i, row in enumerate(articles)}
    wordings = sorted(
        (position[r["article_id"]], days_of(r["valid_from"], NO_START), days_of(r["valid_to"], NO_END), r["text"] or "")
        for r in graph.rows("corpus_wordings")
    )
    pairs = sorted((position[r["article"]], position[r["target"]]) for r in graph.rows("corpus_citations"))
    corpus = Corpus(
        sha256=law,
        acts=_column(acts, "id"),
        sections=_column(sections, "id"),
        articles=_column(articles, "id"),
        kinds=_column(acts, "kind"),
        jurisdictions=_column(acts, "jurisdiction"),
        article_parent=np.array(tree.article_parent, np.int32),
        section_parent=np.array(tree.section_parent, np.int32),
        article_act=np.array(tree.article_act, np.int32),
        stem=_group_numbers([(row["act_id"], number_stem(row["number"]) or row["id"]) for row in articles]),
        valid_from=np.array([days_of(row["valid_from"], NO_START) for row in articles], np.int32),
        valid_to=np.array([days_of(row["valid_to"], NO_END) for row in articles], np.int32),
        present=_present(acts, articles),
        versions=np.array([days for *days, _ in wordings], np.int32).reshape(-1, 3),
        known=np.array([words != "" for *_, words in wordings], bool),
        stays=_stays(acts, sections, articles),
        cites=np.array(pairs, np.int32).reshape(-1, 2),
        authority=np.array([row["authority"] or UNCITED for row in articles], np.float32),
    )
    return corpus, _text(acts, sections, articles, [words for *_, words in wordings])


def _present(acts: list[Row], articles: list[Row]) -> Mask:
    as_of = {act["id"]: act["updated"] if act["known_from"] else None for act in acts}
    return np.array([is_present(row["valid_from"], row["valid_to"], as_of[row["act_id"]]) for row in articles], bool)


def _stays(acts: list[Row], sections: list[Row], articles: list[Row]) -> Ints:
    """Return `Corpus.stays`."""
    node = {act["id"]: -1 - i for i, act in enumerate(acts)} | {section["id"]: i for i, section in enumerate(sections)}
    found = [
        (article, days_of(stay.start, NO_START), days_of(stay.end, NO_END), node[place_of(stay.value)[1]])
        for article, row in enumerate(articles)
        for stay in stays(row["stays"] or ())
    ]
    return np.array(found, np.int32).reshape(-1, 4)


def _text(acts: list[Row], sections: list[Row], articles: list[Row], wordings: list[str]) -> CorpusText:
    return CorpusText(
        titles=_column(acts, "title"),
        headings=_column(sections, "heading"),
        numbers=_column(articles, "number"),
        texts=_column(articles, "text"),
        languages=_column(acts, "language"),
        article_headings=[row["heading"] or "" for row in articles],
        acts=[_named(row) for row in acts],
        wordings=wordings,
    )


def _named(act: Row) -> Act:
    known: Row = {name: act[name] or "" for name in NAMES}
    return Act(**known)


def _column(rows: list[Row], name: str) -> list[str]:
    return [row[name] for row in rows]


def _children(graph: Graph) -> dict[str, list[tuple[Row, bool]]]:
    """Return the sections and articles (True: a section) directly below each act or section, last first."""
    below: defaultdict[str, list[tuple[Row, bool]]] = defaultdict(list)
    for statement, is_section in (("corpus_sections", True), ("corpus_articles", False)):
        for row in graph.rows(statement):
            below[row["parent_id"]].append((row, is_section))
    for children in below.values():
        children.sort(key=lambda child: (child[0]["position"], child[0]["id"]), reverse=True)
    return below


class _Tree:
    """Sections and articles in reading order, with the positions of what they stand in."""

    def __init__(self) -> None:
        self.sections: list[Row] = []
        self.articles: list[Row] = []
        self.section_parent: list[int] = []
        self.article_parent: list[int] = []
        self.article_act: list[int] = []

    def add(self, act: int, id: str, below: Mapping[str, list[tuple[Row, bool]]]) -> None:
        stack = [(-1 - act, child) for child in below.get(id, ())]
        while stack:
            parent, (row, is_section) = stack.pop()
            if is_section:
                stack += [(len(self.sections), child) for child in below.get(row["id"], ())]
                self.sections.append(row)
                self.section_parent.append(parent)
            else:
                self.articles.append(row)
                self.article_parent.append(parent)
                self.article_act.append(act)


def _group_numbers(keys: Sequence[tuple[str, str]]) -> Ints:
    numbers: dict[tuple[str, str], int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int32)
