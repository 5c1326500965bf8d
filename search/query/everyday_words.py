"""Everyday words of French, in the words of its law.

A rare word weighs most in a ranking: "mon patron ne me paie pas" found the masters of ships: the law calls no one else so.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from search.text.vocabulary import words_of

_LANGUAGE = "fr"
_AT_SEA = r"navires?|bateaux?|bord|équipages?|marins?|maritimes?|pêche\w*|pêcheurs?|pilot\w*"
_MONEY = r"(?:argent|comptes?|sommes?|salaires?|euros?|banques?|bancaires?)"
_OF_MONEY = rf"vir(?:er|ée?s?)\s+(?:\S+\s+){{0,2}}{_MONEY}|{_MONEY}\s+(?:\S+\s+){{0,2}}virée?s?"
"""Beside these a word is meant as the law means it: a master of a ship, a transfer of money."""


@dataclass(frozen=True, slots=True)
class _Everyday:
    """An expression and what the law says for it, unless another word shows that it is meant as the law means it."""

    said: re.Pattern[str]
    meant: str
    unless: re.Pattern[str] | None = None


def _everyday(said: str, meant: str, unless: str = "") -> _Everyday:
    words, others = (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE) for pattern in (said, unless))
    return _Everyday(words, meant, others if unless else None)


_EXPRESSIONS = (
    _everyday(
        r"(?:en\s+(?:allant|me\s+rendant|se\s+rendant)\s+(?:au|à\s+mon)|en\s+(?:rentrant|revenant)\s+(?:du|de\s+mon)|"
        r"sur\s+le\s+chemin\s+(?:du|de\s+mon))\s+(?:travail|boulot|taf)",
        "de trajet",
    ),
    _everyday(r"le\s+patron", "l'employeur", _AT_SEA),
    _everyday(r"du\s+patron", "de l'employeur", _AT_SEA),
    _everyday(r"au\s+patron", "à l'employeur", _AT_SEA),
    _everyday(r"patron", "employeur", _AT_SEA),
    _everyday(r"patrons", "employeurs", _AT_SEA),
    _everyday(r"(?:boulots?|tafs?)", "travail"),
    _everyday(r"virer", "licencier", _OF_MONEY),
    _everyday(r"virée?s?", "licencié", _OF_MONEY),
    _everyday(r"(?:travail\w*|emplois?)\s+au\s+noir", "travail dissimulé"),
    _everyday(r"(?:pay[ée]\w*|embauch\w+|employ\w+)\s+au\s+noir", "employé en travail dissimulé"),
    _everyday(r"cmu[\s-]*c(?:ompl[ée]mentaire)?", "protection complémentaire en matière de santé"),
    _everyday(r"cmu", "protection universelle maladie"),
    _everyday(r"heures?\s+supp?s?", "heures supplémentaires"),
    _everyday(r"cong[ée]s?\s+maladies?", "arrêt de travail pour maladie"),
    _everyday(r"proprios?", "propriétaire"),
    _everyday(r"toubibs?", "médecin"),
    _everyday(r"s[ée]cu", "sécurité sociale"),
)


def law_says(text: str, is_known: Callable[[str], bool]) -> bool:
    """Return whether the law has all words of a text, the smallest apart."""
    return all(is_known(word) for word in words_of([text]) if len(word) > 2)


def in_law(query: str, languages: Sequence[str], is_known: Callable[[str], bool]) -> str:
    """Return a query with its everyday expressions in the words of the law; what may be meant as the law means it stays.

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
        if one.unless and (one.said.fullmatch(query.strip()) or one.unless.search(query)):
            continue
        if one.said.search(meant) and law_says(one.meant, is_known):
            meant = one.said.sub(one.meant, meant)
    return meant
