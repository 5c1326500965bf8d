"""Citations inlined: the cited before the citing, circles cut and counted, texts no longer than is read."""

from dataclasses import replace

import numpy as np
import pytest

from gnn.fine_tuning.inlining import inlined
from search.corpus.corpus import Corpus, CorpusText

_TEXTS = ["a", "b", "c", "d"]


def with_citations(law: tuple[Corpus, CorpusText], *pairs: tuple[int, int]) -> Corpus:
    """The corpus with citations (citing, cited) of its first articles alone."""
    return replace(law[0], cites=np.array(pairs, np.int32).reshape(-1, 2))


@pytest.mark.parametrize(
    ("pairs", "texts", "citations", "cut"),
    [
        ([], ["a", "b", "c", "d"], 0, 0),
        ([(0, 1), (1, 2), (0, 3)], ["a b c d", "b c", "c", "d"], 3, 0),
        ([(3, 0), (0, 1)], ["a b", "b", "c", "d a b"], 2, 0),
        ([(0, 1), (1, 0)], ["a b", "b", "c", "d"], 1, 1),
        ([(0, 1), (1, 2), (2, 0), (3, 2)], ["a b c", "b c", "c", "d c"], 3, 1),
        ([(2, 2)], ["a", "b", "c", "d"], 0, 0),
    ],
)
def test_what_is_cited_stands_behind(
    law: tuple[Corpus, CorpusText], pairs: list[tuple[int, int]], texts: list[str], citations: int, cut: int
) -> None:
    found = inlined(with_citations(law, *pairs), _TEXTS, 100)
    assert (found.texts, found.citations, found.cut) == (texts, citations, cut)


def test_a_text_ends_where_nobody_reads_on(law: tuple[Corpus, CorpusText]) -> None:
    texts = ["a" * 4, "b" * 4, "c" * 4, "d" * 9]
    found = inlined(with_citations(law, (0, 1), (1, 2), (3, 2)), texts, 8)
    assert found.texts == ["aaaa bbb", "bbbb ccc", "cccc", "dddddddd"]


def test_a_long_chain_is_walked_without_recursion(law: tuple[Corpus, CorpusText]) -> None:
    n = 5000
    corpus = with_citations(law, *((i, i + 1) for i in range(n - 1)))
    assert inlined(corpus, ["x"] * n, 9).texts[0] == "x x x x x"
