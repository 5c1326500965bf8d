"""A bi-encoder that was trained on the questions, served: ONNX Runtime and a fast tokenizer, no torch.

`gnn.fine_tuning` trains and exports it. A query is one text; an article is up to as many passages as the recipe says, which the
graph of queries embeds, or one of their own, and another makes one vector of.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gnn.cost import Cost
from gnn.encoders.onnx import (
    MODEL_FILE,
    TOKENIZER_FILE,
    embedded_in_batches,
    gives_states,
    opened,
    pooled_in,
    standing,
    tokenizer_of,
)
from search.arrays import Matrix, embedded_apart, unit
from search.vectors.model import TunedVectors

ARTICLE_FILE, MARKS_FILE = "article.onnx", "tuned.json"
PASSAGE_FILE = "passage.onnx"
"""The graph that embeds passages, where it is not that of queries."""
LETTERS = 24
"""Letters of a text that are split for each word piece that is wanted: no piece of a language is so long on average."""
_AT_ONCE = 512
"""Articles whose passages are held at once."""
READER, READ = "reader", "reader.npy"
"""Files of a model version: the bi-encoder that its reranker reads by, and its vectors of the articles."""
Pieces = list[int]


@dataclass(frozen=True, slots=True)
class Marks:
    """The sizes and the marks of a bi-encoder.

    Attributes:
        begin, end, pad: places in the vocabulary; query, passage: word pieces that go before a text of that kind.
        query_tokens, passage_tokens: word pieces of a query and of a passage, marks counted; passages: most of an article.
        cosine: vectors have unit length.
    """

    begin: int
    end: int
    pad: int
    query: Pieces
    passage: Pieces
    query_tokens: int
    passage_tokens: int
    passages: int
    cosine: bool

    def query_pieces(self, pieces: Pieces) -> Pieces:
        """Return a query as the transformer reads it."""
        return [self.begin, *self.query, *pieces[: self.query_tokens - 2 - len(self.query)], self.end]

    def article_pieces(self, pieces: Pieces) -> list[Pieces]:
        """Return the passages of an article as the transformer reads them: one at least."""
        room = self.passage_tokens - 2 - len(self.passage)
        starts = range(0, max(min(len(pieces), room * self.passages), 1), room)
        return [[self.begin, *self.passage, *pieces[start : start + room], self.end] for start in starts]


class TunedEncoder:
    """Embeddings of queries and articles, centred on the articles' mean where one is stored.

    Attributes:
        reads_parts: parts of a query are read where they stand in it.
    """

    def __init__(self, folder: Path, threads: int = 2) -> None:
        """Open what `gnn.fine_tuning.export.export_bi_encoder` or `save` wrote.

        Raises:
            MissingExtra: ONNX Runtime or tokenizers is not installed.
        """
        self.folder = folder
        stored: dict[str, Any] = json.loads((folder / MARKS_FILE).read_text("utf-8"))
        self.marks = Marks(**stored)
        self._session = opened(folder / MODEL_FILE, threads)
        self.reads_parts = gives_states(self._session)
        self._passage = opened(folder / PASSAGE_FILE, threads) if (folder / PASSAGE_FILE).exists() else self._session
        self._article = opened(folder / ARTICLE_FILE, threads) if (folder / ARTICLE_FILE).exists() else None
        self._tokenizer = tokenizer_of(folder / TOKENIZER_FILE)
        mean = folder / "mean.npy"
        self.mean = np.load(mean) if mean.exists() else None

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: embeddings of queries."""
        return self._centred(self.encode_raw(texts, "query"))

    def encode_in(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: embeddings of a query and of parts of it.

        Where a text is the mean of its word pieces, one pass reads all parts that stand in it word for word, up to the limit;
        others are read by themselves.
        """
        if not self.reads_parts:
            return embedded_apart(self.encode, text, parts)
        limit, before = self.marks.query_tokens, 1 + len(self.marks.query)
        (encoding,) = self._tokenizer.encode_batch([text[: LETTERS * limit]], add_special_tokens=False)
        ids = self.marks.query_pieces(encoding.ids)
        offsets = np.zeros((len(ids), 2), np.int64)  # marks end before the first letter
        offsets[before:-1] = np.array(encoding.offsets, np.int64).reshape(-1, 2)[: len(ids) - before - 1]
        inside = standing(offsets, text, parts)
        whole, of_parts = pooled_in(self._session, ids, inside)
        if alone := [n for n, within in enumerate(inside) if within is None]:
            of_parts[alone] = self.encode_raw([parts[n] for n in alone], "query")
        return self._centred(self._finished(np.concatenate([whole[None], of_parts])))

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: embeddings of articles."""
        return self._centred(self.encode_raw(texts, "passage"))

    def encode_raw(self, texts: Sequence[str], kind: str, advance: Callable[[int], None] = lambda done: None) -> Matrix:
        """Return float32[texts, d]: embeddings before centring, of queries or of articles (kind: query, passage)."""
        if kind == "query":
            pieces = (self.marks.query_pieces(each) for each in self._pieces(texts, self.marks.query_tokens))
            return self._finished(embedded_in_batches(self._session, list(pieces), self.marks.pad, advance))
        parts = [self._articles(texts[start : start + _AT_ONCE], advance) for start in range(0, len(texts), _AT_ONCE)]
        return self._finished(np.concatenate(parts)) if parts else np.empty((0, 0), np.float32)

    def _articles(self, texts: Sequence[str], advance: Callable[[int], None]) -> Matrix:
        limit = self.marks.passage_tokens * self.marks.passages
        of_articles = [self.marks.article_pieces(pieces) for pieces in self._pieces(texts, limit)]
        owner = np.repeat(np.arange(len(texts)), [len(passages) for passages in of_articles])
        last = np.append(owner[1:] != owner[:-1], True)
        done = iter(last.astype(int).tolist())

        def embedded(passages: int) -> None:  # counted in articles
            advance(sum(next(done) for _ in range(passages)))

        vectors = embedded_in_batches(self._passage, [p for own in of_articles for p in own], self.marks.pad, embedded)
        if self._article is None:
            return vectors
        longest = max(len(passages) for passages in of_articles)
        rows = np.zeros((len(texts), longest, vectors.shape[1]), np.float32)
        mask = np.zeros((len(texts), longest), np.int64)
        place = np.concatenate([np.arange(len(passages)) for passages in of_articles])
        rows[owner, place], mask[owner, place] = vectors, 1
        return np.asarray(self._article.run(None, {"passages": rows, "mask": mask})[0], np.float32)

    def _pieces(self, texts: Sequence[str], limit: int) -> list[Pieces]:
        encoded = self._tokenizer.encode_batch([text[: LETTERS * limit] for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in encoded]

    def _finished(self, vectors: Matrix) -> Matrix:
        return unit(vectors) if self.marks.cosine else vectors

    def _centred(self, vectors: Matrix) -> Matrix:
        return vectors if self.mean is None else unit(vectors - self.mean)

    def save(self, folder: Path) -> None:
        """Copy the encoder into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in (MODEL_FILE, PASSAGE_FILE, ARTICLE_FILE, TOKENIZER_FILE, MARKS_FILE):
            if (self.folder / name).exists():
                shutil.copyfile(self.folder / name, folder / name)
        if self.mean is not None:
            np.save(folder / "mean.npy", self.mean)


@dataclass(frozen=True, eq=False)
class ReadVectors:
    """A bi-encoder that a reranker reads by, not centred.

    Attributes:
        articles: floating[n, d], unit length.
        cost: of its training.
    """

    encoder: TunedEncoder
    articles: Matrix
    cost: Cost = field(default_factory=Cost)

    def model(self) -> TunedVectors:
        """Return what retrieval needs of it."""
        return TunedVectors(self.encoder.encode, self.articles)

    def save(self, folder: Path) -> None:
        """Write it into the folder of a model version."""
        self.encoder.save(folder / READER)
        np.save(folder / READ, self.articles.astype(np.float16))


def write_marks(folder: Path, marks: Marks) -> None:
    """Write the sizes and the marks into the folder of a bi-encoder."""
    (folder / MARKS_FILE).write_text(json.dumps(asdict(marks)), "utf-8")
