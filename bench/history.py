"""Law with its history into the embedded graph: all of it, again, with one commit more; and searched on other days."""

import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from bench.in_time import EXPLAINED as IN_TIME
from bench.in_time import measured
from bench.reporting import Figures
from bench.true_to_source import compare
from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.sources import ingest
from search.build import build_indexes
from search.corpus.read import read_corpus
from search.text.options import Bm25Options

BUNDLE = "legalize-fr-history.bundle"
_ACT = "fr/LEGITEXT000006070721.md"
"""The Code civil."""
EXPLAINED = {
    "commits": "commits of the history",
    "acts": "acts",
    "articles": "articles ever in force",
    "wordings": "wordings of them all",
    "renumberings": "articles whose text went on under another number",
    "ingest_s": "ingest into an empty embedded graph, seconds",
    "peak_mb": "memory of the largest process, MB",
    "second_run_s": "ingest again with nothing changed, seconds",
    "one_commit_s": "ingest with one commit more, seconds",
    "compared": "articles of states drawn at random, held against the git objects",
    "equal": "share of them that are equal",
    "index_s": "text index of all wordings, seconds",
    **IN_TIME,
}


def measure(data: Path, sample: int, *, quick: bool = False) -> Figures:
    """Measure.

    Args:
        data: folder of the bundle.
        sample: states to compare with the git objects.
        quick: take one act.
    """
    with tempfile.TemporaryDirectory() as folder:
        repository, home = Path(folder) / "law", Path(folder) / "home"
        _git(Path(folder), "clone", "--quiet", str((data / BUNDLE).absolute()), str(repository))
        if quick:
            repository = _history_of_one_act(repository, Path(folder) / "one")
        ingest_s = _timed(home, repository)
        second_run_s = _timed(home, repository)
        with open_graph(home) as graph:
            counts = {row["label"]: row["n"] for row in graph.rows("counts")}
            edges = {row["type"]: row["n"] for row in graph.rows("edge_counts")}
            compared = compare(graph, repository, sample)
        commits = int(_git(repository, "rev-list", "--count", "HEAD"))
        _change(repository)
        one_commit_s = _timed(home, repository)
        began = time.perf_counter()
        with open_graph(home) as graph:
            build_indexes(home, read_corpus(graph), graph.rows("acts"), Bm25Options())
        index_s = time.perf_counter() - began
        in_time = measured(home)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    figures = {
        "commits": commits,
        "acts": counts["Act"],
        "articles": counts["Article"],
        "wordings": counts["Article"] + counts["Wording"],
        "renumberings": edges["RENUMBERED_TO"],
        "ingest_s": ingest_s,
        "peak_mb": peak / 1024,
        "second_run_s": second_run_s,
        "one_commit_s": one_commit_s,
        "compared": compared.articles,
        "equal": compared.share_equal,
        "index_s": index_s,
        **in_time,
    }
    return Figures("History", figures, EXPLAINED)


def _timed(home: Path, repository: Path) -> float:
    began = time.perf_counter()
    ingest(EmbeddedStore(home), repository)
    return time.perf_counter() - began


def _history_of_one_act(repository: Path, made: Path) -> Path:
    """Return a new repository with the commits of one act alone."""
    branch = _git(repository, "symbolic-ref", "--short", "HEAD").strip()
    _git(repository, "init", "--quiet", f"--initial-branch={branch}", str(made))
    _git(made, "fast-import", "--quiet", given=_git(repository, "fast-export", "HEAD", "--", _ACT))
    _git(made, "reset", "--quiet", "--hard")
    return made


def _change(repository: Path) -> None:
    """Commit another wording of one article, for the day after the last."""
    act = repository / _ACT
    act.write_text(act.read_text("utf-8").replace("Chacun a droit au respect", "Toute personne a droit au respect", 1), "utf-8")
    _git(repository, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "reform\n\nSource-Date: 2026-04-04")


def _git(folder: Path, *arguments: str, given: str = "") -> str:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(folder)}
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, env=environment, input=given.encode(), capture_output=True, check=True)
    return done.stdout.decode()
