"""A folder is written whole or not at all, by however many processes, and what the dead leave is swept."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from runtime.atomic_folder import PART, sweep_parts, whole_folder
from tests.support.disturbance import ROOT

FILES = ("a", "b", "c")
KILLED = """
import os, signal, sys
from pathlib import Path
from runtime.atomic_folder import whole_folder
with whole_folder(Path(sys.argv[1])) as part:
    (part / "a").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def write(part: Path, *names: str) -> None:
    for name in names:
        (part / name).write_text("whole")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_two_writers_of_one_folder_leave_it_whole(tmp_path: Path) -> None:
    folder = tmp_path / "place" / "index"
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        with whole_folder(folder) as part:
            write(part, "a", "b")
            begun.set()
            go_on.wait()
            write(part, "c")

    other = threading.Thread(target=slow)
    other.start()
    begun.wait()
    with whole_folder(folder) as part:
        write(part, "a")
        go_on.set()
        other.join()
        assert files(folder) == [*FILES]
        write(part, "b", "c")
    assert files(folder) == [*FILES]
    assert files(folder.parent) == ["index"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with whole_folder(tmp_path / "index") as part:
            write(part, "a")
            raise OSError(28, "no space")

    with pytest.raises(OSError, match="no space"):
        fail()
    assert files(tmp_path) == []


def test_leftovers_of_a_killed_process_are_swept_and_those_of_a_living_one_are_not(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "other")], cwd=ROOT, check=False)
    assert killed.returncode < 0
    (left,) = files(tmp_path)
    assert left.endswith(PART)
    with whole_folder(tmp_path / "index") as part:
        assert files(tmp_path) == [part.name], "the next writer sweeps"
        write(part, *FILES)
        sweep_parts(tmp_path)
        assert files(part) == [*FILES]
    assert files(tmp_path / "index") == [*FILES]
    assert files(tmp_path) == ["index"]


def test_a_disk_without_locks_is_written_to_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(lock: int, how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    (tmp_path / f"other{PART}").mkdir()
    with whole_folder(tmp_path / "index") as part:
        write(part, *FILES)
    assert files(tmp_path / "index") == [*FILES]
    assert files(tmp_path) == ["index", f"other{PART}"]
