"""Histories that are read on from where they were left: the same law as read at once, and nothing old read again."""

import pickle
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore
from ingest.loading.report import LoadReport
from ingest.readers.history import checkpoint
from ingest.readers.history.checkpoint import Checkpoint, read_checkpoint
from ingest.sources import ingest
from tests.ingest.readers.test_law_as_git import law_in
from tests.support.small_history import BAKER, FILE, HISTORY, MILL, OVEN, OVEN_LATER, Commit, flat, git, marked, write_repository
from tests.support.variants import variants

_HEADER = checkpoint._HEADER  # pyright: ignore[reportPrivateUsage]
KEPT = f"histories/{Path(FILE).stem}.checkpoint"
LATER = Commit("2021-01-01", marked("2021-01-01", OVEN_LATER, [("20", BAKER), ("11", MILL), ("12", OVEN)]))
TO_COME = Commit("2999-01-01", marked("2999-01-01", "Le four banal ferme.", [("20", BAKER)]))
REPEALED = Commit("2022-01-01", marked("2022-01-01", OVEN_LATER, [("20", BAKER)]))


def load(home: Path, repository: Path) -> LoadReport:
    return ingest(EmbeddedStore(home), repository)


def lose_the_oldest_states(repository: Path, commits: int) -> None:
    """Take away the blobs of the first commits: whoever reads them again says that they are missing."""
    for commit in git(repository, "rev-list", "--reverse", "HEAD").split()[:commits]:
        blob = git(repository, "rev-parse", f"{commit}:{FILE}").strip()
        (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def assert_as_read_at_once(tmp_path: Path, history: Sequence[Commit]) -> None:
    load(tmp_path / "other", write_repository(tmp_path / "all" / "law", history))
    assert law_in(tmp_path / "home") == law_in(tmp_path / "other")


@pytest.mark.parametrize("begun", variants([6, 1, 2, 3, 4, 5]))
def test_a_history_that_grows_is_read_as_the_whole_would_be(tmp_path: Path, begun: int) -> None:
    history = [*HISTORY, LATER, TO_COME, REPEALED]
    repository = write_repository(tmp_path / "law", history[:begun])
    load(tmp_path / "home", repository)
    for commit in history[begun:]:
        load(tmp_path / "home", write_repository(repository, [commit]))
    assert_as_read_at_once(tmp_path, history)


def test_states_that_were_read_are_not_read_again(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    load(tmp_path / "home", repository)
    lose_the_oldest_states(repository, 3)
    assert not load(tmp_path / "home", write_repository(repository, [LATER])).rejected
    assert_as_read_at_once(tmp_path, [*HISTORY, LATER])


@pytest.mark.slow
def test_a_state_of_an_earlier_day_has_all_read_again(tmp_path: Path) -> None:
    between = Commit("1930-01-01", flat("1930-01-01", OVEN_LATER, [("10", BAKER), ("15", MILL)]))
    repository = write_repository(tmp_path / "law")
    load(tmp_path / "home", repository)
    load(tmp_path / "home", write_repository(repository, [between]))
    assert_as_read_at_once(tmp_path, [*HISTORY, between])


def test_a_history_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    load(tmp_path / "home", repository)
    git(repository, "reset", "--quiet", "--hard", "HEAD~2")
    load(tmp_path / "home", write_repository(repository, [LATER]))
    assert_as_read_at_once(tmp_path, [*HISTORY[:2], LATER])


@pytest.mark.slow
def test_a_later_heading_that_older_states_have_as_a_paragraph_has_them_read_again(tmp_path: Path) -> None:
    words = "De la cuisson"
    first = Commit("1850-01-01", flat("1850-01-01", OVEN, [("10", BAKER + "\n\n" + words), ("11", MILL)]))
    text = marked("2021-01-01", OVEN_LATER, [("20", BAKER), ("11", MILL)])
    text = text.replace("##### Article 11", f"## {words}\n\n##### Article 11")
    repository = write_repository(tmp_path / "law", [first, HISTORY[3]])
    load(tmp_path / "home", repository)
    load(tmp_path / "home", write_repository(repository, [Commit("2021-01-01", text)]))
    assert_as_read_at_once(tmp_path, [first, HISTORY[3], Commit("2021-01-01", text)])


@pytest.mark.slow
def test_a_history_with_missing_parts_is_read_whole_each_time(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    blob = git(repository, "rev-parse", f"HEAD~2:{FILE}").strip()
    place = repository / ".git" / "objects" / blob[:2] / blob[2:]
    content = place.read_bytes()
    place.unlink()
    assert load(tmp_path / "home", repository).rejected
    assert not (tmp_path / "home" / KEPT).exists()
    place.write_bytes(content)
    load(tmp_path / "home", write_repository(repository, [LATER]))
    assert_as_read_at_once(tmp_path, [*HISTORY, LATER])


@pytest.mark.parametrize("kept", variants([b"", b"lexgraph history 0\nxx", _HEADER, _HEADER + zlib.compress(b"x")]))
def test_a_checkpoint_that_cannot_be_read_only_costs_time(tmp_path: Path, kept: bytes) -> None:
    repository = write_repository(tmp_path / "law")
    load(tmp_path / "home", repository)
    (tmp_path / "home" / KEPT).write_bytes(kept)
    assert not load(tmp_path / "home", write_repository(repository, [LATER])).rejected
    assert isinstance(read_checkpoint(tmp_path / "home" / KEPT), Checkpoint)
    assert_as_read_at_once(tmp_path, [*HISTORY, LATER])


class Hostile:
    """Runs a command where it is unpickled."""

    def __init__(self, ran: Path) -> None:
        self.ran = ran

    def __reduce__(self) -> object:
        return Path.touch, (self.ran,)


def test_a_checkpoint_runs_no_code(tmp_path: Path) -> None:
    file, ran = tmp_path / "x.checkpoint", tmp_path / "ran"
    for content in (Hostile(ran), [Hostile(ran)]):
        file.write_bytes(checkpoint._HEADER + zlib.compress(pickle.dumps(content)))  # pyright: ignore[reportPrivateUsage]
        assert read_checkpoint(file) is None
    assert not ran.exists()
