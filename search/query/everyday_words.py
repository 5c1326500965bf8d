"""Everyday words of French, in the words of its law.

A rare word weighs most in a ranking: "mon patron ne me paie pas" found the masters of ships: the law calls no one else so.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from search.text.vocabulary import words_of

_LANGUAGE = "fr"
_AT_SEA = r"navires?|bateaux?|bords?|équipages?|marins?|maritimes?|pêch|pilot"
_OF_MONEY = r"argent|comptes?|sommes?|sous|salaires?|euros?|banques?|bancaires?"
"""Beginnings of words beside which a word is meant as the law means it: a master of a ship, a transfer of money."""


@dataclass(frozen=True, slots=True)
class _Everyday:
    """An expression and what the law says for it, unless another word shows that it is meant as the law means it."""

    said: re.Pattern[str]
    meant: str
    unless: re.Pattern[str] | None = None


def _everyday(said: str, meant: str, unless: str = "") -> _Everyday:
    return _Everyday(
        re.compile(rf"\b(?:{said})\b", re.IGNORECASE), meant, re.compile(rf"\b(?:{unless})", re.IGNORECASE) if unless else None
    )


_EXPRESSIONS = (
    _everyday(
        r"(?:en\s+(?:allant|me\s+rendant|se\s+rendant)\s+(?:au|à\s+mon)|en\s+(?:rentrant|revenant)\s+(?:du|de\s+mon)|"
        r"sur\s+le\s+chemin\s+(?:du|de\s+mon))\s+(?:travail|boulot|taf)",
        "de trajet",
    ),
    _everyday(r"patron", "employeur", _AT_SEA),
    _everyday(r"patrons", "employeurs", _AT_SEA),
    _everyday(r"(?:boulot|taf)", "travail"),
    _everyday(r"virer", "licencier", _OF_MONEY),
    _everyday(r"virée?", "licencié", _OF_MONEY),
    _everyday(r"heures\s+sup", "heures supplémentaires"),
    _everyday(r"congés?\s+(?:de\s+)?maladie", "arrêt maladie"),
    _everyday(r"proprio", "propriétaire"),
    _everyday(r"toubib", "médecin"),
    _everyday(r"sécu", "sécurité sociale"),
)


def in_law(query: str, languages: Sequence[str], is_known: Callable[[str], bool]) -> str:
    """Return a query with its everyday expressions in the words of the law; one that is nothing else stays as it is.

    Args:
        languages: of the law.
        is_known: tells the words that the law has; what it would be called by must be among them.

    >>> in_law("mon patron ne me paie pas", ("fr",), lambda word: True)
    'mon employeur ne me paie pas'
    >>> in_law("brevet du patron de navire", ("fr",), lambda word: True)
    'brevet du patron de navire'
    """
    if _LANGUAGE not in languages:
        return query
    meant = query
    for one in _EXPRESSIONS:
        if one.said.fullmatch(query.strip()) or (one.unless and one.unless.search(query)):
            continue
        if one.said.search(meant) and all(is_known(word) for word in words_of([one.meant]) if len(word) > 2):
            meant = one.said.sub(one.meant, meant)
    return meant
