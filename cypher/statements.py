"""The named statements of the ``.cypher`` files, for each engine.

A file holds blocks of ``// name: …``, optional comment lines, an optional ``// engine: …`` and one statement that ends in a
semicolon. A block without an engine serves every engine that has no body of its own. Three more lines are understood:

- ``// one by one``: the embedded engine is asked for each of ``$ids`` by itself. It looks up what is equal to a value in its
  index, but scans a table for what is in a list, and joins whole tables for rows that are unwound.
- ``// for label: Act, Section``: the block is written once for each value, which stands for ``{label}`` in the name (in small
  letters) and for ``{{label}}`` in the statement.

Property lists come from `schema.labels`, so that a property is declared once:

- ``{{Act a}}`` reads the record: ``a.id AS id, a.title AS title, …``; of an edge type, its properties.
- ``{{Act <- r}}`` is the map of a new node: ``id: r.id, …``, and what only the graph has; of an edge type, its properties.
  ``{{Run <- $}}`` takes them from parameters.
- ``{{a: Act <- r}}`` sets the record's properties but the identifier: ``a.title = r.title, …``.
- ``{{label of n}}`` and ``{{type of r}}`` are the engine's own words for them.

A day comes to a statement as ISO text, "" where there is none.

Text is put together in four places alone, none of them from what a user gives: the names of vector indexes and their
conditions (`with_names`, in `cypher.engines.neo4j_vectors`), the canonical dump, the import files, and migrations.
"""

import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path

from schema.labels import DIGESTED, EDGE_TYPES, LABELS, PropertyType

_BLOCK = re.compile(r"^// name: (?P<name>[\w{}]+)\n(?P<comments>(?://.*\n)*)(?P<body>[^;]+);", re.MULTILINE)
_ENGINE = re.compile(r"^// engine: (\w+)$", re.MULTILINE)
_ONE_BY_ONE = re.compile(r"^// one by one$", re.MULTILINE)
_FOR = re.compile(r"^// for (\w+): (.+)$", re.MULTILINE)
_NAME = re.compile(r"<(\w+)>")
_LIST = re.compile(r"\{\{(?:(?P<set>\w+): )?(?P<what>\w+)(?: (?P<write><-|of))? (?P<variable>\w+|\$)\}\}")
_WORDS = {"label": {"neo4j": "labels({})[0]", "ladybug": "label({})"}, "type": {"neo4j": "type({})", "ladybug": "label({})"}}


@cache
def statements(engine: str) -> dict[str, str]:
    """Return all statements for one engine, by name.

    Raises:
        ValueError: two blocks give the same statement for the same engine.
        KeyError: a block names a label or an edge type that the schema lacks.
    """
    common: dict[str, str] = {}
    own: dict[str, str] = {}
    for path, comments, name, body in _blocks():
        of_engine = _ENGINE.search(comments)
        if of_engine and of_engine[1] != engine:
            continue
        kept = own if of_engine else common
        if name in kept:
            raise ValueError(f"{path.name}: two statements have the name {name}")
        kept[name] = _LIST.sub(partial(_expanded, engine), body).strip()
    return common | own


def with_names(statement: str, **names: str) -> str:
    """Return a server's statement with names where it has ``<name>``: those of indexes and properties are no parameters."""
    return _NAME.sub(lambda marked: names[marked[1]], statements("neo4j")[statement])


@cache
def one_by_one() -> dict[str, str]:
    """Return the statements that the embedded engine is asked for one ``$id`` after another."""
    marked = {name for _, comments, name, _ in _blocks() if _ONE_BY_ONE.search(comments)}
    return {name: body.replace("IN $ids", "= $id") for name, body in statements("ladybug").items() if name in marked}


def _blocks() -> Iterator[tuple[Path, str, str, str]]:
    """Yield file, comments, name and body of each statement."""
    folder = Path(__file__).parent
    for path in sorted([*folder.glob("*.cypher"), *folder.glob("explore/*.cypher")]):
        for block in _BLOCK.finditer(path.read_text(encoding="utf-8")):
            loops = [[(name, value) for value in values.split(", ")] for name, values in _FOR.findall(block["comments"])]
            for values in product(*loops):
                name, body = block["name"], block["body"]
                for variable, value in values:
                    name = name.replace(f"{{{variable}}}", value.lower())
                    body = re.sub(rf"\{{\{{((?:\w+: )?){variable}\b(?! of)", rf"{{{{\g<1>{value}", body)
                yield path, block["comments"], name, re.sub(r"\{\{(\w+)\}\}", r"\1", body)


def _expanded(engine: str, marked: re.Match[str]) -> str:
    """Return what a mark in double braces stands for."""
    what, variable = marked["what"], marked["variable"]
    if marked["write"] == "of":
        return _WORDS[what][engine].format(variable)
    label = LABELS.get(what)
    properties = label.properties if label else EDGE_TYPES[what].properties
    if marked["write"] is None:
        unread = {*label.initial, *DIGESTED} if label and label.record else ()
        return ", ".join(f"{variable}.{_quoted(name)} AS {_quoted(name)}" for name in properties if name not in unread)
    initial = label.initial if label else {}
    values = ((name, _written(variable, name, kind)) for name, kind in properties.items() if name not in initial)
    if marked["set"]:
        return ", ".join(f"{marked['set']}.{_quoted(name)} = {value}" for name, value in values if name != "id")
    return ", ".join(f"{_quoted(name)}: {value}" for name, value in (*values, *initial.items()))


def _written(variable: str, name: str, kind: PropertyType) -> str:
    value = f"${name}" if variable == "$" else f"{variable}.{_quoted(name)}"
    return f"CASE WHEN {value} = '' THEN NULL ELSE date({value}) END" if kind == "DATE" else value


def _quoted(name: str) -> str:
    """Return a property's name as Cypher reads it, also where it is a word of the language."""
    return f"`{name}`" if name in ("end", "on") else name
