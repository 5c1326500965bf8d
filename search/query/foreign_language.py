"""The language of a query that is in none of the law's, told by its small words."""

import re
from collections.abc import Callable, Sequence

from bm25s import stopwords

_FEWEST = 2
"""Different small words of a language that tell it; or one, and as many other words that are strange to the law."""
_WORD = re.compile(r"[^\W\d_]+")
# Of "don't" the list has "don" and "t" as words of their own; the one is French, the other may be an elision.
_ENGLISH = frozenset(word for word in stopwords.STOPWORDS_EN_PLUS if f"{word}'t" not in stopwords.STOPWORDS_EN_PLUS)
_SMALL_WORDS = {
    "en": _ENGLISH,
    "de": frozenset(stopwords.STOPWORDS_GERMAN),
    "es": frozenset(stopwords.STOPWORDS_SPANISH),
    "fr": frozenset(stopwords.STOPWORDS_FRENCH),
    "it": frozenset(stopwords.STOPWORDS_ITALIAN),
    "nl": frozenset(stopwords.STOPWORDS_DUTCH),
    "pt": frozenset(stopwords.STOPWORDS_PORTUGUESE),
}
"""By ISO 639-1 code; of two that are as likely the first is meant."""


def foreign_language(query: str, languages: Sequence[str], is_strange: Callable[[str], bool] = lambda word: False) -> str | None:
    """Return the ISO 639-1 code of the language that a query is in; None where the law has it, or where that is not clear.

    Clear is a language of which the query has two small words at least, and more than twice as many as of any of the law; or one
    that is strange to the law and none of the law's, where half of the other words, two at least, are strange to it too.

    Args:
        is_strange: tells of a word, in lower case, whether the law does not have it, or has it by chance.

    >>> foreign_language("Can my employer read my emails?", ["fr"]), foreign_language("mon employeur lit mes emails", ["fr"])
    ('en', None)
    """
    words = {word.lower() for word in _WORD.findall(query) if len(word) > 1}
    counted = {code: len(words & small) for code, small in _SMALL_WORDS.items()}
    of_law = max((counted.pop(language, 0) for language in languages), default=0)
    most = max(counted, key=lambda code: counted[code], default=None)
    if most is None:
        return None
    is_clear = counted[most] >= max(_FEWEST, 2 * of_law + 1)
    if is_clear or of_law:
        return most if is_clear else None
    strange = {word for word in words if is_strange(word)}
    others = words - _SMALL_WORDS[most]
    is_told = strange & _SMALL_WORDS[most] and len(strange & others) >= max(_FEWEST, len(others) / 2)
    return most if is_told else None


def is_small_word(word: str, language: str | None) -> bool:
    """Return whether a word is a small one of a language, such as `foreign_language` gives."""
    return word.lower() in _SMALL_WORDS.get(language or "", ())
