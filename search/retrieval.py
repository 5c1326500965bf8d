"""The way of a query: rankers are asked, their lists are fused, pooled over the tree of the law, and cut to a page of hits.

A ranker that does not answer is left out in one place (`search.ranking.rankers.gather`); the page says what it lacks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np

from schema.errors import BadQuery, LexgraphError, NotReady, QueryTimeout, ServerUnavailable
from schema.filter import Filter
from search.arrays import Positions
from search.corpus.corpus import Corpus, Mask
from search.in_time.chosen import best_rows, day_within
from search.modes import Mode
from search.query.understanding import Understanding, Understood
from search.ranking.candidates import Asked, CandidateFeatures
from search.ranking.diversity import diversified
from search.ranking.feedback import WEIGHT as FEEDBACK
from search.ranking.feedback import likeness
from search.ranking.fusion import DEPTH, HEAD, emphasis, reordered, top, weighted
from search.ranking.hits import Hit, Hits, Ranking, RankingList, Scores, citation_list
from search.ranking.in_sentences import InSentences
from search.ranking.leading import leading
from search.ranking.rankers import TEXT, VECTORS, ArticleWords, Authority, Query, Ranker, Vectors, Votes, Words, gather
from search.ranking.scope import Evidence, Scope
from search.ranking.tree_pooling import UNPOOLED, PoolingWeights, TreePooling
from search.text.analysis import query_tokens
from search.text.headings import HeadingScores
from search.text.index import TextIndex
from search.text.snippets import Snippet
from search.vectors.model import Read, VectorModel
from search.vectors.tree_descent import HierarchicalSearch

LOST: Mapping[str, str] = {TEXT: "the text index", VECTORS: "the vector search"}
"""What an answer can lack, in words, by its name."""
LEXICAL_WEIGHTS: Mapping[str, float] = {"bm25": 1.0, "section": 1.0}
"""Fusion where no model is active."""
FIRST_BY_WORDS = 0.25
"""Weight of `search.ranking.fusion.emphasis` of the lists of words, shared by the words of the query: the fewer they are, the
more it says to be first by them. Over titles and whole questions of development (both splits), MAP is 41.4, MRR@10 53.7 and
the share of questions answered in the first five 61.1 without it and `SAID_BY_HEADING`, 42.3, 55.1 and 63.0 with them."""
SAID_BY_HEADING = 5.0
"""Weight of the square of the cosine of a query with the headings above an article, added after pooling."""
SAID_IN_FULL, IN_FULL = 8.0, 0.97
"""What is added where the query is the heading itself, and the cosine from which it is: whoever asks so asks for that section.
Few development questions do, and no measure over them depends on it."""
SECTION_IN_HEAD = 0.5
"""Share of the weight of a section's pool in the order of the head: what a section answers well brings all of it among the
first hundred, of which one or two are meant. By cross-fitting on training questions, against the whole of it: MRR@10 +0.4 and, by
dossier, +0.6 [0.3, 0.9]; S@5 +0.9 and +0.7 [-0.7, 2.1]; MAP -0.3 and -0.4. Other weights of the three pools there, chosen by
cross-fitting, give no more."""
_WITHOUT_SERVER = {"questions", "authority"}
"""Lists that are there whatever server is away."""
DEEPEST = 1000
"""Hits of one query that pages can reach."""
NEAREST = DEPTH
"""Articles that a vector search on a server is asked for."""
NEAREST_TO_FUSE = 200
"""Where other lists decide too, fewer do: on development questions R@100, R@200 and R@500 are 75.8, 83.1 and 91.6 with 200
and 76.5, 83.8 and 92.3 with 500, which take a quarter longer from a server. Every page asks for as many: else an article
would stand on two pages, or on none."""


class Retriever:
    """Answers queries over one text index and, where there is one, one model version. Holds no state of queries.

    Args:
        reranks: the first of a hybrid ranking are reranked, where the model has a reranker.
        pooling: in place of that over the tree of the law.
        feedback: weight of the likeness to the first answers, where there is a model; 0: no such list.
    """

    def __init__(
        self,
        index: TextIndex,
        model: VectorModel | None,
        *,
        max_query_characters: int = 2000,
        reranks: bool = True,
        pooling: TreePooling | None = None,
        feedback: float = FEEDBACK,
    ) -> None:
        self.index = index
        self.model = model
        self._longest = max_query_characters
        self.understanding = Understanding.of(index)
        self._pooling = pooling or TreePooling(index.corpus)
        self._feedback = feedback
        self._leading = leading(index.corpus)
        self._headings = HeadingScores(index.corpus, index.vocabulary.headings)
        self._hierarchy = HierarchicalSearch(index.corpus)
        words = Words(index)
        self._article_words = ArticleWords(words)
        self._vectors: Vectors | None = None
        self._rankers: list[Ranker] = [words]
        self._evidence: Evidence | None = None
        self._reranker = model.reranker if model is not None and reranks else None
        self._features = CandidateFeatures(index.corpus, model) if model is not None and self._reranker is not None else None
        self._tuned = model.tuned if model is not None and self._reranker is not None else None
        if model is not None:
            self._evidence = Evidence(index.vocabulary, model.acts, index.corpus.article_act)
            beside_others = Vectors(model)
            self._vectors = Vectors(model, alone=True, quantised=beside_others.quantised)
            self._rankers = [InSentences(words, model.sentences) if model.sentences else words, beside_others]
            if model.questions is not None and model.weights.get("questions"):
                self._rankers.append(Votes(model))
            if model.weights.get("authority"):
                self._rankers.append(Authority(index.corpus))

    @property
    def corpus(self) -> Corpus:
        """The law that is searched."""
        return self.index.corpus

    def check_query(self, query: str) -> str:
        """Return the query without blanks around it.

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
        """Return passages as the text index marks them; none where `search.text.snippets.snippet` does as well, or must."""
        try:
            return self.index.lexical.highlights(query.strip(), ids)
        except (ServerUnavailable, QueryTimeout, NotReady):
            return {}

    def scores(
        self, query: str, mode: Mode = Mode.HYBRID, *, filter: Filter = Filter(), pooled: bool = True
    ) -> tuple[Scores, Mapping[str, RankingList]]:
        """Return final scores of all articles, and the lists they were made from; -inf: not an answer.

        Raises:
            NotFound: the filter names no act or section.
            NotReady: the mode needs a model, and none is active.
            ServerUnavailable, QueryTimeout: the text index or the vector search did not answer.
        """
        ranking = self.whole_rank(query, mode, filter=filter, pooled=pooled)
        return ranking.scores, ranking.lists

    def whole_rank(self, query: str, mode: Mode = Mode.HYBRID, *, filter: Filter = Filter(), pooled: bool = True) -> Ranking:
        """Rank all articles by every list, or by none: what is learnt or measured must not come from half of them.

        Raises:
            NotFound: the filter names no act or section.
            NotReady: the mode needs a model, and none is active.
            ServerUnavailable, QueryTimeout: the text index or the vector search did not answer.
        """
        ranking = self.rank(query, mode, filter=filter, pooled=pooled)
        for error in ranking.lost.values():
            raise error
        return ranking

    def rank(
        self,
        query: str,
        mode: Mode = Mode.HYBRID,
        *,
        filter: Filter = Filter(),
        pooled: bool = True,
        nearest: int = NEAREST,
    ) -> Ranking:
        """Rank all articles by what answers: where the text index does not, by vectors alone, and the reverse.

        The articles that the query names stand before all others, whatever the mode.

        Args:
            query: Question or words.
            mode: Lists that rank.
            filter: Filter of the articles that may answer.
            pooled: Pool the fused list over the tree.
            nearest: Articles that a vector search on a server is asked for; all others are alike to it.

        Raises:
            NotFound: the filter names no act or section.
            NotReady: the mode needs a model, and none is active.
            ServerUnavailable, QueryTimeout: nothing that could answer did.
        """
        model = self.model
        if model is None and mode in (Mode.VECTOR, Mode.HIERARCHICAL):
            raise NotReady("no model is active: run `lexgraph train`")
        only = self.understanding.filter(filter)
        mask = self.corpus.passing(only)
        understood = self.understanding.understand(query, only, mask)
        if model is not None and model.terms is not None:
            understood = understood.in_terms(model.terms)
        asked = self._asked(understood, only, mask, nearest, in_sentences=mode is Mode.HYBRID)
        ranking = self._ranked(asked, mode, pooled) if understood.words else self._nothing({})
        if understood.named:
            return self._with_named(ranking, understood)
        several = mode is Mode.HYBRID and pooled
        return replace(self._diversified(ranking, asked) if several else ranking, understood=understood)

    def _asked(self, understood: Understood, only: Filter, mask: Mask | None, nearest: int, *, in_sentences: bool) -> Query:
        """Return a query as rankers are asked it."""
        model = self.model
        law = None if self.index.history is None else self.index.history.asked(only)
        # Embeddings know what the terms leave out.
        embedded = f"{understood.words} {understood.translated}" if understood.translated else ""
        parts = understood.sentences if model is not None and model.sentences and in_sentences else ()
        return Query(understood.words, only, mask, model and model.encoding, nearest, law, parts, embedded)

    def _nothing(self, lost: Mapping[str, LexgraphError]) -> Ranking:
        return Ranking(np.full(len(self.corpus.articles), -np.inf, np.float32), {}, lost)

    def _with_named(self, ranking: Ranking, understood: Understood) -> Ranking:
        """Return the ranking with the articles that the query names before all others, in its order."""
        named = understood.named
        scores = ranking.scores.copy()
        scores[list(named)] = -np.inf
        highest = scores.max(initial=0)  # of the others, where there are any
        scores[list(named)] = highest + np.arange(len(named), 0, -1, dtype=np.float32)
        lists = {"citation": citation_list(named, len(scores)), **ranking.lists}
        return replace(ranking, scores=scores, lists=lists, understood=understood)

    def _ranked(self, asked: Query, mode: Mode, pooled: bool) -> Ranking:
        """Rank by the lists of a mode."""
        model = self.model
        if mode is Mode.HYBRID:
            return self._fused(asked, pooled)
        if mode is Mode.BM25:
            return self._first_that_answers(asked, self._article_words, self._vectors)
        if mode is Mode.VECTOR:
            return self._first_that_answers(asked, self._vectors, self._article_words)
        assert model is not None
        vector = asked.vector
        if not vector.any():
            return self._nothing({})
        reached = self._hierarchy(model.acts @ vector, model.sections @ vector, model.articles @ vector, asked.mask)
        return Ranking(reached, {"hierarchical": RankingList(reached)})

    def _first_that_answers(self, query: Query, *rankers: Ranker | None) -> Ranking:
        """Return the ranking of the first ranker, or of the next one where what it needs does not answer."""
        lost: dict[str, LexgraphError] = {}
        for ranker in rankers:
            if ranker is None:
                continue
            lists, errors = gather([ranker], query)
            if not errors:
                return Ranking(next(iter(lists.values())).scores, lists, lost) if lists else self._nothing(lost)
            lost |= errors
        raise _none_answers(lost)

    def _fused(self, query: Query, pooled: bool) -> Ranking:
        """Return all lists fused, and pooled over the tree."""
        model = self.model
        weights = LEXICAL_WEIGHTS if model is None else model.weights
        # A transformer reads the query while the lists are made: the reranker wants it last.
        read = self._tuned.read(query.text) if self._tuned is not None and pooled and query.law is None else None
        if model is not None:
            query.begin()
        lists, lost = gather(self._rankers, query)
        if len(lost) == len({ranker.needs for ranker in self._rankers} - {""}):
            raise _none_answers(lost)
        if lost and not any(weights.get(name) for name in lists.keys() - _WITHOUT_SERVER):
            weights = {**LEXICAL_WEIGHTS, "vector": 1.0}  # what is left decides, whatever it weighs beside the others
        lists = {name: ranked for name, ranked in lists.items() if weights.get(name) and _has_a_say(name, ranked)}
        evidence = None
        if self._evidence is not None and not lost and query.mask is None:
            tokens = query_tokens(query.text, self.index.languages)
            evidence = self._evidence(query.text, tokens, query.vector, lists)
        if lists.keys() <= {"authority"}:  # which says nothing of the query
            return replace(self._nothing(lost), evidence=evidence)
        fused = weighted({name: ranked.comparable for name, ranked in lists.items()}, weights)
        pooling = (model.pooling if model else PoolingWeights()) if pooled else UNPOOLED
        ranking = self._with_head(fused, pooling, Ranking(fused, lists, lost, evidence=evidence), query)
        return self._reranked(fused, ranking, query, read) if pooled else ranking

    def _reranked(self, fused: Scores, ranking: Ranking, query: Query, read: Read | None) -> Ranking:
        """Return the ranking with its first articles reranked.

        It stays as it is for the law of another day, and where a list is lacking that this was learnt with.
        """
        if self._reranker is None or self._features is None or ranking.lost or query.law is not None:
            return ranking
        tokens = query_tokens(query.text, self.index.languages)
        candidates = self._features(Asked(query.text, tokens, query.vector, ranking.lists, fused, ranking.scores, read))
        stays = np.zeros(len(candidates.positions), bool)
        if (heading := ranking.lists.get("heading")) is not None:
            # Those that lead: votes of a training question can outweigh `SAID_IN_FULL`, and what they put before one may move.
            stays = np.logical_and.accumulate(heading.scores[candidates.positions] > IN_FULL)
        scores, reranked = self._reranker(ranking.scores, candidates, stays)
        return replace(ranking, scores=scores, reranked=reranked)

    def _diversified(self, ranking: Ranking, query: Query) -> Ranking:
        """Return the ranking with several sections among its first articles; whoever names one by its heading asks for that."""
        weight = 0.0 if self.model is None else self.model.diversity
        heading = ranking.lists.get("heading")
        if not weight or (heading is not None and heading.scores.max() > IN_FULL):
            return ranking
        sections = self.corpus.article_parent if query.law is None else query.law.parents
        scores = diversified(ranking.scores, sections, weight)
        return replace(ranking, scores=scores, reranked=ranking.reranked and ranking.reranked.as_in(scores))

    def _with_head(self, fused: Scores, pooling: PoolingWeights, ranking: Ranking, query: Query) -> Ranking:
        """Return the ranking pooled, with feedback, its head in the order that words and headings give it."""
        tokens = query_tokens(query.text, self.index.languages)
        lists = dict(ranking.lists)
        pool = self._pooling if query.law is None else query.law.pooling
        pooled = pool(fused, pooling)
        feeds_back = pooling != UNPOOLED and not ranking.lost and query.law is None
        if self._feedback and self.model is not None and feeds_back:
            alike = likeness(pooled, self.model.articles, self.model.bias)
            lists["feedback"] = RankingList(alike)
            pooled = np.asarray(pooled + self._feedback * alike, np.float32)
        head = top(pooled, HEAD)
        sharp = fused.copy()
        for name in sorted(lists.keys() & LEXICAL_WEIGHTS.keys()):
            sharp += np.float32(FIRST_BY_WORDS / max(len(tokens), 1)) * emphasis(lists[name].comparable)
        headed = self._headings(tokens, None if query.law is None else query.law.parents)
        said = pool.at(head, sharp, replace(pooling, section=SECTION_IN_HEAD * pooling.section))
        said += np.float32(SAID_BY_HEADING) * np.square(headed[head]) + self._leading[head]
        scores = reordered(pooled, head, said)
        if headed.any():
            lists["heading"] = query.ranked(np.where(headed > 0, headed, np.float32(-np.inf)))
        return replace(ranking, scores=scores + np.float32(SAID_IN_FULL) * (headed > IN_FULL), lists=lists)

    def _days(self, ranking: Ranking, page: Positions, filter: Filter) -> list[date | None]:
        """Return a day of the wording that answers, of each article: the filter's, or one of the wording that ranked it."""
        if not filter.across_time:
            return [filter.in_force_on] * len(page)
        ranked = ranking.lists.get("bm25")
        if self.index.history is None or ranked is None:
            return [None] * len(page)
        others = self.index.history.scores(query_tokens(ranking.understood.words, self.index.languages))
        rows = best_rows(self.corpus, page, ranked.scores, others)
        return [None if row is None else day_within(self.corpus, row) for row in rows]

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
        """Return the page of ``first`` hits from ``offset`` on, best first; at most `DEEPEST` can be reached.

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
        moves = ranking.reranked.moves(page) if ranking.reranked else [None] * len(page)
        hits = (
            Hit(
                self.corpus.articles[position],
                position,
                float(scores[position]),
                {name: found[i] for name, found in places.items() if found[i] is not None},  # pyright: ignore[reportArgumentType]
                day,
                moves[i],
            )
            for i, (position, day) in enumerate(zip(page.tolist(), self._days(ranking, page, filter), strict=True))
        )
        scope = None if self.model is None else self.model.scope
        threshold = 0.0 if scope is None else scope.threshold
        return Hits(hits, tuple(ranking.lost), ranking.understood, confidence=_confidence(scope, ranking), threshold=threshold)


def _confidence(scope: Scope | None, ranking: Ranking) -> float | None:
    """Return the probability that the law has the answer: it has what the query names by its number.

    It was learnt from questions in the language of the law, and is not known of others.
    """
    if scope is None:
        return None
    if ranking.understood.named:
        return 1.0
    return None if ranking.evidence is None or ranking.understood.language else scope.confidence(ranking.evidence)


def _has_a_say(name: str, ranked: RankingList) -> bool:
    """Return whether a list has evidence for any article; cosines are evidence whatever their sign."""
    return name in ("vector", "authority") or ranked.says_something


def _none_answers(lost: Mapping[str, LexgraphError]) -> LexgraphError:
    """Return the one error there was, or one that says all."""
    errors = list(lost.values())
    return errors[0] if len(errors) == 1 else ServerUnavailable("; ".join(map(str, errors)))
