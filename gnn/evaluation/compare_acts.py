"""Every way to find similar acts, side by side on known transpositions (`search.acts.benchmark`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cypher.graph import Graph
from gnn.encoders.features import passage_vectors
from gnn.recipe import EncoderOptions
from runtime.progress import Progress, silent
from schema.errors import NotReady
from schema.settings import Settings
from search.acts.benchmark import (
    MEASURES,
    Asked,
    Chosen,
    Direction,
    Pair,
    ask,
    cross_validated,
    folds_of,
    quality,
    read_transpositions,
    tune,
    tune_window,
)
from search.acts.masking import masked
from search.acts.similar import BM25, COSINES, LongQuery, SimilarActs
from search.acts.views import act_parts, open_act_texts
from search.arrays import Matrix
from search.corpus.read import read_corpus
from search.ranking.fusion import Scores

PLAIN = "bm25-plain"
LISTS = (*COSINES, BM25)
_WHOLE = {
    f"bm25 {n} {k1} {b} {denoised}": LongQuery(n, denoised, k1, b)
    for n, (k1, b), denoised in product((15, 30, 60, 120), ((1.2, 0.75), (0.9, 0.4), (2.0, 0.9)), (False, True))
}
_VIEWS = {
    f"bm25 {n} {view}-{found}": LongQuery(n, True, view=view, found=found)
    for n, (view, found) in product((15, 30, 60), product(("title", "lead", "whole"), repeat=2))
}
_TITLES = EncoderOptions.model_validate({"max_tokens": 96})
_PASSAGE = 2000
"""Characters of an act that are given to a transformer, which reads its first word pieces: the title, and what follows."""
DIRECTIONS: tuple[Direction, ...] = ("down", "up")


@dataclass(frozen=True, slots=True)
class Row:
    """A system with its measures in percent by direction, and what all folds together choose."""

    name: str
    measures: dict[Direction, dict[str, float]]
    chosen: dict[Direction, str]


def compare_acts(
    similar: SimilarActs,
    pairs: Sequence[Pair],
    *,
    country: str = "lu",
    vectors: Mapping[str, Matrix] | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """The table of all systems, cross-validated by directive.

    Args:
        vectors: float32[a, d] by name, of unit length; each is a row, and one ensemble more takes them in.

    Raises:
        NotReady: there are no pairs.
    """
    if not pairs:
        raise NotReady("the graph has no pair of the transpositions: ingest the directives and the acts first")
    found = {direction: _Direction(similar, pairs, direction, country, vectors or {}, progress) for direction in DIRECTIONS}
    names = list(found["down"].rows)
    return [
        Row(name, {d: found[d].rows[name] for d in DIRECTIONS}, {d: found[d].chosen.get(name, "") for d in DIRECTIONS})
        for name in names
    ]


class _Direction:
    """All systems in one direction."""

    def __init__(
        self,
        similar: SimilarActs,
        pairs: Sequence[Pair],
        direction: Direction,
        country: str,
        vectors: Mapping[str, Matrix],
        progress: Progress,
    ) -> None:
        self.rows: dict[str, dict[str, float]] = {}
        self.chosen: dict[str, str] = {}
        jurisdiction = country if direction == "down" else "eu"
        queries = {PLAIN: LongQuery(denoised=False)} | _WHOLE | _VIEWS
        self.names = [*LISTS, *queries, *vectors]

        def scores(asking: int, name: str) -> Scores:
            if name in vectors:
                return vectors[name] @ vectors[name][asking]
            if name in queries:
                return similar.bm25(asking, queries[name], jurisdiction)
            return similar.scores(asking, name, jurisdiction)

        with progress(f"lists, {direction}", 1) as advance:
            self.asked = ask(
                similar, pairs, folds_of(pair.directive for pair in pairs), direction, jurisdiction, scores, self.names
            )
            advance(1)
        with progress(f"systems, {direction}", 1) as advance:
            self._one_of(PLAIN, [PLAIN])
            self._one_of("BM25 tuned (terms, k1, b, denoising)", list(_WHOLE))
            self._one_of("BM25 of the best views", [*_WHOLE, *_VIEWS])
            self._one_of("BM25 of the best views + window", [*_WHOLE, *_VIEWS], window=True)
            for name in vectors:
                self._one_of(f"vectors: {name}", [name])
            for name in COSINES:
                self._one_of(f"cosine: {name}", [name])
            self._one_of("best single cosine", list(COSINES))
            self._ensemble("ensemble", LISTS)
            self._ensemble("ensemble + age", LISTS, ages=True)
            if vectors:
                self._ensemble("ensemble + age + vectors", (*LISTS, *vectors), ages=True)
            advance(1)

    def _one_of(self, name: str, lists: Sequence[str], *, window: bool = False) -> None:
        """The list that is best on the training folds."""
        options = [Chosen(_only(self.names, [(each, 1.0)])) for each in lists]

        def choose(without: int | None) -> Chosen:
            best = max(options, key=lambda option: quality(self.asked, option, without)) if len(options) > 1 else options[0]
            return tune_window(self.asked, without, best) if window else best

        self._add(name, self.asked, choose, self.names)

    def _ensemble(self, name: str, lists: Sequence[str], *, ages: bool = False) -> None:
        columns = [self.names.index(each) for each in lists]
        asked = [
            Asked(q.asking, q.relevant, q.folds, q.candidates, np.ascontiguousarray(q.lists[columns]), q.years)
            for q in self.asked
        ]
        start = [1.0 if each in ("lead-lead", BM25) else 0.0 for each in lists]
        tuned = cache(lambda without: tune(asked, without, start=start, ages=ages))
        self._add(name, asked, tuned, lists)
        if not ages:
            self._add(f"{name} + window", asked, lambda without: tune_window(asked, without, tuned(without)), lists)

    def _add(self, name: str, asked: Sequence[Asked], choose: Callable[[int | None], Chosen], names: Sequence[str]) -> None:
        values = cross_validated(asked, choose)
        self.rows[name] = {m: 100 * float(np.mean([value[m] for value in values])) for m in MEASURES}
        everything = choose(None)
        told = [f"{each} {weight:g}" for each, weight in zip(names, everything.weights, strict=True) if weight]
        if everything.age:
            told.append(f"age {everything.age:g} {list(everything.ages)}")
        if everything.window is not None:
            told.append(f"{everything.window:g} years")
        self.chosen[name] = ", ".join(told)


def _only(names: Sequence[str], chosen: Sequence[tuple[str, float]]) -> npt.NDArray[np.float64]:
    weights = np.zeros(len(names))
    for name, weight in chosen:
        weights[names.index(name)] = weight
    return weights


def compare_home(
    settings: Settings,
    graph: Graph,
    transpositions: Path,
    basis: str = "title",
    *,
    with_vectors: bool = False,
    encoder: str | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """The table for the law of a graph and a file of transpositions (`search.acts.benchmark.read_transpositions`).

    Args:
        with_vectors: add the rows of `gnn.evaluation.act_vectors.act_vectors`.
        encoder: add one for a transformer (`gnn.encoders.onnx_export.export_transformer`) over titles and leads.

    Raises:
        NotReady: the text index is not made, or no pair is in the graph.
        MissingFile, BadSource: the file is not there, or not such a table.
    """
    similar = SimilarActs(open_act_texts(settings.home, graph.rows("graph_row")[0]["corpus_sha256"]))
    pairs = read_transpositions(transpositions, similar.texts.position, basis)
    vectors: dict[str, Matrix] = {}
    if with_vectors or encoder:
        from gnn.evaluation.act_vectors import act_vectors, centred

        acts = graph.rows("acts")
        subjects = {row["id"]: row["subjects"] or [] for row in acts}
        if with_vectors:
            vectors |= act_vectors(similar.texts, [subjects[id] for id in similar.texts.acts], progress)
        if encoder:
            corpus, text = read_corpus(graph)
            passages = [masked(f"{p.title} {p.headings} {p.body}"[:_PASSAGE]) for p in act_parts(corpus, text, acts)]
            encoded = passage_vectors(settings.home, encoder, passages, _TITLES, threads=settings.threads, progress=progress)
            vectors[encoder] = centred(encoded, similar.texts.jurisdictions)
    return compare_acts(similar, pairs, vectors=vectors, progress=progress)
