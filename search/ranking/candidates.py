"""Candidates of reranking: the first articles of a ranking, each with what the lists, the law and the query say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from search.arrays import Positions, Scores
from search.corpus.corpus import Corpus
from search.ranking.fusion import DEPTH, top
from search.ranking.hits import RankingList
from search.ranking.leading import leading
from search.ranking.reranker import Candidates
from search.ranking.trees import Rows
from search.vectors.model import Read, VectorModel

MOST = 1000
"""Candidates of one query: below them the order stays."""
_LISTS = ("vector", "bm25", "section", "questions", "authority", "heading")
_RANKED = ("vector", "bm25", "section")
_LETTERS = {"L": 0, "R": 1, "D": 2}
OF_LISTS = (
    "score before",
    "rank before",
    "distance from the first",
    "fused",
    *(f"standard score in {name}" for name in _LISTS),
    *(f"rank in {name}" for name in _RANKED),
    "score in bm25",
    "score in section",
)
OF_LAW = ("letter", "leading", "bias", "depth", "cited", "citing", "place in section", "size of section", "size of stem")
OF_VECTORS = ("cosine", "cosine of section", "cosine of section above", "cosine of act")
OF_QUERY = ("words", "characters", "highest vector", "highest bm25", "most votes", "highest heading", "spread")
FEATURES = OF_LISTS + OF_LAW + OF_VECTORS + OF_QUERY
"""Columns of the rows, in their order. One whose values change gets another name: rerankers that learnt it are then set aside."""
OF_TUNED = ("fine-tuned standard score", "fine-tuned rank", "fine-tuned distance from the highest")
"""Columns behind them, where a model has fine-tuned vectors."""
COMPARED = 400
"""First candidates among which fine-tuned cosines are compared: in learning no others are read by the bi-encoder."""


def columns(*, tuned: bool) -> tuple[str, ...]:
    """Return the columns of the rows of candidates, by a model that has fine-tuned vectors or by one without."""
    return FEATURES + OF_TUNED if tuned else FEATURES


@dataclass(frozen=True, eq=False)
class Asked:
    """A query as it was ranked.

    Attributes:
        tokens: its analysed words; vector: float32[d], its embedding.
        lists: that had a say; fused: float32[n], their sum; scores: float32[n], the ranking so far.
        read: gives fine-tuned cosines, where the model has such vectors.
    """

    text: str
    tokens: Sequence[str]
    vector: npt.NDArray[np.float32]
    lists: Mapping[str, RankingList]
    fused: Scores
    scores: Scores
    read: Read | None = None


class CandidateFeatures:
    """Features of candidates over one law and one model version; only what every text index and every vector search gives."""

    def __init__(self, corpus: Corpus, model: VectorModel) -> None:
        self._model = model
        self._parent = corpus.article_parent
        # A section's own parent; an article below an act has the act on both levels.
        sections = np.r_[corpus.section_parent, np.int32(0)]
        self._above = np.where(self._parent >= 0, sections[np.maximum(self._parent, -1)], self._parent)
        self._act = corpus.article_act
        self._law = _of_law(corpus, model)

    def __call__(self, asked: Asked) -> Candidates:
        """Return the candidates of a query: the first `MOST` articles so far."""
        positions = top(asked.scores, MOST)
        blocks = (_of_lists(asked, positions), self._law[positions], self._cosines(asked.vector, positions))
        query = np.broadcast_to(_of_query(asked, positions), (len(positions), len(OF_QUERY)))
        further = () if asked.read is None else (_of_tuned(asked.read(positions)),)
        return Candidates(positions, np.concatenate([*blocks, query, *further], axis=1))

    def _cosines(self, vector: npt.NDArray[np.float32], positions: Positions) -> Rows:
        acts = self._model.acts @ vector
        columns = [self._model.articles[positions] @ vector]
        for nodes in (self._parent[positions], self._above[positions]):
            column = acts[np.where(nodes < 0, -1 - nodes, 0)]
            inside, back = np.unique(nodes[nodes >= 0], return_inverse=True)
            column[nodes >= 0] = (self._model.sections[inside] @ vector)[back]
            columns.append(column)
        return np.stack([*columns, acts[self._act[positions]]], 1).astype(np.float64)


def _of_law(corpus: Corpus, model: VectorModel) -> Rows:
    """Return float64[n, `OF_LAW`]."""
    n = len(corpus.articles)
    acts = [len(act) + 1 for act in corpus.acts]
    letters = (id[acts[act] : acts[act] + 1] for id, act in zip(corpus.articles, corpus.article_act.tolist(), strict=True))
    depth = np.ones(len(corpus.sections) + 1, np.int64)
    for section, parent in enumerate(corpus.section_parent.tolist()):  # parents come before their children
        depth[section] = 1 if parent < 0 else depth[parent] + 1
    finite = np.isfinite(model.bias)
    neutral = float(np.median(model.bias[finite])) if finite.any() else 0.0
    order = np.argsort(corpus.group, kind="stable")
    sizes = np.bincount(corpus.group)
    place = np.empty(n)
    place[order] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    columns = (
        np.fromiter((_LETTERS.get(letter, len(_LETTERS)) for letter in letters), np.float64, n),
        leading(corpus),
        np.where(finite, model.bias, neutral),
        np.where(corpus.article_parent >= 0, depth[np.maximum(corpus.article_parent, -1)], 0),
        np.log1p(np.bincount(corpus.cites[:, 1], minlength=n)),
        np.log1p(np.bincount(corpus.cites[:, 0], minlength=n)),
        np.log1p(place),
        np.log1p(sizes[corpus.group]),
        np.log1p(np.bincount(corpus.stem)[corpus.stem]),
    )
    return np.stack(columns, 1).astype(np.float64)


def _of_lists(asked: Asked, positions: Positions) -> Rows:
    """Return float64[candidates, `OF_LISTS`]; of a list that has no say, what stands below all others."""
    n = len(positions)
    before = asked.scores[positions]
    columns = [before, np.log1p(np.arange(n)), before - before[:1], asked.fused[positions]]
    for name in _LISTS:
        ranked = asked.lists.get(name)
        columns.append(np.zeros(n) if ranked is None else _finite(_comparable(name, ranked)[positions]))
    for name in _RANKED:
        ranked = asked.lists.get(name)
        columns.append(np.full(n, np.log1p(DEPTH)) if ranked is None else _log_ranks(ranked, positions))
    for name in ("bm25", "section"):
        ranked = asked.lists.get(name)
        columns.append(np.zeros(n) if ranked is None else _finite(ranked.scores[positions]))
    return np.stack(columns, 1).astype(np.float64)


def _comparable(name: str, ranked: RankingList) -> Scores:
    return ranked.scores if name == "heading" else ranked.comparable


def _finite(values: Scores) -> Scores:
    """Return values of a list, with zero for what it leaves out."""
    return np.where(values == -np.inf, np.float32(0), values)


def _log_ranks(ranked: RankingList, positions: Positions) -> npt.NDArray[np.float64]:
    """Return the logarithm of the place of each in a list's head; all below it stand just behind."""
    places = len(ranked.head) - np.searchsorted(ranked.head, ranked.scores[positions], side="right")
    return np.log1p(np.minimum(places, DEPTH))


def _of_query(asked: Asked, positions: Positions) -> Rows:
    """Return float64[`OF_QUERY`]."""
    words = len(asked.tokens)
    highest = {name: float(ranked.head[-1]) for name, ranked in asked.lists.items() if len(ranked.head)}
    before = asked.scores[positions]
    return np.array(
        [
            words,
            np.log1p(len(asked.text)),
            highest.get("vector", 0.0),
            highest.get("bm25", 0.0) / max(words, 1) ** 0.5,
            highest.get("questions", 0.0),
            highest.get("heading", 0.0),
            float(before[:10].std()) if len(before) else 0.0,
        ]
    )


def _of_tuned(cosines: Scores) -> Rows:
    """Return float64[candidates, `OF_TUNED`], each compared with the first `COMPARED`."""
    compared = np.sort(cosines[:COMPARED].astype(np.float64))
    if not len(compared):
        return np.zeros((0, len(OF_TUNED)))
    higher = len(compared) - np.searchsorted(compared, cosines, side="right")
    standard = (cosines - compared.mean()) / max(float(compared.std()), 1e-6)
    return np.stack([standard, np.log1p(higher), cosines - compared[-1]], 1).astype(np.float64)
