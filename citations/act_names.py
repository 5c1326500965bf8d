"""Names of acts: found in running text, and made of an act's own title, in one form, so that the two meet.

A name is ``jurisdiction:kind:rest``:

- ``fr:code:code du travail``: a code, by its title, folded and in lower case;
- ``fr:loi:78-17``: an act with a number; ``fr:loi:1978-01-06``: one by its date alone;
- ``lu:loi:1915-08-10:concernant-les-societes-commerciales``: one by its date and the words that follow it;
- ``lu:constitution``; and ``eu/32016L0680``, which is the act's identifier in the graph.
"""

import re
from dataclasses import dataclass

from citations.eu_names import eu_names_at
from schema.identifiers import fold, slug
from schema.records import Act

_CODES = """
    code civil; code pénal; code électoral; code minier; code forestier; code rural; code du travail maritime
    code rural et de la pêche maritime; code du travail; code de la sécurité sociale; code de la santé publique
    code des relations entre le public et l'administration; code de l'action sociale et des familles
    code de commerce; code général des impôts; code des assurances; code de l'environnement; code de l'éducation
    code général des collectivités territoriales; code monétaire et financier; code de la consommation
    code de la construction et de l'habitation; code de procédure civile; code de procédure pénale
    code des pensions militaires d'invalidité et des victimes de guerre; code de la mutualité; code de la famille
    code des pensions militaires d'invalidité et des victimes de la guerre; code des pensions militaires d'invalidité
    code de l'entrée et du séjour des étrangers et du droit d'asile; code des pensions civiles et militaires de retraite
    code des transports; code de l'urbanisme; code de l'expropriation pour cause d'utilité publique
    code de l'expropriation; code de l'organisation judiciaire; code de la propriété intellectuelle; code de la défense
    code de justice administrative; code de la sécurité intérieure; code des impositions sur les biens et services
    code des procédures civiles d'exécution; code du service national; code général de la fonction publique
    code général de la propriété des personnes publiques; code des marchés publics; code du sport
    code des postes et des communications électroniques; code des postes et télécommunications
    code des juridictions financières; code de la recherche; code de la commande publique; code pénitentiaire
    code de la route; code du patrimoine; code de l'énergie; code du tourisme; code de la voirie routière
    code des douanes; code des douanes de Mayotte; code de l'aviation civile; code de l'artisanat; code des communes
    code des communes de la Nouvelle-Calédonie; code du domaine de l'Etat; code du domaine de l'État
    code du cinéma et de l'image animée; code de la justice pénale des mineurs; code de justice militaire
    code de la famille et de l'aide sociale; code des ports maritimes; code du domaine public fluvial
    code du domaine public fluvial et de la navigation intérieure; code des instruments monétaires et des médailles
    code de la légion d'honneur et de la médaille militaire; code disciplinaire et pénal de la marine marchande
    code de la légion d'honneur, de la médaille militaire et de l'ordre national du Mérite
    code des pensions de retraite des marins français du commerce, de pêche ou de plaisance
    code de déontologie des architectes; code de la nationalité; code de la nationalité française
    code de l'enseignement technique; code de l'industrie cinématographique; code de la blanchisserie
    code local des assurances sociales; code de la pharmacie; code des caisses d'épargne; code du blé; code du vin
    code d'instruction criminelle; code des assurances sociales; code pénal militaire; code de procédure pénale militaire
    code communal; code de procédure judiciaire; code électoral; code des débits de boissons; code du commerce
    code des débits de boissons et des mesures contre l'alcoolisme; code général de la propriété
    livre des procédures fiscales
"""
_RENAMED = {
    "code rural": "code rural et de la peche maritime",
    "code du commerce": "code de commerce",
    "code de l'expropriation": "code de l'expropriation pour cause d'utilite publique",
    "code des pensions militaires d'invalidite": "code des pensions militaires d'invalidite et des victimes de guerre",
    "code des pensions militaires d'invalidite et des victimes de la guerre": (
        "code des pensions militaires d'invalidite et des victimes de guerre"
    ),
}
_RENAMED_LU = {
    "code des assurances sociales": "code de la securite sociale",
    "code d'instruction criminelle": "code de procedure penale",
}

CODE_TITLES = tuple(sorted({name.strip() for name in re.split(r"[;\n]", _CODES) if name.strip()}))
"""Titles of codes, in lower case, that are known whether or not the law at hand has them."""


def _code_pattern() -> str:
    names = sorted(CODE_TITLES, key=len, reverse=True)
    # A long name is one even where the blank behind it is missing; "code rural" may be the beginning of another word.
    patterns = [re.escape(name) + ("" if len(name) > _LONG_NAME else r"\b") for name in names]
    return "|".join(pattern.replace(r"\ ", r"\s").replace("'", "['’´]") for pattern in patterns)


_LONG_NAME = 20
_CODE = re.compile(
    rf"(?:nouveau\s)?(?:{_code_pattern()}|(?P<free>code\s(?:général\s)?(?:de\sla\s|de\sl['’´]|du\s|des\s|d['’´])"
    r"(?!bonnes?\b|conduite|déontologie|accès|présente?|même|pratiques?)\w{3,30}))(?P<state>\s\((?:nouveau|ancien)\))?",
    re.IGNORECASE,
)
_MONTH_NAMES = "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre"
_MONTHS: dict[str, int] = {name: month for month, name in enumerate(_MONTH_NAMES.split(), start=1)}
_ACCENTS = "décret arrêté règlement ministériel février août décembre"
_ACCENTED: dict[str, str] = {fold(word): word for word in _ACCENTS.split()}
_DAY = (
    r"(?P<day>(?!0+\s)[0-3]?\d)(?:\s?er)?\s(?P<month>janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[ûu]t|septembre|octobre|novembre"
    r"|d[ée]cembre)\s(?P<year>[12]\d{3})\b"
)
_SERIAL = r"\(?n\s?[°ºo˚]s?\s?(?P<serial>\d{2,4}\s?[-‑]\s?\d{1,5}|\d{4,6}(?!\s?/)|[A-Z]{1,4}[-\d]{2,12})\)?"
_SAID = r"modifiée?s?|précitée?s?|susvisée?s?|susmentionnée?s?|coordonnée?s?|susdite?s?|abrogée?s?|codifiée?s?"
_DATED = re.compile(
    rf"""
    (?P<kind>L\.(?=\s\d\d?(?:er)?\s[a-zéû]{{3,9}}\s\d{{4}}\b)|décrets?-lois?|lois?|décrets?|ordonnances?|arrêtés?|règlements?)(?!\w)
    (?P<manner>(?:\s(?:grand-ducal(?:e|es)?|grand-ducaux|royal|royaux|ministériels?|interministériels?|gouvernementaux
        |du\sGouvernement\sen\sconseil|organiques?|constitutionnelles?|spéciales?|électorale|générale|communale|d['’´]exécution
        |générale\sdes\simpôts|d['’]établissement|budgétaire|fondamentale|d['’]habilitation|hypothécaire|uniforme|de\sfinances(?:\srectificative)?
        |d['’´]orientation|de\sprogrammation|du\spays|cadre|{_SAID})\b){{0,4}})
    (?:\s{_SERIAL})?(?:\s(?:{_SAID})){{0,2}}
    (?:(?:,?\s(?:du|en\sdate\sdu|des)|(?<=L\.))\s{_DAY})?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BYNAMES = re.compile(
    r"communale|électorale|hypothécaire|budgétaire|établissement|générale\sdes\simpôts|habilitation", re.IGNORECASE
)
_ANOTHER = re.compile(
    r"(?:\s?,|\s(?:et|ou))(?:\s(?:et|ou|du|des|de|au|celle|celui)){0,3}\s"
    rf"(?:{_SERIAL}(?:\sdu\s{_DAY})?|{_DAY.replace('?P<', '?P<d')})",
    re.IGNORECASE,
)
_TITLE_WORDS = re.compile(
    rf"(?:\s(?:{_SAID}))?\s((?:concernant|relati(?:f|ve)s?|portant|sur|ayant|en\svue|de\smise|dite|tendant|contre|(?!avant|pendant|durant|devant|suivant)[a-zéèê]{{2,20}}ant)"
    r"\b(?:(?:\s|['’´-]|"
    r",\s(?!(?:ils?|elles?|l[ae]s?|l['’]|ce|cette|en|et|au?x?|à|dans|pour|sans|ainsi|par|une?|qui|dont|sous|tout|si|modifiée?)\b))"
    r"(?!(?:est|sont|telle?|ne|a\sété|ci-après)\b)(?:[\da-z][).]\s)?\w{1,40}){1,20})"
)
_FOREIGN = re.compile(
    r"\s(?:(?:belge|allemande?|française?|italienne|suisse|néerlandaise?|luxembourgeoise|anglaise|américaine|espagnole"
    r"|autrichienne)\b|du\spays\b)"
)
_CONSTITUTION = re.compile(r"constitution\b(?!\s(?:d|de|des|du)\b)(?:\sdu\s4\soctobre\s1958)?", re.IGNORECASE)
_STOP_WORDS = """
    a au aux avec ayant ce ces concernant d de des du en et la le les l ou par portant pour qui que relatif relative sont sur un
    une modification modifiant dite objet tel telle
"""
_STOPS = frozenset(_STOP_WORDS.split())
_KIND_WORDS = {"rgd": "reglement-grand-ducal", "agd": "arrete-grand-ducal", "argd": "arrete-royal-grand-ducal"}
_SOURCE = re.compile(r"(?:leg|adm)-(?P<kind>loi|rgd|agd|argd|rmin|amin)-(?P<date>\d{4}-\d\d-\d\d)-")
_SHORT = _KIND_WORDS | {"rmin": "reglement-ministeriel", "amin": "arrete-ministeriel", "loi": "loi"}


@dataclass(frozen=True, slots=True)
class ActName:
    """An act as a text names it: its name, the half-open range of its words, and the noun that may refer back to it.

    ``certain`` is false for a code of which only the first words are known.
    """

    name: str
    start: int
    end: int
    noun: str
    certain: bool = True


def act_names_at(text: str, start: int, jurisdiction: str) -> list[ActName]:
    """Return the acts named from a place on: one, or the members of a list ("les lois n° 1 et n° 2"), or none.

    >>> [name.name for name in act_names_at("loi n° 78-17 du 6 janvier 1978", 0, "fr")]
    ['fr:loi:78-17']
    """
    first = text[start : start + 1].lower()
    if first in "cln":
        code = _CODE.match(text, start)
        if code:
            free = code["free"] is not None
            return [ActName(f"{jurisdiction}:code:{code_name(code[0], jurisdiction)}", start, code.end(), "code", not free)]
        constitution = _CONSTITUTION.match(text, start)
        if constitution and text[start] == "C":
            return [ActName(f"{jurisdiction}:constitution", start, constitution.end(), "constitution")]
    if first in "drf":
        european = eu_names_at(text, start)
        if european:
            noun = back_noun(text[start : start + 12])
            return [ActName(f"eu/{name.celex}", name.start, name.end, noun) for name in european]
    return _dated_names(text, start, jurisdiction)


def _dated_names(text: str, start: int, jurisdiction: str) -> list[ActName]:
    first = _DATED.match(text, start)
    if not first or not (first["serial"] or first["day"]) or _FOREIGN.match(text, first.end("manner")):
        return []
    kind = _kind(first["kind"], first["manner"])
    noun, plural = back_noun(first["kind"]), first["kind"].lower().endswith("s")
    head = f"{jurisdiction}:{kind}"
    names: list[ActName] = []
    at, match, prefix = start, first, ""
    while match:
        serial = match["serial"] if not prefix else match.groupdict().get("serial")
        groups = [match[f"{prefix}{part}"] for part in ("day", "month", "year")]
        if serial and not groups[0] and prefix:
            groups = [match[part] for part in ("day", "month", "year")]
        names.append(ActName(f"{head}:{_rest(text, match.end(), serial, groups, first['manner'])}", at, match.end(), noun))
        match = _ANOTHER.match(text, match.end()) if plural else None
        if match:
            prefix = "d"
            at = min(place for name in ("serial", "day", "dday") if (place := match.start(name)) >= 0)
    return names


def _rest(text: str, end: int, serial: str | None, day: list[str | None], manner: str) -> str:
    if serial:
        return re.sub(r"\s", "", serial).replace("‑", "-")
    date = f"{day[2]}-{_MONTHS[fold((day[1] or '').lower())]:02d}-{int(day[0] or 0):02d}"
    words = _TITLE_WORDS.match(text, end)
    # "La loi communale", "la loi électorale": by such a word one is known as others are by their titles.
    title = "-".join([slug(word) for word in _BYNAMES.findall(manner)] + ([slug(words[1])] if words else []))
    return f"{date}:{title}" if title else date


def _kind(noun: str, manner: str) -> str:
    words = slug(f"{noun} {manner}").replace("grand-ducaux", "grand-ducal").replace("royaux", "royal").split("-")
    kind = "loi" if words[0] == "l" else re.sub(r"s$", "", words[0])
    if kind == "decret" and words[1:2] in (["loi"], ["lois"]):
        return "decret-loi"
    qualifiers = [word.rstrip("s") for word in words[1:] if word.rstrip("s") in ("royal", "grand", "ducal", "ministeriel")]
    return "-".join([kind, *qualifiers]).replace("ducale", "ducal")


def back_noun(words: str) -> str:
    """Return the noun by which a text may refer back to an act ("la même loi"): folded, singular, without what follows it.

    >>> back_noun("Règlements"), back_noun("décision-cadre")
    ('reglement', 'decision')
    """
    noun = re.split(r"[\s-]", fold(words.lower()).strip(" ."), maxsplit=1)[0].rstrip("s")
    return {"l": "loi", "regulation": "reglement", "law": "loi", "framework": "decision"}.get(noun, noun)


def said_name(name: str) -> str:
    """Return the name of an act as a sentence has it: less its jurisdiction and the words of its title; of a code, its title.

    >>> said_name("fr:loi:1965-07-10"), said_name("fr:decret:2016-1908"), said_name("fr:code:code civil")
    ('loi du 10 juillet 1965', 'décret n° 2016-1908', 'code civil')
    """
    kind, _, which = name.partition(":")[2].partition(":")
    noun = _accented(kind)
    if noun == "code":
        return next((title for title in CODE_TITLES if fold(title) == which), which)
    date = re.match(r"(\d{4})-(\d\d)-(\d\d)(?!\d)", which)
    if date:
        day = "1er" if date[3] == "01" else str(int(date[3]))
        return f"{noun} du {day} {_accented(_MONTH_NAMES.split()[int(date[2]) - 1])} {date[1]}"
    return f"{noun} n° {which}" if which else noun


def _accented(words: str) -> str:
    """Return words of a name with their accents, a blank between them."""
    return " ".join(_ACCENTED.get(word, word) for word in words.split("-"))


def code_name(words: str, jurisdiction: str) -> str:
    """Return the one name of a code, by whatever of its titles a text has: folded, in lower case.

    >>> code_name("Nouveau code rural", "fr")
    'code rural et de la peche maritime'
    """
    name = fold(re.sub(r"[’´]", "'", " ".join(words.lower().split())))
    name = re.sub(r"^nouveau | \((?:nouveau|ancien)\)$", "", name)
    if jurisdiction == "lu":
        return _RENAMED_LU.get(name, name)
    return _RENAMED.get(name, name)


def names_of(act: Act) -> set[str]:
    """Return every name that an act answers to, by its title, its CELEX number and its publisher's identifier.

    Each that has words of the title is there without them too.
    """
    names = _own_names(act)
    for name in list(names):
        # "le règlement du 26 janvier 2016" may leave out that it is one of the Grand Duke's.
        jurisdiction, _, rest = name.partition(":")
        short = re.sub(r"^(reglement|arrete)-[a-z-]+", r"\1", rest)
        if rest and short != rest:
            names.add(f"{jurisdiction}:{short}")
    return names | {without_words(name) for name in names}


def _own_names(act: Act) -> set[str]:
    names = {act.id}
    if act.celex:
        names.add(f"eu/{act.celex}")
    title = " ".join(act.title.split())
    if act.jurisdiction != "eu":
        # The title's own beginning only: what it modifies stands further on.
        names.update(name.name for name in act_names_at(title, 0, act.jurisdiction)[:1] if name.certain)
        if title.lower().startswith("code ") or act.kind == "code":
            names.add(f"{act.jurisdiction}:code:{code_name(title, act.jurisdiction)}")
        dated = _DATED.match(title)
        if dated and dated["day"]:
            head = f"{act.jurisdiction}:{_kind(dated['kind'], dated['manner'])}"
            day = [dated["day"], dated["month"], dated["year"]]
            names.add(f"{head}:{_rest(title, dated.end(), None, day, dated['manner'])}")
        if title.lower().startswith("constitution"):
            names.add(f"{act.jurisdiction}:constitution")
        source = _SOURCE.match(act.source_id)
        if source:
            words = slug(title)[len(slug(dated[0])) + 1 :] if dated else slug(title)
            names.add(f"{act.jurisdiction}:{_SHORT[source['kind']]}:{source['date']}" + (f":{words}" if words else ""))
    return names


def title_words(name: str) -> tuple[str, ...]:
    """Return the words of a name that tell acts of one kind and date apart, in their order."""
    parts = name.split(":", 3)
    if len(parts) < 4:
        return ()
    # Single letters and small numbers count the items of a title ("1. relative à …", "a) concernant …").
    return tuple(
        word for word in parts[3].split("-") if word not in _STOPS and (len(word) > 2 or (word.isalpha() and len(word) > 1))
    )


def without_words(name: str) -> str:
    """Return a name without the words of the title."""
    return ":".join(name.split(":", 3)[:3])


def common_beginning(cited: tuple[str, ...], title: tuple[str, ...]) -> int:
    """Return the number of words that a citation and a title have in common from the first on."""
    return next(
        (i for i, (one, other) in enumerate(zip(cited, title, strict=False)) if one != other), min(len(cited), len(title))
    )


def likeness(cited: tuple[str, ...], title: tuple[str, ...]) -> float:
    """Return, from 0 to 1, how far the words that a text cites an act by are those that its title begins with.

    The text goes on behind a title, and often gives its beginning only: the shorter of the two counts.

    >>> likeness(("societes", "commerciales", "applique"), ("societes", "commerciales"))
    1.0
    """
    length = min(len(cited), len(title))
    if not length:
        return 0.0
    shared = len(set(cited[:length]) & set(title[: length + 3]))
    return max(common_beginning(cited, title), 0.75 * shared) / length
