"""The named statements of the ``.cypher`` files beside this module.

A file holds blocks of ``// name: …``, optional comment lines, an optional ``// engine: …`` and one
statement that ends in a semicolon. A block without an engine serves every engine that has no body of
its own. Of a block with a line ``// one by one`` the embedded engine is asked for each of ``$ids`` by itself:
it looks up what is equal to a value in its index, but scans a table for what is in a list, and joins whole
tables for rows that are unwound.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_BLOCK = re.compile(r"^// name: (?P<name>\w+)\n(?P<comments>(?://.*\n)*)(?P<body>[^;]+);", re.MULTILINE)
_ENGINE = re.compile(r"^// engine: (\w+)$", re.MULTILINE)
_ONE_BY_ONE = re.compile(r"^// one by one$", re.MULTILINE)


@cache
def statements(engine: str) -> dict[str, str]:
    """All statements for one engine, by name.

    Raises:
        ValueError: two blocks give the same statement for the same engine.
    """
    common: dict[str, str] = {}
    own: dict[str, str] = {}
    for path, block in _blocks():
        named = _ENGINE.search(block["comments"])
        if named and named[1] != engine:
            continue
        kept = own if named else common
        if block["name"] in kept:
            raise ValueError(f"{path.name}: statement {block['name']} is there twice")
        kept[block["name"]] = block["body"].strip()
    return common | own


@cache
def one_by_one() -> dict[str, str]:
    """The statements that the embedded engine is asked for one ``$id`` after another."""
    marked = {block["name"] for _, block in _blocks() if _ONE_BY_ONE.search(block["comments"])}
    return {name: body.replace("IN $ids", "= $id") for name, body in statements("ladybug").items() if name in marked}


def _blocks() -> Iterator[tuple[Path, re.Match[str]]]:
    folder = Path(__file__).parent
    for path in sorted([*folder.glob("*.cypher"), *folder.glob("explore/*.cypher")]):
        for block in _BLOCK.finditer(path.read_text(encoding="utf-8")):
            yield path, block
