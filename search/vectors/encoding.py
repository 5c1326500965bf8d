"""The encoder of queries as a model serves it: texts, a text and parts of it, and that begun while its caller goes on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from search.arrays import BeginIn, Encode, EncodeIn, Matrix, embedded_apart


@dataclass(frozen=True, eq=False)
class Encoding:
    """Ways to embed queries.

    Attributes:
        encode: Texts to their embeddings, float32[texts, d].
        encode_in: A text and parts of it, which are read where they stand; None: each is read by itself.
        begin_in: The same, begun beside the caller; None where that would keep the caller from the processor.
    """

    encode: Encode
    encode_in: EncodeIn | None = None
    begin_in: BeginIn | None = None

    def embedded(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: embeddings of a text and of parts of it."""
        if not parts:
            return self.encode([text])
        return embedded_apart(self.encode, text, parts) if self.encode_in is None else self.encode_in(text, parts)

    def begin(self, text: str, parts: Sequence[str]) -> Callable[[], Matrix]:
        """Begin to embed a text and parts of it, where that can be done beside the caller; else it is done when called for."""
        return partial(self.embedded, text, parts) if self.begin_in is None else self.begin_in(text, parts)

    def through(self, tower: Callable[[Matrix], Matrix]) -> "Encoding":
        """Return the same with all embeddings put through a tower."""

        def encode(texts: Sequence[str]) -> Matrix:
            return tower(self.encode(texts))

        def encode_in(text: str, parts: Sequence[str]) -> Matrix:
            return tower(self.embedded(text, parts))

        def begin_in(text: str, parts: Sequence[str]) -> Callable[[], Matrix]:
            begun = self.begin(text, parts)
            return lambda: tower(begun())

        return Encoding(encode, self.encode_in and encode_in, self.begin_in and begin_in)
