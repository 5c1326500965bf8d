"""Analysed words of articles, and documents of sections."""

from collections.abc import Iterator, Sequence
from itertools import chain

from runtime.progress import Progress, silent
from search.corpus.corpus import Corpus, CorpusText
from search.text.analysis import analyzer
from search.text.options import HEADING_WEIGHT


class HeadingWords:
    """Words of the headings above what stands in a section or an act, each analysed once."""

    def __init__(self, corpus: Corpus, text: CorpusText) -> None:
        self._corpus, self._text = corpus, text
        self._known: dict[int, list[str]] = {}

    def above(self, node: int) -> list[str]:
        """Return the words of the headings from the act's title down to a node (`Corpus.article_parent`), in order."""
        if node not in self._known:
            path = self._corpus.ancestors(node)
            analyse = analyzer(self._text.languages[-1 - path[0]]).tokens
            self._known[node] = list(chain.from_iterable(map(analyse, self._text.path(self._corpus, node))))
        return self._known[node]


def tokenised(corpus: Corpus, text: CorpusText, progress: Progress = silent) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of every article (headings above it, number, text), and of the headings above it alone."""
    headings = HeadingWords(corpus, text)
    words: list[list[str]] = []
    above: list[list[str]] = []
    with progress("analysis", len(corpus.articles)) as advance:
        for position, parent in enumerate(corpus.article_parent.tolist()):
            analyse = analyzer(text.languages[corpus.article_act[position]]).tokens
            own = chain(analyse(text.numbers[position]), analyse(text.texts[position]))
            words.append([*headings.above(parent), *own])
            above.append(headings.above(parent))
            if position % 1000 == 999:
                advance(1000)
    return words, above


def wording_words(corpus: Corpus, text: CorpusText) -> list[list[str]]:
    """Return the words of every other wording, number and text; none where its text is not known."""
    words: list[list[str]] = []
    for article, wording in zip(corpus.versions[:, 0].tolist(), text.wordings, strict=True):
        analyse = analyzer(text.languages[corpus.article_act[article]]).tokens
        words.append([*analyse(text.numbers[article]), *analyse(wording)] if wording else [])
    return words


def group_documents(corpus: Corpus, words: Sequence[list[str]], above: Sequence[list[str]]) -> Iterator[list[str]]:
    """Yield one document a group of articles (those of one parent): the headings, weighted, and all their words.

    They are in the order of `Corpus.group`; what is no longer part of the present law is left out where something is.
    """
    for parent in sorted(corpus.members):
        positions = corpus.present_members(parent)
        headings = above[positions[0]]
        yield headings * HEADING_WEIGHT + [w for p in positions for w in words[p][len(headings) :]]
