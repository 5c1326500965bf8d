"""What the tree of the law gives to features: the passage of an article with its headings, and sums over sections."""

from search.corpus.corpus import Corpus, CorpusText

_HEADINGS = 2
"""How many of the headings above an article a transformer reads before its text."""


def passage(corpus: Corpus, text: CorpusText, position: int) -> str:
    """What a transformer reads of an article: the last headings above it, then its text."""
    path = text.path(corpus, int(corpus.article_parent[position]))
    return " > ".join(path[-_HEADINGS:]) + " " + text.texts[position]
