"""The words and signs that a Cypher statement consists of, with their places."""

import re
from collections.abc import Iterator, Sequence

from schema.errors import BadQuery

_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<parameter>\$(?:\w+|`(?:[^`]|``)*`))
    | (?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?\w*)
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>[][(){}.,:;|&!%*+^=<>~?-]|/(?!\*))""",
    re.VERBOSE | re.DOTALL,
)
Token = tuple[str, str, int]
"""Kind, text (a word between backticks as the name that it is), and place in the statement."""
NOTHING: Token = ("sign", "", -1)


def tokens_of(cypher: str) -> Iterator[Token]:
    """Yield the tokens of a statement, blanks and comments left out.

    Raises:
        BadQuery: a character begins none.
    """
    at = 0
    if "\\u" in cypher:
        # Neo4j puts the letters in before it looks for the ends of strings, so that one could end there unseen.
        raise BadQuery("cypher: letters by number (\\u…) are not read: write the letter, or give a parameter")
    while at < len(cypher):
        found = _TOKEN.match(cypher, at)
        if found is None:
            raise BadQuery(f"cypher: {place(cypher, at)}: {cypher[at]!r} cannot be read")
        kind, text = str(found.lastgroup), found[0]
        if kind == "quoted":
            text = text[1:-1].replace("``", "`")
        elif kind == "parameter":
            text = text[1:].strip("`")
        if kind != "blank":
            yield kind, text, at
        at = found.end()


def upper(tokens: Sequence[Token], i: int) -> str:
    """Return a word in capitals; "" for what is none."""
    return tokens[i][1].upper() if i < len(tokens) and tokens[i][0] == "word" else ""


def place(cypher: str, at: int) -> str:
    """Return line and column of a character, as a person counts them."""
    line = cypher.count("\n", 0, at)
    column = at - (cypher.rfind("\n", 0, at) + 1)
    return f"line {line + 1}, column {column + 1}"
