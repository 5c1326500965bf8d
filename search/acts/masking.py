"""Text without numbers: what is left when acts shall be found by what they say, not by the numbers they quote.

Act retrieval would be a look-up otherwise: a transposing act names its directive by number. Dates go too.
"""

import re

_DATE = re.compile(
    r"\b\d{1,2}(?:er|°)?\s+(?:janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[uû]t|septembre|octobre|novembre|d[ée]cembre"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
# A whole run of characters goes with its digit: "2016/680/UE", "n°2913/92", an ELI or any other address.
_RUN = re.compile(r"\S+")
_DIGIT = re.compile(r"\d")
_ADDRESS = re.compile(r"(?:https?://|\beli/)\S*", re.IGNORECASE)
# What a number leaves behind: "(UE) 2016/680", "n° 2913/92".
_LEFT = re.compile(r"\(?\b(?:UE|CE|CEE|CECA|EU|EC|EEC|JAI|JHA|Euratom)\b\)?|\b[nN][°ºo]s?(?!\w)")


def masked(text: str) -> str:
    """Return a text without digits, dates, addresses of acts, and numbers of acts with their Community's letters.

    >>> masked("la directive (UE) 2016/680 du 27 avril 2016, loi n° 95-4 (eli/etat/leg/loi/2018/08/21/a837/jo)")
    'la directive du loi ('
    """
    text = _ADDRESS.sub(" ", _DATE.sub(" ", text))
    text = _LEFT.sub(" ", " ".join(run for run in _RUN.findall(text) if not _numbered(run)))
    return " ".join(text.split())


def _numbered(run: str) -> bool:
    # str.isdigit knows superscripts and circled figures, which \d does not; almost all runs are ASCII.
    return bool(_DIGIT.search(run)) or (not run.isascii() and any(c.isdigit() for c in run))
