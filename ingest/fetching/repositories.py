"""Law-as-git with its history: a bundle, a clone or a bare repository, listed act by act without being checked out.

Each act becomes a small file, `NAME.history`, of the states that it had: one JSON object a line with commit, day and blob.
The reader of those (`ingest.readers.law_as_git`) reads the blobs themselves. Only plain files count: symbolic links,
submodules, names that lead out of a folder are passed over, and objects that lie in other repositories are not followed.
"""

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import IO, cast

from ingest.fetching.git_objects import ObjectReader, ObjectStore, fields, new_store, said
from schema.errors import BadSource, MissingFile
from schema.identifiers import plain_name

SUFFIX = ".history"
STORE_FILE = ".repository"
"""File beside the lists that says where the objects are."""
_OURS = ".git-objects"
_BUNDLE = re.compile(rb"# v[23] git bundle\n")
_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_DAY = re.compile(r"^(?:Source-Date|Fecha):[ \t]*(\d{4}-\d\d-\d\d)", re.MULTILINE)
_TRAILER_DAY = re.compile(r"^Source-Date:[ \t]*(\d{4}-\d\d-\d\d)", re.MULTILINE)
_INSTRUMENT = re.compile(r"^Source-Id:[ \t]*(\S[^\n]{0,199})$", re.MULTILINE)
_AUTHOR = re.compile(rb"^author .*> (-?\d{1,15}) ([+-])(\d\d)(\d\d)$", re.MULTILINE)
_IDENTIFIER = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---\r?\n(?:[^\n]*\n){0,200}?"
    rb"identifier:[ \t]*[\"']?([^\"'\s]{1,160})[\"']?[ \t]*\r?\n"
)
_DIFF_TREE = "diff-tree --stdin -r --root --raw -z --no-renames --always"
_PLAIN_FILES = ("100644", "100755")
_LONGEST_REFERENCE = 4096


@dataclass(frozen=True, slots=True)
class State:
    """An act as it stood after a commit.

    Attributes:
        commit: name of the commit.
        day: first day of that state, ISO 8601.
        blob: name of the file's content; "" where the commit deletes it.
        file: path of the file.
        instrument: act or decision behind the commit, as its message names it.
        subject: first line of its message.
    """

    commit: str
    day: str
    blob: str
    file: str
    instrument: str = ""
    subject: str = ""


@dataclass(slots=True)
class Flaws:
    """Parts of a history that cannot be read: places and reasons, and remarks on what was passed over."""

    rejected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    remarks: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def is_repository(path: Path) -> bool:
    """Return whether a path is a git bundle, a clone, a ``.git`` folder or a bare repository."""
    if path.is_file():
        with path.open("rb") as stream:
            return bool(_BUNDLE.match(stream.read(32)))
    return path.is_dir() and ((path / ".git").exists() or _is_git_folder(path))


def _is_git_folder(path: Path) -> bool:
    return (
        (path / "HEAD").is_file()
        and (path / "objects").is_dir()
        and ((path / "refs").is_dir() or (path / "packed-refs").is_file())
    )


def reference_lines(path: Path) -> Iterator[bytes]:
    """Yield the references of a repository: with the same ones it has the same history."""
    folder = _git_folder(path)
    for name in ("HEAD", "packed-refs", "shallow"):
        if (folder / name).is_file():
            yield name.encode() + b"\n" + (folder / name).read_bytes()
    for file in sorted((folder / "refs" / "heads").rglob("*")):
        if file.is_file() and not file.is_symlink():
            yield file.relative_to(folder).as_posix().encode() + b" " + file.read_bytes()


def write_histories(source: Path, folder: Path, checkpoints: Path) -> None:
    """List the histories of the acts in a repository, each in a file below a folder.

    Args:
        checkpoints: folder in which readers may keep how far they read each history.

    Raises:
        BadSource: no repository that can be read: a bundle that breaks off, objects that lie in another repository.
        MissingExtra: there is no git.
    """
    store, tip = _opened_bundle(source, folder / _OURS) if source.is_file() else _opened_folder(source, folder / _OURS)
    places = {"folder": _OURS, "objects": str(store.objects), "checkpoints": str(checkpoints.absolute())}
    (folder / STORE_FILE).write_text(json.dumps(places), encoding="utf-8")
    flaws = Flaws()
    if (store.folder / "shallow").is_file():
        flaws.remarks.append(("shallow", "a shallow clone: its history begins where it was cut"))
    by_path: dict[str, list[State]] = defaultdict(list)
    commits = list(_commits(store, tip, flaws))
    with store.reading() as reader:
        messages = _Messages(reader, flaws)
        for commit, status, blob, path in _changes(store, commits, flaws):
            if (told := messages.of(commit)) is not None:
                day, instrument, subject = told
                by_path[path].append(State(commit, day, "" if status == "D" else blob, path, instrument, subject))
        acts = _by_act(reader, by_path, {commit: place for place, (commit, _) in enumerate(commits)})
    as_of = _as_of(acts)
    for identifier, states in acts.items():
        own = max((state.day for state in states if state.day <= as_of), default=as_of)
        _write_list(folder / f"{plain_name(identifier)}{SUFFIX}", own, states, Flaws())
    if flaws.rejected or flaws.remarks:
        _write_list(folder / f"repository{SUFFIX}", as_of, (), flaws)


def _as_of(acts: Mapping[str, Sequence[State]]) -> str:
    """The day of the last commit; where that is still to come, the last day before that has one."""
    days = [states[-1].day for states in acts.values() if states]
    today = datetime.now(UTC).date().isoformat()
    past = [state.day for states in acts.values() for state in states if state.day <= today]
    return max((day for day in days if day <= today), default=max(past, default=max(days, default=today)))


def store_of(listed: Path) -> ObjectStore:
    """Return the objects that the list of a history speaks of."""
    places = _places(listed)
    return ObjectStore(listed.parent / places["folder"], Path(places["objects"]))


def checkpoints_of(listed: Path) -> Path:
    """Return the folder in which it may be kept how far the list of a history was read."""
    return Path(_places(listed)["checkpoints"])


def _places(listed: Path) -> dict[str, str]:
    return json.loads((listed.parent / STORE_FILE).read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Listed:
    """The states of an act in the order of the history.

    Attributes:
        as_of: the day whose law is the present one: states after it are still to come.
    """

    as_of: date
    states: tuple[State, ...]
    flaws: Flaws


def read_list(listed: Path) -> Listed:
    """Return the states of an act, and what of the history cannot be read.

    Raises:
        BadSource: not such a list.
    """
    try:
        with listed.open(encoding="utf-8") as lines:
            head = json.loads(next(lines))
            flaws = Flaws(*([(place, reason) for place, reason in head[name]] for name in ("rejected", "remarks")))
            return Listed(date.fromisoformat(head["as_of"]), tuple(State(**json.loads(line)) for line in lines), flaws)
    except (ValueError, KeyError, TypeError, StopIteration):
        raise BadSource(listed, "", "not a list of the states of an act") from None
    except FileNotFoundError:
        raise MissingFile(f"{listed}: no such file") from None


def _write_list(path: Path, as_of: str, states: Sequence[State], flaws: Flaws) -> None:
    with path.open("w", encoding="utf-8") as stream:
        print(json.dumps({"as_of": as_of, "rejected": flaws.rejected, "remarks": flaws.remarks}), file=stream)
        for state in states:
            print(json.dumps(asdict(state), ensure_ascii=True), file=stream)


def _opened_bundle(bundle: Path, folder: Path) -> tuple[ObjectStore, str]:
    with bundle.open("rb") as stream:
        sha256 = b"object-format=sha256" in stream.read(_LONGEST_REFERENCE)
    store = new_store(folder, bundle, "sha256" if sha256 else "sha1")
    unpacked = store.run("bundle", "unbundle", str(bundle.absolute()))
    if unpacked.returncode:
        raise BadSource(bundle, "", f"not a bundle that can be read to its end: {said(unpacked.stderr)}")
    lines = [line.partition(" ") for line in unpacked.stdout.decode("utf-8", "replace").splitlines()]
    heads = {name: commit for commit, _, name in lines}
    return store, _tip(bundle, heads, heads.get("HEAD", ""))


def _opened_folder(path: Path, ours: Path) -> tuple[ObjectStore, str]:
    folder = _git_folder(path)
    objects = folder / "objects"
    for name in ("alternates", "http-alternates"):
        if (objects / "info" / name).exists():
            reason = "objects of another repository, which is not followed; run `git repack -ad`"
            raise BadSource(path, f"objects/info/{name}", reason)
    if objects.is_symlink() or any(part.is_symlink() for part in objects.glob("*")):
        raise BadSource(path, "objects", "a symbolic link, which is not followed")
    heads = _references(folder)
    tip = _tip(path, heads, heads.get("HEAD", ""))
    store = ObjectStore(new_store(ours, path, "sha256" if len(tip) == 64 else "sha1").folder, objects.absolute())
    cut = folder / "shallow"
    if cut.is_file() and not cut.is_symlink():
        names = [line for line in cut.read_text("ascii", "replace").split() if _NAME.fullmatch(line)]
        (ours / "shallow").write_text("".join(f"{name}\n" for name in names), encoding="ascii")
    return store, tip


def _git_folder(path: Path) -> Path:
    """The folder of a repository that has its objects.

    Raises:
        BadSource: it points to another folder.
    """
    inner = path / ".git"
    if inner.is_symlink() or inner.is_file() or (path / "commondir").exists():
        raise BadSource(path, ".git", "points to another folder, which is not followed; name that repository itself")
    return inner if inner.is_dir() else path


def _references(folder: Path) -> dict[str, str]:
    """The commits that HEAD and the branches name, by name."""
    heads: dict[str, str] = {}
    packed = folder / "packed-refs"
    if packed.is_file():
        for line in packed.read_text("utf-8", "replace").splitlines():
            commit, _, name = line.partition(" ")
            if _NAME.fullmatch(commit):
                heads[name] = commit
    for file in (folder / "refs" / "heads").rglob("*"):
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _LONGEST_REFERENCE:
            heads[file.relative_to(folder).as_posix()] = file.read_text("ascii", "replace").strip()
    head = (folder / "HEAD").read_text("utf-8", "replace")[:_LONGEST_REFERENCE].strip() if (folder / "HEAD").is_file() else ""
    heads["HEAD"] = heads.get(head.removeprefix("ref: "), head)
    return {name: commit for name, commit in heads.items() if _NAME.fullmatch(commit)}


def _tip(source: Path, heads: dict[str, str], head: str) -> str:
    """The commit to read back from: that of HEAD, of main or master, or of the only branch."""
    named = (head, heads.get("refs/heads/main", ""), heads.get("refs/heads/master", ""))
    tip = next((commit for commit in named if _NAME.fullmatch(commit)), "")
    branches = {commit for name, commit in heads.items() if name.startswith("refs/heads/") and _NAME.fullmatch(commit)}
    if not tip and len(branches) == 1:
        (tip,) = branches
    if not tip:
        raise BadSource(source, "HEAD", f"names no commit, and {len(branches)} branches are there")
    return tip


def _commits(store: ObjectStore, tip: str, flaws: Flaws) -> Iterator[tuple[str, str]]:
    """Commits with their first parents, oldest first."""
    listed: list[tuple[str, str]] = []
    process = store.stream(["rev-list", "--first-parent", "--parents", tip], -3)
    for line in fields(cast(IO[bytes], process.stdout), b"\n"):
        commit, _, parents = line.partition(" ")
        listed.append((commit, parents.partition(" ")[0]))
    error = cast(IO[bytes], process.stderr).read()
    if process.wait():
        flaws.rejected.append(("history", f"older commits are missing: {said(error)}"))
    yield from reversed(listed)


def _changes(store: ObjectStore, commits: Sequence[tuple[str, str]], flaws: Flaws) -> Iterator[tuple[str, str, str, str]]:
    """Commit, status, blob and path of each Markdown file that a commit changes, oldest first."""
    begun = 0
    while begun < len(commits):
        with tempfile.TemporaryFile() as asked:
            asked.writelines(f"{commit} {parent}".strip().encode() + b"\n" for commit, parent in commits[begun:])
            asked.seek(0)
            process = store.stream(_DIFF_TREE.split(), asked.fileno())
            commit, header, at = "", "", begun - 1
            for part in fields(cast(IO[bytes], process.stdout)):
                if part.startswith(":") and not header:
                    header = part
                elif header:
                    change, header = _change(commit, header, part, flaws), ""
                    if change:
                        yield change
                elif part.strip():
                    commit, at = part.strip(), at + 1
            error = cast(IO[bytes], process.stderr).read()
        if process.wait() == 0:
            return
        broken = min(at + 1, len(commits) - 1)
        flaws.rejected.append((f"commit {commits[broken][0][:12]}", f"cannot be read: {said(error)}"))
        begun = broken + 1


def _change(commit: str, header: str, path: str, flaws: Flaws) -> tuple[str, str, str, str] | None:
    _, mode, _, blob, status = header.split(" ")
    if not path.endswith(".md"):
        return None
    parts = PurePosixPath(path).parts
    if ".." in parts or path.startswith("/") or ".git" in parts or not path.isprintable():
        flaws.remarks.append((f"commit {commit[:12]}", f"{path[:200]!r}: a name that leads out of the repository is passed over"))
        return None
    if status != "D" and mode not in _PLAIN_FILES:
        flaws.remarks.append((f"commit {commit[:12]}", f"{path[:200]}: a link or a submodule is not followed"))
        return None
    return commit, status, blob, path


@dataclass(slots=True)
class _Messages:
    """Day, instrument and subject of commits; the last is kept, as its files come one after another."""

    reader: ObjectReader
    flaws: Flaws
    _last: tuple[str, tuple[str, str, str] | None] = ("", None)

    def of(self, commit: str) -> tuple[str, str, str] | None:
        """Return day, instrument and subject of a commit; None, and a rejected record, where it has no day."""
        if self._last[0] != commit:
            self._last = commit, self._read(commit)
        return self._last[1]

    def _read(self, commit: str) -> tuple[str, str, str] | None:
        content = self.reader.content(commit, "commit")
        head, _, message = (content or b"").partition(b"\n\n")
        text = message.decode("utf-8", "replace")
        day = _day_of(head, text)
        if day is None:
            self.flaws.rejected.append((f"commit {commit[:12]}", "no day: neither its message nor its author's date has one"))
            return None
        instrument = _INSTRUMENT.search(text)
        return day.isoformat(), instrument[1].strip() if instrument else "", text.partition("\n")[0][:200]


def _day_of(head: bytes, message: str) -> date | None:
    """The day of a commit: the one that its message names, else its author's."""
    for named in (*_TRAILER_DAY.findall(message)[::-1], *_DAY.findall(message)):
        try:
            return date.fromisoformat(named)
        except ValueError:
            continue
    author = _AUTHOR.search(head)
    if author is None:
        return None
    east = timedelta(hours=int(author[3]), minutes=int(author[4])) * (-1 if author[2] == b"-" else 1)
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(author[1])) + east).date()
    except (OverflowError, ValueError):
        return None


def _by_act(reader: ObjectReader, by_path: dict[str, list[State]], order: dict[str, int]) -> dict[str, list[State]]:
    """The states of each act, by its identifier: one whose file moves is one act."""
    acts: dict[str, list[tuple[int, State]]] = defaultdict(list)
    for states in by_path.values():
        blobs = (state.blob for state in reversed(states) if state.blob)
        content = next(filter(None, (reader.content(blob, "blob") for blob in blobs)), b"")
        named = _IDENTIFIER.match(content)
        if named:
            acts[named[1].decode("utf-8", "replace")] += ((order[state.commit], state) for state in states)
    return {identifier: _whole(states) for identifier, states in sorted(acts.items())}


def _whole(numbered: list[tuple[int, State]]) -> list[State]:
    """The states of an act in the order of the history; a file that goes where another comes has moved."""
    by_commit: dict[int, State] = {}
    for number, state in sorted(numbered, key=lambda item: item[0]):
        if state.blob or number not in by_commit:
            by_commit[number] = state
    return list(by_commit.values())
