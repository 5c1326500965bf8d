"""Labels, properties and edge types of the graph, declared once for every engine.

``NODES`` and ``EDGES`` are data: the embedded engine makes its tables from them, a server makes its
constraints, the canonical dump and the import files take their columns from them.
"""

from dataclasses import dataclass
from typing import Literal

SCHEMA_VERSION = 4
"""Raised by one whenever the tables below change; a graph of a higher version is refused."""

PropertyType = Literal["STRING", "INT64", "DOUBLE", "DATE", "STRING[]"]


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """A node label: its properties by name; ``id`` is always the primary key."""

    name: str
    properties: dict[str, PropertyType]


@dataclass(frozen=True, slots=True)
class EdgeType:
    """An edge type: the pairs of labels that it may join and its properties by name."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    properties: dict[str, PropertyType]


NODES = (
    NodeLabel("Graph", {"id": "STRING", "schema_version": "INT64", "corpus_sha256": "STRING", "questions_sha256": "STRING"}),
    NodeLabel(
        "Source",
        {
            "id": "STRING",
            "collection": "STRING",
            "reader": "STRING",
            "rank": "INT64",
            "sha256": "STRING",
            "records": "INT64",
            "rejected": "INT64",
            "passed_over": "STRING[]",
            "waits_since": "STRING",
        },
    ),
    NodeLabel(
        "Act",
        {
            "id": "STRING",
            "jurisdiction": "STRING",
            "kind": "STRING",
            "title": "STRING",
            "language": "STRING",
            "status": "STRING",
            "valid_from": "DATE",
            "valid_to": "DATE",
            "eli": "STRING",
            "celex": "STRING",
            "source": "STRING",
            "source_id": "STRING",
            "licence": "STRING",
            "short_title": "STRING",
            "published": "DATE",
            "updated": "DATE",
            "subjects": "STRING[]",
            "preamble": "STRING",
            "file": "STRING",
            "law_sha256": "STRING",
            "tree_sha256": "STRING",
        },
    ),
    NodeLabel(
        "Section",
        {
            "id": "STRING",
            "act_id": "STRING",
            "number": "STRING",
            "heading": "STRING",
            "level": "INT64",
            "status": "STRING",
            "valid_from": "DATE",
            "valid_to": "DATE",
            "source_id": "STRING",
            "source_ids": "STRING[]",
            "text": "STRING",
        },
    ),
    NodeLabel(
        "Article",
        {
            "id": "STRING",
            "act_id": "STRING",
            "number": "STRING",
            "heading": "STRING",
            "text": "STRING",
            "language": "STRING",
            "status": "STRING",
            "valid_from": "DATE",
            "valid_to": "DATE",
            "source_id": "STRING",
            "source_ids": "STRING[]",
            "text_sha256": "STRING",
            "authority": "DOUBLE",
        },
    ),
    NodeLabel(
        "Version",
        {
            "id": "STRING",
            "article_id": "STRING",
            "source_id": "STRING",
            "status": "STRING",
            "valid_from": "DATE",
            "valid_to": "DATE",
            "text": "STRING",
            "text_sha256": "STRING",
        },
    ),
    NodeLabel("Outside", {"id": "STRING", "kind": "STRING"}),
    NodeLabel(
        "Question",
        {
            "id": "STRING",
            "text": "STRING",
            "description": "STRING",
            "source": "STRING",
            "split": "STRING",
            "split_by_dossier": "STRING",
            "file": "STRING",
        },
    ),
    NodeLabel(
        "Model",
        {
            "id": "STRING",
            "created": "STRING",
            "recipe": "STRING",
            "encoder": "STRING",
            "dimensions": "INT64",
            "corpus_sha256": "STRING",
            "metrics": "STRING",
            "status": "STRING",
            "activated": "STRING",
        },
    ),
    NodeLabel(
        "Run",
        {
            "id": "STRING",
            "started": "STRING",
            "ended": "STRING",
            "outcome": "STRING",
            "reason": "STRING",
            "recipe": "STRING",
            "model": "STRING",
            "corpus_sha256": "STRING",
            "questions_sha256": "STRING",
            "device": "STRING",
            "record": "STRING",
        },
    ),
)

CITATION_PROPERTIES: dict[str, PropertyType] = {"text": "STRING", "start": "INT64", "end": "INT64", "kind": "STRING"}
CITED: dict[str, PropertyType] = {"cited": "STRING"}
"""The publisher's identifier that the citation names: of any version of its target, so that it can be linked anew."""
RELATION_TYPE: dict[str, PropertyType] = {"type": "STRING"}
RELATION_PROPERTIES: dict[str, PropertyType] = {"basis": "STRING", "evidence": "STRING", "confidence": "DOUBLE"}

EDGES = (
    EdgeType(
        "CONTAINS",
        (("Act", "Section"), ("Act", "Article"), ("Section", "Section"), ("Section", "Article")),
        {"position": "INT64"},
    ),
    EdgeType("NEXT", (("Article", "Article"),), {}),
    EdgeType("HAS_VERSION", (("Article", "Version"),), {}),
    EdgeType(
        "CITES", (("Article", "Article"), ("Article", "Section"), ("Article", "Act"), ("Act", "Act")), CITATION_PROPERTIES | CITED
    ),
    EdgeType("CITES_OUTSIDE", (("Article", "Outside"),), CITATION_PROPERTIES),
    *(
        EdgeType(name, (("Act", "Act"),), RELATION_PROPERTIES | CITED)
        for name in ("TRANSPOSES", "AMENDS", "REPEALS", "CONSOLIDATES")
    ),
    EdgeType("RELATES_OUTSIDE", (("Act", "Outside"),), RELATION_TYPE | RELATION_PROPERTIES),
    EdgeType("RELEVANT_TO", (("Question", "Article"),), {"via": "STRING"}),
)
