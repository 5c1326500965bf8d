"""COLIEE's folder, compared on: a home of its own below the user's, and the tables of it."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cli.output import say_json, warn
from cli.tables import say_figures
from cli.workspace import Home, law_of
from schema.errors import MissingFile

if TYPE_CHECKING:
    from gnn.comparison.coliee import ColieeTable

_SOURCE = "coliee"


def compared_on_coliee(
    home: Home, recipes: Sequence[str], folder: Path, test: str, seeds: int, encoder: str = ""
) -> "ColieeTable":
    """Return recipes on the questions of one year, of the code and the question files in a folder.

    They are loaded into a home of their own, which is kept for the next time: the user's graph stays as it is.

    Raises:
        MissingFile: there is no such folder.
        BadSource: a file of it cannot be read.
    """
    from gnn.comparison.coliee import compare_on_coliee
    from gnn.comparison.contenders import entry
    from gnn.distributed import leading

    with leading() as process:
        if not folder.is_dir():
            raise MissingFile(f"{folder}: no such folder")
        own = _loaded(home, folder)
        entries = [entry(name, lambda of: home.recipe_on(_SOURCE, of, encoder)) for name in dict.fromkeys(recipes)]
        with own.graph() as graph:
            workspace = replace(own.workspace(graph, entries[0].recipe), process=process)
            return compare_on_coliee(workspace, entries, test.upper(), seeds)


def _loaded(home: Home, folder: Path) -> Home:
    """Return a home with the code and the questions of a folder, loaded and indexed; what cannot be read is told."""
    from ingest.sources import ingest
    from search.corpus.read import read_corpus
    from search.text.index import build_text_index, index_is_built

    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    servers = {"graph": "", "text": "", "models": ""}
    path = home.path / "comparisons" / f"{_SOURCE}-{name}"
    own = Home(home.settings.model_copy(update={"home": path, **servers}), home.progress)
    report = ingest(own.store, folder, _SOURCE, force=True, progress=home.progress)
    for record in report.rejected:
        warn(f"rejected: {record.file}: {record.place}: {record.reason}")
    with own.graph() as graph:
        if not index_is_built(path, law_of(graph), own.bm25):
            build_text_index(path, *read_corpus(graph), own.bm25, progress=home.progress)
    return own


def show_coliee(table: "ColieeTable", *, as_json: bool = False) -> None:
    """Print the table, or one JSON object."""
    from gnn.comparison.coliee import coliee_title, figures

    if as_json:
        say_json(table.as_json())
        return
    names, *rows = figures(table)
    say_figures(coliee_title(table), names, rows)
