"""The steps of the work as plain functions: each takes a home, does its part, and says what it did."""

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.output import complain, err, say, warn
from cli.workspace import Home, law_of
from runtime.counted import counted
from runtime.progress import Progress
from schema.errors import BadQuery, LexgraphError, NotReady

if TYPE_CHECKING:
    from cypher.graph import Graph, Table
    from gnn.evaluation.compare import Comparison
    from ingest.loading.report import LoadReport
    from ingest.sources import SourceLoad

_LAW = ("Act", "Section", "Article", "Wording", "Question")
_SHOWN = 20
"""Rejected records that a load names; the others lie in the quarantine."""


def ingest(home: Home, names: list[str] | None, format: str | None = None, force: bool = False) -> int:
    """Load sources, or the two npm packages where none are named; the exit code."""
    from ingest.update import ingest_named, ingest_packages

    if names:
        return _say_loads(home, ingest_named(home.store, names, format, force=force, progress=home.progress))
    return _say_loads(home, ingest_packages(home.store, force=force, progress=home.progress))


def update(home: Home) -> int:
    """Fetch and load what is new of every source; the exit code: of the first failure, or that of rejected records."""
    from ingest.update import update_sources

    with home.store.exclusive("update"):
        loads = list(_said(update_sources(home.store, progress=home.progress)))
    if not loads:
        say("no source is known yet: `lexgraph ingest` loads some")
    return _exit_code(home, loads)


def retry(home: Home) -> int:
    """Load the files again that have records in quarantine; the exit code."""
    from ingest.sources import retry_quarantined

    return _say_loads(home, retry_quarantined(home.store, progress=home.progress))


def index(home: Home) -> None:
    """Index the law of the graph, and embed law that is new to the active model.

    Raises:
        NotReady: the graph holds no article; or the active model is not at hand, which is told once the law is indexed: training
            another needs the index.
    """
    from gnn.versions.active import active_id
    from gnn.versions.serving import is_ready, make_ready
    from search.build import build_indexes, indexes_are_built
    from search.corpus.read import read_corpus, steady_law

    server = home.text_server
    with home.graph() as graph, home.store.exclusive("index"):
        with steady_law(graph) as law:
            active = active_id(graph)
            absent = None if active is None else _absent(home, active)
            embedded = active is None or absent is not None or is_ready(home.store, graph, active, law)
            if server is None and embedded and indexes_are_built(home.path, law, home.bm25):
                if absent is not None:
                    raise absent
                say("index: nothing changed")
                return
            corpus, text = read_corpus(graph)
            acts = graph.rows("acts")
        if not corpus.articles:
            raise NotReady("the graph holds no article: run `lexgraph ingest`")
        if active is not None and not embedded:
            # Before the index, here or on a server: whoever opens it has all its articles embedded.
            made = make_ready(home.store, graph, corpus, text, active, threads=home.settings.threads, progress=home.progress)
            say(f"model {active}: {made:,} articles and sections embedded")
        for line in build_indexes(home.path, (corpus, text), acts, home.bm25, server=server, progress=home.progress):
            say(line)
        if absent is not None:
            raise absent


def _absent(home: Home, active: str) -> NotReady | None:
    """Return why the files of the active model are not here, brought from their shelf where it has them; None where they are."""
    from gnn.versions.files import need_folder
    from gnn.versions.shared_folder import fetch_model

    try:
        fetch_model(home.path, home.settings.models, active)
        need_folder(home.path, active)
    except NotReady as reason:
        return reason
    return None


def train(home: Home, recipe: str | None) -> None:
    """Train what is missing of a recipe and what it is compared with, and make its model the active one."""
    chosen = home.recipe(recipe)  # first: a mistake in it is told before torch is imported

    from gnn.distributed import leading
    from gnn.training.train import train as train_recipe

    with leading() as process, home.graph() as graph, home.store.exclusive("models") as check_lock:
        report = train_recipe(replace(home.workspace(graph, chosen, check_lock), process=process), chosen)
    for id in report.trained:
        say(f"trained {id}")
    made = {"its confidence was learnt": report.scoped, "terms of the law were embedded": report.termed}
    also = [said for said, now in made.items() if now]
    done = "" if report.trained else f" ({', '.join(also) or 'nothing changed'})"
    say(f"active: {report.active}{done}")


def retrain(home: Home, recipe: str | None) -> int:
    """Train a new model version where law or questions changed, behind the gate; the exit code."""
    chosen, settings = home.recipe(recipe), home.settings

    from gnn.retraining.retrain import Gate
    from gnn.retraining.retrain import retrain as retrain_recipe

    with home.store.exclusive("models") as check_lock, home.graph() as graph:
        workspace = home.workspace(graph, chosen, check_lock)
        report = retrain_recipe(workspace, chosen, Gate(settings.gate_metric, settings.gate_significance))
    record = "" if report.record is None else f"; {report.record}"
    say(f"{report.outcome.name.lower()}: {report.reason}; {report.model}{record}")
    return report.outcome.value


def schedule(home: Home, cron: str, recipe: str | None, *, updates: bool = True) -> None:
    """Update the law, index and retrain on a timetable until interrupted."""
    from gnn.retraining.cron import run_on

    def once() -> None:
        for step in (*([lambda: update(home)] if updates else []), lambda: index(home), lambda: retrain(home, recipe)):
            try:
                step()
            except LexgraphError as error:  # the next time the server may be back, or the other job done
                complain(error)

    run_on(cron, once, announce=lambda when: err.print(f"next run: {when}", markup=False))


def evaluate(
    home: Home, questions: str, part: str, recipe: str | None, picture: Path | None, per_question: Path | None = None
) -> "dict[str, Comparison]":
    """Compare all systems on questions; the tables by name, the main one first.

    Args:
        home: law, questions and models.
        questions: a source of questions in the graph, or a file of them.
        part: of the questions.
        recipe: recipe to compare; None is that of the active model.
        picture: file to draw into.
        per_question: file of JSON lines for the ranks of each question.
    """
    from gnn.evaluation.compare import curves
    from gnn.evaluation.compare import evaluate as evaluate_systems
    from gnn.versions.active import active_recipe
    from ingest.loading.questions import read_questions
    from ingest.readers.jsonl import read_questions_file

    with home.graph() as graph:
        in_use = None if recipe else active_recipe(home.path, graph, home.settings.models)
        chosen = in_use or home.recipe(recipe)
        workspace = home.workspace(graph, chosen)
        if questions.endswith(".jsonl"):
            asked = read_questions_file(Path(questions), workspace.corpus.article_position)
        else:
            asked = read_questions(graph, questions)
        tables = evaluate_systems(workspace, chosen, asked, source=questions, part=part)
        if picture:
            from gnn.evaluation.plot import draw

            draw(tables, curves(workspace, chosen), picture)
    if per_question:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for table in tables.values() for row in table.per_question())
        per_question.write_text("".join(lines), "utf-8")
    return tables


def evaluate_acts(home: Home, benchmark: str, transpositions: Path | None, basis: str) -> list[Any]:
    """Compare the systems that find similar acts, on known transpositions."""
    from search.acts.benchmark import read_transpositions
    from search.acts.compare import compare_acts
    from search.acts.similar import SimilarActs
    from search.acts.views import open_act_texts

    if benchmark != "eu-lu":
        raise BadQuery(f"Unknown benchmark {benchmark!r}; there is eu-lu")
    if transpositions is None:
        raise BadQuery("Name the table of known pairs with --transpositions")
    with home.graph() as graph:
        similar = SimilarActs(open_act_texts(home.path, law_of(graph)))
    return compare_acts(similar, read_transpositions(transpositions, similar.texts.position, basis), progress=home.progress)


def activate(home: Home, choose: Callable[[Any], str]) -> None:
    """Make the model version active that ``choose`` names for a graph."""
    from gnn.versions.serving import activate as activate_version

    with home.store.exclusive("models"):
        with home.graph() as graph:
            id = choose(graph)
        _make_ready(home, id)
        before = activate_version(home.store, id)
    say(f"active: {id} (before: {before or 'none'})")


def _make_ready(home: Home, id: str) -> None:
    from gnn.versions.serving import is_ready, make_ready
    from gnn.versions.shared_folder import fetch_model
    from search.corpus.read import read_corpus, steady_law

    with home.graph() as graph:
        fetch_model(home.path, home.settings.models, id)
        with steady_law(graph) as law:
            home.index(graph)
            if is_ready(home.store, graph, id, law):
                return
            corpus, text = read_corpus(graph)
        make_ready(home.store, graph, corpus, text, id, threads=home.settings.threads, progress=home.progress)


def _say_loads(home: Home, loads: "Iterable[SourceLoad]") -> int:
    """Print what loads did and what the graph holds then; the exit code."""
    done = list(_said(loads))
    try:
        with home.graph() as graph:
            nodes = ", ".join(f"{row['n']:,} {row['label']}" for row in graph.rows("counts") if row["label"] in _LAW)
            edges = ", ".join(f"{row['n']:,} {row['type']}" for row in graph.rows("edge_counts"))
            say(f"in the graph: {nodes}; {edges}")
    except NotReady:  # nothing was loaded
        pass
    return _exit_code(home, done)


def _said(loads: "Iterable[SourceLoad]") -> "Iterator[SourceLoad]":
    """Print what each load did as soon as it ends."""
    for load in loads:
        if load.report is not None:
            _say_report(load.name, load.report)
        elif load.note:
            say(f"{load.name}: {load.note}")
        for error in load.failures:
            complain(error)
        yield load


def _exit_code(home: Home, loads: "Sequence[SourceLoad]") -> int:
    """Return the exit code: of the first failure, or that of rejected records, of which it is told where they are."""
    from schema.errors import RecordsRejected

    rejected = sum(len(load.report.rejected) for load in loads if load.report is not None)
    if rejected:
        warn(f"{counted(rejected, 'record')} rejected, with the reasons in {home.path / 'quarantine'}")
    failures = [error for load in loads for error in load.failures]
    return failures[0].exit_code if failures else RecordsRejected.exit_code if rejected else 0


def _say_report(name: str, report: "LoadReport") -> None:
    from ingest.loading.report import summary

    say(f"{name}: {summary(report)}")
    warnings = [remark for remark in report.remarks if remark.is_warning]
    for remark in report.remarks:
        if not remark.is_warning:
            say(f"{remark.file}: {remark.place}: {remark.reason}")
    for records, what in ((report.rejected, "rejected"), (warnings, "warning")):
        for record in records[:_SHOWN]:
            warn(f"{what}: {record.file}: {record.place}: {record.reason}")


def demo(home: Home) -> None:
    """Do the whole job but serve: load, index, train, evaluate, draw."""
    from cli.tables import show_comparison

    ingest(home, None)
    index(home)
    train(home, None)
    picture = home.path / "evaluation.png"
    show_comparison(evaluate(home, "service-public", "test", None, picture))
    say(f"recall against k and training curves: {picture}")


def fetch_editor(home: Path) -> Path:
    """Fetch the files of the query editor, each package once; the folder that they are in."""
    import shutil

    from api.graphiql import FILES, editor_folder
    from ingest.fetching.npm import Package, fetch_whole

    folder = editor_folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    for (name, version), files in FILES.items():
        package = fetch_whole(Package(name, version, name, "MIT"), home / "sources")
        for file in files:
            shutil.copyfile(package / file, folder / Path(file).name)
    return folder


def export_beir(graph: "Graph", folder: Path | None, transpositions: Path | None) -> None:
    """Write law and questions in BEIR's layout into a folder, where one is named; or acts and known transpositions."""
    from ingest.readers.beir import write_graph

    if folder is None:
        if transpositions is not None:
            raise BadQuery("Name a folder with --beir, into which the acts of --transpositions are written")
        return
    written = write_graph(graph, folder) if transpositions is None else _export_transpositions(graph, folder, transpositions)
    for name, n in written.items():
        say(f"{folder / name}: {n:,}")


def _export_transpositions(graph: "Graph", folder: Path, transpositions: Path) -> dict[str, int]:
    """Write two collections, directives that ask national acts and the other way round; return records by file."""
    from ingest.readers.beir import Document, write_collection
    from search.acts.benchmark import read_transpositions
    from search.acts.collection import COLLECTIONS, masked_acts, queries_of
    from search.corpus.read import read_corpus

    corpus, text = read_corpus(graph)
    position = {id: n for n, id in enumerate(corpus.acts)}
    pairs, weak = (read_transpositions(transpositions, position, basis) for basis in ("title", "cites"))
    if not pairs:
        raise BadQuery(f"{transpositions}: no pair of it is in the graph: run `lexgraph ingest` on its acts and directives")
    acts = list(masked_acts(corpus, text, list(graph.rows("acts"))))
    written: dict[str, int] = {}
    for name, direction, jurisdiction in COLLECTIONS:
        documents = (Document(act.id, act.title, act.text, act.language) for act in acts if act.jurisdiction == jurisdiction)
        counts = write_collection(folder / name, documents, queries_of(acts, pairs, weak, direction))
        written |= {f"{name}/{file}": n for file, n in counts.items()}
    return written


def export_csv(graph: "Graph", folder: Path | None, progress: Progress) -> None:
    """Write files for Neo4j's bulk import into a folder, where one is named."""
    from cypher.export.neo4j_admin import SCRIPT, write_import_files

    if folder is None:
        return
    rows = write_import_files(graph, folder, progress=progress)
    say(f"{len(rows)} files, {sum(rows.values()):,} rows. With Neo4j stopped, load them:")
    say(f"  sh {shlex.quote(str(folder / SCRIPT))}")
    say("then start it and make the constraints: lexgraph migrate")


def export_dump(graph: "Graph", file: Path | None) -> None:
    """Write the canonical dump into a file, where one is named; ``-`` is standard output."""
    from cypher.export.dump import canonical_dump

    if file is None:
        return
    with nullcontext(sys.stdout) if str(file) == "-" else file.open("w", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in canonical_dump(graph))


def query(home: Home, statement: str, parameters: Sequence[str]) -> "Table":
    """Run a free Cypher query with parameters written as ``name=value``."""
    from cypher.read_only import reading_statement

    settings, given = home.settings, dict(map(_parameter, parameters))
    with home.graph(settings.query_timeout_s) as graph:
        reading_statement(statement, graph.engine).check(given)
        return graph.query(statement, given, settings.cypher_max_rows)


def _parameter(text: str) -> tuple[str, Any]:
    """Return name and value of ``name=value``; a JSON value is read as such.

    Raises:
        BadQuery: there is no name, or no sign of equality.
    """
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise BadQuery(f"Not a parameter: {text!r} (write name=value)")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
