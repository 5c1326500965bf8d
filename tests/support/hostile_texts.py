"""Two hundred texts that no program should trip over."""

from itertools import product

_QUOTES = ("'", '"', "`", "\\", "'; DROP", "\\'", '\\"', "''", "’", "«", "$", "${x}", "{{x}}", "%s", "%00", "{0}")
_SYNTAX = (
    "' OR 1=1 //", "}) DETACH DELETE n //", "') RETURN 1 UNION MATCH (n) RETURN n //", "a:b AND c:d", "+a -b", "a~2", "a^9999", "[a TO z]",
    "*", "?", "*:*", "/.*/", "/(a+)+$/", "(a OR", "a && b", "a || b", "!a", '"a b"~10', "title:x", "_exists_:x", "_id:1", "a\\", ">=1",
)  # fmt: skip
_LETTERS = (
    "\x00", "\x07", "\x1b[2J", "\x7f", "\u200b", "\u202e", "\ufeff", "\ufffd", "\U0001f956", "e\u0301", "ﬁ", "İ", "ß", "ŉ", "𝔏𝔢𝔤𝔦", "法律", "قانون",
    "\ud800", "\udfff", "a\ud83db", "\r\n", "\u2028", "\t", "\x0b", "\x85", "\xad",
)  # fmt: skip
_NUMBERS = (
    "0",
    "-1",
    "1e309",
    "NaN",
    "Infinity",
    "9" * 400,
    "0x10",
    "1_000",
    "١٢٣",
    "²",
    "Ⅳ",
    "-0",
    "1/0",
    "2024-02-30",
    "0000-00-00",
)
_PATHS = (
    "../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    "http://localhost:1/",
    "\\\\host\\x",
    "C:\\",
    "~",
    "con",
    "fr/../eu",
)
_WORDS = (
    "null",
    "undefined",
    "true",
    "[object Object]",
    "<script>alert(1)</script>",
    "<!--",
    "]]>",
    "__proto__",
    "constructor",
    "None",
)
_LAW = (
    "L. 1",
    "article",
    "art.",
    "L1-1 à L9-9",
    "articles L. 1, 2, 3, 4 et 5 à 900",
    "code",
    "§ 1",
    "l'article",
    "de la",
    "1er bis A",
)
_LONG = (
    "a" * 2000,
    "a " * 1000,
    "é" * 1999,
    "(" * 1000,
    "'" * 1999,
    "L. 1 " * 400,
    "a,b;" * 500,
    "\n" * 1999,
    "x" * 100_000,
    "a-" * 900,
)

HOSTILE_TEXTS = tuple(
    dict.fromkeys(
        (
            *_QUOTES, *_SYNTAX, *_LETTERS, *_NUMBERS, *_PATHS, *_WORDS, *_LAW, *_LONG,
            *(before + text for before, text in product(("pain ", "L1234-9", "fr/"), (*_QUOTES, *_SYNTAX, *_LETTERS[:10]))),
        )
    )
)  # fmt: skip
