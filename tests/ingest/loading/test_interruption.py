"""A writer killed at any moment leaves the old release whole, and a second run ends where an undisturbed one does."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.sources import ingest
from search.corpus.read import read_corpus
from search.text.index import build_text_index
from search.text.options import Bm25Options
from tests.support.disturbance import digests, dump, start_python
from tests.support.tiny_law import BAKERS_ID, bakers, millers, write_law

KILLS = 10
INGEST = """
import sys
from pathlib import Path
from cypher.engines.ladybug import EmbeddedStore
from ingest.sources import ingest
print("working", flush=True)
ingest(EmbeddedStore(Path(sys.argv[1])), Path(sys.argv[2]))
"""
INDEX = """
import sys
from pathlib import Path
from cypher.engines.ladybug import open_graph
from search.corpus.read import read_corpus
from search.text.index import build_text_index
from search.text.options import Bm25Options
print("working", flush=True)
home = Path(sys.argv[1])
with open_graph(home) as graph:
    corpus, text = read_corpus(graph)
build_text_index(home, corpus, text, Bm25Options())
"""


def work_seconds(script: str, *arguments: object) -> float:
    """How long the work of a script takes, its imports left out."""
    process = start_python(script, *arguments)
    assert process.stdout
    process.stdout.readline()
    start = time.monotonic()
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    return time.monotonic() - start


def kill_after(seconds: float, script: str, *arguments: object) -> bool:
    """Start a script, kill it so long after its work began; whether it was alive then."""
    process = start_python(script, *arguments)
    assert process.stdout
    process.stdout.readline()
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def harass(
    duration: float,
    seed: int,
    check: Callable[[], None],
    begin_anew: Callable[[], object],
    script: str,
    *arguments: object,
) -> None:
    """Kill a script at ten moments, each time on what the last kill left, and check what readers find after each.

    The moments are spread over the run: one at random in each tenth of it. A run that came to its end before it was
    killed shows nothing: it begins anew, and the moment comes earlier.
    """
    draw = random.Random(seed)
    for tenth in range(KILLS):
        moment = duration * (tenth + draw.random()) / KILLS
        for _ in range(10):
            met = kill_after(moment, script, *arguments)
            check()
            if met:
                break
            begin_anew()
            moment *= 0.7
        else:
            pytest.fail(f"no kill met the work, not even {moment:.3f} s after it began")


@pytest.mark.xdist_group("real law")
def test_an_ingest_killed_at_any_moment_ends_where_an_undisturbed_one_does(
    tmp_path: Path, real_sources: tuple[Path, Path]
) -> None:
    code = real_sources[0] / "LEGITEXT000031366350.json"
    duration = work_seconds(INGEST, tmp_path / "undisturbed", code)
    home = tmp_path / "killed"

    def none_or_whole() -> None:
        if (home / "graph.lbug").exists():
            assert dump(home) == dump(tmp_path / "undisturbed")

    harass(duration, 1, none_or_whole, lambda: shutil.rmtree(home), INGEST, home, code)
    ingest(EmbeddedStore(home), code)
    assert dump(home) == dump(tmp_path / "undisturbed")
    assert sorted(path.name for path in home.iterdir()) == ["graph.lbug", "graph.lock"]


@pytest.mark.slow
def test_an_update_killed_at_any_moment_leaves_the_old_release_or_the_new(tmp_path: Path, tiny_home: Path) -> None:
    newer = bakers()
    newer["children"].pop()
    newer["children"][0]["children"][0]["children"][0]["data"]["texteHtml"] = "<p>Le pain est fait de seigle.</p>"
    sources = write_law(tmp_path / "sources", newer)
    home = tmp_path / "killed"
    for place in (home, tmp_path / "undisturbed"):
        place.mkdir()
        shutil.copy(tiny_home / "graph.lbug", place)
    duration = work_seconds(INGEST, tmp_path / "undisturbed", sources)
    old, new = dump(tiny_home), dump(tmp_path / "undisturbed")
    assert old != new

    def old_or_new() -> None:
        assert dump(home) in (old, new)

    harass(duration, 2, old_or_new, lambda: shutil.copy(tiny_home / "graph.lbug", home), INGEST, home, sources)
    ingest(EmbeddedStore(home), sources)
    assert dump(home) == new


@pytest.mark.xdist_group("real law")
def test_an_index_killed_at_any_moment_ends_where_an_undisturbed_one_does(
    tmp_path: Path, real_sources: tuple[Path, Path]
) -> None:
    for home in (tmp_path / "killed", tmp_path / "undisturbed"):
        ingest(EmbeddedStore(home), real_sources[0] / "LEGITEXT000031366350.json")
    duration = work_seconds(INDEX, tmp_path / "undisturbed")
    whole = digests(tmp_path / "undisturbed" / "index")
    folder = tmp_path / "killed" / "index"

    def none_or_whole() -> None:
        finished = {name: digest for name, digest in digests(folder).items() if ".part" not in name}
        assert finished in ({}, whole)

    harass(duration, 3, none_or_whole, lambda: shutil.rmtree(folder), INDEX, tmp_path / "killed")
    with open_graph(tmp_path / "killed") as graph:
        corpus, text = read_corpus(graph)
    build_text_index(tmp_path / "killed", corpus, text, Bm25Options())
    assert len(whole) > 10
    assert digests(folder) == whole


def test_readers_see_the_old_release_whole_while_a_writer_works(tmp_path: Path, tiny_home: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(tiny_home / "graph.lbug", home)
    newer = bakers()
    newer["children"].pop()
    sources = write_law(tmp_path / "sources", newer, millers())
    with open_graph(home) as reader:
        before = reader.rows("articles_of_acts", ids=[BAKERS_ID])
        report = ingest(EmbeddedStore(home), sources)
        assert report.removed["Article"] == 3
        assert reader.rows("articles_of_acts", ids=[BAKERS_ID]) == before
    with open_graph(home) as reader:
        assert len(reader.rows("articles_of_acts", ids=[BAKERS_ID])) == len(before) - 3
