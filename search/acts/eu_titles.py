"""Names of EU acts in the language of the law, from the acts that cite them.

The publisher's title of an EU act can be English, or cut off ("Directive 2013/36/EU"). The acts that cite it spell its
title out. Only EU acts are read: a national act that transposes a directive must not describe it to the search that is to
find that act (`search.acts.similar`).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

_CITED = re.compile(
    r"\b(directive|règlement|décision)(?:-cadre)?\s+(?:\((?:UE|CE|CEE|Euratom)\)\s*)?(?:n[o°]\s*)?(\d{1,4})/(\d{1,4})"
    r"(?:/(?:UE|CE|CEE|Euratom|JAI))?\s+(?:du Parlement européen et du Conseil|du Conseil|de la Commission)\s*,?"
    r"\s+du\s+\d{1,2}(?:er)?\s+\w+\s+\d{4}\s*,?\s*([^\W\d_][^();»\n]{10,300})",
    re.IGNORECASE,
)
_JOURNAL = re.compile(r"^[LC] \d")
_CELEX = re.compile(r"^3(\d{4})([LRD])0*(\d+)$")
_LETTERS = {"directive": "L", "règlement": "R", "décision": "D"}
_MOST = 2
"""Names of one act that are kept: they differ by an apostrophe or by where they end."""

Key = tuple[str, int, int]


def names_of(celex: Iterable[str], texts: Iterable[str]) -> dict[str, str]:
    """Return by CELEX number what texts say behind an act's number and date: "concernant le crédit aux consommateurs …".

    Acts that no text names so are left out.
    """
    wanted = {key: number for number in celex if (key := _key(number)) is not None}
    names: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for match in _CITED.finditer(text):
            letter, first, second = _LETTERS[match[1].lower()], int(match[2]), int(match[3])
            # Old regulations are "2913/92", all else has the year first; 20th-century years have two digits.
            for year, serial in ((first, second), (second, first)):
                number = wanted.get((letter, year + 1900 if 50 <= year <= 99 else year, serial))
                if number is not None and not _JOURNAL.match(match[4]):
                    names[number][" ".join(match[4].split())] += 1
                    break
    ranked = {number: sorted(counted.items(), key=lambda item: (-item[1], item[0])) for number, counted in names.items()}
    return {number: " ".join(name for name, _ in best[:_MOST]) for number, best in ranked.items()}


def _key(celex: str) -> Key | None:
    match = _CELEX.match(celex)
    return (match[2], int(match[1]), int(match[3])) if match else None
