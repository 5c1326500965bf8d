"""Analysed words of articles, and documents of sections."""

from collections.abc import Iterator, Sequence
from itertools import chain

from runtime.progress import Progress, silent
from search.corpus.corpus import Corpus, CorpusText
from search.text.analysis import analyzer
from search.text.options import HEADING_WEIGHT


def tokenised(corpus: Corpus, text: CorpusText, progress: Progress = silent) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of every article (headings above it, number, text), and of the headings above it alone."""
    headings: dict[int, list[str]] = {}
    words: list[list[str]] = []
    above: list[list[str]] = []
    with progress("analysis", len(corpus.articles)) as advance:
        for position in range(len(corpus.articles)):
            analyse = analyzer(text.languages[corpus.article_act[position]]).tokens
            parent = int(corpus.article_parent[position])
            if parent not in headings:
                headings[parent] = list(chain.from_iterable(map(analyse, text.path(corpus, parent))))
            own = chain(analyse(text.numbers[position]), analyse(text.texts[position]))
            words.append([*headings[parent], *own])
            above.append(headings[parent])
            if position % 1000 == 999:
                advance(1000)
    return words, above


def group_documents(corpus: Corpus, words: Sequence[list[str]], above: Sequence[list[str]]) -> Iterator[list[str]]:
    """Yield one document a group of articles (those of one parent): the headings, weighted, and all their words."""
    members: list[list[int]] = [[] for _ in range(int(corpus.group.max(initial=-1)) + 1)]
    for position, group in enumerate(corpus.group.tolist()):
        members[group].append(position)
    for positions in members:
        headings = above[positions[0]]
        yield headings * HEADING_WEIGHT + [w for p in positions for w in words[p][len(headings) :]]
