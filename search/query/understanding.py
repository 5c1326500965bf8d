"""The reading of a query before it is searched: articles that it names, also in vain, and its words as they are meant."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from schema.errors import NotFound
from schema.filter import Filter
from schema.identifiers import fold
from search.corpus.corpus import Corpus, Mask
from search.query.acronyms import written_out
from search.query.act_names import ActNames, nearest_said, resolve_value
from search.query.article_numbers import ArticleNumbers
from search.query.citation import ANY_ACT, Cited, cited_in
from search.query.everyday_words import in_law
from search.query.foreign_language import foreign_language, is_small_word
from search.query.sentences import sentences
from search.query.spelling import Speller
from search.query.terms import Terms
from search.query.word_families import noun_of
from search.text.analysis import query_tokens
from search.text.index import TextIndex
from search.text.vocabulary import WORD, Vocabulary

MOST_NAMED = 1000
"""Articles that one query can name: no page reaches further."""
_HOME = "fr"
"""The jurisdiction whose acts a query is taken to name where the law at hand has it."""
_HOW_LONG = re.compile(r"\bcombien\s+de\s+temps\b", re.IGNORECASE)
"""It asks for a duration, of whatever the other words name; ranked by, it finds the articles on working time."""
_SAYS_SOMETHING = 2
"""Words of a sentence, small ones apart, from which it is asked by itself: greetings have fewer."""
_AROUND = " ,;?"
_FEW = 3
"""Most articles of other acts that are told to have a number which the act that is named lacks."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Words of a query that cite what the law lacks.

    Attributes:
        text: the words.
        act: title of the act that they name, or name; "" where they name none.
        nearest: identifiers of the articles that have the number in other acts, else of those whose numbers are nearest; none
            where the act itself is lacking.
        said: one sentence for a person.
    """

    text: str
    act: str
    nearest: tuple[str, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Understood:
    """A query as it is searched.

    Attributes:
        words: the text that is ranked by, "" where nothing is left to rank by.
        sentences: of these words, where there are several that say something.
        corrected: the query with its words as they are meant; None where it is searched as it stands.
        named: positions of the articles that it names, in its order.
        missing: what it names and the law lacks.
        language: ISO 639-1 code of the language that it is in, where that is clear and none of the law's.
        translated: what was ranked by in its own language, where ``words`` are terms of the law in its place; else "".
    """

    words: str
    corrected: str | None = None
    named: tuple[int, ...] = ()
    missing: tuple[Missing, ...] = ()
    language: str | None = None
    sentences: tuple[str, ...] = ()
    translated: str = ""

    def in_terms(self, terms: Terms) -> "Understood":
        """Return a query in another language in terms of the law.

        It stays as it is where none is near, and where it names articles: of these it asks, by words such as "say" and "code".
        """
        if not self.language or self.named or self.missing:
            return self
        said = terms.said(self.words, self.language)
        return replace(self, words=said, sentences=(), corrected=None, translated=self.words) if said else self

    def notes(self) -> list[str]:
        """Return what a person is told before the hits, a sentence each."""
        shown = [f"Showing results for “{self.corrected}”."] if self.corrected else []
        foreign = ["The query seems to be in another language than the law that is loaded."] if self.language else []
        told = [f"Searched in its terms: “{self.words}”."] if self.translated else []
        return [*shown, *foreign, *told, *dict.fromkeys(missing.said for missing in self.missing)]


class Understanding:
    """Understands queries and filters over one law, in memory; holds no state of queries."""

    def __init__(self, corpus: Corpus, vocabulary: Vocabulary, languages: Sequence[str]) -> None:
        self._corpus = corpus
        self._vocabulary = vocabulary
        self._languages = tuple(languages)
        self.speller = Speller(vocabulary.words, languages)
        held = set(corpus.jurisdictions) - {"eu"}
        self._jurisdiction = _HOME if _HOME in held or not held else min(held)

    @classmethod
    def of(cls, index: TextIndex) -> "Understanding":
        """Return the understanding of an index's law, one for all that search it: it knows its words once they are asked for."""
        understood = _OF_INDEX.get(index)
        if understood is None:
            understood = _OF_INDEX[index] = cls(index.corpus, index.vocabulary, index.languages)
        return understood

    @cached_property
    def names(self) -> ActNames:
        """The names of the acts."""
        return ActNames(self._vocabulary.acts, self._corpus.sections)

    @cached_property
    def numbers(self) -> ArticleNumbers:
        """The articles by their numbers."""
        return ArticleNumbers(self._corpus)

    def open(self) -> None:
        """Make now what the first queries would each make at the same time."""
        _ = self.names.index, self.numbers
        self.speller.is_known("")

    def filter(self, asked: Filter) -> Filter:
        """Return a filter by identifiers, where acts and sections were named as people name them.

        Raises:
            NotFound: it names no act or section; the message names the nearest.
            BadQuery: it names several acts, or a kind or jurisdiction that the law does not have.
        """
        corpus = self._corpus
        act = None if asked.act is None else self.names.resolve(asked.act.strip())
        return replace(
            asked,
            act=act,
            section=None if asked.section is None else self._section(asked.section.strip(), act),
            kind=resolve_value(asked.kind, corpus.kinds, "kind of act"),
            jurisdiction=resolve_value(asked.jurisdiction, corpus.jurisdictions, "jurisdiction"),
        )

    def _section(self, name: str, act: str | None) -> str:
        """Return the section of an identifier, of an act's name and the rest of one, or of words ("livre IV du code rural")."""
        if name in self._corpus.section_position:
            return name
        for at in (i for i, character in enumerate(name) if character == "/"):
            for found in self.names.candidates(name[:at]):
                if f"{found}{name[at:]}" in self._corpus.section_position:
                    return f"{found}{name[at:]}"
        if called := self.section_called(name, act):
            return called
        among = [id for id in self._corpus.sections if act is None or id.startswith(f"{act}/")]
        raise NotFound(f"no such section: {name}{nearest_said(name, among)}")

    def section_called(self, name: str, act: str | None = None) -> str | None:
        """Return the section that words cite ("livre IV du code rural"), of the act that they name, else of one; None for none.

        Raises:
            NotFound: they cite several.
        """
        for cited in cited_in(name, self.names, self._jurisdiction):
            acted, _, place = cited.target.partition("#")
            acts = ([act] if act else []) if acted == ANY_ACT else self.names.acts_of(acted)
            sections = [id for one in acts for id in self.names.index.sections_at(one, place)] if place.startswith("/") else []
            if len(sections) == 1:
                return sections[0]
            if sections:
                shown = ", ".join([*sections[:3], *(["…"] if len(sections) > 3 else [])])
                advice = "give the identifier of one, or name its parts"
                raise NotFound(f"{len(sections)} sections are called {name}: {shown}; {advice}")
        return None

    def understand(self, query: str, only: Filter = Filter(), mask: Mask | None = None) -> Understood:
        """Return what a query says.

        Args:
            query: as it was asked.
            only: the filter, by identifiers: its act is that of numbers for which the query names none.
            mask: bool[n], the articles that pass it; others are not named.
        """
        asked, query = query, self._in_law(query)
        cited = cited_in(query, self.names, self._jurisdiction) if any(c.isdigit() for c in query) or "artie" in query else []
        named: dict[int, None] = {}
        missing: list[Missing] = []
        lacking: list[Cited] = []
        for one in cited:
            found = self._named(one, only, query[one.start : one.end].strip())
            if isinstance(found, Missing) and one.is_apart:
                elsewhere = self._named(one.of_any_act(), only, found.text)
                found = found if isinstance(elsewhere, Missing) else elsewhere
            if isinstance(found, Missing):
                missing.append(found)
                lacking.append(one)
            else:
                named |= dict.fromkeys(p for p in found if mask is None or mask[p])
        named |= dict.fromkeys(p for p in self._tables(query, only) if mask is None or mask[p])
        language = foreign_language(asked, self._languages, self.speller.is_strange)
        # Who writes no accents leaves them out: embeddings know a word by its letters.
        spelt = self.speller.accented if fold(asked) == asked else str
        text, corrected = self._words(query, (cited, cited if lacking and not named else []), language, spelt)
        words = " ".join(text.split()).strip(_AROUND)
        if self._languages and not query_tokens(words, self._languages):
            words = ""  # signs and small words: vectors have a place for any text, and it would mean nothing
        meant = corrected if corrected != asked else None
        return Understood(words, meant, tuple(named)[:MOST_NAMED], tuple(missing), language, self._sentences(text))

    def _sentences(self, text: str) -> tuple[str, ...]:
        """Return the sentences of a text that say something, where there are several; "Que faire ?" says nothing."""
        found = [" ".join(sentence.split()).strip(_AROUND) for sentence in sentences(text)]
        if len(found) < 2:
            return ()
        # One that is short has its acronyms written out, though the whole query is too long for that.
        told = (written_out(sentence, self._languages, self.speller.is_known) for sentence in found)
        kept = tuple(sentence for sentence in told if len(query_tokens(sentence, self._languages)) >= _SAYS_SOMETHING)
        return kept if len(kept) > 1 else ()

    def meant(self, target: str) -> tuple[str, ...]:
        """Return the identifiers of what the key of a citation (`citations.find`) names; none where this law lacks it."""
        name, _, place = target.partition("#")
        acts = [name] if name in self._corpus.act_position else self.names.acts_of(name)
        if not place or not acts:
            return tuple(acts)
        if place.startswith("/"):
            return tuple(id for act in acts for id in self.names.index.sections_at(act, place))
        positions = self._in_articles([self._corpus.act_position[act] for act in acts], place)
        return tuple(self._corpus.articles[position] for position in positions)

    def _named(self, cited: Cited, only: Filter, text: str) -> list[int] | Missing:
        """Return the positions of what is cited in some words, or what is told of it where there is none."""
        name, _, place = cited.target.partition("#")
        is_any = name == ANY_ACT
        ids = ([] if only.act is None else [only.act]) if is_any else self.names.acts_of(name)
        if not is_any and not ids:
            title = self.names.title(name)
            shown = f"“{text}” ({title})" if name.startswith("eu/") else _capital(title)
            return Missing(text, title, (), f"{shown} is not in this law.")
        acts = [self._corpus.act_position[id] for id in ids] or None
        found = self._in_sections(ids, place) if place.startswith("/") else self._in_articles(acts, place)
        if found:
            return found
        title = " or ".join(self.names.title(id) for id in ids)
        where = f" in {title}" if title else ""
        if place.startswith("/"):
            return Missing(text, title, (), f"No such section{where}." if title else "No section is meant without its act.")
        first = place.partition("..")[0]
        shown = place.replace("..", " to ")
        elsewhere = self.numbers.find(place) if acts and not place.isdigit() else []  # each act has an article 5
        if 0 < len(elsewhere) <= _FEW:
            held = ", ".join(dict.fromkeys(self.names.title(self._act(position)) for position in elsewhere))
            return self._missing(text, title, elsewhere, f"No article {shown}{where}, but in {held}.")
        nearest = self.numbers.nearest(first, acts)
        near = ", ".join(self._label(position, with_act=acts is None or len(acts) > 1) for position in nearest)
        return self._missing(text, title, nearest, f"No article {shown}{where}{'; nearest: ' if near else '.'}{near}")

    def _tables(self, query: str, only: Filter) -> list[int]:
        """Return the positions of the tables that a query names, of the acts that it names, if any."""
        found = self.numbers.tables(query)
        named = {id for mention in self.names.mentions(query) for id in self.names.acts_of(mention.name)} if found else set()
        acts = {only.act} if only.act else named
        return [position for position in found if not acts or self._act(position) in acts]

    def _missing(self, text: str, title: str, nearest: Sequence[int], said: str) -> Missing:
        return Missing(text, title, tuple(self._corpus.articles[position] for position in nearest), said)

    def _in_articles(self, acts: list[int] | None, place: str) -> list[int]:
        first, _, last = place.partition("..")
        if not last:
            found = self.numbers.find(first, acts)
            low, _, high = first.partition("-")
            if found or not (low.isdigit() and high.isdigit() and int(low) < int(high)):
                return found
            first, last = low, high  # "articles 5-7"
        ends = self.numbers.find(first, acts) or self.numbers.find(last, acts)
        within = acts if acts is not None else dict.fromkeys(int(self._corpus.article_act[p]) for p in ends)
        return [position for act in within for position in self.numbers.between(first, last, act)]

    def _in_sections(self, acts: Sequence[str], place: str) -> list[int]:
        sections = [id for act in acts for id in self.names.index.sections_at(act, place)]
        masks = [self._corpus.below(self._corpus.section_position[id]) for id in sections]
        return np.flatnonzero(np.logical_or.reduce(masks)).tolist() if masks else []

    def _act(self, position: int) -> str:
        return self._corpus.acts[int(self._corpus.article_act[position])]

    def _label(self, position: int, *, with_act: bool) -> str:
        act = self._act(position)
        number = self._corpus.articles[position][len(act) + 1 :].partition("~")[0]
        return f"{number} ({self.names.title(act)})" if with_act else number

    def _in_law(self, query: str) -> str:
        """Return a query in the words of the law, before its own are taken for misspelt ones of that."""
        is_known = self.speller.is_known
        return in_law(written_out(query, self._languages, is_known), self._languages, is_known)

    def _words(
        self, query: str, cites: tuple[Sequence[Cited], Sequence[Cited]], language: str | None, spelt: Callable[[str], str]
    ) -> tuple[str, str]:
        """Return the text to rank by, and the query as it is meant.

        Args:
            cites: what it cites, and what of that is not ranked by.
            language: where it is another than the law's.
            spelt: gives a word of the law's language as the law spells it.
        """
        cited, without = cites
        ranked, meant = list(query), list(query)
        free = list(self._free(query, cited))
        # A query in another language is not misspelt in that of the law.
        is_foreign = language is not None or any(self.speller.is_foreign(query[start:end]) for start, end in free)
        for start, end in free:
            word = query[start:end]
            correction = None if is_foreign or _is_name(query, start, end) else self.speller.correction(word)
            title = self._abbreviated(word)
            # Beside other words an act's title would be what most articles of that act are found by.
            says_nothing = self.speller.is_foreign(word) or is_small_word(word, language)
            written = word if is_foreign or _is_name(query, start, end) else spelt(word)
            instead = (title if len(free) == 1 else "") if title else ("" if says_nothing else correction or written)
            noun = noun_of(instead, self._languages)
            if noun and self.speller.is_known(noun):  # "démissionner": the law says "démission"
                instead = f"{instead} {noun}"
            ranked[start:end] = [instead, *[""] * (end - start - 1)]
            if correction and not title:
                meant[start:end] = [correction, *[""] * (end - start - 1)]
        for one in without:
            ranked[one.start : one.end] = [" ", *[""] * (one.end - one.start - 1)]
        words = "".join(ranked)
        asked_of = _HOW_LONG.sub(" ", words)
        if asked_of != words and query_tokens(asked_of, self._languages):
            words = asked_of
        return words, "".join(meant)

    @staticmethod
    def _free(query: str, cited: Sequence[Cited]) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the words that are no part of a citation."""
        for word in WORD.finditer(query):
            if not any(one.start <= word.start() < one.end for one in cited):
                yield word.span()

    def _abbreviated(self, word: str) -> str:
        """Return the title of the act of this law that a word the law does not know stands for; "" for none."""
        if not 3 <= len(word) <= 8 or self.speller.is_known(word):
            return ""
        acts = [id for mention in self.names.mentions(word) for id in self.names.acts_of(mention.name)]
        return self.names.title(acts[0]) if len(acts) == 1 else ""


def _is_name(query: str, start: int, end: int) -> bool:
    """Return whether a word is a name or an abbreviation by its capitals, where not all the query is in capitals."""
    word = query[start:end]
    return word != word.lower() and not query.isupper() and (word[1:] != word[1:].lower() or query[:start].strip() != "")


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


_OF_INDEX: "WeakKeyDictionary[TextIndex, Understanding]" = WeakKeyDictionary()
"""What was understood of each index that is open; it goes with the index."""
