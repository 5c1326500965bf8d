"""A query's way: analysis, BM25 and vectors side by side, fusion, filters, pooling over the tree, hits."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from schema.errors import BadQuery, BadSetting, LexgraphError, NotReady, QueryTimeout, ServerUnavailable
from schema.filter import Filter
from search.corpus.corpus import Corpus, Mask
from search.modes import Mode
from search.ranking.fusion import DEPTH, standard_scores, top, weighted
from search.ranking.hits import Hit, Hits, RankedList, Ranking, Scores
from search.ranking.tree_pooling import PoolingWeights, TreePooling
from search.text.index import TextIndex
from search.text.snippets import Snippet
from search.vectors.model import VectorModel
from search.vectors.principal_axes import WORTH_A_GLANCE, CoarseSearch
from search.vectors.tree_descent import HierarchicalSearch

TEXT, VECTORS = "text", "vectors"
"""What an answer can lack: the lists of the text index, that of the vectors."""
LOST: Mapping[str, str] = {TEXT: "the text index", VECTORS: "the vector search"}
"""What an answer can lack, in words."""
_AWAY = (ServerUnavailable, QueryTimeout, NotReady, BadSetting)
"""What one list can fail by while the others answer; the last, where a server refuses the password."""

LEXICAL_WEIGHTS: Mapping[str, float] = {"bm25": 1.0, "section": 1.0}
"""Fusion where no model is active."""
DEEPEST = 1000
"""Hits of one query that pages can reach."""
NEAREST = DEPTH
"""Articles that a vector search on a server is asked for."""
NEAREST_TO_FUSE = 200
"""Where other lists decide too, fewer do: on development questions R@100, R@200 and R@500 are 75.8, 83.1 and 91.6 with 200
and 76.5, 83.8 and 92.3 with 500, which take a quarter longer from a server. Every page asks for as many: else an article
would stand on two pages, or on none."""


class Retriever:
    """Answers queries over one text index and, where there is one, one model version. Holds no state of queries."""

    def __init__(self, index: TextIndex, model: VectorModel | None, *, max_query_characters: int = 2000) -> None:
        self.index = index
        self.model = model
        self._longest = max_query_characters
        self._pooling = TreePooling(index.corpus)
        self._hierarchy = HierarchicalSearch(index.corpus)
        # It says nothing of a query, so it is made comparable once, over all articles.
        authority = np.log(index.corpus.authority)
        ascending = np.sort(authority)
        self._authority = RankedList(standard_scores(authority, ascending), np.sort(standard_scores(ascending, ascending)))
        self._bias = np.zeros(0, np.float32)
        self._coarse: CoarseSearch | None = None
        if model is not None and model.nearest is None and len(model.articles) >= WORTH_A_GLANCE:
            self._coarse = CoarseSearch.over(model.articles)
        if model is not None:
            # An article without an embedding has cosine 0 with any query: the other lists decide on it.
            known = model.bias[np.isfinite(model.bias)]
            neutral = np.float32(np.median(known)) if len(known) else np.float32(0)
            self._bias = np.where(np.isfinite(model.bias), model.bias, neutral)

    @property
    def corpus(self) -> Corpus:
        return self.index.corpus

    def check_query(self, query: str) -> str:
        """The query without blanks around it.

        Raises:
            BadQuery: it is empty or longer than the limit.
        """
        query = query.strip()
        if not query:
            raise BadQuery("the query is empty")
        if len(query) > self._longest:
            raise BadQuery(f"the query has {len(query):,} characters; at most {self._longest:,} are answered")
        return query

    def highlights(self, query: str, ids: Sequence[str]) -> dict[str, Snippet]:
        """Passages of articles as the text index marks them; none where `search.text.snippets.snippet` does as well, or must."""
        try:
            return self.index.lexical.highlights(query.strip(), ids)
        except (ServerUnavailable, QueryTimeout, NotReady):
            return {}

    def scores(
        self, query: str, mode: Mode = Mode.HYBRID, *, filter: Filter = Filter(), pooled: bool = True
    ) -> tuple[Scores, dict[str, RankedList]]:
        """Final scores of all articles, and the lists they were made from; -inf: not an answer.

        Raises:
            NotFound: the filter names no act or section.
            NotReady: the mode needs a model, and none is active.
            ServerUnavailable, QueryTimeout: the text index or the vector search did not answer.
        """
        ranking = self.rank(query, mode, filter=filter, pooled=pooled)
        for error in ranking.lost.values():
            raise error
        return ranking.scores, ranking.lists

    def rank(
        self,
        query: str,
        mode: Mode = Mode.HYBRID,
        *,
        filter: Filter = Filter(),
        pooled: bool = True,
        nearest: int = NEAREST,
    ) -> Ranking:
        """All articles ranked by what answers: where the text index does not, by vectors alone, and the reverse.

        Args:
            nearest: articles that a vector search on a server is asked for; all others are alike to it.

        Raises:
            NotFound: the filter names no act or section.
            NotReady: the mode needs a model, and none is active.
            ServerUnavailable, QueryTimeout: nothing that could answer did.
        """
        mask = self.corpus.passing(filter)

        def by_words() -> Ranking:
            return self._bm25(query, filter, mask)

        def by_vectors() -> Ranking:
            return self._vector(query, filter, mask, nearest)

        if mode is Mode.BM25:
            return self._either(by_words, TEXT, by_vectors)
        if mode is Mode.HYBRID:
            return self._hybrid(query, filter, mask, pooled, nearest)
        model = self._need_model()
        if mode is Mode.VECTOR:
            return self._either(by_vectors, VECTORS, by_words)
        vector = model.encode([query])[0]
        reached = self._hierarchy(model.acts @ vector, model.sections @ vector, model.articles @ vector, mask)
        return Ranking(reached, {"hierarchical": RankedList.of(reached)})

    def _either(self, asked: Callable[[], Ranking], name: str, other: Callable[[], Ranking]) -> Ranking:
        """The ranking that was asked for, or the other one where what the first needs does not answer."""
        try:
            return asked()
        except _AWAY as error:
            if self.model is None:
                raise
            try:
                instead = other()
            except _AWAY as second:
                raise ServerUnavailable(f"{error}; {second}") from None
            return Ranking(instead.scores, instead.lists, {name: error})

    def _bm25(self, query: str, filter: Filter, mask: Mask | None) -> Ranking:
        found = self.index.lexical.lists(query, filter)["bm25"]
        found = _masked(np.where(found > 0, found, np.float32(-np.inf)), mask)
        return Ranking(found, {"bm25": RankedList.of(found)})

    def _vector(self, query: str, filter: Filter, mask: Mask | None, nearest: int) -> Ranking:
        model = self._need_model()
        dense = _masked(self._dense(model, model.encode([query])[0], filter, mask, model.bias, nearest)(), mask)
        return Ranking(dense, {"vector": RankedList.of(dense)})

    def _dense(
        self,
        model: VectorModel,
        vector: npt.NDArray[np.float32],
        filter: Filter,
        mask: Mask | None,
        bias: Scores,
        k: int,
    ) -> Callable[[], Scores]:
        """float32[n]: scaled cosines with a bias; what a server's search did not give comes just below what it gave.

        A server is asked at once and answers when the result is called for, which raises what went wrong.
        """
        if model.nearest is None:
            if self._coarse is not None:
                dense = self._coarse.scores(vector, model.scale, bias, mask)
            else:
                dense = model.articles @ vector
                dense *= np.float32(model.scale)
                dense += bias
            return lambda: dense
        answer = model.nearest(vector, filter, k)
        return lambda: _spread(*answer(), len(bias))

    def _hybrid(self, query: str, filter: Filter, mask: Mask | None, pooled: bool, nearest: int) -> Ranking:
        found: dict[str, Scores] = {}
        lists: dict[str, RankedList] = {}
        comparable: dict[str, Scores] = {}
        lost: dict[str, LexgraphError] = {}
        model = self.model
        weights = LEXICAL_WEIGHTS if model is None else model.weights

        def rank_what_is_found() -> None:
            for name, scores in found.items():
                if weights.get(name) and name not in lists:
                    lists[name] = ranked = RankedList.of(_masked(scores, mask))
                    comparable[name] = standard_scores(ranked.scores, ranked.head)

        dense: Callable[[], Scores] | None = None
        votes: Scores | None = None
        vector: npt.NDArray[np.float32] | None = None
        if model is not None:
            asked: npt.NDArray[np.float32] = model.encode([query])[0]
            vector, dense = asked, self._dense(model, asked, filter, mask, self._bias, nearest)
        # From here on a server may be looking for the vectors; the rest is done meanwhile.
        try:
            found |= self.index.lexical.lists(query, filter)
        except _AWAY as error:
            if model is None:
                raise
            lost[TEXT] = error
        rank_what_is_found()
        if model is not None and vector is not None and model.questions is not None and weights.get("questions"):
            votes = model.questions.votes(vector, len(self.corpus.articles))
        if dense is not None:
            try:
                found["vector"] = dense()
            except _AWAY as error:
                if lost:
                    raise ServerUnavailable(f"{lost[TEXT]}; {error}") from None
                lost[VECTORS] = error
        if lost and not any(weights.get(name) for name in found):
            weights = {**LEXICAL_WEIGHTS, "vector": 1.0}  # what is left is ranked by, whatever it weighs beside the others
        rank_what_is_found()
        if "vector" not in found and votes is None and not any(len(r.head) and r.head[-1] > 0 for r in lists.values()):
            # No word of the query is there.
            return Ranking(np.full(len(self.corpus.articles), -np.inf, np.float32), lists, lost)
        if votes is not None:
            votes = _masked(votes, mask)
            comparable["questions"] = votes
            lists["questions"] = RankedList(votes, np.sort(votes[votes > 0]))
        if weights.get("authority"):
            comparable["authority"] = _masked(self._authority.scores, mask)
            lists["authority"] = RankedList(comparable["authority"], self._authority.head)
        fused = weighted(comparable, weights)
        if pooled:
            fused = self._pooling(fused, model.pooling if model else PoolingWeights())
        return Ranking(fused, lists, lost)

    def search(
        self,
        query: str,
        mode: Mode = Mode.HYBRID,
        *,
        filter: Filter = Filter(),
        first: int = 10,
        offset: int = 0,
        pooled: bool = True,
    ) -> Hits:
        """The page of ``first`` hits from ``offset`` on, best first; at most `DEEPEST` can be reached.

        Filters are applied before ranking: as long as an article that passes them answers, the page has it.

        Raises:
            BadQuery: the query is empty or too long, or the page is none.
            NotFound: a filter names no act or section.
            NotReady: the mode needs a model, and none is active.
            ServerUnavailable, QueryTimeout: nothing that could answer did; where something did, the page says
                what it lacks.
        """
        query = self.check_query(query)
        if first < 0 or offset < 0:
            raise BadQuery(f"not a page: {first} hits from {offset} on")
        nearest = NEAREST_TO_FUSE if mode is Mode.HYBRID else NEAREST
        ranking = self.rank(query, mode, filter=filter, pooled=pooled, nearest=nearest)
        scores = ranking.scores
        page = top(scores, min(offset + first, DEEPEST))[offset:]
        places = {name: ranked.places(page) for name, ranked in ranking.lists.items()}
        hits = (
            Hit(
                self.corpus.articles[position],
                position,
                float(scores[position]),
                {name: found[i] for name, found in places.items() if found[i] is not None},  # pyright: ignore[reportArgumentType]
            )
            for i, position in enumerate(page.tolist())
        )
        return Hits(hits, tuple(ranking.lost))

    def _need_model(self) -> VectorModel:
        if self.model is None:
            raise NotReady("no model is active: run `lexgraph train`")
        return self.model


def _masked(scores: Scores, mask: Mask | None) -> Scores:
    return scores if mask is None else np.where(mask, scores, np.float32(-np.inf))


def _spread(positions: npt.NDArray[np.intp], known: Scores, n: int) -> Scores:
    """float32[n]: known scores in their places, and all others just below the lowest of them."""
    given = known[np.isfinite(known)]
    below = np.nextafter(given.min(), np.float32(-np.inf)) if len(given) else np.float32(0)
    spread = np.full(n, below, np.float32)
    spread[positions] = known
    return spread
