"""Sentence embeddings by convolutions over word pieces: no transformer, served with NumPy alone.

The network is the convolutional one of the multilingual Universal Sentence Encoder (Yang et al., "Multilingual Universal Sentence
Encoder for Semantic Retrieval", ACL 2020, section 2), trained by its authors on questions and answers, translations and
paraphrases in sixteen languages, French among them. Its parameters come from a package (`gnn.encoders.muse_package`).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnn.encoders.unigram import Unigram
from search.arrays import Matrix, unit

BRANCHES: Mapping[int, int] = {2: 0, 3: 1, 5: 2}
"""Word pieces that the convolutions of a branch see at once, and how many of them stand before the one in the middle."""
_GAP = 2
"""Rows of zeros between texts: as far as the widest convolution sees."""
_SHARED, _AT_ONCE = 1 << 16, 512
"""Word pieces of which those that are the same go through the first layers once, and that go through the others together."""
_QUERY_PIECES = 128
_LONGEST_PIECE = 16
"""Characters of the longest word piece: a text is not looked at further than so many of these as are read."""
_EPSILON = 1e-6


def _batches(texts: Sequence[Sequence[int]], most: int) -> Iterator[list[int]]:
    """Yield the places of texts, so many word pieces together; without those that have none."""
    batch: list[int] = []
    pieces = 0
    for place, text in enumerate(texts):
        if len(text):
            batch.append(place)
            pieces += len(text)
        if pieces >= most:
            yield batch
            batch, pieces = [], 0
    if batch:
        yield batch


def _with_gap(rows: Matrix) -> Matrix:
    """Return rows with one of zeros behind them, which stands for what is between texts."""
    return np.concatenate([rows, np.zeros_like(rows[:1])])


@dataclass(frozen=True, slots=True)
class _OfPieces:
    """States that the first layers give u pieces, wherever these stand; the last row is of a gap between texts.

    Attributes:
        vectors: float32[u + 1, 512].
        states: by the width of a branch, float32[u + 1, 256].
        seen: by the width of a branch, and by the place of the piece among those that its first convolution sees,
            float32[u + 1, 256].
    """

    vectors: Matrix
    states: Mapping[int, Matrix]
    seen: Mapping[int, Sequence[Matrix]]


@dataclass(frozen=True, eq=False)
class MuseNetwork:
    """Vectors of word pieces, and the network over them.

    Attributes:
        table: uint8[v, 512], scale, low: float32[v]: row i stands for table[i] · scale[i] + low[i].
        begin, end: rows of the marks around a text.
        parameters: by name, float32: `project` and `out`, `first_2` to `second_5` of the branches by their width (each with
            `_bias`), `norm_in` and `norm_out` (with `_shift`), and `d0` to `d3`, `p1`, `p3` of the layers over the mean.
    """

    table: npt.NDArray[np.uint8]
    scale: npt.NDArray[np.float32]
    low: npt.NDArray[np.float32]
    begin: int
    end: int
    parameters: Mapping[str, Matrix]

    @property
    def dimensions(self) -> int:
        """Return those of an embedding: 512."""
        return self.parameters["d3"].shape[1]

    def __call__(
        self, texts: Sequence[Sequence[int]], *, threads: int = 1, advance: Callable[[int], None] = lambda done: None
    ) -> Matrix:
        """Return float32[texts, 512] of unit length, for texts as places of word pieces; those without any are zero."""
        embedded = np.zeros((len(texts), self.dimensions), np.float32)
        batches = list(_batches(texts, _SHARED))
        with ThreadPoolExecutor(threads) as pool:
            within = map if len(batches) == 1 else pool.map  # a query needs no other thread
            made = within(lambda batch: self._batch([texts[place] for place in batch]), batches)
            for batch, vectors in zip(batches, made, strict=True):
                embedded[batch] = vectors
                advance(len(batch))
        return embedded

    def of_spans(self, text: Sequence[int], spans: Sequence[slice]) -> Matrix:
        """Return float32[spans, 512] of unit length: embeddings of spans of a text, each of a piece at least.

        The convolutions read the text once: at its ends, a span knows what stands beside it.
        """
        placed, pieces = self._placed([text])
        states = self._states(placed, pieces)[_GAP:-_GAP]
        begin, inner, end = states[0], states[1:-1], states[-1]
        sums = np.stack([begin + inner[span].sum(axis=0) + end for span in spans])
        return self._of_sums(sums, np.array([len(inner[span]) + 2 for span in spans]))

    def _batch(self, texts: Sequence[Sequence[int]]) -> Matrix:
        """Return the embeddings of texts; what depends on a piece alone is computed once for all its places."""
        placed, pieces = self._placed(texts)
        parts = [self._texts([placed[n] for n in some], pieces) for some in _batches(placed, _AT_ONCE)]
        return np.concatenate(parts)

    def _placed(self, texts: Sequence[Sequence[int]]) -> tuple[list[list[int]], _OfPieces]:
        """Return texts between marks, as rows of the states of the pieces they have, and these."""
        used = np.unique(np.concatenate([*texts, [self.begin, self.end]]))
        place = {row: n for n, row in enumerate(used.tolist())}
        begin, end = place[self.begin], place[self.end]
        return [[begin, *(place[piece] for piece in text), end] for text in texts], self._of_pieces(used)

    def _of_pieces(self, rows: npt.NDArray[np.int64]) -> _OfPieces:
        """Return what the first layers make of pieces, wherever they stand."""
        own = self.parameters
        vectors = np.asarray(self.table[rows] * self.scale[rows, None] + self.low[rows, None], np.float32)
        projected = self._normed(vectors @ own["project"] + own["project_bias"], "norm_in")
        states = dict(zip(BRANCHES, np.split(_with_gap(projected), len(BRANCHES), axis=1), strict=True))
        seen = {width: [states[width] @ part for part in np.split(own[f"first_{width}"], width)] for width in BRANCHES}
        return _OfPieces(_with_gap(vectors), states, seen)

    def _texts(self, texts: Sequence[Sequence[int]], pieces: _OfPieces) -> Matrix:
        """Return the embeddings of texts that lie in one array, one after another, with gaps between them."""
        lengths = np.array([len(text) for text in texts])
        starts = np.cumsum(lengths + _GAP) - lengths
        return self._of_sums(np.add.reduceat(self._states(texts, pieces), starts, axis=0), lengths)

    def _states(self, texts: Sequence[Sequence[int]], pieces: _OfPieces) -> Matrix:
        """Return the last states of the pieces of texts one after another, a gap of zeros before each and behind the last."""
        gap = [len(pieces.vectors) - 1] * _GAP
        rows = np.array([row for text in texts for row in (*gap, *text)] + gap)
        inside = rows < gap[0]
        branches = (self._branch(width, rows, pieces, inside) for width in BRANCHES)
        states = self._normed(np.concatenate([pieces.vectors[rows], *branches], axis=1), "norm_out")
        states[~inside] = 0
        return states

    def _of_sums(self, sums: Matrix, lengths: npt.NDArray[np.intp]) -> Matrix:
        """Return float32[texts, 512]: embeddings, from the sums of the states of so many pieces."""
        means = (sums @ self.parameters["out"] + lengths[:, None] * self.parameters["out_bias"]) / np.sqrt(lengths)[:, None]
        return unit(self._deep(means.astype(np.float32)))

    def _branch(self, width: int, rows: npt.NDArray[np.int64], pieces: _OfPieces, inside: npt.NDArray[np.bool_]) -> Matrix:
        """Return float32[rows, 256]: two residual convolutions of one width."""
        own, around = self.parameters, (BRANCHES[width], width - 1 - BRANCHES[width])
        there = np.pad(rows, around, constant_values=len(pieces.vectors) - 1)
        seen = sum(part[there[shift : shift + len(rows)]] for shift, part in enumerate(pieces.seen[width]))
        states = pieces.states[width][rows] + np.maximum(seen + own[f"first_{width}_bias"], 0)
        states[~inside] = 0
        padded = np.pad(states, (around, (0, 0)))
        windows = np.concatenate([padded[shift : shift + len(rows)] for shift in range(width)], axis=1)
        states += np.maximum(windows @ own[f"second_{width}"] + own[f"second_{width}_bias"], 0)
        states[~inside] = 0
        return states

    def _normed(self, states: Matrix, name: str) -> Matrix:
        """Return states with mean 0 and deviation 1, scaled and shifted as learnt (layer normalisation)."""
        centred = states - states.mean(axis=1, keepdims=True)
        deviation = np.sqrt(np.einsum("ij,ij->i", centred, centred) / states.shape[1] + _EPSILON)[:, None]
        return centred / deviation * self.parameters[name] + self.parameters[f"{name}_shift"]

    def _deep(self, means: Matrix) -> Matrix:
        """Return float32[texts, 512]: the residual layers over the means of the texts."""
        own = self.parameters
        first = np.maximum(means @ own["p1"] + np.maximum(means @ own["d0"], 0) @ own["d1"], 0)
        return np.tanh(first @ own["p3"] + np.maximum(first @ own["d2"], 0) @ own["d3"])

    def save(self, folder: Path) -> None:
        """Write the network into a folder; parameters of layers as float16, which they are read from again."""
        np.save(folder / "table.npy", self.table)
        np.savez(folder / "rows.npz", scale=self.scale, low=self.low, marks=np.array([self.begin, self.end]))
        np.savez(folder / "layers.npz", allow_pickle=False, **{k: v.astype(np.float16) for k, v in self.parameters.items()})

    @classmethod
    def load(cls, folder: Path) -> "MuseNetwork":
        """Open what `save` wrote; the vectors stay memory-mapped."""
        with np.load(folder / "layers.npz") as stored:
            parameters = {name: stored[name].astype(np.float32) for name in stored.files}
        with np.load(folder / "rows.npz") as stored:
            scale, low, (begin, end) = stored["scale"], stored["low"], stored["marks"].tolist()
        return cls(np.load(folder / "table.npy", mmap_mode="r"), scale, low, begin, end, parameters)


def spans_of(parts: Sequence[Sequence[int]], text: Sequence[int]) -> list[slice | None]:
    """Return where the word pieces of parts stand in a text one after another; None of a part that does not, or has none.

    Args:
        parts: in the order in which they stand there.
    """
    spans: list[slice | None] = []
    after = 0
    for part in parts:
        starts = range(after, len(text) - len(part) + 1 if part else 0)
        start = next((start for start in starts if text[start : start + len(part)] == part), None)
        spans.append(None if start is None else slice(start, start + len(part)))
        after = after if start is None else start + len(part)
    return spans


def places_of(pieces: Unigram, texts: Sequence[str], limit: int) -> list[list[int]]:
    """Return the places of the first word pieces of texts, at most so many of each."""
    return [pieces.of_text(text[: _LONGEST_PIECE * limit], limit) for text in texts]


@dataclass(frozen=True, eq=False)
class MuseEncoder:
    """The network's embeddings along their principal axes over the articles, centred on the articles' mean, unit length.

    Attributes:
        mean: float32[512]; axes: float32[512, d].
        limit: word pieces of an article that are read; of a query 128 are.
    """

    pieces: Unigram
    network: MuseNetwork
    mean: npt.NDArray[np.float32]
    axes: Matrix
    limit: int

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: embeddings of queries; zero for a text that has no word piece."""
        return self._read(texts, _QUERY_PIECES)

    def encode_in(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: embeddings of a query and of parts of it.

        One pass reads all whose word pieces stand in the query one after another, where they stand.
        """
        pieces, *of_parts = places_of(self.pieces, [text, *parts], _QUERY_PIECES)
        spans = spans_of(of_parts, pieces)
        raw = np.zeros((1 + len(parts), self.network.dimensions), np.float32)
        if alone := [n for n, span in enumerate(spans) if span is None]:
            raw[[1 + n for n in alone]] = self.network([of_parts[n] for n in alone])
        if pieces:
            inside = [n for n, span in enumerate(spans) if span is not None]
            read = [slice(0, len(pieces)), *(span for span in spans if span is not None)]
            raw[[0, *(1 + n for n in inside)]] = self.network.of_spans(pieces, read)
        return self.along_axes(raw)

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: embeddings of articles, read to the limit."""
        return self._read(texts, self.limit)

    def raw(self, texts: Sequence[str], threads: int = 1) -> Matrix:
        """Return float32[texts, 512]: what the network gives queries of any of its languages, about no mean and along no axes."""
        return self.network(places_of(self.pieces, texts, _QUERY_PIECES), threads=threads)

    def _read(self, texts: Sequence[str], limit: int) -> Matrix:
        return self.along_axes(self.network(places_of(self.pieces, texts, limit)))

    def along_axes(self, raw: Matrix) -> Matrix:
        """Return float32[texts, d]: what the network gave, float32[texts, 512], as the encoder gives it."""
        return unit(np.where(raw.any(axis=1, keepdims=True), (raw - self.mean) @ self.axes, np.float32(0)))

    def save(self, folder: Path) -> None:
        """Write the encoder into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        stored = {"pieces": self.pieces.pieces, "scores": self.pieces.scores, "limit": self.limit}
        (folder / "muse.json").write_text(json.dumps(stored, ensure_ascii=False), "utf-8")
        np.savez(folder / "axes.npz", mean=self.mean, axes=self.axes)
        self.network.save(folder)

    @classmethod
    def load(cls, folder: Path) -> "MuseEncoder":
        """Open what `save` wrote."""
        stored = json.loads((folder / "muse.json").read_text("utf-8"))
        with np.load(folder / "axes.npz") as axes:
            mean, along = axes["mean"], axes["axes"]
        return cls(Unigram(stored["pieces"], stored["scores"]), MuseNetwork.load(folder), mean, along, stored["limit"])
