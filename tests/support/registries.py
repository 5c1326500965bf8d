"""Small servers of law for tests: a git repository over HTTP, and an npm registry."""

import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.small_history import git


@dataclass
class Served:
    """A server on this machine, what it was asked, and how it answers otherwise than with its files.

    Attributes:
        address: without a slash at the end.
        asked: paths, in order.
        user: name and password that it wants, as ``name:password``; "" for none.
        sent_to: address that it sends everybody to; "" for none.
    """

    address: str = ""
    asked: list[str] = field(default_factory=list[str])
    user: str = ""
    sent_to: str = ""


class _Files(SimpleHTTPRequestHandler):
    def __init__(self, *arguments: Any, served: Served, **others: Any) -> None:
        self.served = served
        super().__init__(*arguments, **others)

    def do_GET(self) -> None:
        self.served.asked.append(self.path.partition("?")[0])
        token = base64.b64encode(self.served.user.encode()).decode()
        if self.served.sent_to:
            self.send_response(302)
            self.send_header("location", self.served.sent_to + self.path)
            self.end_headers()
        elif self.served.user and self.headers.get("authorization") != f"Basic {token}":
            self.send_response(401)
            self.send_header("www-authenticate", 'Basic realm="law"')
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@contextmanager
def files_served(folder: Path) -> Generator[Served]:
    """A server of the files of a folder."""
    served = Served()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, served=served, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    served.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


def publish_repository(repository: Path, bare: Path) -> Path:
    """Make a bare repository that plain HTTP can serve of another, or bring it up to date."""
    if bare.exists():
        git(bare, "fetch", "--quiet", "--force", str(repository), "main:main")
    else:
        git(repository, "clone", "--quiet", "--bare", str(repository), str(bare))
    git(bare, "update-server-info")
    return bare


def publish_package(folder: Path, address: str, name: str, versions: Mapping[str, tuple[str, Path]]) -> None:
    """Put a package into the folder of a registry: for each version the day of its publication, and its files."""
    listed: dict[str, Any] = {}
    for version, (_, files) in versions.items():
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            described = json.dumps({"name": name, "version": version}).encode()
            entry = tarfile.TarInfo("package/package.json")
            entry.size = len(described)
            archive.addfile(entry, io.BytesIO(described))
            archive.add(files, "package/data")
        file = f"{name.rpartition('/')[2]}-{version}.tgz"
        (folder / file).write_bytes(packed.getvalue())
        dist = {"tarball": f"{address}/{file}", "shasum": hashlib.sha1(packed.getvalue()).hexdigest()}
        listed[version] = {"name": name, "version": version, "dist": dist}
    newest = list(versions)[-1]
    times = {version: f"{day}T12:00:00.000Z" for version, (day, _) in versions.items()}
    document = {"name": name, "dist-tags": {"latest": newest}, "versions": listed, "time": times}
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(document), "utf-8")
