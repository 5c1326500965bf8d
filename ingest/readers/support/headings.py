"""Headings of the law: the numbers of articles, and the rank of what stands above them."""

import re

from schema.identifiers import fold

_ORDINALS = r"bis|ter|quater|quinquies|sexies|septies|octies|nonies|novies|decies|undecies|duodecies|terdecies|quaterdecies"
NUMBER = re.compile(
    rf"""(?:(?:LO|[LRDAC])\s?\.?\s?\*{{0,2}}\s?(?=\d))?          # the letter of a part of a code
    (?:\d+(?:\s?er\b|ère\b|\s?°)?|[IVXLC]+(?:\s?er)?\b|[A-Z]\b|unique|premier|préliminaire|additionnel)
    (?:[.-]\d+[a-z]?)*(?:[a-z]{{1,2}}\b)?
    (?:[ -]?(?:{_ORDINALS})\b(?:[ -]?\d+\b)?)*
    (?:\s[A-Z]\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
_RANKS = (
    ("partie", "part", "parte", "teil"),
    ("livre", "book", "libro", "buch"),
    ("titre", "title", "titulo", "titolo", "titel"),
    ("sous-titre",),
    ("chapitre", "chapter", "capitulo", "capo", "kapitel"),
    ("section", "seccion", "sezione", "abschnitt"),
    ("sous-section", "subsection", "subseccion", "unterabschnitt"),
    ("paragraphe", "division"),
    ("sous-paragraphe",),
)
_RANK = {word: rank for rank, words in enumerate(_RANKS, 1) for word in words}
_WHOLE_ACT = frozenset({"annexe", "annexes", "annex", "anexo", "allegato", "anlage", "preambule"})
_LEADING = re.compile(
    r"^(?:(?:premi[eè]re?|deuxi[eè]me|seconde?|troisi[eè]me|quatri[eè]me)\s+)?([a-z]+(?:-[a-z]+)?)", re.IGNORECASE
)
ENUMERATED = len(_RANKS) + 1
"""Rank of a heading that begins with none of those words."""


def rank_of(heading: str) -> int:
    """Return the rank of a heading: 0 for what is not below any other, as an annex."""
    leading = _LEADING.match(_folded(heading))
    word = leading[1] if leading else ""
    if word in _WHOLE_ACT:
        return 0
    if word in _RANK:
        return _RANK[word]
    return ENUMERATED


def _folded(heading: str) -> str:
    return fold(heading[:80].lower()).replace("\u00a0", " ").strip()
