"""Every statement runs, gives what it says, and is used."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from cypher import statements as module
from cypher.engines.ladybug import release
from cypher.statements import statements
from schema.labels import UNCITED, properties_of
from schema.records import Act
from tests.support.disturbance import ROOT

NAMES = sorted(statements("ladybug"))
WALKS = {
    f"walk_{name}"
    for name in ("graph", "sections", "articles", "every_article", "path", "cites", "cited_by", "next", "previous", "acts")
} | {"walk_find", "walk_numbered"}
VECTORS = set(re.findall(r"name: (\w+)", (Path(module.__file__).parent / "vectors.cypher").read_text(encoding="utf-8")))
FOR_SERVERS = {"stamp", "take_lock", "pass_fences", "hold_lock", "give_back_lock"} | WALKS | VECTORS
"""What the embedded engine has files and their locks for, and what a notebook walks on a server."""
ROOMS = ("runtime", "cli", "schema", "citations", "cypher", "ingest", "search", "gnn", "api", "bench")
NUMBERS = {
    "schema_version",
    "dimensions",
    "records",
    "rejected",
    "position",
    "start",
    "end",
    "level",
    "authority",
    "rank",
    "confidence",
    "similarity",
}
LISTS = {"source_ids", "passed_over", "subjects", "stays", "taken", "given"}


def parameters(statement: str) -> dict[str, Any]:
    """One row with every field that a statement reads, no identifiers, nought and empty text for all else."""

    def value(name: str) -> Any:
        return 0 if name in NUMBERS else [""] if name in LISTS else ""

    row = {field: value(field) for field in re.findall(r"\br\.`?(\w+)", statement)}
    lists: dict[str, Any] = {"rows": [row], "ids": []}
    return {name: lists.get(name, value(name)) for name in re.findall(r"\$(\w+)", statement)}


@pytest.mark.parametrize("name", NAMES)
def test_every_statement_runs_on_an_empty_graph(tmp_path: Path, name: str) -> None:
    body = statements("ladybug")[name]
    with release(tmp_path) as graph:
        if "RETURN" in body:
            rows = graph.rows(name, **parameters(body))
            assert rows == [] or name in ("graph_row", "counts")
        elif name == "create_graph_row":
            assert len(graph.rows("graph_row")) == 1, "the release itself ran it"
        else:
            graph.write(name, **parameters(body))


def used_names() -> set[str]:
    """Words in quotes in the code of the rooms and of the command line; ``f"delete_{name}s"`` for either name."""
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")] + list(ROOT.glob("lexgraph.py"))
    found: set[str] = set()
    for path in files:
        for word in re.findall(r'"([a-z0-9_{}]+)"', path.read_text(encoding="utf-8")):
            for name, parent in product(("section", "article", "act"), ("section", "act")):
                found.add(word.replace("{name}", name).replace("{parent}", parent).replace("{kind}", name))
    return found


def test_every_statement_is_used() -> None:
    unused = sorted({*NAMES, *FOR_SERVERS} - used_names())
    assert unused == [], f"statements that no code names: {', '.join(unused)}"


def test_both_engines_know_the_same_statements() -> None:
    assert statements("neo4j").keys() - statements("ladybug").keys() == FOR_SERVERS
    assert statements("ladybug").keys() <= statements("neo4j").keys()
    assert "labels(" not in "".join(statements("ladybug").values())


def test_every_block_of_the_files_is_a_statement() -> None:
    """A block that the reader does not understand would be a statement that nobody has."""
    text = "".join(path.read_text(encoding="utf-8") for path in Path(module.__file__).parent.rglob("*.cypher"))
    written = set(re.findall(r"name: ([\w{}]+)", text))
    made = {re.escape(name).replace("\\{", "{").replace("\\}", "}") for name in written}
    patterns = [re.sub(r"\{\w+\}", r"\\w+", name) for name in made]
    names = set(NAMES) | FOR_SERVERS
    assert all(any(re.fullmatch(pattern, name) for pattern in patterns) for name in names)
    assert all(any(re.fullmatch(pattern, name) for name in names) for pattern in patterns)


def test_a_property_is_listed_from_its_record() -> None:
    read, made = statements("ladybug")["acts"], statements("ladybug")["create_acts"]
    for name, kind in properties_of(Act).items():
        assert f"a.{name} AS {name}" in read
        assert (f"date(r.{name})" if kind == "DATE" else f"{name}: r.{name}") in made
    assert "{{" not in "".join([*statements("ladybug").values(), *statements("neo4j").values()])


def test_a_new_article_has_the_authority_of_one_that_nobody_cites() -> None:
    for engine in ("ladybug", "neo4j"):
        assert f"authority: {UNCITED}}}" in statements(engine)["create_articles"]
