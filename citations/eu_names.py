"""Names of EU acts in running text, in French and English, and the CELEX number that each stands for.

Directives and decisions are named year first (``2016/680``, ``95/46/CE``), regulations number first until 2014
(``(CEE) n° 2913/92``) and year first since; decisions with "n°" are numbered as regulations were.
"""

import re
from dataclasses import dataclass

_LETTERS = {
    "directive": "L",
    "regulation": "R",
    "règlement": "R",
    "decision": "D",
    "décision": "D",
    "framework decision": "F",
    "décision-cadre": "F",
    "recommendation": "H",
    "recommandation": "H",
}
_BODY = r"(?:UE|CEE|CE|CECA|Euratom|EURATOM|JAI|PESC|EU|EEC|EC|ECSC|JHA|CFSP)\b"
_NUMBER = rf"""
    (?P<body>\(?{_BODY}(?:,\s?{_BODY})?\)?\s(?:modifiée?\s)?)?
    (?P<numbered>(?:n\s?[°ºo˚]s?|No|Nos|numéro)\.?\s?)?
    (?P<first>\d{{1,4}})/(?P<second>\d{{1,4}})(?!\d)
    (?P<tail>/{_BODY}(?:,\s?{_BODY})?|\s\({_BODY}\))?
"""
_KIND = r"(?:directive|r[eè]glement|décision-cadre|d[eé]cision|recommandation|framework\sdecision|regulation|recommendation)s?"
_MANNER = r"""
    \s(?:d['’]exécution|d['’]application|déléguée?s?|du\sParlement\seuropéen\set\sdu\sConseil|du\sConseil|de\sla\sCommission
    |communautaires?|européen(?:ne)?s?|modifiée?s?|précitée?s?|susvisée?s?|susmentionnée?s?)
"""
_FIRST = re.compile(rf"(?P<kind>{_KIND})(?:{_MANNER}){{0,3}}\s(?:[«“]\s?)?{_NUMBER}", re.VERBOSE | re.IGNORECASE)
_NEXT = re.compile(rf"(?:\s?,|\s(?:et|ou|and|or))(?:\s(?:et|ou|and|or|the|la|le|les|à|de|du|des)){{0,2}}\s{_NUMBER}", re.VERBOSE)
_OLDEST, _YEAR_FIRST = 1952, 2015


@dataclass(frozen=True, slots=True)
class EuName:
    """An EU act as a text names it: its CELEX number and the half-open range of the words."""

    celex: str
    start: int
    end: int


def eu_names_at(text: str, start: int) -> list[EuName]:
    """Return the EU acts named from a place on: one, or the members of a list behind one plural noun.

    >>> [name.celex for name in eu_names_at("directives 2003/90/CE et 2003/91/CE", 0)]
    ['32003L0090', '32003L0091']
    """
    match = _FIRST.match(text, start)
    if not match:
        return []
    kind = match["kind"].lower()
    plural = kind.endswith("s")
    letter = _LETTERS[" ".join(kind.rstrip("s").split()).replace("reglement", "règlement")]
    names: list[EuName] = []
    while match:
        celex = _celex(letter, match)
        if celex:
            names.append(EuName(celex, start, match.end()))
        match = _NEXT.match(text, match.end()) if plural and celex else None
        start = match.start("body") if match and match["body"] else match.start("first") if match else start
    return names


def _celex(letter: str, match: re.Match[str]) -> str:
    body = f"{match['body'] or ''}{match['tail'] or ''}"
    first, second = match["first"], match["second"]
    if not body and not (_year(first) and len(first) == 4) and not (letter == "R" and _year(second)):
        return ""
    if _is_number_first(letter, match, body):
        first, second = second, first
    year = _year(first)
    return f"3{year}{letter}{int(second):04d}" if year and int(second) else ""


def _is_number_first(letter: str, match: re.Match[str], body: str) -> bool:
    first, second = _year(match["first"]), _year(match["second"])
    if not first or not second:
        return not first
    if letter == "R":
        old = first < _YEAR_FIRST or len(match["first"]) < 4 or "C" in body.upper()
        return old or (bool(match["numbered"]) and second < _YEAR_FIRST and len(match["second"]) == 4)
    return letter == "D" and bool(match["numbered"])


def _year(digits: str) -> int:
    """The year that four or two digits stand for, or 0; two digits were in use until 1998."""
    year = int(digits) + (1900 if len(digits) == 2 else 0)
    return year if len(digits) in (2, 4) and _OLDEST <= year < 2100 else 0
