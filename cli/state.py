"""The state of graph, index and models, and the checks of them against each other."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cli.output import say, say_json
from cli.workspace import Home, law_of
from runtime.counted import counted
from schema.errors import LexgraphError, NotReady

if TYPE_CHECKING:
    from schema.records import Origin


def state_of(home: Home) -> dict[str, Any]:
    """Return the counts of the graph, the fingerprint of its law, whether it is indexed, the models, what is in quarantine."""
    from cli.tables import MODEL_COLUMNS, graph_counts, model_table_rows
    from cypher.origins import origins
    from ingest.loading.quarantine import quarantined
    from search.text.index import index_is_built

    with home.graph() as graph:
        law = law_of(graph)
        return {
            "graph": dict(graph_counts(graph)),
            "law": law,
            "indexed": index_is_built(home.path, law, home.bm25, server=home.text_server),
            "models": [_model(dict(zip(MODEL_COLUMNS, row, strict=True))) for row in model_table_rows(graph)],
            "sources": [_source(home, origin) for origin in origins(graph)],
            "quarantine": {source: len(records) for source, records in quarantined(home.path).items()},
        }


def _model(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"metrics": json.loads(row["metrics"] or "{}")}


def _source(home: Home, origin: "Origin") -> dict[str, Any]:
    now = datetime.now(UTC)
    told = {"name": origin.id, "kind": origin.kind, "address": origin.address, "version": origin.version}
    told |= {
        "as_of": origin.as_of.isoformat() if origin.as_of else None,
        "loaded_at": origin.loaded_at,
        "age_days": origin.age(now).days,
    }
    told |= {"stale": origin.is_stale(home.settings.stale_after_days, now)}
    return told | {"error": origin.error, "failed_at": origin.failed_at}


def show_state(home: Home, state: dict[str, Any]) -> None:
    """Print a state as tables."""
    from cli.tables import MODEL_COLUMNS, say_table

    say_table("graph", ("what", "how many"), list(state["graph"].items()))
    say(f"law {state['law'][:16]}; text index: {'in step' if state['indexed'] else 'missing, run `lexgraph index`'}")
    say_table("models", MODEL_COLUMNS, [list(model.values()) for model in state["models"]])
    columns = ("name", "kind", "version", "as_of", "loaded_at", "address")
    say_table("sources", columns, [[source[name] for name in columns] for source in state["sources"]])
    for source in state["sources"]:
        if source["stale"]:
            say(f"stale: {stale_line(source['name'], source['age_days'])}")
        if source["error"]:
            say(f"{source['name']}: failed at {source['failed_at']}: {source['error']}")
    for source, n in state["quarantine"].items():
        say(f"{counted(n, 'rejected record')} of {source} in {home.path / 'quarantine'}")


def stale_line(name: str, days: int) -> str:
    """Return the line that a source was last loaded or updated so many days ago."""
    return f"{name} was last loaded {counted(days, 'day')} ago: run `lexgraph update`"


def examine(home: Home, *, as_json: bool = False) -> bool:
    """Print the settings, run the checks and print what each says; return whether all is well."""
    from cli.tables import say_table
    from schema.settings import origins

    settings = origins(home.settings)
    if not as_json:
        say_table("settings", ("option", "value", "from", "what it is"), settings)
    results: list[dict[str, Any]] = []
    for name, check in _checks(home):
        results.append({"check": name} | _result(check))
        if not as_json:
            say(f"{_mark(results[-1])} {name}: {results[-1]['says']}")
    if as_json:
        listed = [dict(zip(("option", "value", "from", "description"), row, strict=True)) for row in settings]
        say_json({"settings": listed, "checks": results})
    return all(result["ok"] for result in results)


def _mark(result: dict[str, Any]) -> str:
    return "FAIL " if not result["ok"] else "warn " if result["warning"] else "ok   "


class _Warning(str):
    """Words of a check that found something to mend, of which nothing breaks."""

    __slots__ = ()


def _result(check: Callable[[], str]) -> dict[str, Any]:
    try:
        says = check()
        return {"ok": True, "warning": isinstance(says, _Warning), "says": str(says)}
    except LexgraphError as error:
        return {"ok": False, "warning": False, "says": str(error)}


def _checks(home: Home) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the checks of graph, index and model by name; each says what it found, or raises what is wrong."""
    yield "graph", lambda: _check_graph(home)
    yield "text index", lambda: _check_index(home)
    yield "model", lambda: _check_model(home)
    yield "sources", lambda: _check_sources(home)


def _check_graph(home: Home) -> str:
    with home.graph() as graph:
        return "; ".join((graph.described(), ", ".join(f"{row['n']:,} {row['label']}" for row in graph.rows("counts"))))


def _check_sources(home: Home) -> str:
    from cypher.origins import origins

    with home.graph() as graph:
        sources = [_source(home, origin) for origin in origins(graph)]
    wrong = [stale_line(source["name"], source["age_days"]) for source in sources if source["stale"]]
    wrong += [f"{source['name']}: {source['error']}" for source in sources if source["error"]]
    return _Warning("; ".join(wrong)) if wrong else counted(len(sources), "source")


def _check_index(home: Home) -> str:
    with home.graph() as graph:
        index, server = home.index(graph), home.text_server
        if server is not None:
            return server.check(index.corpus.sha256, home.bm25)
        return counted(len(index.corpus.articles), "article")


def _check_model(home: Home) -> str:
    from gnn.versions.active import active_model
    from gnn.versions.files import read_card

    with home.graph() as graph:
        model = active_model(home.path, graph, home.index(graph).corpus, home.settings.threads, home.settings.models)
        if model is None:
            raise NotReady("no model is active: run `lexgraph train`")
        law = law_of(graph)
        if graph.vectors is not None and not graph.vectors.hold(model.id, law):
            raise NotReady(f"{model.id}: the server lacks its vectors of this law: run `lexgraph index`")
        if read_card(home.path, model.id)["corpus_sha256"] == law:
            return model.id
        unseen = int((model.bias == -float("inf")).sum())
        if unseen:
            raise NotReady(f"{model.id} has no embedding of {unseen:,} articles: run `lexgraph index`")
        return f"{model.id}, trained on older law (`lexgraph retrain` takes up the new)"
