"""Migrations of a graph of an older schema to this program's.

Labels, properties and pairs of labels that a graph lacks follow from `schema.labels`; what does not is a `Migration`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from schema.labels import NODES, EdgeType, NodeLabel, PropertyType

_DEFAULTS: dict[PropertyType, str] = {"STRING": "''", "STRING[]": "[]", "INT64": "0"}
"""What a property that is added has in the nodes that there are, as a literal; any other is null."""


@dataclass(frozen=True, slots=True)
class Migration:
    """The step to ``version`` from the one before, as far as it does not follow from the schema.

    Attributes:
        renamed: labels and edge types by their old names.
        embedded, neo4j: statements of each engine; every one may run twice.
    """

    version: int
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    embedded: tuple[str, ...] = ()
    neo4j: tuple[str, ...] = ()


def table_of_node(node: NodeLabel) -> str:
    """Return the statement that makes the embedded engine's table of a label."""
    columns = ", ".join(f"`{name}` {kind}" for name, kind in node.properties.items())
    return f"CREATE NODE TABLE IF NOT EXISTS {node.name}({columns}, PRIMARY KEY(id))"


def table_of_edge(edge: EdgeType) -> str:
    """Return the statement that makes the embedded engine's table of an edge type."""
    pairs = ", ".join(f"FROM {a} TO {b}" for a, b in edge.pairs)
    columns = "".join(f", `{name}` {kind}" for name, kind in edge.properties.items())
    return f"CREATE REL TABLE IF NOT EXISTS {edge.name}({pairs}{columns})"


def table_changes(table: NodeLabel | EdgeType, columns: set[str]) -> Iterator[str]:
    """Yield what brings a table of the embedded engine with these columns to the schema."""
    for name, kind in table.properties.items():
        if name not in columns:
            default = f" DEFAULT {_DEFAULTS[kind]}" if kind in _DEFAULTS else ""
            yield f"ALTER TABLE {table.name} ADD `{name}` {kind}{default}"
    yield from (f"ALTER TABLE {table.name} DROP `{name}`" for name in sorted(columns - table.properties.keys()))
    if isinstance(table, EdgeType):
        yield from (f"ALTER TABLE {table.name} ADD IF NOT EXISTS FROM {a} TO {b}" for a, b in table.pairs)


def constraints() -> Iterator[str]:
    """Yield what makes a server's constraints, which index identifiers too, and indexes of what nodes are looked up by."""
    for label in (*(node.name for node in NODES), "Lock"):
        yield f"CREATE CONSTRAINT {label.lower()}_id IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE"
    for label, name in _LOOKED_UP:
        yield f"CREATE INDEX {label.lower()}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.{name})"


def filled_properties() -> Iterator[str]:
    """Yield what gives some of a server's nodes a property that they lack; ``filled`` counts them: 0 where none lacks it.

    An import from files leaves out empty lists, and a newer schema has more properties. All at once take more memory than a
    small server has.
    """
    for node in NODES:
        defaults = {name: _DEFAULTS[kind] for name, kind in node.properties.items() if kind in _DEFAULTS and name != "id"}
        for name, value in defaults.items():
            some = f"MATCH (n:{node.name}) WHERE n.{name} IS NULL WITH n LIMIT {_AT_ONCE}"
            yield f"{some} SET n.{name} = {value} RETURN count(n) AS filled"


_AT_ONCE = 5000
"""Nodes that are changed in one transaction."""
_LOOKED_UP = (
    ("Section", "act_id"),
    ("Article", "act_id"),
    ("Wording", "article_id"),
    ("Revision", "article_id"),
    ("Question", "source"),
    ("Model", "status"),
)
_READ_QUESTIONS_AGAIN = (
    "MATCH (s:Source) WHERE s.reader STARTS WITH 'bsard-' OR s.reader STARTS WITH 'coliee-' OR s.reader STARTS WITH 'jsonl-' "
    "OR s.reader STARTS WITH 'beir-' OR s.reader = 'archive' SET s.sha256 = ''"
)
_BEGIN_RECORDS = (
    "MATCH (a:Act) WHERE a.tree_sha256 <> '' MERGE (r:Revision {{id: a.id}}) "
    "ON CREATE SET r.article_id = a.id, r.recorded = {today}, r.taken = [], r.given = []"
)

MIGRATIONS = (
    Migration(3, neo4j=("DROP INDEX source_act_id IF EXISTS", "MATCH (s:Source) REMOVE s.act_id, s.law_sha256")),
    # Which file a question was read from, and which law lacked what it names: files that have some are read again.
    Migration(
        4,
        embedded=(_READ_QUESTIONS_AGAIN,),
        # What was imported from files knows its files already.
        neo4j=(f"MATCH (q:Question) WHERE q.file IS NULL WITH count(q) AS older WHERE older > 0 {_READ_QUESTIONS_AGAIN}",),
    ),
    # A wording of an article was called its version.
    Migration(
        5,
        renamed={"Version": "Wording", "HAS_VERSION": "HAS_WORDING"},
        neo4j=(
            "DROP CONSTRAINT version_id IF EXISTS",
            "DROP INDEX version_article_id IF EXISTS",
            "MATCH (w:Version) SET w:Wording REMOVE w:Version",
            "MATCH (a)-[old:HAS_VERSION]->(w) CREATE (a)-[:HAS_WORDING]->(w) DELETE old",
        ),
    ),
    # What is changed from now on is kept.
    Migration(
        8,
        embedded=(_BEGIN_RECORDS.format(today="CAST(current_date() AS STRING)"),),
        neo4j=(_BEGIN_RECORDS.format(today="toString(date())"),),
    ),
)
