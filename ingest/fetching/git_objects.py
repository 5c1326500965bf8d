"""Objects of a git repository, read by git itself out of a folder that nobody else configures.

A repository that was given is never opened as one: its configuration, hooks, attributes and references have no say. A bare
repository of our own borrows its objects, so that nothing in it can be run and nothing outside it is followed.
"""

import os
import subprocess
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from schema.errors import BadSource, MissingExtra

LONGEST_OBJECT = 64 << 20
"""Bytes of a file or a message that is read; the longest real act has 9 MB."""
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """The objects of a repository, seen from a bare repository of our own.

    Attributes:
        folder: our repository.
        objects: the folder of the objects; that of ours where they were unpacked from a bundle.
    """

    folder: Path
    objects: Path

    def environment(self) -> dict[str, str]:
        """Return the variables that git runs with: no configuration but ours, no prompts, no network, no replaced objects."""
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
        return kept | {
            "LC_ALL": "C",
            "HOME": str(self.folder),
            "GIT_DIR": str(self.folder),
            "GIT_OBJECT_DIRECTORY": str(self.objects),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_ALLOW_PROTOCOL": "",
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run git to its end; what it printed comes back, whether it failed or not.

        Raises:
            MissingExtra: there is no git.
        """
        with _git_wanted():
            return subprocess.run(self._command(arguments), env=self.environment(), capture_output=True, check=False)

    def stream(self, arguments: Iterable[str], stdin: IO[bytes] | int) -> "subprocess.Popen[bytes]":
        """Start git with its output in a pipe. Raises as `run`."""
        with _git_wanted():
            return subprocess.Popen(
                self._command(arguments), env=self.environment(), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )

    def _command(self, arguments: Iterable[str]) -> list[str]:
        return ["git", "--no-pager", "-c", "core.hooksPath=" + os.devnull, "-c", "protocol.allow=never", *arguments]

    @contextmanager
    def reading(self) -> Generator["ObjectReader"]:
        """Open the objects for reading one after another."""
        process = self.stream(["cat-file", "--batch"], subprocess.PIPE)
        try:
            yield ObjectReader(process)
        finally:
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
            process.terminate()
            process.wait()


@contextmanager
def _git_wanted() -> Generator[None]:
    try:
        yield
    except FileNotFoundError:
        raise MissingExtra("reading a history needs git: install it, or name the .md files themselves") from None


@dataclass(slots=True)
class ObjectReader:
    """Objects by their names, out of one process."""

    process: "subprocess.Popen[bytes]"

    def content(self, name: str, kind: str) -> bytes | None:
        """Return the content of an object; None where there is no such object of that kind, or it is longer than is read."""
        stdin, stdout = cast(IO[bytes], self.process.stdin), cast(IO[bytes], self.process.stdout)
        try:
            stdin.write(name.encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            return None
        header = stdout.readline().split()
        if len(header) != 3:
            return None
        size = int(header[2])
        if size > LONGEST_OBJECT or header[1].decode() != kind:
            while size > 0:
                size -= len(stdout.read(min(size, _BLOCK)))
            stdout.read(1)
            return None
        content = stdout.read(size)
        stdout.read(1)
        return content if len(content) == size else None


def fields(stream: IO[bytes], separator: bytes = b"\0") -> Iterator[str]:
    """Yield the parts of a stream between separators, without ever holding all of it."""
    held = b""
    while block := stream.read(_BLOCK):
        *parts, held = (held + block).split(separator)
        for part in parts:
            yield part.decode("utf-8", "surrogateescape")
    if held:
        yield held.decode("utf-8", "surrogateescape")


def new_store(folder: Path, source: Path, object_format: str) -> ObjectStore:
    """Make our bare repository in a folder, for objects of one format (sha1 or sha256).

    Raises:
        BadSource: git cannot make it.
    """
    store = ObjectStore(folder, folder / "objects")
    made = store.run("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", str(folder))
    if made.returncode:
        raise BadSource(source, "", f"git cannot read it: {said(made.stderr)}")
    return store


def said(stderr: bytes) -> str:
    """Return the last line of what git said of an error, without its own prefix."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines() or ["git gave no reason"]
    return lines[-1].removeprefix("fatal: ").removeprefix("error: ")[:200]
