"""Passages: the text of an article below its headings, as a transformer reads it."""

from collections.abc import Sequence

from search.corpus.corpus import Corpus, CorpusText

_HEADINGS = 2
"""Headings above an article, the nearest ones, that a transformer reads before its text."""


def passage(corpus: Corpus, text: CorpusText, position: int) -> str:
    """Return an article as a transformer reads it: the last headings above it, then its text."""
    return passage_below(text.path(corpus, int(corpus.article_parent[position])), text.texts[position])


def passage_below(path: Sequence[str], text: str) -> str:
    """Return a text below a path of headings as a transformer reads it."""
    return " > ".join(path[-_HEADINGS:]) + " " + text
