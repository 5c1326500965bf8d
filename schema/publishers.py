"""Addresses of law at its publisher: Légifrance, EUR-Lex, Legilux and whoever else gives an ELI.

An address is given where the publisher's own identifier makes it certain, else None.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

_LEGIFRANCE = "https://www.legifrance.gouv.fr"
_EUR_LEX = "https://eur-lex.europa.eu/legal-content/{language}/TXT/?uri=CELEX:{celex}"
_FRENCH = re.compile(r"(LEGITEXT|JORFTEXT|LEGISCTA|LEGIARTI|JORFARTI)\d{12}")
_CELEX = re.compile(r"\d{5}[A-Z]{1,2}\d{4}[\w()-]*")
_ADDRESS = re.compile(r"https?://[^\s]+")
_LANGUAGE = re.compile("bg|cs|da|de|el|en|es|et|fi|fr|ga|hr|hu|it|lt|lv|mt|nl|pl|pt|ro|sk|sl|sv")

Row = Mapping[str, Any]


def act_url(act: Row) -> str | None:
    """Return the address of an act, from its properties.

    >>> act_url({"source_id": "LEGITEXT000006072050", "kind": "code"})
    'https://www.legifrance.gouv.fr/codes/texte_lc/LEGITEXT000006072050'
    """
    source_id, eli = act.get("source_id") or "", act.get("eli") or ""
    match _french(source_id):
        case "LEGITEXT":
            return f"{_LEGIFRANCE}/codes/texte_lc/{source_id}" if _is_code(act) else f"{_LEGIFRANCE}/loda/id/{source_id}"
        case "JORFTEXT":
            return f"{_LEGIFRANCE}/jorf/id/{source_id}"
        case _:
            return _eur_lex(act.get("celex") or "", act.get("language") or "") or (eli if _ADDRESS.fullmatch(eli) else None)


def section_url(act: Row, source_id: str | None) -> str | None:
    """Return the address of a section by the publisher's identifier of it."""
    in_code = _french(source_id) == "LEGISCTA" and _french(act.get("source_id")) == "LEGITEXT" and _is_code(act)
    return f"{_LEGIFRANCE}/codes/section_lc/{act['source_id']}/{source_id}" if in_code else None


def wording_url(act: Row, source_id: str | None) -> str | None:
    """Return the address of one wording of an article by the publisher's identifier of it."""
    match _french(source_id):
        case "LEGIARTI":
            return f"{_LEGIFRANCE}/{'codes' if _is_code(act) else 'loda'}/article_lc/{source_id}"
        case "JORFARTI":
            return f"{_LEGIFRANCE}/jorf/article_jo/{source_id}"
        case _:
            return None


def article_url(act: Row, article: Row, other_wordings: Collection[Row]) -> str | None:
    """Return the address of the present wording of an article."""
    return wording_url(act, present_id(article, other_wordings))


def present_id(article: Row, other_wordings: Collection[Row]) -> str | None:
    """Return the publisher's identifier of the present wording of an article.

    The permanent identifier is often that of the first wording, which the publisher then shows.
    """
    others = {wording["source_id"] for wording in other_wordings}
    own = [id for id in article.get("source_ids") or () if id not in others]
    present = [id for id in own if id != article.get("source_id")] or own
    return present[0] if len(present) == 1 else article.get("source_id")


def outside_url(target: str) -> str | None:
    """Return the address of what a citation names outside the graph: by its CELEX number, or where it is an address itself.

    >>> outside_url("eu/32016L0680#5")
    'https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:32016L0680'
    """
    name = target.partition("#")[0]
    if name.startswith("eu/"):
        return _eur_lex(name.split("/")[1], "")
    if _french(name) in ("JORFTEXT", "JORFARTI"):
        return act_url({"source_id": name}) or wording_url({}, name)
    return target if _ADDRESS.fullmatch(target) else None


def _french(source_id: str | None) -> str:
    """Return the kind of a Légifrance identifier, "" of any other."""
    found = _FRENCH.fullmatch(source_id or "")
    return found[1] if found else ""


def _is_code(act: Row) -> bool:
    return act.get("kind") == "code"


def _eur_lex(celex: str, language: str) -> str | None:
    if not _CELEX.fullmatch(celex):
        return None
    return _EUR_LEX.format(language=(language if _LANGUAGE.fullmatch(language) else "en").upper(), celex=celex)
