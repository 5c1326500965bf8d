"""Rejected records until they are mended: JSON lines with file, place, reason and the record itself."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from schema.errors import StorageFull
from schema.records import Rejected

FOLDER = "quarantine"


def write_quarantine(home: Path, source: str, rejected: Iterable[Rejected]) -> Path | None:
    """Make these the rejected records of one source; no file stays where there are none.

    Raises:
        StorageFull: the disk is full.
    """
    folder = home / FOLDER
    path = folder / f"{source}.jsonl"
    # Not by asdict: a rejected part of a law can nest deeper than Python recurses.
    lines = [_line({f.name: getattr(r, f.name) for f in fields(r)}) for r in rejected]
    if not lines:
        path.unlink(missing_ok=True)
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        raise StorageFull(f"{path}: {error.strerror}; nothing was changed") from None
    return path


def _line(record: dict[str, object]) -> str:
    line = json.dumps(record, ensure_ascii=False, default=str)
    try:
        line.encode()
    except UnicodeEncodeError:  # half a character: no UTF-8 can hold it
        return json.dumps(record, default=str)
    return line


def quarantined(home: Path) -> dict[str, list[Rejected]]:
    """Return all rejected records that wait for mending, by source."""
    by_source: dict[str, list[Rejected]] = defaultdict(list)
    for path in sorted((home / FOLDER).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            by_source[path.stem].append(Rejected(**json.loads(line)))
    return by_source
