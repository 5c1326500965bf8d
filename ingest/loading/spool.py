"""Read files into acts, several processes at once where there is much to read, and keep the acts on disk.

What a load must know of every act before it writes the first (who gives which act, what would disappear) is small and
comes back; the acts themselves wait in files, so that memory does not grow with the law.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, fields, replace
from itertools import count
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

from runtime.progress import Progress, silent
from schema.errors import BadSource, LexgraphError, StorageFull
from schema.filter import is_present
from schema.records import (
    Act,
    ActTree,
    Article,
    Citation,
    Question,
    Read,
    Rejected,
    Relation,
    Remark,
    Renumbering,
    Section,
    SourceFile,
    Wording,
)

ReadFile = Callable[[Path], Iterable[Read]]
"""A reader: what is in a file, one act, question or rejected record after another. Raises BadSource where the file as a
whole cannot be read, also after it has given some."""

Named = tuple[Sequence[Citation], Sequence[Relation], Sequence[Renumbering]]

WORTH_A_POOL = 16 << 20
"""Bytes of files from which on more processes than one read them: starting them takes a second or two."""
_TASK_BYTES, _TASK_FILES = 2 << 20, 200


@dataclass(frozen=True, slots=True)
class ReadAct:
    """An act that was read, and where it waits.

    Attributes:
        articles: their identifiers, in reading order.
        absent: those of them that are not part of the present law.
        law_sha256, tree_sha256: fingerprints of what indexes and models are made from, and of all of it.
        spool, offset: the file that it waits in, and where.
        named: whereabouts in that file is what it cites and does to others.
    """

    id: str
    articles: tuple[str, ...]
    sections: int
    rejected: tuple[Rejected, ...]
    law_sha256: str
    tree_sha256: str
    spool: Path
    offset: int
    named: int
    absent: frozenset[str] = frozenset()

    def tree(self) -> ActTree:
        """Return the act itself, less its citations and relations."""
        return self._kept(self.offset)

    def citations(self) -> "Named":
        """Return the citations of its articles, its relations to other acts, and the new numbers of its articles."""
        return self._kept(self.named)

    def _kept(self, offset: int) -> Any:
        with self.spool.open("rb") as stream:
            stream.seek(offset)
            return pickle.load(stream)


@dataclass(slots=True)
class ReadSource:
    """The contents of one file.

    Attributes:
        error: why it could not be read to its end, if it could not.
    """

    source: SourceFile
    acts: list[ReadAct] = field(default_factory=list[ReadAct])
    questions: list[Question] = field(default_factory=list[Question])
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    remarks: list[Remark] = field(default_factory=list[Remark])
    error: Rejected | None = None


def read_sources(
    sources: Sequence[SourceFile], read: ReadFile, folder: Path, *, workers: int | None = None, progress: Progress = silent
) -> Iterator[ReadSource]:
    """Read files, in their order; their acts are kept in ``folder``.

    Args:
        workers: processes at the most, by default one a core; 1 reads in this one, with whatever reader.
    """
    sizes = [_size(source.path) if source.size is None else source.size for source in sources]
    workers = workers or min(os.cpu_count() or 1, 8)
    with progress("files", len(sources)) as advance:
        numbers = count()
        if sum(sizes) < WORTH_A_POOL or workers == 1 or len(sources) == 1:
            for source in sources:
                yield from _read_task((source,), read, folder / f"{next(numbers)}.acts")
                advance(1)
            return
        tasks = list(_tasks(sources, sizes))
        # Fresh interpreters: threads of the graph's engine run in this one, which a fork would tear.
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            running: dict[Future[list[ReadSource]], int] = {}
            done: dict[int, list[ReadSource]] = {}
            following = 0
            for number, task in enumerate(tasks):
                running[pool.submit(_read_task, task, read, folder / f"{number}.acts")] = number
                while len(running) >= 4 * workers or (number + 1 == len(tasks) and running):
                    ended, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in ended:
                        done[running.pop(future)] = _result(future)
                    while following in done:
                        for reading in done.pop(following):
                            yield reading
                            advance(1)
                        following += 1


def _result(future: "Future[list[ReadSource]]") -> list[ReadSource]:
    try:
        return future.result()
    except BrokenProcessPool:
        raise LexgraphError("a process that reads files was ended from outside (out of memory?); run it again") from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _tasks(sources: Sequence[SourceFile], sizes: Sequence[int]) -> Iterator[tuple[SourceFile, ...]]:
    """Files in their order, in groups of about the same size."""
    group: list[SourceFile] = []
    total = 0
    for source, size in zip(sources, sizes, strict=True):
        group.append(source)
        total += size
        if total >= _TASK_BYTES or len(group) >= _TASK_FILES:
            yield tuple(group)
            group, total = [], 0
    if group:
        yield tuple(group)


def _read_task(sources: tuple[SourceFile, ...], read: ReadFile, spool: Path) -> list[ReadSource]:
    with spool.open("wb") as stream:
        readings: list[ReadSource] = []
        for source in sources:
            reading = ReadSource(source)
            try:
                for item in read(source.path):
                    if isinstance(item, Rejected):
                        reading.rejected.append(item)
                    elif isinstance(item, Remark):
                        reading.remarks.append(item)
                    elif isinstance(item, Question):
                        reading.questions.append(item)
                    else:
                        reading.acts.append(_spooled(item, spool, stream))
            except StorageFull:
                raise
            except BadSource as error:
                reading.error = Rejected(source.path.name, error.place, error.reason)
            except LexgraphError as error:
                reading.error = Rejected(source.path.name, "", str(error))
            except OSError as error:
                reading.error = Rejected(source.path.name, "", f"cannot be read: {error.strerror}")
            readings.append(reading)
    return readings


class _RecordPickler(pickle.Pickler):
    """Records as their class and values: what dataclasses with slots do by themselves takes three times as long to read."""

    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if kind not in _VALUES:
            return NotImplemented
        return kind, _VALUES[kind](obj)


_VALUES = {
    kind: attrgetter(*(f.name for f in fields(kind)))
    for kind in (ActTree, Act, Section, Article, Citation, Wording, Relation, Rejected, Renumbering)
}


def _spooled(tree: ActTree, spool: Path, stream: BinaryIO) -> ReadAct:
    """Keep an act in two parts: nodes are written before anything is linked."""
    offset = stream.tell()
    _write(stream, replace(tree, citations=(), relations=(), renumberings=()))
    named = stream.tell()
    _write(stream, (tree.citations, tree.relations, tree.renumberings))
    as_of = tree.act.as_of
    return ReadAct(
        tree.act.id,
        tuple(article.id for article in tree.articles),
        len(tree.sections),
        tree.rejected,
        law_sha256(tree),
        tree_sha256(tree),
        spool,
        offset,
        named,
        frozenset(a.id for a in tree.articles if not is_present(a.valid_from, a.valid_to, as_of)),
    )


def _write(stream: BinaryIO, value: object) -> None:
    try:
        _RecordPickler(stream, pickle.HIGHEST_PROTOCOL).dump(value)
        stream.flush()
    except OSError as error:
        raise StorageFull(f"no space left for what is being read: {error.strerror}; what was loaded is unharmed") from None


def law_sha256(tree: ActTree) -> str:
    """Return the fingerprint of an act: everything of it that an index or a model is made from.

    Where its citations lead follows from the fingerprints of all acts: each says what it cites, and which publishers'
    identifiers it answers to.
    """
    act = tree.act
    lines: list[str] = []

    def add(*values: object) -> None:
        lines.append("\x1f".join(map(str, values)))

    add(act.id, act.title, act.language, act.kind, act.jurisdiction)
    for s in tree.sections:
        add(s.id, s.parent_id, s.position, s.heading, *s.source_ids)
    for a in tree.articles:
        add(a.id, a.parent_id, a.position, a.number, a.heading, a.text, a.valid_from, a.valid_to, *a.source_ids)
    for v in tree.wordings:
        add(v.article_id, v.valid_from, v.valid_to, *([v.text_sha256] if v.text else ()))
    for c in sorted((c.article_id, c.target) for c in tree.citations):
        add(*c)
    return hashlib.sha256("\n".join((*lines, "")).encode()).hexdigest()


def tree_sha256(tree: ActTree) -> str:
    """Return the fingerprint of all that a reader gave of an act, but for what it rejected."""
    digest = hashlib.sha256()
    for records in ((tree.act,), tree.sections, tree.articles, tree.citations, tree.wordings, tree.relations, tree.renumberings):
        lines = ("\x1f".join(map(str, _VALUES[type(record)](record))) for record in records)
        digest.update("\x1e".join(lines).encode() + b"\n")
    return digest.hexdigest()
