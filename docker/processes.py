"""Processes that outlive the one that started them."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process and when it was born: a pid alone may by now be another's."""

    pid: int
    born: str

    @classmethod
    def of(cls, pid: int) -> "Process":
        return cls(pid, _born(pid))

    @property
    def alive(self) -> bool:
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)  # a child of ours that has ended would stay a zombie
        return bool(self.born) and _born(self.pid) == self.born

    def send(self, what: signal.Signals) -> None:
        """To the whole group: Elasticsearch is two processes."""
        # No new process is given the number of a group that has members: without its leader it is the same group still.
        if self.alive or (not _born(self.pid) and _members(self.pid)):
            with suppress(ProcessLookupError):
                os.killpg(self.pid, what)

    def gone(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        until = time.monotonic() + seconds
        while self.alive or _members(self.pid):
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True


def _members(group: int) -> list[int]:
    """The processes of a group that have not ended; one that nobody has asked about since it ended is not among them."""
    if sys.platform == "linux":
        members: list[int] = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError, ValueError):
                state, _parent, its_group, *_others = stat.read_text().rpartition(") ")[2].split()
                if int(its_group) == group and state not in "ZX":
                    members.append(int(stat.parent.name))
        return members
    said = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, check=False).stdout
    rows = [line.split() for line in said.splitlines()]
    return [int(row[0]) for row in rows if row[1] == str(group) and row[2][0] not in "ZX"]


def status(pid: int) -> tuple[str, str]:
    """State of a process (R, S, T, …) and when it was started, as the system writes it; empty if it has ended."""
    if sys.platform == "linux":
        try:
            state, *others = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except (OSError, ValueError):
            return "", ""
        born = others[18]
    else:
        said = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
        state, _, born = said.strip().partition(" ")
    return ("", "") if state[:1] in ("Z", "X", "") else (state[:1], born.strip())


def _born(pid: int) -> str:
    return status(pid)[1]
