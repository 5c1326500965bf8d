"""Citations inlined: behind the text of an article stand the texts of what it cites, with what these cite behind them.

After JLGR (COLIEE 2025, Task 3): articles are gone through in topological order, the cited before the citing. Where citations
run in a circle, the one that closes it is cut.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from search.corpus.corpus import Corpus

_DONE, _OPEN = 2, 1


@dataclass(frozen=True, slots=True)
class Inlined:
    """Texts with those of the cited articles behind them, the number of citations inlined, and of those cut."""

    texts: list[str]
    citations: int
    cut: int


def inlined(corpus: Corpus, texts: Sequence[str], letters: int) -> Inlined:
    """Return the texts of a law's articles with their citations inlined, in the order of the cited.

    Args:
        letters: most of a text, where it ends: what stands behind is read by nobody, and circles of circles grow without end.
    """
    cited: list[list[int]] = [[] for _ in texts]
    for citing, other in corpus.cites.tolist():
        if citing != other:
            cited[citing].append(other)
    order, cut = _topological(cited)
    result = list(texts)
    inlined_citations = 0
    for article in order:
        kept = [other for other in cited[article] if (article, other) not in cut]
        inlined_citations += len(kept)
        parts = [texts[article][:letters]]
        room = letters - len(parts[0])
        for other in kept:
            if room <= 1:
                break
            parts.append(result[other][: room - 1])
            room -= len(parts[-1]) + 1
        result[article] = " ".join(parts)
    return Inlined(result, inlined_citations, len(cut))


def _topological(cited: Sequence[Sequence[int]]) -> tuple[list[int], set[tuple[int, int]]]:
    """Return all articles, the cited before the citing, and the citations that close a circle."""
    state = [0] * len(cited)
    order: list[int] = []
    cut: set[tuple[int, int]] = set()
    for start in range(len(cited)):
        if state[start]:
            continue
        state[start] = _OPEN
        path: list[tuple[int, Iterator[int]]] = [(start, iter(cited[start]))]
        while path:
            article, rest = path[-1]
            other = next(rest, None)
            if other is None:
                state[article] = _DONE
                order.append(article)
                path.pop()
            elif state[other] == _OPEN:
                cut.add((article, other))
            elif not state[other]:
                state[other] = _OPEN
                path.append((other, iter(cited[other])))
    return order, cut
