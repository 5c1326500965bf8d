"""What the servers have in common: start, wait, stop, kill, pause, and one request over HTTP."""

import base64
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker.java import find_java
from docker.maven import ROOT, Product, ServerFailed, fetch, locked
from docker.processes import Process, status

LOOPBACK = "127.0.0.1"
# Below the range that Linux takes the ports of outgoing connections from, so that a restarted server finds its port free.
PORTS = range(20_000, 32_000)
STOP_SECONDS = 60
UNPRIVILEGED = "nobody"


def _free_port() -> int:
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((LOOPBACK, port))
            return port


def _tail(file: Path, lines: int = 15) -> str:
    try:
        return "\n".join(file.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return "(no log)"


@dataclass
class Server(ABC):
    """A server with its files in ``home``. Whoever opens the same home holds the same server."""

    product: Product
    home: Path
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    heap_mb: int = 512
    ready_seconds: float = 240
    short_lived: bool = False  # compile less: half the work until it is ready, and slower queries afterwards

    def __post_init__(self) -> None:
        self.home = Path(self.home).absolute()

    # What is written down, so that the next process finds the server.

    @property
    def _state_file(self) -> Path:
        return self.home / "server.json"

    def _state(self) -> dict[str, Any]:
        try:
            return json.loads(self._state_file.read_text())
        except (OSError, ValueError):
            return {}

    def _remember(self, **changes: Any) -> None:
        new = self._state_file.with_suffix(".new")
        new.write_text(json.dumps(self._state() | changes))
        new.replace(self._state_file)

    @property
    def process(self) -> Process | None:
        """The server's process, if it runs; a leftover pid that is now another process is not it."""
        written = self._state().get("process")
        process = Process(*written) if written else None
        return process if process and process.alive else None

    @property
    def running(self) -> bool:
        return self.process is not None

    def _port(self, name: str) -> int:
        ports = self._state().get("ports", {})
        if name not in ports:
            raise ServerFailed(f"{self.product} in {self.home} was never started")
        return ports[name]

    @property
    def http_address(self) -> str:
        return f"http://{LOOPBACK}:{self._port('http')}"

    @property
    def log(self) -> Path:
        return self.home / "logs" / "console.log"

    @property
    def _java_options(self) -> list[str]:
        return ["-XX:TieredStopAtLevel=1"] if self.short_lived else []

    # What the two servers do differently.

    port_names: tuple[str, ...] = ("http",)

    @abstractmethod
    def _prepare(self, program: Path, java: Path, ports: Mapping[str, int]) -> None: ...

    @abstractmethod
    def _command(self, program: Path, java: Path) -> tuple[list[str], dict[str, str]]: ...

    @abstractmethod
    def _answers(self) -> bool: ...

    # What both do.

    def start(self, dies_with: int | None = None) -> None:
        """Start the server and wait until it answers; nothing is done if it runs. It keeps its ports and its data.

        ``dies_with`` is the pid of a process at whose end the server is killed and its home removed.
        """
        with locked(self.home / ".lock"):
            if self.running:
                self.wait_ready()
                return
            java = find_java(self.product)
            program = fetch(self.product)
            first = "ports" not in self._state()
            for attempt in range(3):
                if "ports" not in self._state():
                    self._remember(ports={name: _free_port() for name in self.port_names})
                self._launch(program, java, dies_with)
                try:
                    self.wait_ready()
                    return
                except ServerFailed as error:
                    self.kill()
                    if not (first and attempt < 2 and re.search("already in use|BindException", str(error))):
                        raise
                    self._state_file.unlink()

    def _launch(self, program: Path, java: Path, dies_with: int | None) -> None:
        for folder in ("data", "logs", "plugins", "config", "tmp"):
            (self.home / folder).mkdir(exist_ok=True)
        self._prepare(program, java, self._state()["ports"])
        command, environment = self._command(program, java)
        with self.log.open("w") as log:
            child = subprocess.Popen(
                command,
                cwd=self.home,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        _abandon(child)
        self._remember(process=Process.of(child.pid))
        if dies_with is not None:
            watch = [sys.executable, "-m", "docker.local_servers", "watch", str(dies_with), str(self.home)]
            _abandon(subprocess.Popen(watch, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True))

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
            if not running:
                raise ServerFailed(f"{self.product} ended before it was ready; the end of {self.log}:\n{_tail(self.log)}")
            if time.monotonic() > until:
                raise ServerFailed(
                    f"{self.product} was not ready after {self.ready_seconds:.0f} s; the end of {self.log}:\n{_tail(self.log)}"
                )
            time.sleep(0.2)

    def stop(self) -> None:
        """Let the server finish; kill it if it does not."""
        if process := self.process:
            process.send(signal.SIGTERM)
            process.send(signal.SIGCONT)
            if not process.gone(STOP_SECONDS):
                self.kill()

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        if process := self.process:
            process.send(signal.SIGKILL)
            process.gone(STOP_SECONDS)

    def restart(self) -> None:
        """Stop, and start again on the same ports and data."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """Let the server stand still with its connections open, as one under load or swapping would."""
        if process := self.process:
            process.send(signal.SIGSTOP)
            while process.alive and status(process.pid)[0] != "T":
                time.sleep(0.01)

    def resume(self) -> None:
        if process := self.process:
            process.send(signal.SIGCONT)

    def request(
        self, method: str, path: str, body: Any = None, auth: tuple[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Status and JSON of one request to the server's HTTP port; status 0 where nobody answers."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if auth:
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(auth).encode()).decode()
        connection = http.client.HTTPConnection(LOOPBACK, self._port("http"), timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            read = answer.read()
        except (OSError, http.client.HTTPException):
            return 0, {}
        finally:
            connection.close()
        try:
            return answer.status, json.loads(read or b"{}")
        except ValueError:
            return answer.status, {}


_children: list[subprocess.Popen[bytes]] = []


def _abandon(child: "subprocess.Popen[bytes]") -> None:
    """Keep the handle of a child that may outlive us, so that Python does not warn of it."""
    _children.append(child)
