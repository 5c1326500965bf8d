"""Learned sparse retrieval: BM25 whose words have weights that questions have taught (after SPLADE: Formal et al., SIGIR 2021).

The weight of a word stands for that in queries and that in articles at once, so it can be written into the index: BM25's own
ranks by what is learnt, at its speed. Recipes are compared by it; the service has the plain weights. Unlike SPLADE no word is
added to an article or a query, for which a language model would be asked. The weight is ``exp(θ · f + w)``, with f its idf and
its length in letters, and w a weight of its own, which decays; a word of no training question has none, and the weight that θ
gives it. What is learnt ranks articles by their own words; sections have the same weights of words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.options import TrainingOptions
from gnn.recipe import Recipe
from gnn.workspace import Workspace
from runtime.progress import Progress, silent
from schema.errors import BadSetting
from search.arrays import Positions
from search.evaluation import measure, ranks_of
from search.questions import TITLE, WITH_DESCRIPTION, of_split, positions_of, query_text
from search.text.analysis import query_tokens
from search.text.bm25 import Bm25Index
from search.text.index import TextIndex
from search.text.options import Bm25Options
from search.text.protocol import EmbeddedLexical
from search.text.words import group_documents, tokenised


@dataclass(frozen=True, eq=False)
class Asked:
    """A question as it is asked: the numbers of its words (int64[k], each as often as it stands there), and its articles."""

    words: Tensor
    relevant: Positions


class WordWeights(nn.Module):
    """Logarithms of the weights of words, with a temperature.

    Shapes:
        features: float32[v, 2]; out: float32[v].
    """

    def __init__(self, features: Tensor, taught: int, temperature: float) -> None:
        """Begin with BM25 as it is.

        Args:
            taught: number of words, the first ones, that have a weight of their own.
            temperature: the inverse one to begin with.
        """
        super().__init__()
        self.features = features
        self.of_features = nn.Linear(features.shape[1], 1, bias=False)
        nn.init.zeros_(self.of_features.weight)
        self.own = nn.Parameter(torch.zeros(taught))
        self.log_scale = nn.Parameter(torch.tensor(temperature).log())

    @property
    def learnt(self) -> int:
        """Number of parameters."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(self) -> Tensor:
        """Return ``out``."""
        own = functional.pad(self.own, (0, len(self.features) - len(self.own)))
        return self.of_features(self.features).squeeze(-1) + own


class _Scores:
    """BM25 of articles by the words of questions.

    Args:
        words: in the order of their numbers.
    """

    def __init__(self, articles: Bm25Index, words: Sequence[str]) -> None:
        self._rows = articles.rows(words)
        idf = np.log(articles.documents / np.maximum(np.diff(self._rows.indptr), 1))
        features = np.stack([idf / 10, [len(word) / 10 for word in words]], axis=1)
        self.features = torch.from_numpy(features.astype(np.float32))

    def __call__(self, model: WordWeights, asked: Sequence[Tensor]) -> Tensor:
        """Return float32[questions, n]: scores of all articles, up to the temperature."""
        words, places = torch.unique(torch.cat(list(asked)), return_inverse=True)
        rows = torch.repeat_interleave(torch.arange(len(asked)), torch.tensor([len(one) for one in asked]))
        counts = torch.zeros(len(asked), len(words)).index_put((rows, places), torch.ones(len(rows)), accumulate=True)
        return (counts * model()[words].exp()) @ torch.from_numpy(self._rows[words.numpy()].toarray())


def learned_lexical(workspace: Workspace, recipe: Recipe, split: str) -> tuple[TextIndex, int]:
    """Return the text index with the words of articles and of sections weighted, and the number of parameters.

    The epoch with the best sum of R@100 and MAP on the development questions of the split is kept, by title and as a whole.

    Raises:
        BadSetting: no training question has a word of the law.
    """
    index, options = workspace.index, recipe.training
    lexical = embedded_lexical(workspace)
    known = lexical.articles.words
    parts = {part: of_split(workspace.questions, split, part) for part in ("train", "development")}
    tokens = {
        part: [
            [[w for w in query_tokens(query_text(q, way), index.languages) if w in known] for q in questions]
            for way in (TITLE, WITH_DESCRIPTION)
        ]
        for part, questions in parts.items()
    }
    if not any(one for way in tokens["train"] for one in way):
        raise BadSetting(f"recipe {recipe.name}: no training question has a word of the law")
    taught = {word for way in tokens["train"] for one in way for word in one}
    words = [*sorted(taught), *sorted((known.keys() | lexical.sections.words.keys()) - taught)]
    number = {word: n for n, word in enumerate(words)}
    asked = {
        part: [
            [
                Asked(torch.tensor([number[w] for w in one], dtype=torch.long), positions_of(index.corpus, question))
                for one, question in zip(way, parts[part], strict=True)
            ]
            for way in ways
        ]
        for part, ways in tokens.items()
    }
    torch.set_num_threads(workspace.threads)
    torch.manual_seed(options.seed)
    scores = _Scores(lexical.articles, words)
    model = WordWeights(scores.features, len(taught), options.temperature)
    _fit(model, scores, asked["train"], asked["development"], options, workspace.progress)
    weights = dict(zip(words, model().detach().exp().tolist(), strict=True))
    return replace(index, lexical=_weighted(lexical, weights)), model.learnt


def _fit(
    model: WordWeights,
    scores: _Scores,
    training: Sequence[Sequence[Asked]],
    development: Sequence[Sequence[Asked]],
    options: TrainingOptions,
    progress: Progress = silent,
) -> None:
    """Train the weights; they are left as the best epoch had them."""
    titles, whole = training
    decay = {"params": [model.own], "weight_decay": options.weight_decay}
    shared = {"params": [model.of_features.weight, model.log_scale], "weight_decay": 0.0}
    optimiser = torch.optim.AdamW([decay, shared], lr=options.learning_rate)
    draw = torch.Generator().manual_seed(options.seed)
    best, best_epoch, state = _quality(scores, model, development), -1, _copied(model)
    with progress("weights of words", options.epochs) as advance:
        for epoch in range(options.epochs):
            for batch in torch.randperm(len(whole), generator=draw).split(options.batch):
                short = torch.rand(len(batch), generator=draw) < options.title_share
                chosen = [(titles if s else whole)[i] for i, s in zip(batch.tolist(), short.tolist(), strict=True)]
                told = [one for one in chosen if len(one.words)]
                if not told:
                    continue
                loss = _loss(scores, model, told, options.dropout, draw)
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                optimiser.step()
            advance(1)
            quality = _quality(scores, model, development)
            if quality > best:
                best, best_epoch, state = quality, epoch, _copied(model)
            if epoch - best_epoch >= options.patience:
                break
    model.load_state_dict(state)


def _loss(scores: _Scores, model: WordWeights, asked: Sequence[Asked], dropout: float, draw: torch.Generator) -> Tensor:
    """Return the softmax over all articles, uniform over the relevant ones; part of the words of a question are left out."""
    kept = [one.words[torch.rand(len(one.words), generator=draw) >= dropout] for one in asked]
    kept = [some if len(some) else one.words for some, one in zip(kept, asked, strict=True)]
    log_p = functional.log_softmax(model.log_scale.exp() * scores(model, kept), -1)
    return -torch.stack([row[torch.from_numpy(one.relevant)].mean() for row, one in zip(log_p, asked, strict=True)]).mean()


@torch.inference_mode()
def _quality(scores: _Scores, model: WordWeights, ways: Sequence[Sequence[Asked]]) -> float:
    """Return the mean of R@100 and MAP, added up, over questions and ways of asking."""
    rows = [
        measure(ranks_of(scores(model, [one.words])[0].numpy(), one.relevant)) if len(one.words) else {"R@100": 0.0, "MAP": 0.0}
        for way in ways
        for one in way
    ]
    return float(np.mean([row["R@100"] + row["MAP"] for row in rows]))


def _copied(model: nn.Module) -> Mapping[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def embedded_lexical(workspace: Workspace) -> EmbeddedLexical:
    """Return BM25 on this machine; where the text index is on a server, made for this."""
    index, corpus, options = workspace.index, workspace.corpus, Bm25Options()
    if isinstance(index.lexical, EmbeddedLexical):
        return index.lexical
    words, above = tokenised(corpus, workspace.text, workspace.progress)
    articles = Bm25Index.build(words, k1=options.k1, b=options.b)
    sections = Bm25Index.build(group_documents(corpus, words, above), k1=options.section_k1, b=options.section_b)
    return EmbeddedLexical(articles, sections, corpus.group, index.languages)


def _weighted(lexical: EmbeddedLexical, weights: Mapping[str, float]) -> EmbeddedLexical:
    return replace(lexical, articles=lexical.articles.weighted(weights), sections=lexical.sections.weighted(weights))
