"""The address of Neo4j Browser with the connection filled in, all but the password."""

import http.client
import urllib.error
import urllib.request
from urllib.parse import SplitResult, quote, urlsplit

from cypher.engines.neo4j_address import bolt_address
from schema.errors import BadSetting, NotReady, ServerUnavailable
from schema.settings import Settings

HTTP_PORT, BOLT_PORT = 7474, 7687
TIMEOUT_S = 5.0


def browser_link(settings: Settings) -> str:
    """The address that opens Neo4j Browser on the graph of the settings. It holds no password, whatever they hold.

    Raises:
        BadSetting: no server is named, or an address is none.
        ServerUnavailable: nothing answers at the HTTP address.
        NotReady: something does, without a Browser.
    """
    if not settings.graph:
        raise BadSetting("LEXGRAPH_GRAPH is empty: Neo4j Browser shows the graph of a Neo4j server, not the embedded one")
    bolt = bolt_address(settings.graph)
    if settings.graph_http:
        web = _parts(settings.graph_http)
        if web.scheme not in ("http", "https"):
            raise BadSetting(f"LEXGRAPH_GRAPH_HTTP={_bare(web)}: not an address of HTTP (http://… or https://…)")
        http_address = _bare(web) + web.path.rstrip("/").removesuffix("/browser")
    else:
        http_address = f"http://{_host(bolt)}:{HTTP_PORT}"
    _check(http_address)
    user = f"{quote(settings.graph_user, safe='')}@" if settings.graph_user else ""
    connection = f"{bolt.scheme}://{user}{_host(bolt)}:{bolt.port or BOLT_PORT}"
    database = "" if settings.graph_database == "neo4j" else f"&db={quote(settings.graph_database, safe='')}"
    return f"{http_address}/browser/?connectURL={quote(connection, safe=':/@')}{database}"


def _parts(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        port_is_a_number = parts.port is None or parts.port > 0  # reading it raises where it is none
        if parts.hostname and parts.scheme and port_is_a_number:
            return parts
    except ValueError:
        pass
    # Not shown as it is: whoever mistypes an address may have put a password into it.
    raise BadSetting("LEXGRAPH_GRAPH_HTTP: not an address with a scheme and a host")


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    return f"[{host}]" if ":" in host else host


def _bare(parts: SplitResult) -> str:
    """Scheme, host and port, without user and password."""
    return f"{parts.scheme}://{_host(parts)}" + (f":{parts.port}" if parts.port else "")


def _check(http_address: str) -> None:
    try:
        with urllib.request.urlopen(f"{http_address}/browser/", timeout=TIMEOUT_S):
            return
    except urllib.error.HTTPError as error:
        raise NotReady(f"{http_address}/browser/ answers {error.code}: no Neo4j Browser there; set LEXGRAPH_GRAPH_HTTP") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise ServerUnavailable(
            f"nothing answers at {http_address} ({reason}): is Neo4j running? LEXGRAPH_GRAPH_HTTP names its HTTP address"
        ) from None


def open_link(link: str) -> bool:
    """Open a link in the web browser; whether there is one."""
    import webbrowser

    return webbrowser.open(link)
