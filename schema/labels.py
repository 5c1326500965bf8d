"""Labels, properties and edge types of the graph, for every engine.

The properties of the law are those of the records of `schema.records`; what stands here are labels, edges and the few
properties that only the graph has. The embedded engine makes its tables from ``NODES`` and ``EDGES``, a server its
constraints; the property lists of statements, the canonical dump and the import files take their columns from them.
"""

import inspect
import re
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from schema.records import Act, Article, Origin, Question, Section, Wording
from schema.revisions import Revision

SCHEMA_VERSION = 8
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
        about: meaning of the label and of its properties, as a docstring; for those of a record, of what the graph adds.
    """

    name: str
    properties: Properties
    record: type | None = None
    initial: dict[str, str] = field(default_factory=dict[str, str])
    about: str = ""

    @property
    def meanings(self) -> tuple[str, dict[str, str]]:
        """Meaning of the label, and of each property by name."""
        meaning, properties = meanings_in(self.about)
        if self.record is None:
            return meaning, properties
        of_record, of_fields = meanings_in(inspect.getdoc(self.record) or "")
        derived = {name: inspect.getdoc(getattr(self.record, name, None)) or "" for name in ("id", *DIGESTED)}
        return of_record, {name: text.split("\n")[0] for name, text in derived.items() if text} | of_fields | properties


@dataclass(frozen=True, slots=True)
class EdgeType:
    """An edge type: the pairs of labels that it may join, its properties by name, and what they mean, as a docstring."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    properties: Properties
    about: str = ""

    @property
    def meanings(self) -> tuple[str, dict[str, str]]:
        """Meaning of the edge, and of each property by name."""
        return meanings_in(self.about)


def meanings_in(docstring: str) -> tuple[str, dict[str, str]]:
    r"""Return the first paragraph of a docstring, and its attributes by name.

    >>> meanings_in("A loaf.\n\nAttributes:\n    weight: in grams,\n        when baked.")
    ('A loaf.', {'weight': 'in grams, when baked.'})
    """
    about, _, listed = inspect.cleandoc(docstring).partition("Attributes:\n")
    attributes = re.findall(r"^ {0,4}(\w+): (.+(?:\n {5,}.+)*)", listed.replace("``", ""), re.MULTILINE)
    return " ".join(about.partition("\n\n")[0].split()), {name: " ".join(text.split()) for name, text in attributes}


@cache
def properties_of(record: type) -> Properties:
    """Return the types of a record's fields as the graph keeps them, those on edges too."""
    hints = get_type_hints(record)
    return {f.name: _type_of(hints[f.name]) for f in fields(record)}


def _type_of(hint: Any) -> PropertyType:
    if get_origin(hint) is tuple:
        return "STRING[]"
    return "DATE" if hint is date or date in get_args(hint) else _SCALARS.get(hint, "STRING")


def _label(record: type, own: Properties | None = None, initial: dict[str, str] | None = None, about: str = "") -> NodeLabel:
    """Return the label of a record, its identifier first; ``own`` are properties of the graph alone, ``about`` their meanings."""
    properties = _strings("id")
    properties |= {name: kind for name, kind in properties_of(record).items() if name not in ON_EDGES}
    properties |= _strings(*(name for name in DIGESTED if hasattr(record, name)))
    return NodeLabel(record.__name__, properties | (own or {}), record, initial or {}, about)


def _strings(*names: str) -> Properties:
    return dict.fromkeys(names, "STRING")


NODES = (
    NodeLabel(
        "Graph",
        {"id": "STRING", "schema_version": "INT64", "corpus_sha256": "STRING", "questions_sha256": "STRING"},
        about="""The graph itself, one node.

        Attributes:
            id: graph.
            schema_version: version of these labels.
            corpus_sha256: fingerprint of the law; empty while law is being loaded.
            questions_sha256: fingerprint of the questions.
        """,
    ),
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
        about="""A file that law or questions were read from.

        Attributes:
            id: name of the file.
            collection: release that it belongs to, without its version.
            reader: name and version of the reader that read it.
            rank: of two files that give the same act, the one of lower rank is the better source.
            sha256: fingerprint of the file.
            records: number of records that it gave.
            rejected: number of records that could not be read.
            passed_over: acts that the graph has from a better source.
            waits_since: fingerprint of the law that lacks what its questions name; "" where nothing is lacking.
        """,
    ),
    _label(
        Act,
        _strings("file", "law_sha256", "tree_sha256"),
        {"file": "''", "law_sha256": "''", "tree_sha256": "''"},
        """Attributes:
            file: source that it was read from.
            law_sha256: fingerprint of its law, set once all of it is written.
            tree_sha256: fingerprint of what was read.
        """,
    ),
    _label(Section),
    _label(
        Article,
        {"authority": "DOUBLE"},
        {"authority": str(UNCITED)},
        """Attributes:
            authority: PageRank over citations between articles; 0.15 where nobody cites it.
        """,
    ),
    _label(Wording),
    NodeLabel(
        "Outside",
        _strings("id", "kind"),
        about="""Law or a page that is cited and that the graph does not hold.

        Attributes:
            id: the publisher's identifier, a name of its act, or an address.
            kind: article, section, act or page.
        """,
    ),
    _label(
        Question,
        _strings("file"),
        about="""Attributes:
            file: source that it was read from.
        """,
    ),
    _label(Origin),
    _label(Revision),
    NodeLabel(
        "Model",
        {
            **_strings("id", "created", "recipe", "encoder"),
            "dimensions": "INT64",
            **_strings("corpus_sha256", "metrics", "status", "activated"),
        },
        about="""A version of a trained model.

        Attributes:
            id: recipe, split and a digest of all that it was made from.
            created: moment of the training.
            recipe: name of the recipe.
            encoder: name of the text encoder.
            dimensions: of its embeddings.
            corpus_sha256: fingerprint of the law that it was trained on.
            metrics: on development questions, as JSON.
            status: active, ready, or replaced by hand.
            activated: moment since when it is active.
        """,
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
        about="""A retraining: what it was for and how it ended.

        Attributes:
            id: moment of the start, and a few letters.
            started: moment.
            ended: moment.
            outcome: flipped (the new version serves), kept_old or failed.
            reason: in words.
            recipe: name of the recipe.
            model: version that it made.
            corpus_sha256: fingerprint of the law.
            questions_sha256: fingerprint of the questions.
            device: hardware that it trained on.
            record: all of it with its figures, as JSON.
        """,
    ),
)
LABELS = {node.name: node for node in NODES}

CITATION_PROPERTIES: Properties = {"text": "STRING", "start": "INT64", "end": "INT64", "kind": "STRING"}
CITED: Properties = {"cited": "STRING"}
"""The publisher's identifier that the citation names: of any wording of its target, so that it can be linked anew."""
RELATION_PROPERTIES: Properties = {"basis": "STRING", "evidence": "STRING", "confidence": "DOUBLE"}
RELATIONS = ("TRANSPOSES", "AMENDS", "REPEALS", "CONSOLIDATES")
"""Edge types of what acts do to each other, beside CITES."""

_OF_CITATIONS = """
    Attributes:
        text: words that cite.
        start: place in the citing text where they begin, in code points.
        end: place where they end, exclusive.
        kind: link, as the publisher marked it, or text, as it was found in the words.
        cited: the publisher's identifier of what is cited.
"""
_OF_RELATIONS = """
    Attributes:
        basis: place where it was found: metadata, link, title, preamble.
        evidence: words that say so.
        confidence: from 0 to 1.
        cited: the publisher's identifier of the other act.
        type: TRANSPOSES, AMENDS, REPEALS, CONSOLIDATES or CITES.
"""
_ABOUT_RELATIONS = {
    "TRANSPOSES": "A national act transposes a directive.",
    "AMENDS": "An act amends another.",
    "REPEALS": "An act repeals another.",
    "CONSOLIDATES": "An act consolidates others.",
}
EDGES = (
    EdgeType(
        "CONTAINS",
        (("Act", "Section"), ("Act", "Article"), ("Section", "Section"), ("Section", "Article")),
        {"position": "INT64"},
        """The tree of the law, from the act down.

        Attributes:
            position: place among what stands in the same section or act.
        """,
    ),
    EdgeType("NEXT", (("Article", "Article"),), {}, "From an article to the one after it, in reading order."),
    EdgeType("HAS_WORDING", (("Article", "Wording"),), {}, "From an article to its other wordings, earlier and later."),
    EdgeType(
        "RENUMBERED_TO",
        (("Article", "Article"),),
        {"on": "DATE", "similarity": "DOUBLE"},
        """From an article to the one that took over its text under another number.

        Attributes:
            on: first day under the new number.
            similarity: of the two texts, from 0 to 1.
        """,
    ),
    EdgeType(
        "CITES",
        (("Article", "Article"), ("Article", "Section"), ("Article", "Act"), ("Act", "Act")),
        CITATION_PROPERTIES | CITED,
        "A citation, one edge for each mention.\n" + inspect.cleandoc(_OF_CITATIONS),
    ),
    EdgeType(
        "CITES_OUTSIDE",
        (("Article", "Outside"),),
        CITATION_PROPERTIES,
        "A citation of what the graph does not hold.\n" + inspect.cleandoc(_OF_CITATIONS),
    ),
    *(
        EdgeType(
            name, (("Act", "Act"),), RELATION_PROPERTIES | CITED, f"{_ABOUT_RELATIONS[name]}\n" + inspect.cleandoc(_OF_RELATIONS)
        )
        for name in RELATIONS
    ),
    EdgeType(
        "RELATES_OUTSIDE",
        (("Act", "Outside"),),
        {"type": "STRING", **RELATION_PROPERTIES},
        "An effect on an act that the graph does not hold.\n" + inspect.cleandoc(_OF_RELATIONS),
    ),
    EdgeType(
        "RELEVANT_TO",
        (("Question", "Article"),),
        {"via": "STRING"},
        """From a question to an article that answers it.

        Attributes:
            via: link.
        """,
    ),
)
EDGE_TYPES = {edge.name: edge for edge in EDGES}
