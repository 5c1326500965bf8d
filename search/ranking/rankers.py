"""Rankers: each is asked a query and gives ranking lists, which `search.retrieval` fuses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from runtime.background_call import in_background
from schema.errors import BadSetting, LexgraphError, NotReady, QueryTimeout, ServerUnavailable
from schema.filter import Filter
from search.arrays import Matrix, unit
from search.corpus.corpus import REMEMBERED_DAYS, Corpus, Mask
from search.in_time.law_of_day import LawOfDay
from search.ranking.fusion import kth_highest, standard_scores
from search.ranking.hits import RankingList, Scores
from search.text.analysis import query_tokens
from search.text.index import TextIndex
from search.vectors.encoding import Encoding
from search.vectors.model import VectorModel
from search.vectors.quantised import CANDIDATES, QuantisedSearch

TEXT, VECTORS = "text", "vectors"
"""Names of what an answer can lack: the lists of the text index, that of the vectors."""
AWAY = (ServerUnavailable, QueryTimeout, NotReady, BadSetting)
"""Errors of one ranker while the others answer; the last, where a server refuses the password."""
Lists = Mapping[str, RankingList]


@dataclass(frozen=True, eq=False)
class Query:
    """A query as rankers are asked it.

    Attributes:
        mask: bool[n], the articles that pass the filter; None where all do.
        encoding: of the model, where there is one.
        nearest: articles that a vector search on a server is asked for.
        law: that of another day, or of all; None where the present law is searched.
        parts: the sentences of the text that are asked too, where it has several that say something.
        embedded: what is embedded in place of the text; "": the text.
    """

    text: str
    filter: Filter
    mask: Mask | None
    encoding: Encoding | None
    nearest: int
    law: LawOfDay | None = None
    parts: tuple[str, ...] = ()
    embedded: str = ""
    # Lists of one: `cached_property` of Python 3.11 lets one query at a time of all be embedded.
    _begun: list[Callable[[], Matrix]] = field(default_factory=list, init=False, repr=False)
    _made: list[Matrix] = field(default_factory=list, init=False, repr=False)

    @property
    def sentences(self) -> tuple["Query", ...]:
        """The sentences as queries of their own."""
        return tuple(replace(self, text=part, parts=()) for part in self.parts)

    def begin(self) -> None:
        """Begin to embed the query, where its encoder can do so beside the caller; once it has begun, nothing happens."""
        if not self._begun:
            assert self.encoding is not None, "only the rankers of a model need it"
            self._begun.append(self.encoding.begin(self.embedded or self.text, self.parts))

    @property
    def _embeddings(self) -> Matrix:
        """float32[1 + parts, d]: embeddings of the query and of its sentences, made when one is first needed, or begun before."""
        if not self._made:
            self.begin()
            self._made.append(self._begun[0]())
        return self._made[0]

    @property
    def vector(self) -> npt.NDArray[np.float32]:
        """float32[d]: the embedding of the query."""
        return self._embeddings[0]

    def balanced(self, weight: float) -> npt.NDArray[np.float32]:
        """Return float32[d]: towards the query and, by a weight, the mean of its sentences; as long as the query's embedding."""
        if not self.parts:
            return self.vector
        of_sentences = unit(np.asarray(unit(self._embeddings[1:]).mean(axis=0), np.float32))
        mixed = unit(np.asarray(unit(self.vector) + weight * of_sentences, np.float32))
        return np.asarray(mixed * np.linalg.norm(self.vector), np.float32)

    def ranked(self, scores: Scores) -> RankingList:
        """Return the ranking list of scores, float32[n], with -inf where the filter leaves an article out."""
        return RankingList(self.masked(scores))

    def masked(self, scores: Scores) -> Scores:
        """Return scores with -inf where the filter leaves an article out."""
        return scores if self.mask is None else np.where(self.mask, scores, np.float32(-np.inf))


class Ranker(Protocol):
    """A way to rank articles."""

    @property
    def needs(self) -> str:
        """Name of what it cannot do without (`TEXT`, `VECTORS`); empty where it cannot fail."""
        ...

    def ask(self, query: Query) -> Callable[[], Lists]:
        """Begin to rank; the lists, or what went wrong, come when the result is called."""
        ...


def gather(rankers: Sequence[Ranker], query: Query) -> tuple[dict[str, RankingList], dict[str, LexgraphError]]:
    """Return the lists of the rankers that answer, in their order, and the errors of those that do not.

    All are asked before the first answer is waited for, so that a server works while the others do.
    """
    lists: dict[str, RankingList] = {}
    lost: dict[str, LexgraphError] = {}
    asked: list[tuple[Ranker, Callable[[], Lists]]] = []
    for ranker in rankers:
        try:
            asked.append((ranker, ranker.ask(query)))
        except AWAY as error:
            lost[ranker.needs] = error
    for ranker, answer in asked:
        try:
            lists |= answer()
        except AWAY as error:
            lost[ranker.needs] = error
    return lists, lost


@dataclass(frozen=True, eq=False)
class Words:
    """BM25 over articles and over whole sections, in the wordings of the law that is searched."""

    index: TextIndex
    needs: str = TEXT

    def ask(self, query: Query) -> Callable[[], Lists]:
        """Rank by words."""
        answers = self.ask_each([query])
        return lambda: answers()[0]

    def ask_each(self, queries: Sequence[Query]) -> Callable[[], list[Lists]]:
        """Rank by the words of each query; a server is asked all of them at once."""

        def answers() -> list[Lists]:
            found = zip(queries, self._found(queries), strict=True)
            return [{name: query.ranked(scores) for name, scores in lists.items()} for query, lists in found]

        return answers

    def lists(self, query: Query) -> dict[str, Scores]:
        """Return the two lists, float32[n] each, whatever the filter leaves out."""
        return self._found([query])[0]

    def _found(self, queries: Sequence[Query]) -> list[dict[str, Scores]]:
        """Return the two lists of each of some queries, which differ in their texts alone."""
        asked = queries[0]
        sections = asked.law is None or self.index.history is None  # else these held other articles
        found = self.index.lexical.lists_of([query.text for query in queries], asked.filter, sections=sections)
        return [self._of_day(query, lists) for query, lists in zip(queries, found, strict=True)]

    def _of_day(self, query: Query, lists: dict[str, Scores]) -> dict[str, Scores]:
        """Return the lists of the wordings of the law that is searched, given those of the present ones."""
        if query.law is None or self.index.history is None:
            return lists
        tokens = query_tokens(query.text, self.index.languages)
        chosen = query.law.chosen
        own = chosen.ranked(lists["bm25"], self.index.history.scores(tokens)[chosen.rows])
        return {"bm25": own, "section": query.law.section_scores(tokens)}


@dataclass(frozen=True, eq=False)
class ArticleWords:
    """BM25 over articles alone; an article without a word of the query is no answer."""

    words: Words
    needs: str = TEXT

    def ask(self, query: Query) -> Callable[[], Lists]:
        """Rank by words."""

        def answer() -> Lists:
            scores = self.words.lists(query)["bm25"]
            return {"bm25": query.ranked(np.where(scores > 0, scores, np.float32(-np.inf)))}

        return answer


class Vectors:
    """The scaled cosine of embeddings with the query's, and the article's bias.

    Args:
        model: with the embeddings.
        alone: whether no other list decides: then an article without an embedding is no answer.
        quantised: search over the model's articles, where it was made already.
    """

    needs = VECTORS

    def __init__(self, model: VectorModel, *, alone: bool = False, quantised: QuantisedSearch | None = None) -> None:
        self._model = model
        self.quantised = quantised
        if quantised is None and model.nearest is None:
            self.quantised = QuantisedSearch.over(model.articles)
        # Beside other lists an article without an embedding has cosine 0 with any query: they decide on it.
        finite = np.isfinite(model.bias)
        neutral = np.float32(np.median(model.bias[finite])) if finite.any() else np.float32(0)
        self._bias = model.bias if alone else np.where(finite, model.bias, neutral)
        self._wordings = None if model.wordings is None else QuantisedSearch.over(model.wordings)
        self._of_law = lru_cache(REMEMBERED_DAYS)(self._wordings_of)

    def ask(self, query: Query) -> Callable[[], Lists]:
        """Rank by embeddings; a server begins as soon as the query is embedded. No list where it has no embedding."""
        if self.quantised is not None:
            return partial(self._compared, query, self.quantised)
        if query.encoding is None or query.encoding.begin_in is None:
            return self._on_server(query)
        return in_background("vectors", lambda: self._on_server(query)())

    def _on_server(self, query: Query) -> Callable[[], Lists]:
        """Ask a server for the nearest articles."""
        model, vector = self._model, query.balanced(self._model.sentences)
        if not vector.any():  # the encoder knows none of the words: every article is as near as any other
            return dict
        assert model.nearest is not None
        answer = model.nearest(vector, query.filter, query.nearest)
        return lambda: {"vector": query.ranked(self._in_time(query, vector, _spread(*answer(), len(self._bias))))}

    def _compared(self, query: Query, quantised: QuantisedSearch) -> Lists:
        """Return the list of embeddings that this process has."""
        vector = query.balanced(self._model.sentences)
        if not vector.any():
            return {}
        mask = query.mask if query.law is None or query.mask is None else query.mask & query.law.chosen.own
        scores = quantised.scores(vector, self._model.scale, self._bias, mask)
        return {"vector": query.ranked(self._in_time(query, vector, scores))}

    def _in_time(self, query: Query, vector: npt.NDArray[np.float32], scores: Scores) -> Scores:
        """Return float32[n]: scores of articles in the wordings of the law that is searched, given those of the present ones."""
        if query.law is None or self._wordings is None:
            return scores
        chosen = query.law.chosen
        passing = None if query.mask is None else query.mask[chosen.articles]
        least = kth_highest(query.masked(scores), min(CANDIDATES, len(scores)))
        bias = self._bias[chosen.articles]
        others = self._of_law(query.law).scores(vector, self._model.scale, bias, passing, least=least)
        return chosen.ranked(scores, others)

    def _wordings_of(self, law: LawOfDay) -> QuantisedSearch:
        """Return search over the wordings of a day alone."""
        assert self._wordings is not None
        return self._wordings.among(law.chosen.rows)


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes of the training questions nearest to the query's embedding, whatever server is away."""

    model: VectorModel
    needs: str = VECTORS

    def ask(self, query: Query) -> Callable[[], Lists]:
        """Rank by votes, which are comparable as they are."""

        def answer() -> Lists:
            assert self.model.questions is not None
            votes = query.masked(self.model.questions.votes(query.vector, len(self.model.bias)))
            return {"questions": RankingList(votes, np.sort(votes[votes > 0]), votes)}

        return answer


class Authority:
    """PageRank of articles, which says nothing of a query: made comparable once, over all articles."""

    needs = ""

    def __init__(self, corpus: Corpus) -> None:
        authority = np.log(corpus.authority)
        ascending = np.sort(authority)
        self._scores = standard_scores(authority, ascending)
        self._head = np.sort(standard_scores(ascending, ascending))

    def ask(self, query: Query) -> Callable[[], Lists]:
        """Rank by authority."""
        scores = query.masked(self._scores)
        return lambda: {"authority": RankingList(scores, self._head, scores)}


def _spread(positions: npt.NDArray[np.intp], given: Scores, n: int) -> Scores:
    """Return float32[n]: the given scores in their places, and all others just below the lowest of them."""
    finite = given[np.isfinite(given)]
    below = np.nextafter(finite.min(), np.float32(-np.inf)) if len(finite) else np.float32(0)
    spread = np.full(n, below, np.float32)
    spread[positions] = given
    return spread
