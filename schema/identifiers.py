"""Identifiers: readable, stable, and independent of the format that a law was read from.

An act is ``jurisdiction/publisher's id``; an article is the act's identifier, a slash and its normalised
number (``fr/LEGITEXT000006072050/L1234-9``); a section is the act's identifier and the path of the
numbered parts of its headings (``…/partie-legislative/livre-ii/titre-iii``).
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable
from itertools import filterfalse

_CODE_LETTER = re.compile(r"^(?:Art(?:icle|\.)?\s+)?(LO|[LRDAC])\s*\.?\s*(\*{0,2})\s*(?=\d)", re.IGNORECASE)
_LEADING_DIGITS = re.compile(r"\d+")
# What leads out of a folder, ends a line, or divides an address.
_UNSAFE = re.compile(r"[\s/\\#?\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+|\.{2,}")
MAX_LENGTH = 240
"""Longest identifier, in characters; a longer one is cut and ends in a digest of the whole."""


def fold(text: str) -> str:
    """Return the text without accents: canonical decomposition, combining marks dropped.

    >>> fold("arrêté")
    'arrete'
    """
    return text if text.isascii() else "".join(filterfalse(unicodedata.combining, unicodedata.normalize("NFD", text)))


def normal_number(number: str) -> str:
    """Return an article number in the one form that identifiers use.

    The letter of the part of the code is joined to the digits, points and blanks go, other words are
    joined by hyphens. Stars (decrees in the Council of State) are kept, as they tell articles apart.

    >>> normal_number("L. 1234-9"), normal_number("R.* 123-1"), normal_number("Annexe  II")
    ('L1234-9', 'R*123-1', 'Annexe-II')
    """
    text = " ".join(number.split())
    lettered = _CODE_LETTER.match(text)
    if lettered:
        text = lettered[1].upper() + lettered[2] + text[lettered.end() :]
    text = _UNSAFE.sub("-", text.strip(" ."))
    return re.sub(r"([-.])\1+", r"\1", text)


def plain_name(text: str) -> str:
    """Return a publisher's name as part of an identifier: letters, digits and ``._-``, with a digest where it was changed.

    >>> plain_name("q1"), plain_name("../q 1")
    ('q1', '__q_1~a11ba596')
    """
    plain = _NOT_PLAIN.sub("_", text)
    if plain == text and 0 < len(text) <= 80:
        return text
    return f"{plain[:80]}~{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def number_stem(number: str) -> str:
    """Return the digits of an article number before its first hyphen, or "" where it has none.

    L1234-9, R1234-1 and D1234-7 share the stem 1234: it joins statute and decree on one matter, which
    the tree of a French code keeps apart.
    """
    digits = _LEADING_DIGITS.search(normal_number(number).split("-")[0])
    return digits[0] if digits else ""


def section_number(heading: str) -> str:
    """Return the numbered part of a heading, before its colon: "Livre Ier : Dispositions" gives "Livre Ier"."""
    return re.split(r"\s*[:\u2013]\s", heading.strip() + " ", maxsplit=1)[0].strip()


def slug(text: str) -> str:
    """Lower case, without accents, words joined by hyphens: "Première partie" gives "premiere-partie"."""
    return re.sub(r"[^a-z0-9]+", "-", fold(text.lower())).strip("-")


def bounded(identifier: str) -> str:
    """Return the identifier, or its beginning and a digest where it is longer than `MAX_LENGTH`."""
    if len(identifier) <= MAX_LENGTH:
        return identifier
    return f"{identifier[: MAX_LENGTH - 17]}~{hashlib.sha256(identifier.encode()).hexdigest()[:16]}"


def act_of(identifier: str) -> str:
    """Return the act of a section's or an article's identifier.

    >>> act_of("fr/LEGITEXT000006072050/L1234-9")
    'fr/LEGITEXT000006072050'
    """
    return "/".join(identifier.split("/", 2)[:2])


def act_id(jurisdiction: str, source_id: str) -> str:
    """Return the identifier of an act."""
    return bounded(f"{jurisdiction}/{source_id}")


def article_ids(act: str, numbered: Iterable[tuple[str, str]]) -> list[str]:
    """Identifiers for the articles of one act, from pairs (number, publisher's permanent id), in their order.

    Articles that share a number each carry the publisher's id behind a tilde, so that an identifier never
    depends on the order of the file (three annexes of the French labour code share theirs with another).
    """
    pairs = [(normal_number(number), permanent) for number, permanent in numbered]
    shared = Counter(number for number, _ in set(pairs))
    return [bounded(f"{act}/{number}" + (f"~{permanent}" if shared[number] > 1 else "")) for number, permanent in pairs]


def section_ids(parent: str, headed: Iterable[tuple[str, str]]) -> list[str]:
    """Identifiers for the sections directly below ``parent``, from pairs (heading, publisher's permanent id)."""
    pairs = [(slug(section_number(heading))[:80] or "section", permanent) for heading, permanent in headed]
    shared = Counter(number for number, _ in set(pairs))
    return [bounded(f"{parent}/{number}" + (f"~{permanent}" if shared[number] > 1 else "")) for number, permanent in pairs]


def occurrence_ids(parent: str, names: Iterable[str], taken: Container[str] = ()) -> list[str]:
    """Identifiers below ``parent`` from names alone, where the publisher has no identifiers of its own.

    The first to bear a name has it bare; others carry behind a tilde which of them they are. None is given twice, and
    none that is ``taken``.

    >>> occurrence_ids("fr/X", ["1", "2", "1", "1~2"])
    ['fr/X/1', 'fr/X/2', 'fr/X/1~2', 'fr/X/1~2~2']
    """
    seen: Counter[str] = Counter()
    ids: dict[str, None] = {}
    for name in names:
        while True:
            seen[name] += 1
            id = bounded(f"{parent}/{name}" + (f"~{seen[name]}" if seen[name] > 1 else ""))
            if id not in ids and id not in taken:
                break
        ids[id] = None
    return list(ids)


_EU_KINDS = {"dir": "L", "dir_ue": "L", "reg": "R", "reg_ue": "R", "dec": "D", "dec_ue": "D", "dec_impl": "D", "reg_impl": "R"}
_EU_ELI = re.compile(r"/eli/(\w+?)/(\d{4})/(\d+)(?:/|$)")
_LU_ELI = re.compile(r"/eli/etat/((?:leg|adm)/[a-z_]+/(?:\d{4}/\d\d/\d\d/\w+|\w+))(?:/jo)?(?:/art_([\w-]+?))?(?:/jo)?/?$")


def eli_target(address: str) -> str:
    """Return the act or article that an address with a European Legislation Identifier names, as a citation does; else "".

    >>> eli_target("http://data.legilux.public.lu/eli/etat/leg/loi/2018/08/21/a837/jo")
    'lu/leg-loi-2018-08-21-a837'
    >>> eli_target("/eli/dir_ue/2010/75/jo")
    'eu/32010L0075'
    """
    found = _LU_ELI.search(address)
    if found:
        act = act_id("lu", found[1].replace("/", "-"))
        return f"{act}/{normal_number(found[2])}" if found[2] else act
    found = _EU_ELI.search(address)
    if found and found[1] in _EU_KINDS:
        return act_id("eu", f"3{found[2]}{_EU_KINDS[found[1]]}{int(found[3]):04}")
    return ""
