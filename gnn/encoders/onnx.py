"""A transformer as a query encoder: ONNX Runtime and a fast tokenizer, no torch."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from schema.errors import MissingExtra
from search.arrays import Matrix, embedded_apart, unit

MODEL_FILE, TOKENIZER_FILE, OPTIONS_FILE = "model.onnx", "tokenizer.json", "onnx.json"
EMBEDDING, STATES = "embedding", "states"
"""Outputs of a graph over texts: a vector of each, and the last state of each of its word pieces, where it gives them."""
_BATCH = 32
_WAIT_US = 12
"""Microseconds for which a thread waits in a loop for the next step of a run, before it lets others have its processor. On two
quiet cores a query of 67 word pieces takes 7.7 ms where it never waits so, 6.3 with 5, 5.5 with 12, 5.1 with 20 and 5.0 where
it waits until the run ends; with one core busy otherwise 9.1, 8.9, 8.3, 8.9 and 14.6. Two queries at a time fare no worse."""


class OnnxEncoder:
    """Mean-pooled, unit-length embeddings of texts, centred on the articles' mean where one is stored."""

    def __init__(self, folder: Path, threads: int = 2) -> None:
        """Open the encoder of a folder (`gnn.encoders.onnx_export.export_transformer`, or `save`).

        Raises:
            MissingExtra: ONNX Runtime or tokenizers is not installed.
        """
        options = json.loads((folder / OPTIONS_FILE).read_text("utf-8"))
        self.folder = folder
        self._prefix: dict[str, str] = options["prefix"]
        self._limits: dict[str, int] = options["max_tokens"]
        self._pad = int(options["pad_id"])
        self._session = opened(folder / MODEL_FILE, threads)
        self._gives_states = gives_states(self._session)
        self._tokenizer = tokenizer_of(folder / TOKENIZER_FILE)
        mean = folder / "mean.npy"
        self.mean = np.load(mean) if mean.exists() else None

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: centred embeddings of queries."""
        vectors = self.encode_raw(texts, "query")
        return vectors if self.mean is None else unit(vectors - self.mean)

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: centred embeddings of articles."""
        vectors = self.encode_raw(texts, "passage")
        return vectors if self.mean is None else unit(vectors - self.mean)

    def encode_in(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: centred embeddings of a query and of parts of it.

        One pass reads all that stand in the text word for word, up to the limit: a part is the mean of the states of its word
        pieces there. Others are read by themselves, as all are where the graph gives no states.
        """
        if not self._gives_states:
            return embedded_apart(self.encode, text, parts)
        (pieces,) = self._pieces([text], "query")
        inside = standing(np.array(pieces.offsets) - len(self._prefix["query"]), text, parts)
        whole, of_parts = pooled_in(self._session, pieces.ids, inside)
        vectors = np.concatenate([whole[None], unit(of_parts)])
        if alone := [n for n, within in enumerate(inside) if within is None]:
            vectors[[1 + n for n in alone]] = self.encode_raw([parts[n] for n in alone], "query")
        return vectors if self.mean is None else unit(vectors - self.mean)

    def encode_raw(self, texts: Sequence[str], kind: str, advance: Callable[[int], None] = lambda done: None) -> Matrix:
        """Return float32[texts, d]: embeddings before centring, of texts of one kind (query, passage)."""
        ids = [encoding.ids for encoding in self._pieces(texts, kind)]
        return embedded_in_batches(self._session, ids, self._pad, advance)

    def _pieces(self, texts: Sequence[str], kind: str) -> list[Any]:
        limit = self._limits[kind]
        self._tokenizer.enable_truncation(limit)
        return self._tokenizer.encode_batch([self._prefix[kind] + text[: 24 * limit] for text in texts])

    def save(self, folder: Path) -> None:
        """Copy the encoder into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in (MODEL_FILE, TOKENIZER_FILE, OPTIONS_FILE):
            shutil.copyfile(self.folder / name, folder / name)
        if self.mean is not None:
            np.save(folder / "mean.npy", self.mean)


def gives_states(session: Any) -> bool:
    """Return whether a graph over texts gives the state of each of their word pieces."""
    return any(output.name == STATES for output in session.get_outputs())


def pooled_in(
    session: Any, ids: Sequence[int], inside: Sequence[npt.NDArray[np.bool_] | None]
) -> tuple[npt.NDArray[np.float32], Matrix]:
    """Return float32[d], the embedding of a text, and float32[parts, d], the mean of the states of each part of it.

    Args:
        ids: word pieces of the text, marks and all.
        inside: those of each part, as `standing` gives them; where there are none its row is zero.
    """
    tokens = np.array([ids])
    whole, states = session.run([EMBEDDING, STATES], {"input_ids": tokens, "attention_mask": np.ones_like(tokens)})
    means = np.zeros((len(inside), whole.shape[1]), np.float32)
    for row, within in enumerate(inside):
        if within is not None:
            means[row] = states[0, within].mean(axis=0)
    return whole[0], means


def standing(offsets: npt.NDArray[np.int64], text: str, parts: Sequence[str]) -> list[npt.NDArray[np.bool_] | None]:
    """Return which word pieces of a text each part has, bool[pieces]; None of a part that does not stand in what was read.

    Args:
        offsets: int[pieces, 2], the characters where each begins and ends; those of marks end before the first.
        parts: in the order in which they stand there.
    """
    begins, ends = offsets.T
    found: list[npt.NDArray[np.bool_] | None] = []
    after = 0
    for part in parts:
        at = text.find(part, after)
        if at < 0 or not part or ends.max(initial=0) < at + len(part):
            found.append(None)
        else:
            after = at + len(part)
            found.append((begins < after) & (ends > at))
    return found


def opened(file: Path, threads: int) -> Any:
    """Return the session of an ONNX file.

    Raises:
        MissingExtra: ONNX Runtime is not installed.
    """
    try:
        import onnxruntime
    except ImportError:
        raise _missing() from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    options.add_session_config_entry("session.intra_op.spin_duration_us", str(_WAIT_US))
    options.add_session_config_entry("session.force_spinning_stop", "1")
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def tokenizer_of(file: Path) -> Any:
    """Return a fast tokenizer.

    Raises:
        MissingExtra: tokenizers is not installed.
    """
    try:
        import tokenizers
    except ImportError:
        raise _missing() from None
    return tokenizers.Tokenizer.from_file(str(file))


def _missing() -> MissingExtra:
    return MissingExtra("this model needs a transformer: pip install 'lexgraph[onnx]'")


def embedded_in_batches(session: Any, ids: Sequence[Sequence[int]], pad: int, advance: Callable[[int], None]) -> Matrix:
    """Return float32[texts, d]: the output of a graph for texts as word pieces, marks and all."""
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))  # short ones together: little padding
    vectors: Matrix | None = None
    for start in range(0, len(order), _BATCH):
        batch = order[start : start + _BATCH]
        longest = max(len(ids[i]) for i in batch)
        tokens = np.full((len(batch), longest), pad, np.int64)
        for row, i in enumerate(batch):
            tokens[row, : len(ids[i])] = ids[i]
        mask = np.zeros_like(tokens)
        for row, i in enumerate(batch):
            mask[row, : len(ids[i])] = 1
        out = np.asarray(session.run([EMBEDDING], {"input_ids": tokens, "attention_mask": mask})[0], np.float32)
        if vectors is None:
            vectors = np.empty((len(ids), out.shape[1]), np.float32)
        vectors[batch] = out
        advance(len(batch))
    return np.empty((0, 0), np.float32) if vectors is None else vectors
