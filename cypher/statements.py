"""The named statements of the ``.cypher`` files beside this module.

A file holds blocks of ``// name: …``, optional comment lines, an optional ``// engine: …`` and one
statement that ends in a semicolon. A block without an engine serves every engine that has no body of
its own.
"""

import re
from functools import cache
from pathlib import Path

_BLOCK = re.compile(r"^// name: (?P<name>\w+)\n(?P<comments>(?://.*\n)*)(?P<body>[^;]+);", re.MULTILINE)
_ENGINE = re.compile(r"^// engine: (\w+)$", re.MULTILINE)


@cache
def statements(engine: str) -> dict[str, str]:
    """All statements for one engine, by name.

    Raises:
        ValueError: two blocks give the same statement for the same engine.
    """
    common: dict[str, str] = {}
    own: dict[str, str] = {}
    for path in sorted(Path(__file__).parent.glob("*.cypher")):
        for block in _BLOCK.finditer(path.read_text(encoding="utf-8")):
            named = _ENGINE.search(block["comments"])
            if named and named[1] != engine:
                continue
            kept = own if named else common
            if block["name"] in kept:
                raise ValueError(f"{path.name}: statement {block['name']} is there twice")
            kept[block["name"]] = block["body"].strip()
    return common | own
