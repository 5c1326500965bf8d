"""Labels, properties and edge types of the graph, for every engine.

The properties of the law are those of the records of `schema.records`; what stands here are labels, edges and the few
properties that only the graph has. The embedded engine makes its tables from ``NODES`` and ``EDGES``, a server its
constraints; the property lists of statements, the canonical dump and the import files take their columns from them.
"""

from dataclasses import dataclass, field, fields
from datetime import date
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from schema.records import Act, Article, Question, Section, Wording

SCHEMA_VERSION = 5
"""Raised by one whenever the tables below change; a graph of a higher version is refused."""
UNCITED = 0.15
"""The authority of an article that nobody cites."""

PropertyType = Literal["STRING", "INT64", "DOUBLE", "DATE", "STRING[]"]
Properties = dict[str, PropertyType]
_SCALARS: dict[type, PropertyType] = {str: "STRING", int: "INT64", float: "DOUBLE"}
ON_EDGES = frozenset({"parent_id", "position", "relevant"})
"""Fields of records that stand on edges, not on nodes."""
DIGESTED = frozenset({"text_sha256"})
"""Properties that follow from a record's text."""


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """A node label: its properties by name; ``id`` is always the primary key.

    Attributes:
        record: what its nodes are read and written as; None where no reader gives them.
        initial: Cypher literals of the properties that only the graph has, as a new node has them.
    """

    name: str
    properties: Properties
    record: type | None = None
    initial: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class EdgeType:
    """An edge type: the pairs of labels that it may join and its properties by name."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    properties: Properties


@cache
def properties_of(record: type) -> Properties:
    """Return the types of a record's fields as the graph keeps them, those on edges too."""
    hints = get_type_hints(record)
    return {f.name: _type_of(hints[f.name]) for f in fields(record)}


def _type_of(hint: Any) -> PropertyType:
    if get_origin(hint) is tuple:
        return "STRING[]"
    return "DATE" if date in get_args(hint) else _SCALARS.get(hint, "STRING")


def _label(record: type, own: Properties | None = None, initial: dict[str, str] | None = None) -> NodeLabel:
    """Return the label of a record, its identifier first; ``own`` are properties of the graph alone."""
    properties = _strings("id")
    properties |= {name: kind for name, kind in properties_of(record).items() if name not in ON_EDGES}
    properties |= _strings(*(name for name in DIGESTED if hasattr(record, name)))
    return NodeLabel(record.__name__, properties | (own or {}), record, initial or {})


def _strings(*names: str) -> Properties:
    return dict.fromkeys(names, "STRING")


NODES = (
    NodeLabel("Graph", {"id": "STRING", "schema_version": "INT64", "corpus_sha256": "STRING", "questions_sha256": "STRING"}),
    NodeLabel(
        "Source",
        {
            **_strings("id", "collection", "reader"),
            "rank": "INT64",
            "sha256": "STRING",
            "records": "INT64",
            "rejected": "INT64",
            "passed_over": "STRING[]",
            "waits_since": "STRING",
        },
    ),
    _label(Act, _strings("file", "law_sha256", "tree_sha256"), {"file": "''", "law_sha256": "''", "tree_sha256": "''"}),
    _label(Section),
    _label(Article, {"authority": "DOUBLE"}, {"authority": str(UNCITED)}),
    _label(Wording),
    NodeLabel("Outside", _strings("id", "kind")),
    _label(Question, _strings("file")),
    NodeLabel(
        "Model",
        {
            **_strings("id", "created", "recipe", "encoder"),
            "dimensions": "INT64",
            **_strings("corpus_sha256", "metrics", "status", "activated"),
        },
    ),
    NodeLabel(
        "Run",
        _strings(
            "id",
            "started",
            "ended",
            "outcome",
            "reason",
            "recipe",
            "model",
            "corpus_sha256",
            "questions_sha256",
            "device",
            "record",
        ),
    ),
)
LABELS = {node.name: node for node in NODES}

CITATION_PROPERTIES: Properties = {"text": "STRING", "start": "INT64", "end": "INT64", "kind": "STRING"}
CITED: Properties = {"cited": "STRING"}
"""The publisher's identifier that the citation names: of any wording of its target, so that it can be linked anew."""
RELATION_PROPERTIES: Properties = {"basis": "STRING", "evidence": "STRING", "confidence": "DOUBLE"}
RELATIONS = ("TRANSPOSES", "AMENDS", "REPEALS", "CONSOLIDATES")
"""Edge types of what acts do to each other, beside CITES."""

EDGES = (
    EdgeType(
        "CONTAINS",
        (("Act", "Section"), ("Act", "Article"), ("Section", "Section"), ("Section", "Article")),
        {"position": "INT64"},
    ),
    EdgeType("NEXT", (("Article", "Article"),), {}),
    EdgeType("HAS_WORDING", (("Article", "Wording"),), {}),
    EdgeType(
        "CITES", (("Article", "Article"), ("Article", "Section"), ("Article", "Act"), ("Act", "Act")), CITATION_PROPERTIES | CITED
    ),
    EdgeType("CITES_OUTSIDE", (("Article", "Outside"),), CITATION_PROPERTIES),
    *(EdgeType(name, (("Act", "Act"),), RELATION_PROPERTIES | CITED) for name in RELATIONS),
    EdgeType("RELATES_OUTSIDE", (("Act", "Outside"),), {"type": "STRING", **RELATION_PROPERTIES}),
    EdgeType("RELEVANT_TO", (("Question", "Article"),), {"via": "STRING"}),
)
EDGE_TYPES = {edge.name: edge for edge in EDGES}
