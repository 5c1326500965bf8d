"""The state of graph, index and models, and the checks of them against each other."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from cli.output import say, say_json
from cli.workspace import Home, law_of
from schema.errors import LexgraphError, NotReady


def state_of(home: Home) -> dict[str, Any]:
    """Return the counts of the graph, the fingerprint of its law, whether it is indexed, the models, what is in quarantine."""
    from cli.tables import MODEL_COLUMNS, graph_counts, model_table_rows
    from ingest.loading.quarantine import quarantined
    from search.text.index import index_is_built

    with home.graph() as graph:
        law = law_of(graph)
        return {
            "graph": dict(graph_counts(graph)),
            "law": law,
            "indexed": index_is_built(home.path, law, home.bm25, server=home.text_server),
            "models": [_model(dict(zip(MODEL_COLUMNS, row, strict=True))) for row in model_table_rows(graph)],
            "quarantine": {source: len(records) for source, records in quarantined(home.path).items()},
        }


def _model(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"metrics": json.loads(row["metrics"] or "{}")}


def show_state(home: Home, state: dict[str, Any]) -> None:
    """Print a state as tables."""
    from cli.tables import MODEL_COLUMNS, say_table

    say_table("graph", ("what", "how many"), list(state["graph"].items()))
    say(f"law {state['law'][:16]}; text index: {'in step' if state['indexed'] else 'missing, run `lexgraph index`'}")
    say_table("models", MODEL_COLUMNS, [list(model.values()) for model in state["models"]])
    for source, n in state["quarantine"].items():
        say(f"{n} rejected records of {source} in {home.path / 'quarantine'}")


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
            say(f"{'ok   ' if results[-1]['ok'] else 'FAIL '} {name}: {results[-1]['says']}")
    if as_json:
        listed = [dict(zip(("option", "value", "from", "description"), row, strict=True)) for row in settings]
        say_json({"settings": listed, "checks": results})
    return all(result["ok"] for result in results)


def _result(check: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"ok": True, "says": check()}
    except LexgraphError as error:
        return {"ok": False, "says": str(error)}


def _checks(home: Home) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the checks of graph, index and model by name; each says what it found, or raises what is wrong."""
    yield "graph", lambda: _check_graph(home)
    yield "text index", lambda: _check_index(home)
    yield "model", lambda: _check_model(home)


def _check_graph(home: Home) -> str:
    with home.graph() as graph:
        return "; ".join((graph.described(), ", ".join(f"{row['n']:,} {row['label']}" for row in graph.rows("counts"))))


def _check_index(home: Home) -> str:
    with home.graph() as graph:
        index, server = home.index(graph), home.text_server
        if server is not None:
            return server.check(index.corpus.sha256, home.bm25)
        return f"{len(index.corpus.articles):,} articles"


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
