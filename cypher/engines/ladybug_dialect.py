"""Cypher as people write it for Neo4j, in the words of the embedded engine, and its columns by the names that Neo4j gives."""

import re
from collections.abc import Iterator, Sequence

from cypher.tokens import NOTHING, Token, tokens_of, upper

_FUNCTIONS = {"TYPE": "label", "ELEMENTID": "id"}
_ENDS_COLUMNS = frozenset({"ORDER", "SKIP", "OFFSET", "LIMIT", "UNION"})
_HINTS = (
    (re.compile(r"Variable \w+ is not in scope"), re.compile(r"\[\s*\w+\s+IN\b", re.IGNORECASE), "list_transform(list, x -> …)"),
    (re.compile(r"Parser exception"), re.compile(r"\bshortestPath\s*\(", re.IGNORECASE), "(a)-[* SHORTEST 1..4]-(b)"),
    (re.compile(r"has data type DATE but"), re.compile(r"\.(?:year|month|day)\b"), "date_part('year', a.valid_from)"),
)
"""What the embedded engine says, what was written, and what it has instead."""


def in_its_words(cypher: str) -> str:
    """Return a statement with what the embedded engine calls otherwise in its words.

    >>> in_its_words("MATCH (a)-[r]->() WHERE EXISTS { (a)-->() } RETURN type(r)")
    'MATCH (a)-[r]->() WHERE EXISTS { MATCH (a)-->() } RETURN label(r)'
    """
    tokens = list(tokens_of(cypher))
    changed = list(_changes(tokens))
    for start, end, words in reversed(changed):
        cypher = cypher[:start] + words + cypher[end:]
    return cypher


def _changes(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """Yield half-open ranges of a statement and what stands there instead."""
    for i, (kind, text, at) in enumerate(tokens):
        before, after = tokens[i - 1] if i else NOTHING, tokens[i + 1] if i + 1 < len(tokens) else NOTHING
        if kind == "word" and after[1] == "(" and before[1] not in (".", ":") and text.upper() in _FUNCTIONS:
            yield at, at + len(text), _FUNCTIONS[text.upper()]
        elif text == "{" and kind == "sign" and after[1] == "(" and upper(tokens, i - 1) in ("EXISTS", "COUNT"):
            yield after[2], after[2], "MATCH "


def columns_of(cypher: str) -> list[str]:
    """Return the names of the columns of a statement: those given, else the words themselves; none where a star is in it.

    >>> columns_of("MATCH (a) RETURN a.number, count( * ) AS n, size(a.text) ORDER BY n")
    ['a.number', 'n', 'size(a.text)']
    """
    tokens = [*tokens_of(cypher), ("sign", ";", len(cypher))]
    depth, start, columns = 0, -1, list[str]()
    for i, (kind, text, _) in enumerate(tokens):
        if start < 0:
            if depth == 0 and upper(tokens, i) == "RETURN":
                start = i + 1 + (upper(tokens, i + 1) == "DISTINCT")
        elif depth == 0 and i > start and (text in (",", ";") or _ends_columns(tokens, i)):
            columns.append(_column(cypher, tokens[start : i + 1]))
            start = i + 1
            if text != ",":
                break
        depth += (kind == "sign") * ((text in ("(", "[", "{")) - (text in (")", "]", "}")))
    return [] if "*" in columns else columns


def _ends_columns(tokens: Sequence[Token], i: int) -> bool:
    """Return whether a word begins what follows the columns; behind a dot or AS it is a name."""
    return upper(tokens, i) in _ENDS_COLUMNS and tokens[i - 1][1] != "." and upper(tokens, i - 1) != "AS"


def _column(cypher: str, tokens: Sequence[Token]) -> str:
    """Return the name of a column: its tokens, and the one behind them."""
    if len(tokens) > 3 and upper(tokens, len(tokens) - 3) == "AS":
        return tokens[-2][1]
    return cypher[tokens[0][2] : tokens[-1][2]].strip()


def hinted(message: str, cypher: str) -> str:
    """Return a message of the embedded engine, with what it has instead of what was written where that is known."""
    instead = next((words for said, written, words in _HINTS if said.search(message) and written.search(cypher)), None)
    return (
        message if instead is None else f"{message} (the embedded graph has {instead} for it; a Neo4j server takes it as it is)"
    )
