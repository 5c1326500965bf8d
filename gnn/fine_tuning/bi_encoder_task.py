"""The training of a bi-encoder: pairs of a question and an article that answers it, with negatives from the batch and from BM25.

Louis et al., "Finding the Law", EACL 2023, section 3.1: the other articles of a batch are negatives of a pair, and one of those
that BM25 ranks first and that answer nothing; or those of a curriculum (`gnn.curriculum`), which the bi-encoder as it is
orders anew for each epoch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from gnn.curriculum import Curriculum, Places
from gnn.device import precision_of
from gnn.distributed import Process
from gnn.encoders.tuned import Pieces
from gnn.fine_tuning.bi_encoder import BiEncoder
from gnn.fine_tuning.embedding import embedded, pieces_of_articles
from gnn.fine_tuning.losses import negative_log_likelihood, similarities, triplet
from gnn.recipe import Recipe
from runtime.progress import Progress, silent
from schema.errors import BadSetting
from schema.records import Question
from search.arrays import Positions
from search.evaluation import measure, ranks_of
from search.questions import TITLE, WITH_DESCRIPTION, query_text

_Text = TypeVar("_Text")
_AT_ONCE = 32
"""Texts that are embedded at once where nothing is learnt from them."""


class Pair(NamedTuple):
    """A question of the training by its place, an article that answers it, and negatives, by position."""

    question: int
    article: int
    negatives: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The questions that pairs are drawn from.

    Attributes:
        texts: of all articles.
        training, development: questions; relevant: positions of the articles of each training question; answering: likewise
            of each development question.
        first: of each training question, positions that BM25 ranks first, the relevant ones left out.
        places: of the articles, where negatives are drawn by them.
    """

    texts: Sequence[str]
    training: Sequence[Question]
    relevant: Sequence[Positions]
    first: Sequence[Positions]
    development: Sequence[Question]
    answering: Sequence[Positions]
    places: Places | None = None

    def drawn(self, recipe: Recipe, epoch: int, curriculum: Curriculum | None = None) -> list[Pair]:
        """Return the pairs of an epoch, the same for the same seed and number, and pools of the curriculum."""
        options, seed, done = recipe.bi_encoder, recipe.fine_tuning.seed, epoch / recipe.fine_tuning.epochs
        pairs: list[Pair] = []
        for place, (relevant, first) in enumerate(zip(self.relevant, self.first, strict=True)):
            draw = np.random.default_rng((seed, epoch, place))
            for article in draw.permutation(relevant)[: options.pairs or len(relevant)].tolist():
                negatives = draw.choice(first, min(options.bm25_negatives, len(first)), replace=False).tolist()
                if curriculum is not None:
                    negatives += curriculum.drawn_for(place, done, draw).tolist()
                pairs.append(Pair(place, article, tuple(negatives)))
        return pairs


class BiEncoderTask:
    """The task that `gnn.fine_tuning.loop.tune` trains.

    Raises:
        BadSetting: the law has fewer than two articles, so that there is no negative.
    """

    def __init__(self, model: BiEncoder, pairs: Pairs, recipe: Recipe) -> None:
        """Split the questions into word pieces; articles when they are first met."""
        if len(pairs.texts) < 2:
            raise BadSetting(f"recipe {recipe.name}: a law of fewer than two articles has no negatives to learn from")
        self.model, self.pairs, self.recipe = model, pairs, recipe
        self._relevant = [frozenset(positions.tolist()) for positions in pairs.relevant]
        self._queries, self._titles = (self._query_pieces(pairs.training, asked) for asked in (WITH_DESCRIPTION, TITLE))
        self._asked = self._query_pieces(pairs.development, WITH_DESCRIPTION)
        self._passages: dict[int, list[Pieces]] = {}
        others = np.random.default_rng(recipe.fine_tuning.seed).permutation(len(pairs.texts))
        others = others[: recipe.bi_encoder.development_articles]
        self._pool: Positions = np.unique(np.concatenate([others, *pairs.answering]).astype(np.intp))
        self._epoch, self._curriculum = -1, None
        if pairs.places is not None:
            self._curriculum = Curriculum(pairs.places, pairs.relevant, recipe.curriculum, recipe.fine_tuning.seed)
        self._drawn = pairs.drawn(recipe, 0)

    @property
    def examples(self) -> int:
        """Number of pairs of an epoch."""
        return len(self._drawn)

    def begin(self, epoch: int, process: Process, progress: Progress = silent) -> None:
        """Draw the pairs of an epoch, and which questions are asked by title alone."""
        if self._curriculum is not None and epoch != self._epoch:
            self._refresh(self._curriculum, epoch, process, progress)
        self._epoch, self._drawn = epoch, self.pairs.drawn(self.recipe, epoch, self._curriculum)
        draw = np.random.default_rng((self.recipe.fine_tuning.seed, epoch))
        self._short = draw.random(len(self._drawn)) < self.recipe.bi_encoder.title_share

    @torch.inference_mode()
    def _refresh(self, curriculum: Curriculum, epoch: int, process: Process, progress: Progress) -> None:
        """Order the negatives of each question by the bi-encoder as it is; processes share the articles."""
        texts = self.pairs.texts
        own = texts[process.share(len(texts))]
        curriculum.random = np.random.default_rng((self.recipe.fine_tuning.seed, epoch))
        with precision_of(self.recipe.fine_tuning, self.model.device):
            with progress(f"articles, before epoch {epoch + 1}", len(own)) as advance:
                rows = embedded(self.model, pieces_of_articles(self.model, own or texts[:1]), advance)[: len(own)]
            queries, articles = self._embedded_queries(self._queries), process.gathered(rows, len(texts))
        kind = self.recipe.bi_encoder.similarity
        if process.leads:
            curriculum.refresh(lambda i: similarities(queries[i : i + 1], articles, kind)[0].cpu().numpy())
        # What the leader has ordered: among scores that are nearly alike, the order depends on how floats were added.
        curriculum.pools = process.from_leader(curriculum.pools)

    def drawn(self) -> dict[str, Tensor]:
        """Return the pools that the epoch at hand draws from, one after the other, and their sizes."""
        if self._curriculum is None:
            return {}
        pools = self._curriculum.pools
        sizes = torch.tensor([len(pool) for pool in pools])
        return {"epoch": torch.tensor(self._epoch), "pools": torch.from_numpy(np.concatenate(pools)), "sizes": sizes}

    def draw_again(self, drawn: Mapping[str, Tensor]) -> None:
        """Take the pools of an epoch; `begin` does not make them anew."""
        if self._curriculum is not None and drawn:
            self._epoch = int(drawn["epoch"])
            self._curriculum.pools = [pool.numpy() for pool in drawn["pools"].split(drawn["sizes"].tolist())]

    def loss(self, examples: Sequence[int], process: Process) -> Tensor:
        """Return a process's share of the mean loss of pairs: each other's articles are negatives, unless they answer too.

        Each reads its share of the questions and of the articles, and scores its questions beside the articles of all.
        """
        options, pairs = self.recipe.bi_encoder, [self._drawn[i] for i in examples]
        asked = [(self._titles if self._short[i] else self._queries)[self._drawn[i].question] for i in examples]
        columns = [pair.article for pair in pairs] + [article for pair in pairs for article in pair.negatives]
        mine = process.share(len(pairs))
        queries = _read_share(self.model.queries, asked, process)
        articles = _read_share(self.model.articles, [self._article(i) for i in columns], process)
        scores = similarities(queries, process.gathered(articles, len(columns)), options.similarity)
        others = torch.tensor([[column in self._relevant[pair.question] for column in columns] for pair in pairs])
        own = torch.arange(len(pairs))
        others[own, own] = False
        others = others.to(scores.device)
        if options.loss == "triplet":
            return triplet(scores, others, options.margin, mine)
        return negative_log_likelihood(scores, others, options.temperature, mine)

    def quality(self) -> Mapping[str, float]:
        """Return R@100 and MAP on the development questions, among the articles of the pool (0 to 1); none without any."""
        if not self.pairs.answering:
            return {}
        articles = embedded(self.model, [self._article(int(i)) for i in self._pool])
        queries = self._embedded_queries(self._asked)
        scores = similarities(queries, articles, self.recipe.bi_encoder.similarity).cpu().numpy()
        place = {int(position): i for i, position in enumerate(self._pool)}
        relevant = [np.array([place[int(p)] for p in positions], np.intp) for positions in self.pairs.answering]
        rows = [measure(ranks_of(row, own)) for row, own in zip(scores, relevant, strict=True)]
        return {name: float(np.mean([row[name] for row in rows])) for name in ("R@100", "MAP")}

    @torch.inference_mode()
    def _embedded_queries(self, pieces: Sequence[Pieces]) -> Tensor:
        return torch.cat([self.model.queries(pieces[start : start + _AT_ONCE]) for start in range(0, len(pieces), _AT_ONCE)])

    def _article(self, position: int) -> list[Pieces]:
        if position not in self._passages:
            (self._passages[position],) = pieces_of_articles(self.model, [self.pairs.texts[position]])
        return self._passages[position]

    def _query_pieces(self, questions: Sequence[Question], asked: str) -> list[Pieces]:
        texts = [query_text(question, asked) for question in questions]
        marks, body = self.model.marks, self.model.body
        return [marks.query_pieces(pieces) for pieces in body.pieces(texts, "", marks.query_tokens)] if texts else []


def _read_share(read: Callable[[Sequence[_Text]], Tensor], texts: Sequence[_Text], process: Process) -> Tensor:
    """Return a process's rows of texts; one that has none reads a text all the same: all add up the same parameters."""
    own = texts[process.share(len(texts))]
    return read(own or texts[:1])[: len(own)]
