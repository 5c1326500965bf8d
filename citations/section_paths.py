"""Chapters, titles and books by the way they are cited: "chapitre III du titre II du livre Ier"."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from citations.patterns import SECTION, SIDE, WITHIN
from schema.identifiers import fold, slug

Parts = tuple[str, ...]
"""The numbered parts of headings from the outermost inwards: ``("partie-1", "livre-2", "titre-3")``."""

_KINDS = {"part": "partie", "title": "titre", "chapter": "chapitre", "book": "livre", "subsection": "sous-section"}
_NUMERALS = """
    premier premiere ier 1er 1re; deuxieme second seconde; troisieme; quatrieme; cinquieme; sixieme; septieme; huitieme
"""
_WORDS = {word: n for n, words in enumerate(_NUMERALS.split(";"), 1) for word in words.split()}
_LONGEST_CHAIN = 9
_ROMAN = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_DECREES = "partie-reglementaire"
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


def ordinal(word: str) -> str:
    """Return a numeral in digits, whether it is written as a word, in Roman or in Arabic digits; else the word itself.

    >>> ordinal("III"), ordinal("Ier"), ordinal("première"), ordinal("6bis")
    ('3', '1', '1', '6bis')
    """
    word = fold(word.lower())
    if word in _WORDS:
        return str(_WORDS[word])
    if word and _ROMAN.fullmatch(word):
        values = [_VALUES[letter] for letter in word]
        return str(sum(-v if v < max(values[i:]) else v for i, v in enumerate(values)))
    return word


def part(kind: str, number: str) -> str:
    """Return one part in the form that is compared: "Livre", "Ier" gives "livre-1"."""
    kind = fold(kind.lower()).replace(" ", "-")
    return f"{_KINDS.get(kind, kind)}-{'-'.join(ordinal(word) for word in number.split())}"


def side_part(side: re.Match[str]) -> str:
    """Return the part that "partie législative", "partie réglementaire" name."""
    return f"partie-{'legislative' if side[1].startswith('l') else 'reglementaire'}"


def chain_of(text: str, section: re.Match[str]) -> list[tuple[str, int]]:
    """Return a section and those that it stands in, as a text names them from the inside out, each with its end.

    Args:
        section: a match of `patterns.SECTION`.
    """
    chain: list[tuple[str, int]] = []
    match: re.Match[str] | None = section
    while match and len(chain) < _LONGEST_CHAIN:
        chain.append((part(match["kind"], match["number"]) if match["kind"] else part("partie", match["nth"]), match.end()))
        within = WITHIN.match(text, match.end())
        side = SIDE.match(text, within.end()) if within else None
        if side:
            return [*chain, (side_part(side), side.end())]
        match = SECTION.match(text, within.end()) if within else None
    return chain


def _parts_of(section_id: str) -> Parts:
    """The parts of a section's identifier, without its act."""
    return tuple(_part_of_slug(step.split("~")[0]) for step in section_id.split("/")[2:])


def _part_of_slug(step: str) -> str:
    words = step.split("-")
    if len(words) > 1 and words[-1] == "partie":
        return f"partie-{ordinal('-'.join(words[:-1]))}"
    head = 2 if words[0] == "sous" else 1
    return part(" ".join(words[:head]), " ".join(words[head:])) if len(words) > head else step


class SectionPaths:
    """The sections of one act, found by the parts that a citation names."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._by_last: dict[str, list[tuple[Parts, str]]] = defaultdict(list)
        self._parts: dict[str, Parts] = {}
        for id in ids:
            parts = _parts_of(id)
            if parts:
                self._parts[id] = parts
                self._by_last[parts[-1]].append((parts, id))

    def find(self, cited: Parts, near: str = "") -> list[str]:
        """Return the sections that a citation may mean; those that share most of their way with ``near`` where it is given."""
        candidates = [(parts, id) for parts, id in self._by_last.get(cited[-1], ()) if _in_order(cited, parts)]
        place = self._parts.get(near, ())
        if len(candidates) > 1:
            shared = [_common(parts, place) for parts, _ in candidates]
            candidates = [c for c, common in zip(candidates, shared, strict=True) if common == max(shared)]
        if len(candidates) > 1 and not near:
            # Statute and decree are divided alike; who means the decree says so.
            candidates = [c for c in candidates if c[0][0] == "partie-legislative"] or candidates
        return [id for _, id in candidates]

    def enclosing(self, kind: str, around: Sequence[str]) -> str:
        """Return the innermost of the sections around a place that is a chapter, a title …, as ``kind`` says; or ""."""
        kind = fold(kind.lower()).replace(" ", "-")
        wanted = _KINDS.get(kind, kind) + "-"
        return next((id for id in reversed(around) if self._parts.get(id, ("",))[-1].startswith(wanted)), "")


def _in_order(cited: Parts, parts: Parts) -> bool:
    """True where an act has the parts in this order; "partie réglementaire" may go on ("- Décrets simples")."""
    steps = iter(parts)
    return all(any(step == wanted or (wanted == _DECREES and step.startswith(wanted)) for step in steps) for wanted in cited)


def _common(one: Parts, other: Parts) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def parts_of_key(words: str) -> Parts:
    """Return the parts in the key of a citation: "/livre-1/titre-2" gives ("livre-1", "titre-2")."""
    return tuple(slug(step) for step in words.strip("/").split("/"))
