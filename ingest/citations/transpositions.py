"""Directives that an act transposes, and acts that it amends or repeals, as its title and preamble say.

A directive that a title names only because another directive amends it, or because an act that is amended was made for
it, is transposed by this act at most in part: it is found too, less sure and with its basis, so that who reads may choose.
"""

import re
from dataclasses import dataclass
from typing import Literal

from citations.act_names import act_names_at
from citations.eu_names import eu_names_at

Basis = Literal["transposition", "application", "amended directive", "other act", "named"]
Change = Literal["amends", "repeals"]

CONFIDENCE: dict[Basis, float] = {
    "transposition": 0.98,
    "application": 0.9,
    "amended directive": 0.5,
    "named": 0.4,
    "other act": 0.3,
}
"""How sure it is that an act transposes a directive, by the words that name it.

What transposes a directive that amends another changes how that other is transposed, though not by itself.
"""

# The numbers of a list may stand far behind their noun: "directives 93/13/CEE du … concernant … et 85/577/CEE du …".
_NAME = re.compile(
    r"(?<!\w)(?P<noun>directives?|d[ée]cisions?(?:-cadres?)?|r[eè]glements?|recommandations?)\b"
    r"|(?<![\w/])(?P<number>(?:19|20)?\d\d/\d{1,4}(?=\s?/?\s?(?:CEE|CE|UE|Euratom)\b))",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"(?P<noun>directive)s?(?:[-\s]cadre)?(?:\s(?:du\sConseil|n\s?[°ºo˚]))*\s(?P<number>\d{2,4}/\d{1,4})(?=\s?/?\s?(?:CEE|CE|UE|Euratom)?\b)",
    re.IGNORECASE,
)
_TRANSPOSES = re.compile(r"\btranspos(?:ant|er|ition|ée?s?|e)\b", re.IGNORECASE)
_APPLIES = re.compile(
    r"\b(?:portant|en|vue|fins|pour|concernant)\s(?:de\s|d['’]\s?|la\s|l['’]\s?|\d°?\.?\s)*(?:application|exécution|mise\sen\s(?:œuvre|oeuvre)|adaptation)\b"
    r"|\b(?:appliquant|exécutant|adaptant|mettant\sen\s(?:œuvre|oeuvre))\b",
    re.IGNORECASE,
)
_CHANGES_IT = re.compile(
    r"\b(?:modifi(?:ant|ée?s?)|abroge(?:ant|ées?)|abrogé|remplaçant|complétant|rectifiant|amendant|codifi(?:ant|ées?)|telles?\sque|qui\scomplète|qui\smodifie)\b",
    re.IGNORECASE,
)
# The words stand in the title of an act that this one changes: right behind its date, or as one of its participles.
_DATE = r"\bdu\s\d{1,2}(?:er)?\s\w{3,9}\s\d{4}"
_OF_ANOTHER = re.compile(
    rf"(?:loi|règlement|arrêté)s?\b[^;:]{{0,60}}?{_DATE}(?:\sportant(?:\s\d\S?)?\s?$|[^;:]{{0,200}}$)", re.IGNORECASE
)
_AT_ONCE = re.compile(rf"{_DATE}\s(?:portant(?:\s\d[.°)]?)?\s)?$", re.IGNORECASE)
_AMENDS_OR_REPEALS = re.compile(
    r"(?P<amends>modifi(?:ant|cations?)|complétant|amendant|changeant)|(?P<repeals>abroge(?:ant|ations?)|abrogations?)",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"(?:[;:,–]|\s-\s|\b[\da-z]{1,2}[°.)]|\bet)\s?(?:\(?[\da-z]{1,2}[°.)]\s?)?(?:et\s)?(?:de\s|du\s)?(?:l[ae]s?\s|l['’])?$"
)
_PARTS = re.compile(r"[^;]{0,100}?(?:^|[\s'’])(?:de\s|du\s|des\s|à\s)?(?:la\s|le\s|les\s|l['’])?")


@dataclass(frozen=True, slots=True)
class Transposition:
    """A directive that a text names: its CELEX number, the words that say why with their range, and how sure that is."""

    celex: str
    basis: Basis
    evidence: str
    start: int
    end: int

    @property
    def confidence(self) -> float:
        """The certainty that the act transposes the directive, from 0 to 1."""
        return CONFIDENCE[self.basis]


@dataclass(frozen=True, slots=True)
class Amendment:
    """An act that a title changes, by its name (`citations.act_names`)."""

    change: Change
    act: str
    evidence: str


def find_transpositions(text: str) -> list[Transposition]:
    """Return the directives that a title or a preamble names, each once, by the surest words.

    >>> [found.celex for found in find_transpositions("Loi portant transposition de la directive 2016/680/UE")]
    ['32016L0680']
    """
    best: dict[str, Transposition] = {}
    basis: Basis = "named"
    strong: Basis = "named"
    cue = end = 0
    for celex, start, stop in _directives(text):
        between = text[end:start]
        cued, at = _cue(between)
        item = between[between.rfind(";") + 1 :] if ";" in between else ""
        if cued:
            cue = end + at
            basis = strong = "other act" if _is_of_another(text, cue) else cued
            if _IN_REGULATION.search(between, at):
                basis = "amended directive"
        elif end and _CHANGES_IT.search(item or between):
            basis = "amended directive"
        elif item:  # the next of a list of what is transposed, unless it is about an act
            basis = "named" if _NATIONAL.search(item) else strong
        transposition = Transposition(celex, basis, text[cue:stop], start, stop)
        if celex not in best or transposition.confidence > best[celex].confidence:
            best[celex] = transposition
        end = stop
    return sorted(best.values(), key=lambda transposition: transposition.start)


_IN_REGULATION = re.compile(rf"règlements?\b.{{0,40}}\d/\d.*?(?:{_CHANGES_IT.pattern})", re.IGNORECASE | re.DOTALL)
_NATIONAL = re.compile(r"\b(?:loi|code|arrêté|règlement grand-ducal)\b", re.IGNORECASE)


def _cue(words: str) -> tuple[Basis | None, int]:
    """The words of transposition or application that stand last, with their place."""
    transposes = [match.start() for match in _TRANSPOSES.finditer(words)]
    if transposes:
        return "transposition", transposes[-1]
    applies = [match.start() for match in _APPLIES.finditer(words)]
    return ("application", applies[-1]) if applies else (None, 0)


def _is_of_another(text: str, cue: int) -> bool:
    """True where words of transposition stand in the title of an act that this one changes."""
    before = text[max(0, cue - 300) : cue]
    if len(re.findall(_DATE, text[:cue])) < 2:
        return False  # the only date is that of the act itself
    if _AT_ONCE.search(before):
        return True
    return text[cue : cue + 11].lower() == "transposant" and _OF_ANOTHER.search(before) is not None


def _directives(text: str) -> list[tuple[str, int, int]]:
    """The directives named in a text: CELEX number and range of the words."""
    directives: list[tuple[str, int, int]] = []
    noun, at = "", 0
    for name in _NAME.finditer(text):
        if name.start() < at:
            continue
        if name["number"]:
            if noun == "directive":
                celex = _celex(name["number"])
                directives += [(celex, name.start(), name.end())] if celex else []
            continue
        noun = name["noun"].lower().rstrip("s")
        for one in eu_names_at(text, name.start()):
            at = one.end
            if one.celex[5] == "L":
                directives.append((one.celex, one.start, one.end))
        loose = _LOOSE.match(text, name.start()) if at <= name.start() else None
        if loose and (celex := _celex(loose["number"])):
            directives.append((celex, loose.start(), loose.end()))
            at = loose.end()
    return directives


def _celex(number: str) -> str:
    names = eu_names_at(f"directive {number}/CE", 0)
    return names[0].celex if names else ""


def find_amendments(title: str, jurisdiction: str) -> list[Amendment]:
    """Return the acts that a title says are amended or repealed, in its order.

    An act named inside the title of another ("la loi … portant exécution de la loi …") is not counted.
    """
    amendments: list[Amendment] = []
    change: Change | None = None
    cue = end = 0
    is_first = False
    for match in _TITLE_PLACES.finditer(title):
        if match.start() < end:
            continue
        if match.lastgroup != "act":
            word = _AMENDS_OR_REPEALS.match(title, match.start())
            change, cue = ("amends" if word and word["amends"] else "repeals"), match.start()
            end, is_first = match.end(), True
            continue
        names = act_names_at(title, match.start(), jurisdiction)
        before = title[end : match.start()]
        if change and names and (_ITEM.search(before) or (is_first and _PARTS.fullmatch(before))):
            amendments += [Amendment(change, name.name, title[cue : name.end]) for name in names]
        if names:
            end, is_first = names[-1].end, False
    return amendments


_TITLE_PLACES = re.compile(
    r"(?<!\w)(?:(?P<change>modifi(?:ant|cations?)|complétant|amendant|changeant|abrogeant|abrogations?)\b"
    r"|(?P<act>lois?|règlements?|arrêtés?|codes?|décrets?|ordonnances?)\b)",
    re.IGNORECASE,
)
