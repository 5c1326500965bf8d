"""The language of a query that is in none of the law's, told by its small words."""

import re
from collections.abc import Callable, Sequence

from bm25s import stopwords

_FEWEST = 2
"""Different small words of a language that tell it; or one, and as many other words that are strange to the law."""
_WORD = re.compile(r"[^\W\d_]+")
_BEHIND = frozenset(["all", "by", "in", "off", "on", "out", "over", "per", "up"])
"""Small words that French has taken over behind others ("burn-out", "check-in", "turn over"): one of them tells nothing."""
_ASKING = {
    "es": "cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo dónde puede pueden puedo qué quién tengo",
    "it": "cos cosa devo ho posso può quale quali quando quanta quante quanti quanto",
    "nl": "hoelang hoeveel kan mag moet waar wanneer wat welke wie",
    "pt": "pode podem posso qual quais quando quanta quantas quanto quantos tenho",
}
"""Words that questions begin with, where the list of small words lacks them."""
# Of "don't" the list has "don" and "t" as words of their own; the one is French, the other may be an elision.
_ENGLISH = frozenset(word for word in stopwords.STOPWORDS_EN_PLUS if f"{word}'t" not in stopwords.STOPWORDS_EN_PLUS)
_SMALL_WORDS = {
    code: frozenset(small) | frozenset(_ASKING.get(code, "").split())
    for code, small in {
        "en": _ENGLISH,
        "de": stopwords.STOPWORDS_GERMAN,
        "es": stopwords.STOPWORDS_SPANISH,
        "fr": stopwords.STOPWORDS_FRENCH,
        "it": stopwords.STOPWORDS_ITALIAN,
        "nl": stopwords.STOPWORDS_DUTCH,
        "pt": stopwords.STOPWORDS_PORTUGUESE,
    }.items()
}
"""By ISO 639-1 code; of two that are as likely the first is meant."""


def foreign_language(query: str, languages: Sequence[str], is_strange: Callable[[str], bool] = lambda word: False) -> str | None:
    """Return the ISO 639-1 code of the language that a query is in; None where the law has it, or may, or it is not clear.

    Clear is a language of which the query has two small words at least that the law's languages do not share, and more than twice
    as many as of these alone; or one that is strange to the law and none of its languages', where half of the other words, two at
    least, are strange to it too.

    Args:
        is_strange: tells of a word, in lower case, whether the law does not have it, or has it by chance.

    >>> foreign_language("Can my employer read my emails?", ["fr"]), foreign_language("mon employeur lit mes emails", ["fr"])
    ('en', None)
    """
    if not _SMALL_WORDS.keys() >= set(languages):
        return None  # the query may be in one whose small words are not known
    words = {word.lower() for word in _WORD.findall(query) if len(word) > 1}
    of_law = words & frozenset[str]().union(*(_SMALL_WORDS[language] for language in languages))
    own = {code: (words & small) - of_law for code, small in _SMALL_WORDS.items() if code not in languages}
    most = max(own, key=lambda code: (len(own[code]), len(words & _SMALL_WORDS[code])), default=None)
    if most is None:
        return None
    against = len(of_law - _SMALL_WORDS[most])
    if len(own[most]) >= max(_FEWEST, 2 * against + 1):
        return most
    if of_law or not any(map(is_strange, own[most] - _BEHIND)):
        return None
    others = words - _SMALL_WORDS[most]
    strange = sum(map(is_strange, others))
    return most if strange >= max(_FEWEST, len(others) / 2) else None


def is_small_word(word: str, language: str | None) -> bool:
    """Return whether a word is a small one of a language, such as `foreign_language` gives."""
    return word.lower() in _SMALL_WORDS.get(language or "", ())
