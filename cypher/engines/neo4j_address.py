"""The address of a Neo4j server, read once and never shown before it is certain to hold no password."""

from urllib.parse import SplitResult, urlsplit

from schema.errors import BadSetting

SCHEMES = tuple(f"{name}{security}" for name in ("bolt", "neo4j") for security in ("", "+s", "+ssc"))


def bolt_address(address: str) -> SplitResult:
    """Return the parts of the setting ``graph``.

    Raises:
        BadSetting: it is no address, or holds a user or a password; the message does not repeat it.
    """
    try:
        parts = urlsplit(address)
        port = parts.port  # raises where it is none
    except ValueError:
        raise _no_address() from None
    if "@" in parts.netloc or parts.username or parts.password:
        raise BadSetting("LEXGRAPH_GRAPH: user and password have settings of their own, graph_user and graph_password")
    if parts.scheme not in SCHEMES or not parts.hostname or port == 0:
        raise _no_address()
    return parts


def _no_address() -> BadSetting:
    return BadSetting("LEXGRAPH_GRAPH: not the address of a Neo4j server (bolt://host:7687 or neo4j://host:7687)")
