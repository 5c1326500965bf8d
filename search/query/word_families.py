"""Nouns of French that the stemmer keeps apart from their verbs and plurals."""

import re
from collections.abc import Sequence

from search.text.analysis import query_tokens

_LANGUAGE = "fr"
_OF_NOUN = re.compile(
    r"(?P<noun>\w+[st]ion)(?:s|n(?:e[rsz]?|ent|ons|ée?s?|ant|ai(?:s|t|ent)|er(?:a|ai|ait|aient|ont)))", re.IGNORECASE
)


def noun_of(word: str, languages: Sequence[str]) -> str:
    """Return the noun in -ion of a verb or a plural that has another stem; "" where there is none.

    >>> [noun_of(word, ("fr",)) for word in ("démissionner", "démissions", "sanctionner")]
    ['démission', 'démission', '']
    """
    found = _OF_NOUN.fullmatch(word) if _LANGUAGE in languages else None
    if found is None or query_tokens(found["noun"], (_LANGUAGE,)) == query_tokens(word, (_LANGUAGE,)):
        return ""
    return found["noun"]
