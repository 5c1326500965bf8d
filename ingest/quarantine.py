"""Where rejected records lie until they are mended: JSON lines with file, place, reason and the record itself."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from schema.records import Rejected

FOLDER = "quarantine"


def write_quarantine(home: Path, source: str, rejected: Iterable[Rejected]) -> Path | None:
    """Make these the rejected records of one source; no file stays where there are none."""
    folder = home / FOLDER
    path = folder / f"{source}.jsonl"
    lines = [json.dumps(asdict(r), ensure_ascii=False, default=str) for r in rejected]
    if not lines:
        path.unlink(missing_ok=True)
        return None
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.replace(part, path)
    return path


def quarantined(home: Path) -> dict[str, list[Rejected]]:
    """All rejected records that wait for mending, by source."""
    found: dict[str, list[Rejected]] = defaultdict(list)
    for path in sorted((home / FOLDER).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            found[path.stem].append(Rejected(**json.loads(line)))
    return found
