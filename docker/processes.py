"""Process groups that outlive the program that started them."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

import psutil

_ENDED = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
_children: list[subprocess.Popen[bytes]] = []
"""Kept, for Python warns of a handle that is given up before its process ends."""


class Process(NamedTuple):
    """A process that leads a group, by pid and time of birth: the pid alone may by now be another's."""

    pid: int
    born: float

    @classmethod
    def of(cls, pid: int) -> "Process":
        """Return the process that has this pid now; one born at 0 if there is none."""
        with suppress(psutil.NoSuchProcess):
            born = psutil.Process(pid).create_time()
            # On Linux counted from the boot: the time of day changes when the clock is set.
            return cls(pid, round(born - psutil.boot_time(), 2) if psutil.LINUX else born)
        return cls(pid, 0)

    @classmethod
    def start(cls, command: list[str], folder: Path, output: IO[str] | None = None) -> "Process":
        """Start a command in a group of its own; what it writes goes into ``output``, if given."""
        child = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        _children[:] = [child, *(other for other in _children if other.poll() is None)]
        return cls.of(child.pid)

    @property
    def status(self) -> str:
        """State as psutil names it: "dead" also where the pid is another's."""
        with suppress(psutil.NoSuchProcess):
            if self == Process.of(self.pid):
                return psutil.Process(self.pid).status()
        return psutil.STATUS_DEAD

    @property
    def alive(self) -> bool:
        """True until the process ends, whoever has its pid afterwards."""
        return self.status not in _ENDED

    @property
    def group(self) -> list[int]:
        """The pids of its group that have not ended: Elasticsearch is two processes."""
        if not self.alive and Process.of(self.pid).alive:
            return []
        # No new process is given the number of a group that has members: without its leader it is the same group still.
        members: list[int] = []
        for pid in psutil.pids():
            with suppress(psutil.Error, OSError):
                if os.getpgid(pid) == self.pid and psutil.Process(pid).status() not in _ENDED:
                    members.append(pid)
        return members

    def send(self, what: signal.Signals) -> None:
        """Send a signal to the whole group."""
        if self.group:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, what)

    def gone(self, seconds: float) -> bool:
        """Wait for the end of the whole group, for so many seconds at most."""
        until = time.monotonic() + seconds
        while self.group:
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True
