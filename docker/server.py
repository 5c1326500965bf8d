"""A server on this machine: start, wait, stop, kill, pause, and one request over HTTP."""

import json
import random
import re
import signal
import socket
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from docker.java import find_java
from docker.maven import ROOT, Product, ServerFailed, fetch, locked
from docker.processes import Process

LOOPBACK = "127.0.0.1"
# Below the range that Linux takes the ports of outgoing connections from, so that a restarted server finds its port free.
PORTS = range(20_000, 32_000)
STOP_SECONDS = 60


def _free_port() -> int:
    while True:
        with socket.socket() as probe, suppress(OSError):
            probe.bind((LOOPBACK, random.choice(PORTS)))
            return probe.getsockname()[1]


@dataclass
class Server(ABC):
    """A server with its files in ``home``. Whoever opens the same home holds the same server."""

    product: Product
    home: Path
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    heap_mb: int = 512
    ready_seconds: float = 240
    short_lived: bool = False  # compile and check less: half the work until it is ready, and slower queries afterwards

    def __post_init__(self) -> None:
        self.home = Path(self.home).absolute()

    # server.json lets the next process find the server.

    @property
    def _state_file(self) -> Path:
        return self.home / "server.json"

    def _state(self) -> dict[str, Any]:
        try:
            return json.loads(self._state_file.read_text())
        except (OSError, ValueError):
            return {}

    @property
    def process(self) -> Process | None:
        """The server's process, if it runs; a leftover pid that is now another process is not it."""
        written = self._state().get("process")
        process = Process(*written) if written else None
        return process if process and process.alive else None

    @property
    def running(self) -> bool:
        """True while the server's process lives, ready or not."""
        return self.process is not None

    def _port(self, name: str) -> int:
        ports = self._state().get("ports", {})
        if name not in ports:
            raise ServerFailed(f"{self.product} in {self.home} was never started")
        return ports[name]

    @property
    def http_address(self) -> str:
        """Address of the HTTP port, which is the same after every start."""
        return f"http://{LOOPBACK}:{self._port('http')}"

    @property
    def log(self) -> Path:
        """File of what the server writes to its console, from its last start on."""
        return self.home / "logs" / "console.log"

    @property
    def _java_options(self) -> list[str]:
        # The classes of a release are as they were published: to verify each at every start is a tenth of its work.
        unverified = ["-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"]
        return ["-XX:TieredStopAtLevel=1", *unverified] if self.short_lived else []

    # Each server has its own.

    port_names: tuple[str, ...] = ("http",)

    @abstractmethod
    def _prepare(self, program: Path, java: Path, ports: Mapping[str, int]) -> None: ...

    @abstractmethod
    def _command(self, program: Path, java: Path) -> list[str]: ...

    @abstractmethod
    def _answers(self) -> bool: ...

    # Both have these.

    def start(self, dies_with: int | None = None) -> None:
        """Start the server and wait until it answers; nothing is done if it runs. It keeps its ports and its data.

        ``dies_with`` is the pid of a process at whose end the server is killed and its home removed.
        """
        with locked(self.home / ".lock"):
            if self.running:
                return self.wait_ready()
            java, program = find_java(self.product), fetch(self.product)
            draws = 1 if "ports" in self._state() else 3  # of ports, which another program may take before the server does
            while True:
                self._launch(program, java, dies_with)
                try:
                    return self.wait_ready()
                except ServerFailed as error:
                    self.kill()
                    draws -= 1
                    if draws == 0 or not re.search("already in use|BindException", str(error)):
                        raise
                    self._state_file.unlink()

    def _launch(self, program: Path, java: Path, dies_with: int | None) -> None:
        for folder in ("data", "logs", "plugins", "config", "tmp"):
            (self.home / folder).mkdir(exist_ok=True)
        ports = self._state().get("ports") or {name: _free_port() for name in self.port_names}
        self._prepare(program, java, ports)
        with self.log.open("w") as log:
            process = Process.start(self._command(program, java), self.home, log)
        new = self._state_file.with_suffix(".new")
        new.write_text(json.dumps({"ports": ports, "process": process}))
        new.replace(self._state_file)
        if dies_with is not None:
            Process.start([sys.executable, "-m", "docker.local_servers", "watch", str(dies_with), str(self.home)], ROOT)

    def wait_ready(self) -> None:
        """Wait until the server answers.

        Raises:
            ServerFailed: it ended, or did not answer in time; with the end of its log.
        """
        until = time.monotonic() + self.ready_seconds
        while True:
            running = self.running
            if self._answers():
                return
            if not running or time.monotonic() > until:
                why = f"was not ready after {self.ready_seconds:.0f} s" if running else "ended before it was ready"
                end = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
                raise ServerFailed(f"{self.product} {why}; the end of {self.log}:\n{end}")
            time.sleep(0.2)

    def stop(self, seconds: float = STOP_SECONDS) -> bool:
        """Let the server finish, and return true; kill it if it does not in so many seconds."""
        if process := self.process:
            process.send(signal.SIGTERM)
            process.send(signal.SIGCONT)
            if not process.gone(seconds):
                process.send(signal.SIGKILL)
                process.gone(STOP_SECONDS)
                return False
        return True

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        if process := self.process:
            process.send(signal.SIGKILL)
            process.gone(STOP_SECONDS)

    def pause(self) -> None:
        """Let the server stand still with its connections open, as one under load or swapping would."""
        if process := self.process:
            process.send(signal.SIGSTOP)
            while process.alive and process.status != psutil.STATUS_STOPPED:
                time.sleep(0.01)

    def resume(self) -> None:
        """Let a paused server go on."""
        if process := self.process:
            process.send(signal.SIGCONT)

    def request(
        self, method: str, path: str, body: Any = None, auth: tuple[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Return the status and JSON of one request to the HTTP port; status 0 where nobody answers."""
        address, accept = self.http_address + path, {"Accept": "application/json"}
        try:  # straight to this machine: no proxy, and no certificates to load
            answer = httpx.request(
                method, address, json=body, auth=auth, headers=accept, timeout=30, trust_env=False, verify=False
            )
        except httpx.HTTPError:
            return 0, {}
        try:
            return answer.status_code, answer.json()
        except ValueError:
            return answer.status_code, {}
