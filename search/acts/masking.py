"""Text without numbers: what is left when acts shall be found by what they say, not by the numbers they quote.

Act retrieval would be a look-up otherwise: a transposing act names its directive by number. Dates go too.
"""

import re

_DATE = re.compile(
    r"\b\d{1,2}(?:er|°)?\s+(?:janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[uû]t|septembre|octobre|novembre|d[ée]cembre"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:https?://|\beli/)\S*", re.IGNORECASE)
# What a number leaves behind: "(UE) 2016/680", "n° 2913/92".
_LEFT = re.compile(r"\(?\b(?:UE|CE|CEE|CECA|EU|EC|EEC|JAI|JHA|Euratom)\b\)?|\b[nN][°ºo]s?(?!\w)")


def masked(text: str) -> str:
    """Return a text without digits, dates, addresses of acts, and numbers of acts with their Community's letters.

    >>> masked("la directive (UE) 2016/680 du 27 avril 2016, loi n° 95-4 (eli/etat/leg/loi/2018/08/21/a837/jo)")
    'la directive du loi ('
    """
    text = _ADDRESS.sub(" ", _DATE.sub(" ", text))
    # A whole run of characters goes with its digit: "2016/680/UE", "n°2913/92", an ELI or any other address. Superscripts and
    # circled figures are digits too, which \d does not know.
    odd = "".join(re.escape(character) for character in sorted(set(text)) if character.isdigit() and not character.isdecimal())
    runs = re.findall(rf"(?<!\S)[^\s\d{odd}]++(?!\S)", text)
    text = _LEFT.sub(" ", " ".join(runs))
    return " ".join(text.split())
