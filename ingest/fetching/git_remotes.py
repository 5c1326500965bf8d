"""Histories of law on git servers: each is kept as a bare repository under the home, and only new commits are fetched.

Nothing of a remote is checked out or run: no hooks, no submodules, no protocol but the one that was named (and https, where a
server sends there from http). Credentials and proxies are the user's own, of git's configuration; those in an address are sent
and not kept.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from ingest.fetching.git_objects import new_store, said
from schema.errors import BadSource, FetchFailed, MissingExtra, StorageFull

FOLDER = "remotes"
_URL = re.compile(r"(?:https?|ssh|git|file|ext)://", re.IGNORECASE)
_AS_SCP = re.compile(r"(?P<user>[\w.-]+)@(?P<host>[\w.-]+):(?P<path>(?!//).+)")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*|[0-9A-Fa-f:]+")
_PROTOCOLS = {"https": "https", "http": "http:https", "ssh": "ssh"}
_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "credential.interactive=false",
    "gc.auto=0",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
)
_FETCH = "fetch --quiet --force --no-tags --no-recurse-submodules --no-write-fetch-head --no-auto-maintenance --update-head-ok"
_OWN_VARIABLES = frozenset({"GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"})
_SSH = "ssh -oBatchMode=yes -oConnectTimeout=30"


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository on a server.

    Attributes:
        address: without credentials, but for the user of ssh, who is none.
        protocols: those that git may speak, as ``GIT_ALLOW_PROTOCOL`` lists them.
        credentials: user and password of the address as it was given, ``user:password``; "" for none.
    """

    address: str
    protocols: str
    credentials: str = ""

    @property
    def name(self) -> str:
        """Last part of its path, without a suffix."""
        last = re.split(r"[/:]", self.address.rstrip("/"))[-1].removesuffix(".git")
        return re.sub(r"[^\w.-]", "-", last).lstrip(".-") or "law"

    def place(self, home: Path) -> Path:
        """Return the folder of its copy: another address of the same name has another."""
        return home / FOLDER / hashlib.sha256(self.address.encode()).hexdigest()[:12] / f"{self.name}.git"


def is_remote(name: str) -> bool:
    """Return whether a name is the address of something on a server, rather than a path."""
    return bool(_URL.match(name) or (_AS_SCP.fullmatch(name) and not Path(name).exists()))


def remote_of(address: str) -> Remote:
    """Return the repository that an address names: https, http, ssh, or ``user@host:path``.

    Raises:
        BadSource: of another protocol, or no address.
    """
    as_scp = _AS_SCP.fullmatch(address)
    if as_scp:
        _check_host(address, as_scp["host"])
        return Remote(address, "ssh")
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadSource("address", "", "not the address of a git repository") from None
    shown = f"[{host}]" if ":" in host else host
    place = shown + (f":{port}" if port else "")
    if parts.scheme not in _PROTOCOLS:
        reason = f"{parts.scheme}:// is not fetched from (https, http, ssh are); name a repository on this machine by its path"
        raise BadSource(f"{parts.scheme}://{place}{parts.path}", "", reason)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if parts.scheme == "ssh" and user:
        place = f"{user}@{place}"
    clean = urlunsplit((parts.scheme, place, parts.path, "", ""))
    _check_host(clean, host)
    if not parts.path.strip("/"):
        raise BadSource(clean, "", "names a server, and no repository on it")
    credentials = f"{user}:{password}" if (user or password) and parts.scheme != "ssh" else ""
    return Remote(clean, _PROTOCOLS[parts.scheme], credentials)


def _check_host(address: str, host: str) -> None:
    if not _HOST.fullmatch(host):
        raise BadSource(address, "", "not the name of a server")


def fetch_remote(remote: Remote, home: Path) -> Path:
    """Bring the copy of a repository up to date; return its folder.

    A fetch that is interrupted leaves the copy as it was.

    Raises:
        FetchFailed: the server does not answer, has no such repository, or wants credentials; the message has git's own words.
        BadSource: git cannot make the copy.
        MissingExtra: there is no git.
        StorageFull: the disk is full.
    """
    place = remote.place(home)
    is_new = not (place / "refs" / "heads" / "main").exists() and not (place / "packed-refs").exists()
    place.mkdir(parents=True, exist_ok=True)
    new_store(place, place, "sha1")
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    command = ["git", "--no-pager", *settings, *_FETCH.split(), "--", remote.address, "+HEAD:refs/heads/main"]
    try:
        done = subprocess.run(command, cwd=place, env=_environment(remote, place), capture_output=True, check=False)
    except FileNotFoundError:
        raise MissingExtra("fetching a repository needs git: install it, or name a bundle or an archive") from None
    if done.returncode:
        if is_new:
            shutil.rmtree(place.parent, ignore_errors=True)
        if b"No space left" in done.stderr:
            raise StorageFull(f"{place}: no space left")
        raise FetchFailed(f"{remote.address}: git could not fetch it: {_without_credentials(said(done.stderr), remote)}")
    return place


def _environment(remote: Remote, place: Path) -> dict[str, str]:
    """The variables that git fetches with: the user's own, without any that would point it at another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _OWN_VARIABLES}
    kept.pop("SSH_ASKPASS", None)
    kept.setdefault("GIT_SSH_COMMAND", _SSH)
    kept |= {"LC_ALL": "C", "GIT_DIR": str(place), "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": ""}
    kept |= {"GIT_ALLOW_PROTOCOL": remote.protocols, "GIT_PROTOCOL_FROM_USER": "0", "GIT_NO_LAZY_FETCH": "1"}
    if remote.credentials:
        # By the environment: what stands on the command line everybody on the machine can read, and a file would keep it.
        server = "/".join(remote.address.split("/")[:3])
        token = base64.b64encode(remote.credentials.encode()).decode()
        kept |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"http.{server}/.extraHeader"}
        kept |= {"GIT_CONFIG_VALUE_0": f"Authorization: Basic {token}"}
    return kept


def _without_credentials(text: str, remote: Remote) -> str:
    """The words of git, in printable characters, without what is secret in it."""
    text = re.sub(r"(?<=://)[^/@\s']*@", "***@", text)
    for secret in filter(None, (remote.credentials, remote.credentials.partition(":")[2])):
        text = text.replace(secret, "***")
    return "".join(sign if sign.isprintable() else " " for sign in text)
