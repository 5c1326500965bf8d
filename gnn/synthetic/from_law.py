"""Questions from the law itself: what an article is called, the headings above it, and sentences with a term left out.

Where no model writes questions (`gnn.synthetic.seq2seq`), these stand in for those of Louis et al., "Finding the Law", EACL 2023,
section 3.1. A sentence without its term is the query of an inverse cloze task (Lee et al., "Latent Retrieval for Weakly
Supervised Open Domain Question Answering", ACL 2019, section 4).
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from gnn.synthetic.made import Made
from runtime.progress import Progress, silent
from search.corpus.corpus import Corpus, CorpusText
from search.text.analysis import Analyzer, analyzer
from search.text.bm25 import Statistics

_HEADINGS = 2
"""Headings of a question, the nearest ones that say something."""
_SHORTEST = 4
"""Words of a sentence that is asked, those left out that the index has not."""
_LEVEL = r"(?:sous-)?(?:partie|livre|titre|chapitre|section|paragraphe|part|book|title|chapter|subsection|division)"
_LABEL = re.compile(rf"{_LEVEL}\s+\S+?(?:\s\S+)?\s*[:.–—-]\s+", re.IGNORECASE)
"""What numbers a heading and says nothing: "Chapitre Ier : "."""
_LABEL_ALONE = re.compile(rf"{_LEVEL}(?:\s+\S+){{0,2}}", re.IGNORECASE)
# "L.", "R.", "art." and "al." end no sentence.
_END = re.compile(r"(?<=[.!?;])(?<!\b[A-Z]\.)(?<!\bart\.)(?<!\bal\.)\s+|\n+")
_DEFINES = re.compile(
    r"\bon entend par\b|\bs'entend(?:ent)?\b|\bdésigne(?:nt)?\b|\bconstitue(?:nt)?\b|\bshall mean\b|\bmeans?\b"
    r"|\b(?:est|sont) (?:appelée?s?|considérée?s?|réputée?s?|dite?s?)\b",
    re.IGNORECASE,
)
_GAP = "…"


class FromTheLaw:
    """Makes questions of articles from the law alone (`gnn.synthetic.made.Asker`)."""

    def __init__(self, corpus: Corpus, text: CorpusText, per_article: int, progress: Progress = silent) -> None:
        """Count the articles that each word stands in; ``per_article`` questions are made of one at most."""
        self._corpus, self._text, self._most = corpus, text, per_article
        self._counted = Statistics.of(self._analysed(progress))

    def _analysed(self, progress: Progress) -> Iterator[list[str]]:
        with progress("words of articles", len(self._text.texts)) as advance:
            for position, own in enumerate(self._text.texts):
                yield self._analyzer(position).tokens(own)
                advance(1)

    def _analyzer(self, position: int) -> Analyzer:
        return analyzer(self._language(position))

    def _language(self, position: int) -> str:
        return self._text.languages[self._corpus.article_act[position]]

    def made(self, positions: Sequence[int]) -> list[list[Made]]:
        """Return what each article is called, the headings above it, then its sentences; as many as there may be."""
        return [list(dict.fromkeys(self._of_article(position)))[: self._most] for position in positions]

    def _of_article(self, position: int) -> Iterator[Made]:
        mark = " ?" if self._language(position) == "fr" else "?"
        if own := self._text.article_headings[position].strip(" .;:"):
            yield Made(own + mark)
        path = self._text.path(self._corpus, int(self._corpus.article_parent[position]))
        if named := [heading for heading in map(_named, path) if heading][-_HEADINGS:]:
            yield Made(" : ".join(named) + mark, of_section=True)
        analyse, text = self._analyzer(position), self._text.texts[position]
        term = self._most_particular(analyse, text)
        for sentence in _sentences(text):
            words = [token for token in analyse.analyse(sentence) if token.word == term]
            if words and len(analyse.tokens(sentence)) >= _SHORTEST:
                for _, start, end in reversed(words):
                    sentence = sentence[:start] + _GAP + sentence[end:]
                yield Made(sentence.strip(" .;:") + mark)

    def _most_particular(self, analyse: Analyzer, text: str) -> str:
        """Return the word of an article that stands there often and in few others; "" where it has none but numbers."""
        counts = Counter(word for word in analyse.tokens(text) if word.isalpha())
        others = self._counted.frequency
        weight = {word: count * math.log((self._counted.documents + 1) / others.get(word, 1)) for word, count in counts.items()}
        return max(weight, key=lambda word: weight[word], default="")


def _named(heading: str) -> str:
    """Return what a heading says behind its number; "" where it has a number alone."""
    heading = " ".join(heading.split())
    return "" if _LABEL_ALONE.fullmatch(heading) else _LABEL.sub("", heading, count=1).strip(" .;:")


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, those that define something first."""
    sentences = [" ".join(sentence.split()) for sentence in _END.split(text)]
    return sorted(filter(None, sentences), key=lambda sentence: _DEFINES.search(sentence) is None)
