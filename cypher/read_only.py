"""Free statements that only read: what a person may send to the graph, decided word by word before an engine sees it.

The rule is an allow-list. A statement is a row of operands (names, values, brackets) with operators and keywords between
them; a word that follows an operand must be one of the keywords of reading. So any other clause, of whatever engine and
version (``COPY``, ``LOAD FROM``, ``CREATE``, ``FOREACH``, ``INSTALL``), is refused for standing where it stands, and none need
be known by name. The same holds for where clauses may begin, for procedures, and for functions with a namespace, which
plug-ins bring.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cypher.tokens import NOTHING, Token, place, tokens_of, upper
from schema.errors import BadQuery

_BEGINNING = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL"})
"""Keywords that a statement, a subquery and a part of a union may begin with."""
_BETWEEN = _BEGINNING | {
    *("WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT", "AS", "UNION", "YIELD", "FOR", "SEARCH", "INDEX", "SCORE"),
    *("IN", "AND", "OR", "XOR", "NOT", "STARTS", "ENDS", "CONTAINS", "IS", "WHEN", "THEN", "ELSE", "END"),
    *("ASC", "ASCENDING", "DESC", "DESCENDING"),
}
"""Keywords that may follow an operand; anywhere else the word is a name."""
_ENDING = frozenset({"END", "ASC", "ASCENDING", "DESC", "DESCENDING"})
"""Those that end an operand, or the list that it stands in."""
_FOLLOWING: Mapping[str, Collection[str]] = {
    "ORDER": {"BY"},
    "STARTS": {"WITH"},
    "ENDS": {"WITH"},
    "OPTIONAL": {"MATCH", "CALL"},
    "UNION": {"ALL", "DISTINCT", *_BEGINNING},
    "ALL": {"SHORTEST", *_BEGINNING},
    "ANY": {"SHORTEST"},
    "DISTINCT": _BEGINNING,
    "SCORE": {"AS"},
    "CASE": {"WHEN"},
    "NOT": {"IN"},
    "IS": {"NOT", "TYPED"},
    "WITH": {"DISTINCT"},
    "RETURN": {"DISTINCT"},
    "AND": {"NOT"},
    "OR": {"NOT"},
    "XOR": {"NOT"},
    "WHERE": {"NOT"},
    "WHEN": {"NOT"},
}
"""Keywords that may follow another, by that one."""
_STARRED = frozenset({"WITH", "RETURN", "DISTINCT", "YIELD", "("})
"""What a star is an operand after, and no sign of multiplication."""
_NAMESPACES = frozenset({"date", "time", "localtime", "datetime", "localdatetime", "duration", "point", "vector"})
"""Namespaces of functions that are an engine's own and touch nothing outside it."""
PROCEDURES: Mapping[str, Collection[str]] = {
    "ladybug": frozenset({"show_tables", "table_info", "show_connection", "db_version", "show_functions"}),
    "neo4j": frozenset(
        {
            "db.labels",
            "db.relationshiptypes",
            "db.propertykeys",
            "db.schema.visualization",
            "db.schema.nodetypeproperties",
            "db.schema.reltypeproperties",
            "db.index.vector.querynodes",
            "db.index.fulltext.querynodes",
            "db.index.fulltext.queryrelationships",
            "dbms.components",
        }
    ),
}
"""Procedures that may be called, in small letters, by engine."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that only reads.

    Attributes:
        parameters: names of the parameters that it needs.
    """

    parameters: frozenset[str]

    def check(self, given: Collection[str]) -> None:
        """Raise BadQuery where a parameter that the statement needs is not given."""
        missing = sorted(self.parameters - set(given))
        if missing:
            named = ", ".join(f"${name}" for name in missing)
            raise BadQuery(f"cypher: no value is given for {named}: add --param {missing[0]}=…")


def reading_statement(cypher: str, engine: str) -> Statement:
    """Return a statement that is known to do nothing but read.

    Raises:
        BadQuery: it is none, with the word and the place that say so.
    """
    tokens = list(tokens_of(cypher))
    if tokens and tokens[-1][1] == ";":
        tokens.pop()
    if not tokens:
        raise BadQuery("cypher: the statement is empty")
    if tokens[0][1].upper() == "CYPHER" and len(tokens) > 2 and tokens[1][0] == "number":
        tokens = tokens[2:]  # "CYPHER 25 MATCH …": the version of the language
    _check_beginning(tokens, 0, cypher)
    ended = False
    for i, token in enumerate(tokens):
        ended = _check_place(tokens, i, ended, cypher)
        if token[1] == "{" and token[0] == "sign":
            _check_braces(tokens, i + 1, cypher)
    _check_calls(tokens, PROCEDURES[engine], cypher)
    return Statement(frozenset(text for kind, text, _ in tokens if kind == "parameter"))


def _check_beginning(tokens: list[Token], i: int, cypher: str) -> None:
    """Check the first word of a statement, a subquery or a part of a union."""
    kind, text, at = tokens[i] if i < len(tokens) else ("sign", "the end", len(cypher))
    if kind != "word" or text.upper() not in _BEGINNING:
        words = ", ".join(sorted(_BEGINNING))
        raise BadQuery(f"cypher: {place(cypher, at)}: {text!r} does not begin a statement that reads ({words})")
    if text.upper() == "OPTIONAL" and upper(tokens, i + 1) not in ("MATCH", "CALL"):
        raise _refused(tokens[i], cypher)


def _check_place(tokens: list[Token], i: int, ended: bool, cypher: str) -> bool:
    """Check a token by what stands before it; return whether it ends an operand.

    Args:
        tokens: Those of the statement.
        i: Number of the token.
        ended: Whether the token before it ends an operand.
        cypher: The statement.
    """
    kind, text, at = tokens[i]
    if kind == "sign":
        if text == ";":
            raise BadQuery(f"cypher: {place(cypher, at)}: one statement at a time")
        if text == "*":
            return i > 0 and tokens[i - 1][1].upper() in _STARRED
        return text in (")", "]", "}")
    word, before = upper(tokens, i), upper(tokens, i - 1) if i else ""
    is_keyword = (word in _BETWEEN and (i == 0 or ended or tokens[i - 1][1] == "{")) or word in _FOLLOWING.get(before, ())
    if before == "UNION" or (before in ("ALL", "DISTINCT") and i > 1 and upper(tokens, i - 2) == "UNION"):
        if word not in ("ALL", "DISTINCT"):
            _check_beginning(tokens, i, cypher)
    elif ended and kind in ("word", "quoted") and not is_keyword:
        raise _refused(tokens[i], cypher)
    if is_keyword:
        return word in _ENDING
    if not i or tokens[i - 1][1] in (".", ":", "|") or before == "AS":
        return True
    # An operand follows these; anywhere else they are names.
    return not (
        word == "NOT" or (word == "DISTINCT" and tokens[i - 1][1] == "(") or (word == "CASE" and _has_branches(tokens, i))
    )


def _has_branches(tokens: list[Token], i: int) -> bool:
    """Return whether a CASE has its WHEN before the next clause begins."""
    depth = 0
    for kind, text, _ in tokens[i + 1 :]:
        if kind == "sign":
            depth += (text in "([{") - (text in ")]}")
        elif kind == "word" and depth == 0 and text.upper() in ("WHEN", *_BEGINNING):
            return text.upper() == "WHEN"
    return False


def _check_braces(tokens: list[Token], i: int, cypher: str) -> None:
    """Check the beginning of what stands in braces: a map, a projection, a count, a pattern, or a subquery."""
    kind, text, _ = tokens[i] if i < len(tokens) else NOTHING
    after = tokens[i + 1][1] if i + 1 < len(tokens) else ""
    if kind in ("word", "quoted", "string") and after in (":", ",", "}"):
        return
    if kind == "number" or text in ("}", "(", ".", ","):
        return
    _check_beginning(tokens, i, cypher)


def _check_calls(tokens: list[Token], procedures: Collection[str], cypher: str) -> None:
    """Check the names of procedures, and of functions with a namespace."""
    i = 0
    while i < len(tokens):
        if tokens[i][0] not in ("word", "quoted"):
            i += 1
            continue
        end = i + 1
        while end + 1 < len(tokens) and tokens[end][1] == "." and tokens[end + 1][0] in ("word", "quoted"):
            end += 2
        name = "".join(text for _, text, _ in tokens[i:end]).lower()
        if i and upper(tokens, i - 1) == "CALL" and tokens[i - 1][0] == "word":
            if name not in procedures:
                allowed = ", ".join(sorted(procedures))
                raise BadQuery(f"cypher: {place(cypher, tokens[i][2])}: {name} is not called from here; these are: {allowed}")
        elif end > i + 1 and end < len(tokens) and tokens[end][1] == "(" and name.partition(".")[0] not in _NAMESPACES:
            raise BadQuery(f"cypher: {place(cypher, tokens[i][2])}: the function {name} is not called from here")
        i = end


def _refused(token: Token, cypher: str) -> BadQuery:
    return BadQuery(f"cypher: {place(cypher, token[2])}: {token[1]!r} is no part of a statement that reads")
