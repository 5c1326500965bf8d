"""Lexgraph's command line: every verb composes the rooms, and is a few lines."""

import json
import os
import shlex
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from cli.tables import (
    act_systems_table,
    described_hits,
    hits_table,
    measures_table,
    progress_on,
    rows_table,
    similar_table,
)
from cypher.engines.open import open_store
from cypher.export.dump import canonical_dump
from cypher.graph import ReadableGraph, Store
from gnn.versions.active import active_id, active_model, model_rows
from gnn.versions.files import read_card
from gnn.versions.shared_folder import fetch_model
from ingest.loading.quarantine import quarantined
from ingest.paths import PathReport, ingest_paths, law_counts, retry_paths
from ingest.sources import FORMAT_NAMES
from runtime.progress import Progress
from schema.errors import BadQuery, LexgraphError, NotReady
from schema.filter import Filter
from schema.settings import Settings, load_settings, origins
from search.retrieval import LOST, Mode, Retriever
from search.text.index import TextIndex, index_folder, open_text_index
from search.text.open import text_server
from search.text.options import Bm25Options

if TYPE_CHECKING:
    from gnn.evaluation.compare import Comparison
    from gnn.recipe import Recipe

SERVICE_PUBLIC = "service-public"

app = typer.Typer(help="Statute law as a graph that answers questions.", no_args_is_help=True, pretty_exceptions_enable=False)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


@dataclass
class _Run:
    """What every verb needs: the settings in force, and how to show progress."""

    settings: Settings
    progress: Progress

    @property
    def home(self) -> Path:
        return self.settings.home

    @cached_property
    def store(self) -> Store:
        """One for the whole command: what it writes is fenced by the locks that it holds."""
        return open_store(self.settings)

    @property
    def shelf(self) -> str:
        return self.settings.models

    @property
    def bm25(self) -> Bm25Options:
        return Bm25Options.of(self.settings)

    @contextmanager
    def graph(self, timeout_s: float = 0) -> Generator[ReadableGraph]:
        with self.store.reading(timeout_s) as graph:
            yield graph

    def index(self, graph: ReadableGraph) -> TextIndex:
        sha256 = graph.rows("graph_row")[0]["corpus_sha256"]
        return open_text_index(self.home, sha256, self.bm25, server=text_server(self.settings))


@app.callback()
def _prepare(
    context: typer.Context, quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False
) -> None:
    context.obj = _Run(load_settings(), progress_on(err, quiet))


@app.command()
def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files, folders or archives; without any, the two npm packages are fetched."),
    ] = None,
    format: Annotated[str | None, typer.Option(help=f"Format, where it is not recognised: {', '.join(FORMAT_NAMES)}.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Load a release also where much of the law would disappear.")] = False,
    again: Annotated[bool, typer.Option("--retry", help="Read files again that have records in quarantine.")] = False,
) -> None:
    """Load law and questions into the graph; only what changed is written.

    A folder or an archive is a release of a collection, known by its name without a version: what an earlier release had
    and this one has not disappears.
    """
    run: _Run = context.obj
    if again:
        if paths or format or force:
            raise BadQuery("--retry reads the files that have records in quarantine: name no path, --format or --force beside it")
        report = retry_paths(run.store, progress=run.progress, announce=_show)
    else:
        report = ingest_paths(run.store, paths or (), format, force=force, progress=run.progress, announce=_show)
    if counts := law_counts(run.store):
        out.print(f"in the graph: {counts}", markup=False, soft_wrap=True)
    if report.rejected:
        noun = "record" if report.rejected == 1 else "records"
        err.print(f"{report.rejected} {noun} rejected; see {run.home / 'quarantine'} for the reasons", soft_wrap=True)
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _show(report: PathReport) -> None:
    if report.error:
        err.print(f"lexgraph: {report.error}", markup=False, soft_wrap=True)
    if report.summary:
        out.print(report.summary, markup=False, soft_wrap=True)
    for note in report.notes:
        err.print(note, markup=False, soft_wrap=True)


@app.command()
def index(context: typer.Context) -> None:
    """Make the text index of the law in the graph, and embed law that is new to the active model; what is there stays."""
    from gnn.versions.serving import is_ready, make_ready
    from search.acts.views import act_texts_folder, build_act_texts
    from search.corpus.read import read_corpus, steady_law
    from search.text.index import build_text_index, remove_other_indexes

    run: _Run = context.obj
    server = text_server(run.settings)
    with run.graph() as graph, run.store.exclusive("index"):
        with steady_law(graph) as law:
            folder = index_folder(run.home, law, run.bm25, server=server)
            active = active_id(graph)
            if active is not None:
                fetch_model(run.home, run.shelf, active)
            embedded = active is None or is_ready(run.store, graph, active, law)
            if folder.is_dir() and server is None and embedded and act_texts_folder(run.home, law).is_dir():
                out.print(f"index {folder.name}: nothing changed")
                return
            corpus, text = read_corpus(graph)
            acts = graph.rows("acts")
        if not corpus.articles:
            raise NotReady("the graph holds no article: run `lexgraph ingest`")
        if active is not None and not embedded:
            # Before the index is there, here or on a server: whoever sees it finds all its articles embedded.
            made = make_ready(run.store, graph, corpus, text, active, threads=run.settings.threads, progress=run.progress)
            out.print(f"model {active}: {made:,} articles and sections embedded", markup=False, soft_wrap=True)
        if server is not None:  # before the folder, which says that the server has it all
            loaded = server.load(corpus, text, run.bm25, progress=run.progress)
            out.print(f"{server.address}: {loaded}", markup=False, soft_wrap=True)
        folder = build_text_index(run.home, corpus, text, run.bm25, server=server, progress=run.progress)
        build_act_texts(run.home, corpus, text, acts, progress=run.progress)
        out.print(f"index {folder.name}: {len(corpus.articles):,} articles")
        remove_other_indexes(run.home, folder.name)


@app.command()
def train(
    context: typer.Context,
    recipe: Annotated[str | None, typer.Option(help="Name of a recipe, or a TOML file; else the setting `recipe`.")] = None,
) -> None:
    """Train the model of a recipe, and those it is compared with, and make it the active one.

    On several processors or machines: `torchrun --nproc-per-node 2 -m lexgraph train`.
    """
    from gnn.recipe import load_recipe
    from gnn.training.distributed import ranks
    from gnn.training.loop import dismiss, follow
    from gnn.training.train import train_recipe
    from ingest.loading.questions import read_questions
    from search.corpus.read import read_corpus, steady_law

    run: _Run = context.obj
    chosen = load_recipe(recipe or run.settings.recipe)
    with ranks() as team:
        if not team.leads:
            follow(team)
            return
        with run.graph() as graph, run.store.exclusive("models") as check_lock:
            with steady_law(graph):
                index = run.index(graph)
                _, text = read_corpus(graph)
                questions = read_questions(graph, chosen.questions)
            report = train_recipe(
                run.store,
                graph,
                index,
                text,
                questions,
                chosen,
                shelf=run.shelf,
                threads=run.settings.threads,
                ranks=team,
                check_lock=check_lock,
                progress=run.progress,
            )
        dismiss(team)
    for id in report.trained:
        out.print(f"trained {id}")
    out.print(f"active: {report.active}" + ("" if report.trained else " (nothing changed)"))


@app.command()
def retrain(
    context: typer.Context,
    recipe: Annotated[str | None, typer.Option(help="Name of a recipe, or a TOML file; else the setting `recipe`.")] = None,
) -> None:
    """Train a new version if the law or the questions changed; it serves if it is no worse.

    Exit codes: 0 the new version serves, 10 nothing changed, 11 the old one was kept, 75 another job is at it, 71 a server
    is down.
    """
    outcome, told = _retrain(context.obj, recipe)
    out.print(told, markup=False, soft_wrap=True)
    raise typer.Exit(outcome)


def _retrain(run: _Run, recipe: str | None) -> tuple[int, str]:
    from gnn.recipe import load_recipe
    from gnn.retraining.retrain import Gate
    from gnn.retraining.retrain import retrain as retrain_once
    from ingest.loading.questions import read_questions
    from search.corpus.read import read_corpus, steady_law

    chosen = load_recipe(recipe or run.settings.recipe)
    gate = Gate(run.settings.gate_metric, run.settings.gate_significance)
    with run.store.exclusive("models") as check_lock, run.graph() as graph:
        with steady_law(graph):
            index = run.index(graph)
            _, text = read_corpus(graph)
            questions = read_questions(graph, chosen.questions)
        report = retrain_once(
            run.store,
            graph,
            index,
            text,
            questions,
            chosen,
            gate,
            shelf=run.shelf,
            threads=run.settings.threads,
            check_lock=check_lock,
            progress=run.progress,
        )
    where = "" if report.record is None else f"; {report.record}"
    return report.outcome.value, f"{report.outcome.name.lower()}: {report.reason}; {report.model}{where}"


@app.command()
def schedule(
    context: typer.Context,
    cron: Annotated[str, typer.Option(help="Minute, hour, day of month, month, day of week (0 is Sunday); UTC.")] = "0 3 * * 0",
    recipe: Annotated[str | None, typer.Option(help="Name of a recipe, or a TOML file; else the setting `recipe`.")] = None,
) -> None:
    """Index and retrain again and again, in the foreground, until interrupted."""
    from gnn.retraining.cron import run_on

    run: _Run = context.obj

    def once() -> None:
        for work in (lambda: index(context), lambda: out.print(_retrain(run, recipe)[1], markup=False, soft_wrap=True)):
            try:
                work()
            except LexgraphError as error:  # the next time may find the server back, or the other job done
                err.print(f"lexgraph: {error}", markup=False, soft_wrap=True)

    run_on(cron, once, announce=lambda when: err.print(f"next run: {when}", markup=False))


models_app = typer.Typer(help="Model versions: list them, choose one, go back, prune.", invoke_without_command=True)
app.add_typer(models_app, name="models")


@models_app.callback()
def models(
    context: typer.Context,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List the versions with their metrics, sizes and dates."""
    from gnn.versions.serving import versions

    if context.invoked_subcommand is not None:
        return
    run: _Run = context.obj
    with run.graph() as graph:
        found = versions(run.store, graph)
    if json_:
        print(json.dumps([asdict(version) for version in found], ensure_ascii=False))
        return
    columns = ("id", "status", "recipe", "dimensions", "created", "activated", "MiB", "metrics")
    rows = [
        (v.id, v.status, v.recipe, v.dimensions, v.created, v.activated, f"{v.bytes / (1 << 20):.0f}", json.dumps(v.metrics))
        for v in found
    ]
    _wide().print(rows_table("models", columns, rows))


def _make_ready(run: _Run, id: str) -> None:
    from gnn.versions.serving import is_ready, make_ready
    from search.corpus.read import read_corpus, steady_law

    with run.graph() as graph:
        fetch_model(run.home, run.shelf, id)
        with steady_law(graph) as law:
            run.index(graph)
            if is_ready(run.store, graph, id, law):
                return
            corpus, text = read_corpus(graph)
        make_ready(run.store, graph, corpus, text, id, threads=run.settings.threads, progress=run.progress)


@models_app.command()
def activate(context: typer.Context, id: Annotated[str, typer.Argument(help="A version that `lexgraph models` lists.")]) -> None:
    """Make a version the active one; a running API takes it up within seconds."""
    from gnn.versions.serving import activate as activate_version
    from gnn.versions.serving import need_version

    run: _Run = context.obj
    with run.store.exclusive("models"):
        with run.graph() as graph:
            need_version(graph, id)
        _make_ready(run, id)
        before = activate_version(run.store, id)
    out.print(f"active: {id} (before: {before or 'none'})", markup=False)


@models_app.command()
def rollback(context: typer.Context) -> None:
    """Make the version that was active before the present one active again."""
    from gnn.versions.serving import activate as activate_version
    from gnn.versions.serving import one_before

    run: _Run = context.obj
    with run.store.exclusive("models"):
        with run.graph() as graph:
            id = one_before(graph)
        _make_ready(run, id)
        before = activate_version(run.store, id)
    out.print(f"active: {id} (before: {before or 'none'})", markup=False)


@models_app.command()
def prune(
    context: typer.Context,
    keep: Annotated[int, typer.Option(min=1, help="How many versions stay, the active one among them.")] = 2,
) -> None:
    """Remove versions that are no longer needed: files, vectors, and their rows in the graph."""
    from gnn.versions.serving import prune as prune_versions

    run: _Run = context.obj
    with run.store.exclusive("models"):
        gone = prune_versions(run.store, keep, run.shelf)
    out.print(f"removed: {', '.join(gone) or 'none'}", markup=False, soft_wrap=True)


@app.command()
def evaluate(
    context: typer.Context,
    questions: Annotated[
        str, typer.Option(help="A source in the graph, or a .jsonl file {id, text, relevant}.")
    ] = SERVICE_PUBLIC,
    split: Annotated[str, typer.Option(help="Part of the questions: test, development or train.")] = "test",
    recipe: Annotated[str | None, typer.Option(help="Recipe whose models are compared; else that of the active one.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Draw recall against k and training curves into this file.")] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="eu-lu: similar acts, of EU directives and the acts that transpose them, instead.")
    ] = None,
    transpositions: Annotated[
        Path | None, typer.Option(help="Known pairs, CSV with the columns act, celex, basis, directive_text.")
    ] = None,
    basis: Annotated[str, typer.Option(help="Which pairs of them: title or cites.")] = "title",
) -> None:
    """Compare all systems on questions with known answers, or on acts that are known to transpose directives."""
    from gnn.evaluation.compare import curves
    from gnn.versions.identity import model_ids

    run: _Run = context.obj
    if benchmark is not None:
        _evaluate_acts(run, benchmark, transpositions, basis, json_)
        return
    tables, chosen = _compare(run, questions, split, recipe)
    main = next(iter(tables.values()))
    if picture:
        from gnn.evaluation.plot import draw
        from ingest.loading.questions import read_questions

        with run.graph() as graph:
            ids = model_ids(chosen, run.index(graph).key, read_questions(graph, chosen.questions))
        draw(main, curves(run.home, chosen, ids), picture)
    if json_:
        extra = {name: table.as_json() for name, table in tables.items() if table is not main}
        print(json.dumps(main.as_json() | extra, ensure_ascii=False))
        return
    for table in tables.values():
        rows = {name: (s.measures, s.training_s, s.query_ms) for name, s in table.systems.items()}
        title = f"{table.questions}: {table.n} {table.part} questions, {table.split} split, {table.asked}"
        _wide().print(measures_table(title, rows))


def _evaluate_acts(run: _Run, benchmark: str, transpositions: Path | None, basis: str, json_: bool) -> None:
    from gnn.evaluation.compare_acts import compare_home

    if benchmark != "eu-lu":
        raise BadQuery(f"no benchmark {benchmark!r}; there is: eu-lu")
    if transpositions is None:
        raise BadQuery("name the table of known pairs by --transpositions")
    with run.graph() as graph:
        rows = compare_home(run.settings, graph, transpositions, basis, progress=run.progress)
    if json_:
        print(json.dumps({row.name: row.measures for row in rows}))
    else:
        _wide().print(act_systems_table(f"{benchmark}, {basis} pairs", rows))


def _compare(run: _Run, source: str, part: str, recipe: str | None) -> "tuple[dict[str, Comparison], Recipe]":
    from gnn.evaluation.compare import compare
    from gnn.recipe import load_recipe
    from gnn.versions.files import recipe_of
    from gnn.versions.identity import model_ids
    from ingest.loading.questions import read_questions
    from ingest.readers.jsonl import read_questions_file
    from search.questions import PARTS, TITLE, WITH_DESCRIPTION, of_split

    if part not in PARTS:
        raise BadQuery(f"no part {part!r} of the questions; there are: {', '.join(PARTS)}")
    with run.graph() as graph:
        index = run.index(graph)
        active = None if recipe else active_id(graph)
        if active is not None:
            fetch_model(run.home, run.shelf, active)
        # Without a name, the recipe as the active model was trained, whatever its file says by now.
        chosen = recipe_of(run.home, active) if active else load_recipe(recipe or run.settings.recipe)
        trained_on = read_questions(graph, chosen.questions)
        from_file = source.endswith(".jsonl")
        asked = [] if from_file else read_questions(graph, source)
        if from_file:
            asked = read_questions_file(Path(source), index.corpus.article_position)
        elif not asked:
            raise NotReady(f"no questions from {source!r} in the graph: run `lexgraph ingest`, or name a .jsonl file")
        versions = model_ids(chosen, index.key, trained_on)
        run_one = partial(
            compare, run.home, graph, index, chosen, versions, source=source, threads=run.settings.threads, progress=run.progress
        )
        if from_file:
            return {"": run_one(asked, split=chosen.splits[0], part="all")}, chosen
        tables: dict[str, Comparison] = {}
        for way in (WITH_DESCRIPTION, TITLE):
            for split in chosen.splits:
                name = split if way == WITH_DESCRIPTION else f"{split}, {way} alone"
                tables[name] = run_one(of_split(asked, split, part), split=split, part=part, asked=way)
        return tables, chosen


@app.command()
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="A legal question in your own words.")],
    mode: Annotated[Mode, typer.Option(help="Which way the query takes.")] = Mode.HYBRID,
    act: Annotated[str | None, typer.Option(help="Only articles of this act.")] = None,
    section: Annotated[str | None, typer.Option(help="Only articles below this section.")] = None,
    in_force_on: Annotated[str | None, typer.Option(help="Only articles in force on this day (YYYY-MM-DD).")] = None,
    kind: Annotated[str | None, typer.Option(help="Only articles of acts of this kind, as code or directive.")] = None,
    jurisdiction: Annotated[str | None, typer.Option(help="Only articles of this jurisdiction, as fr or eu.")] = None,
    first: Annotated[int, typer.Option(min=1, max=1000, help="How many hits.")] = 10,
    pooling: Annotated[bool, typer.Option(help="Whether articles share in the scores of their section.")] = True,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Find the articles that govern a question."""
    run: _Run = context.obj
    chosen = Filter(act, section, _day(in_force_on), kind, jurisdiction)
    with run.graph() as graph:
        index = run.index(graph)
        model = active_model(run.home, graph, index.corpus, run.settings.threads, run.shelf)
        retriever = Retriever(index, model, max_query_characters=run.settings.max_query_characters)
        hits = retriever.search(query, mode, filter=chosen, first=first, pooled=pooling)
        for lost in hits.degraded:
            err.print(f"lexgraph: {LOST[lost]} did not answer; the others rank alone", soft_wrap=True)
        described = described_hits(graph, retriever, hits, query)
    if json_:
        print(json.dumps(described, ensure_ascii=False))
    elif described:
        _wide().print(hits_table(described))
    else:
        out.print("no article answers this")


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise BadQuery(f"not a date: {text!r} (write YYYY-MM-DD)") from None


@app.command()
def similar(
    context: typer.Context,
    act: Annotated[str, typer.Argument(help="Identifier of an act, as eu/32016L0680.")],
    jurisdiction: Annotated[str | None, typer.Option(help="Only acts of this jurisdiction.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only acts of this kind, as directive or loi.")] = None,
    first: Annotated[int, typer.Option("--first", "-k", help="How many acts, at most 1000.")] = 20,
    years_before: Annotated[float | None, typer.Option(help="At most so many years older than the act.")] = None,
    years_after: Annotated[float | None, typer.Option(help="At most so many years younger than the act.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Find the acts most like a whole act: what may transpose a directive, and what an act may transpose."""
    from search.acts.similar import SimilarActs
    from search.acts.views import open_act_texts

    run: _Run = context.obj
    with run.graph() as graph:
        texts = open_act_texts(run.home, graph.rows("graph_row")[0]["corpus_sha256"])
        found = SimilarActs(texts).similar(
            act, jurisdiction=jurisdiction, kind=kind, first=first, years_before=years_before, years_after=years_after
        )
        rows = {row["id"]: row for row in graph.rows("acts_by_id", ids=[hit.id for hit in found])}
    told = [
        {**asdict(hit), "title": rows[hit.id]["title"], "published": rows[hit.id]["published"]} for hit in found if hit.id in rows
    ]
    if json_:
        print(json.dumps(told, ensure_ascii=False, default=str))
    elif told:
        _wide().print(similar_table(told))
    else:
        out.print("no act is like this one")


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on; else the setting `host`.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one; else the setting `port`.")] = None,
) -> None:
    """Answer GraphQL over HTTP."""
    from api.app import serve as serve_app

    run: _Run = context.obj
    changes = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = run.settings.model_copy(update=changes)
    load_model = partial(active_model, settings.home, threads=settings.threads, shelf=run.shelf)
    serve_app(settings, load_model, announce=lambda address: err.print(_first_question(address), markup=False))


def _first_question(address: str) -> str:
    query = '{ search(query: "licenciement pendant un arrêt maladie", first: 3) { edges { node { number } snippet { text } } } }'
    return (
        f"Serving on {address}/graphql (open it in a browser to explore). Ask the first question:\n"
        f"  curl -s {address}/graphql -H 'Content-Type: application/json' -d '{json.dumps({'query': query}, ensure_ascii=False)}'"
    )


@app.command()
def migrate(context: typer.Context) -> None:
    """Bring the graph to the schema of this version of Lexgraph; a graph that is there already is left as it is."""
    run: _Run = context.obj
    found, now = run.store.migrate()
    out.print(f"schema {now}: " + ("nothing changed" if found == now else f"made from schema {found}" if found else "made"))


@app.command()
def status(context: typer.Context) -> None:
    """What the graph, the index and the models hold."""
    run: _Run = context.obj
    with run.graph() as graph:
        counts = [(row["label"], row["n"]) for row in graph.rows("counts") if row["label"] not in ("Graph", "Source", "Model")]
        edges = [(row["type"], row["n"]) for row in graph.rows("edge_counts")]
        out.print(rows_table("graph", ("what", "how many"), counts + edges))
        sha256 = graph.rows("graph_row")[0]["corpus_sha256"]
        there = index_folder(run.home, sha256, run.bm25, server=text_server(run.settings)).is_dir()
        out.print(f"law {sha256[:16]}; text index: {'in step' if there else 'missing, run `lexgraph index`'}")
        columns = ("id", "status", "encoder", "dimensions", "created", "metrics")
        out.print(rows_table("models", columns, [[row[c] for c in columns] for row in model_rows(graph)]))
    for source, records in quarantined(run.home).items():
        out.print(f"{len(records)} rejected records of {source} in {run.home / 'quarantine'}")


@app.command()
def doctor(context: typer.Context) -> None:
    """Check the settings, the graph, the index and the model against each other; exits with 1 where one fails."""
    run: _Run = context.obj
    _wide().print(rows_table("settings", ("option", "value", "from", "what it is"), origins(run.settings)))
    failed = False
    for name, check in (("graph", _check_graph), ("text index", _check_index), ("model", _check_model)):
        try:
            out.print(f"ok    {name}: {check(run)}", markup=False, soft_wrap=True)
        except LexgraphError as error:
            failed = True
            out.print(f"FAIL  {name}: {error}", markup=False, soft_wrap=True)
    if failed:
        raise typer.Exit(1)


def _check_graph(run: _Run) -> str:
    with run.graph() as graph:
        return "; ".join((graph.described(), ", ".join(f"{row['n']:,} {row['label']}" for row in graph.rows("counts"))))


def _check_index(run: _Run) -> str:
    with run.graph() as graph:
        index, server = run.index(graph), text_server(run.settings)
        if server is not None:
            return server.check(index.corpus.sha256, run.bm25)
        return f"{len(index.corpus.articles):,} articles"


def _check_model(run: _Run) -> str:
    with run.graph() as graph:
        model = active_model(run.home, graph, run.index(graph).corpus, run.settings.threads, run.shelf)
        if model is None:
            raise NotReady("no model is active: run `lexgraph train`")
        law = graph.rows("graph_row")[0]["corpus_sha256"]
        if graph.vectors is not None and not graph.vectors.hold(model.id, law):
            raise NotReady(f"{model.id}: the server does not hold its vectors of this law: run `lexgraph index`")
        if read_card(run.home, model.id)["corpus_sha256"] != law:
            unseen = int((model.bias == -float("inf")).sum())
            if unseen:
                raise NotReady(f"{model.id} has no embedding of {unseen:,} articles: run `lexgraph index`")
            return f"{model.id}, trained on older law (`lexgraph retrain` takes up the new)"
        return model.id


@app.command()
def cypher(
    context: typer.Context,
    statement: Annotated[str, typer.Argument(help="A Cypher statement that reads.")],
    param: Annotated[list[str] | None, typer.Option(help="A parameter, name=value; JSON values are read as such.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object a row.")] = False,
) -> None:
    """Explore the graph with Cypher."""
    run: _Run = context.obj
    with run.graph(run.settings.query_timeout_s) as graph:
        table = graph.query(statement, dict(_parameter(p) for p in param or ()), run.settings.cypher_max_rows)
    if json_:
        for row in table.rows:
            print(json.dumps(dict(zip(table.columns, row, strict=True)), ensure_ascii=False, default=str))
    else:
        _wide().print(rows_table("", table.columns, table.rows))
    if table.truncated:
        err.print(f"only the first {len(table.rows):,} rows are shown (LEXGRAPH_CYPHER_MAX_ROWS)")


def _parameter(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise BadQuery(f"not a parameter: {text!r} (write name=value)")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


@app.command()
def citations(
    context: typer.Context,
    outside: Annotated[
        bool, typer.Option("--outside", help="List those that point outside the graph, each with the reason why.")
    ] = False,
) -> None:
    """Count citations by where they point; list what points outside: citations of articles, and what acts do to others."""
    run: _Run = context.obj
    with run.graph() as graph:
        if outside:
            from ingest.citations.link import KnownLaw

            law = KnownLaw.of(graph)
            pointing = [
                (row["article"], row["target_kind"], row["target"], row["text"]) for row in graph.rows("outside_citations")
            ]
            pointing += [(row["act"], row["type"], row["target"], row["evidence"]) for row in graph.rows("outside_relations")]
            for place, kind, target, words in pointing:
                reason = law.resolve(target)
                print(place, kind, target, " ".join(words.split()), reason if isinstance(reason, str) else "", sep="\t")
            return
        rows = [(f"to {row['label'].lower()}s of the graph", row["n"]) for row in graph.rows("citation_counts")]
        rows += [(f"outside: {row['kind']}", row["n"]) for row in graph.rows("outside_counts")]
        rows += [(f"acts outside: {row['type']}", row["n"]) for row in graph.rows("outside_relation_counts")]
    out.print(rows_table("citations", ("where", "how many"), rows))


@app.command()
def export(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="JSON lines to write; - for the terminal.")] = None,
    neo4j_admin: Annotated[
        Path | None, typer.Option(help="Folder for CSV files, which `neo4j-admin database import full` loads.")
    ] = None,
    beir: Annotated[Path | None, typer.Option(help="Folder for the law and its questions in BEIR layout.")] = None,
) -> None:
    """Write the canonical dump (the same graph gives the same bytes), files that fill an empty Neo4j server, or a benchmark."""
    run: _Run = context.obj
    if file is None and neo4j_admin is None and beir is None:
        raise BadQuery("name the file to write, or a folder by --neo4j-admin or --beir")
    with run.graph() as graph:
        if beir is not None:
            from ingest.readers.beir import write_graph

            for name, n in write_graph(graph, beir).items():
                out.print(f"{beir / name}: {n:,}", markup=False, soft_wrap=True)
        if neo4j_admin is not None:
            from cypher.export.neo4j_admin import SCRIPT, write_import_files

            rows = write_import_files(graph, neo4j_admin, progress=run.progress)
            out.print(f"{len(rows)} files, {sum(rows.values()):,} rows. With Neo4j stopped, load them:", soft_wrap=True)
            out.print(f"  sh {shlex.quote(str(neo4j_admin / SCRIPT))}", markup=False, soft_wrap=True)
            out.print("then start it and make the constraints: lexgraph migrate")
        if file is None:
            return
        if str(file) == "-":
            sys.stdout.writelines(line + "\n" for line in canonical_dump(graph))
        else:
            with file.open("w", encoding="utf-8") as stream:
                stream.writelines(line + "\n" for line in canonical_dump(graph))


@app.command()
def browser(
    context: typer.Context,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the web browser too.")] = False,
    graph_http: Annotated[str | None, typer.Option(help="HTTP address of Neo4j; else the setting `graph_http`.")] = None,
) -> None:
    """Print the address of Neo4j Browser on the graph's server; it asks for the password itself."""
    from cypher.explore.browser_link import browser_link

    run: _Run = context.obj
    link = browser_link(run.settings if graph_http is None else run.settings.model_copy(update={"graph_http": graph_http}))
    print(link)
    if open_:
        import webbrowser

        if not webbrowser.open(link):
            err.print("lexgraph: no web browser opens here; paste the address into one", soft_wrap=True)


@app.command()
def demo(context: typer.Context) -> None:
    """Everything on real law: fetch, ingest, index, train, evaluate, then serve (SERVE=0 ends before that)."""
    run: _Run = context.obj
    ingest(context)
    index(context)
    train(context)
    picture = run.home / "evaluation.png"
    evaluate(context, picture=picture)
    out.print(f"recall against k and training curves: {picture}")
    if os.environ.get("SERVE", "1") != "0":
        serve(context)


def _wide() -> Console:
    """A console that does not fold tables where no person looks."""
    return out if out.is_terminal else Console(highlight=False, width=max(out.width, 200))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's error is one line on standard error and an exit code."""
    try:
        app(arguments)
    except LexgraphError as error:
        err.print(f"lexgraph: {error}", markup=False, soft_wrap=True)
        sys.exit(error.exit_code)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()  # the reader has gone; Python would complain of it at exit
            sys.exit(141)
        err.print(f"lexgraph: {error.filename or ''}: {error.strerror or error}", markup=False, soft_wrap=True)
        sys.exit(74)


if __name__ == "__main__":
    main()
