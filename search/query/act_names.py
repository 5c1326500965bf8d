"""Acts as people name them: by identifier, title, short title or usual abbreviation, whatever the case and the accents.

Abbreviations are not listed but derived from titles: the initials of its telling words ("CSS", "CRPA"), their beginnings
("C. trav.", "C. séc. soc."), or the first of them ("code rural").
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz, process

from citations.act_names import CODE_TITLES, ActName, act_names_at, code_name, said_name
from citations.resolve import LawIndex
from schema.errors import BadQuery, NotFound
from schema.identifiers import fold
from schema.records import Act

_WORD = re.compile(r"[^\W_]+")
_SMALL_FRENCH = ("a", "à", "au", "aux", "avec", "d", "de", "des", "du", "en", "entre", "et", "l", "la", "le", "les", "ou", "par")
_SMALL_ENGLISH = ("and", "for", "in", "of", "on", "the", "to")
_SMALL_WORDS = frozenset((*_SMALL_FRENCH, "pour", "sur", "un", "une", *_SMALL_ENGLISH))
_LONGEST = 24
"""Words of a title that are looked for in a query."""
_CODE = ("code", "c")
"""What an abbreviated name of a code begins with."""
_SHORTEST_BEGINNING = 2
_USUAL = {
    "rgpd": "eu/32016R0679",
    "gdpr": "eu/32016R0679",
    "directive police justice": "eu/32016L0680",
    "law enforcement directive": "eu/32016L0680",
    "dsa": "eu/32022R2065",
    "dma": "eu/32022R1925",
    "ai act": "eu/32024R1689",
    "nis 2": "eu/32022L2555",
    "eidas": "eu/32014R0910",
}
"""Names in use that no title gives, and the acts that they stand for."""
_OR = "|"
"""Between the names of acts of which a query may mean each."""
_MOST_ALIKE = 10
_ENGLISH = {
    "labour code": "code du travail",
    "labor code": "code du travail",
    "social security code": "code de la sécurité sociale",
    "rural code": "code rural",
    "civil code": "code civil",
    "penal code": "code pénal",
    "criminal code": "code pénal",
    "commercial code": "code de commerce",
    "consumer code": "code de la consommation",
}
"""Names in English of French codes, and their titles."""
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: folded, in lower case, with its half-open range."""

    folded: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """An act that a query names: its name as citations have it, and the half-open range of the words."""

    name: str
    start: int
    end: int

    @property
    def as_name(self) -> ActName:
        """The mention as the citation parser takes it."""
        return ActName(self.name, self.start, self.end, "code")


def words_at(text: str) -> list[Word]:
    """Return the words of a text with their places."""
    return [Word(fold(match[0].lower()), *match.span()) for match in _WORD.finditer(text)]


def telling_words(text: str) -> Words:
    """Return the words of a name that count.

    >>> telling_words("Code de la Sécurité sociale")
    ('code', 'securite', 'sociale')
    """
    words = tuple(word.folded for word in words_at(text) if word.folded not in _SMALL_WORDS)
    return words or tuple(word.folded for word in words_at(text))


class ActNames:
    """The names of the acts of one law, and of French codes that it lacks, which a query may name all the same."""

    def __init__(self, acts: Sequence[Act], sections: Iterable[str] = ()) -> None:
        self._acts = {act.id: act for act in acts}
        self._section_ids = sections
        self._by_words: dict[Words, dict[str, None]] = defaultdict(dict)
        self._codes: dict[Words, str] = {}
        for act in acts:
            self._add(act)
        for title in CODE_TITLES:
            if (words := telling_words(title)) not in self._codes:
                self._add_code(words, f"fr:code:{code_name(title, 'fr')}")
        for name, title in _ENGLISH.items():
            self._by_words[telling_words(name)] |= self._by_words[telling_words(title)]
        for name, id in _USUAL.items():
            self._by_words[telling_words(name)].setdefault(id)
        # Few words of a query are such.
        self._first_words = frozenset(key[0] for key in self._by_words if key)

    def _add(self, act: Act) -> None:
        for name in filter(None, (act.id, act.title, act.short_title, act.celex, act.source_id, act.eli)):
            self._by_words[telling_words(name)].setdefault(act.id)
        title = telling_words(act.title)
        if title[:1] == ("code",) or act.kind == "code":
            self._add_code(title, act.id)

    def _add_code(self, title: Words, name: str) -> None:
        """Let a code answer to its title and to its initials."""
        self._codes[title] = name
        held = self._by_words[title]
        if not held:
            held[name] = None
        initials = "".join(word[0] for word in title)
        if len(initials) > 1:
            known = self._by_words[(initials,)]
            if not any(other in self._acts for other in known):  # the law at hand goes before what it lacks
                known[name] = None

    @cached_property
    def index(self) -> LawIndex:
        """The names that citations give to the acts, and the sections of each."""
        below: dict[str, list[str]] = defaultdict(list)
        for section in self._section_ids:
            below["/".join(section.split("/", 2)[:2])].append(section)
        index = LawIndex()
        for act in self._acts.values():
            index.add(act, (), below[act.id])
        return index

    def title(self, name: str) -> str:
        """Return what an act is called in a message, by its identifier or its name in citations."""
        act = self._acts.get(name)
        if act is not None:
            return act.title
        return name.removeprefix("eu/") if name.startswith("eu/") else said_name(name)

    def candidates(self, name: str) -> list[str]:
        """Return the acts of this law that a name may mean, those that it names in full before those it only begins."""
        words, every = telling_words(name), words_at(name)
        cited = [name, *(found.name for found in act_names_at(name, 0, "fr") if found.end == len(name))]
        begun = [code for used, code in self._beginning(every, name) if used == len(every)]
        held = [id for id, act in self._acts.items() if f" {' '.join(words)} " in f" {' '.join(telling_words(act.title))} "]
        for found in (self._by_words.get(words, ()), begun, cited, held if words else ()):
            acts = [id for one in found for id in self.acts_of(one)]
            if acts:
                return list(dict.fromkeys(acts))
        return []

    def acts_of(self, name: str) -> list[str]:
        """Return the acts of this law that a name of a `Mention` or of a citation means; several where it does not tell."""
        meant = [[one] if one in self._acts else self.index.acts_named(one) for one in name.split(_OR)]
        return [id for acts in meant for id in acts if id in self._acts]

    def resolve(self, name: str) -> str:
        """Return the identifier of the one act of this law that a name means.

        Raises:
            NotFound: none is called so; the message names those whose names are nearest.
            BadQuery: several are; the message names them.
        """
        if name in self._acts:
            return name
        found = self.candidates(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise BadQuery(f"several acts are called {name}: {', '.join(found[:5])}; give the identifier of one")
        raise NotFound(f"no such act: {name}{nearest_said(name, self._names())}")

    def titles(self) -> dict[str, str]:
        """Return the titles of the acts of this law by how they read in small letters without accents."""
        return {_plain(act.title): act.title for act in self._acts.values()}

    def _names(self) -> Iterator[str]:
        for act in self._acts.values():
            yield act.title
            yield act.id

    def mentions(self, text: str) -> list[Mention]:
        """Return the acts that a text names, in their order, the longest where several begin at one place."""
        words = words_at(text)
        found: list[Mention] = []
        at = 0
        while at < len(words):
            mention, after = self._mention(words, at, text)
            if mention is not None:
                found.append(mention)
            at = after
        return found

    def _mention(self, words: Sequence[Word], at: int, text: str) -> tuple[Mention | None, int]:
        if words[at].folded in _SMALL_WORDS:
            return None, at + 1
        furthest = min(len(words), at + _LONGEST) if words[at].folded in self._first_words else at
        for end in range(furthest, at, -1):
            if words[end - 1].folded in _SMALL_WORDS:
                continue
            key = tuple(word.folded for word in words[at:end] if word.folded not in _SMALL_WORDS)
            name = self._meant(key, text[words[at].start : words[end - 1].end])
            if name:
                return Mention(name, words[at].start, words[end - 1].end), end
        beginnings = self._beginning(words, text, at)
        if not beginnings:
            return None, at + 1
        length, name = beginnings[0]
        last = words[at + length - 1].end
        return Mention(name, words[at].start, last + (text[last : last + 1] == ".")), at + length

    def _meant(self, key: Words, written: str) -> str:
        """Return the act that words name, or all of them, "" for none; two letters name one only where they are capitals."""
        ids = self._by_words.get(key, {})
        if len(key) == 1 and (len(key[0]) < 3 and not written.isupper()):
            return ""
        return _OR.join(ids) if len(ids) <= _MOST_ALIKE else ""

    def _beginning(self, every: Sequence[Word], text: str, at: int = 0) -> list[tuple[int, str]]:
        """Return codes whose titles the words from a place on begin or abbreviate, with how many words do, best first."""
        if at >= len(every) or every[at].folded not in _CODE:
            return []
        words = every[at:]
        found: list[tuple[bool, int, bool, int, str]] = []
        for title, name in self._codes.items():
            used, matched = _abbreviates(words, title, text)
            if matched > 1:
                found.append((name not in self._acts, -matched, matched != len(title), used, name))
        if not found:
            return []
        found.sort(key=lambda each: (each[1], each[0], each[2]))
        best = [each for each in found if each[:3] == found[0][:3]]
        return [(used, name) for *_, used, name in best] if len(best) == 1 else []


def _abbreviates(words: Sequence[Word], title: Words, text: str) -> tuple[int, int]:
    """Return how many words of a text were used, and how many words of a title they stand for, from its first on."""
    used, matched = 1, 1
    last = 1
    while used < len(words) and matched < len(title):
        word = words[used]
        if word.folded in _SMALL_WORDS:
            used += 1
            continue
        cut = text[word.end : word.end + 1] == "." or words[0].folded == "c"
        begins = cut and len(word.folded) >= _SHORTEST_BEGINNING and title[matched].startswith(word.folded)
        if word.folded != title[matched] and not begins:
            break
        used, matched = used + 1, matched + 1
        last = used
    return last, matched


def nearest_said(name: str, choices: Iterable[str], most: int = 3) -> str:
    """Return "; nearest: …" with the choices most like a name, "" where there are none.

    >>> nearest_said("coed", ["code", "directive"], most=1)
    '; nearest: code'
    """
    found = process.extract(name, list(dict.fromkeys(choices)), scorer=fuzz.WRatio, processor=_plain, limit=most)
    return f"; nearest: {', '.join(choice for choice, _, _ in found)}" if found else ""


def _plain(name: str) -> str:
    return fold(name.lower())


def resolve_value(value: str | None, values: Iterable[str], what: str) -> str | None:
    """Return the one of the values that is written so, whatever the case and the accents.

    Raises:
        BadQuery: there is none; the message names the nearest.
    """
    if value is None:
        return None
    held = sorted(set(values))
    plain = {_plain(each): each for each in held}
    if value in held or _plain(value) in plain:
        return value if value in held else plain[_plain(value)]
    raise BadQuery(f"no such {what}: {value}{nearest_said(value, held)}")
