"""How a graph of an older schema becomes one of this program's, engine by engine."""

from dataclasses import dataclass

from schema.labels import EDGES, NODES, EdgeType, NodeLabel


@dataclass(frozen=True, slots=True)
class Migration:
    """The step to ``version`` from the one before: what each engine runs. Every statement may run twice."""

    version: int
    embedded: tuple[str, ...] = ()
    neo4j: tuple[str, ...] = ()


def table_of_node(node: NodeLabel) -> str:
    """The embedded engine's table of a label."""
    columns = ", ".join(f"`{name}` {kind}" for name, kind in node.properties.items())
    return f"CREATE NODE TABLE IF NOT EXISTS {node.name}({columns}, PRIMARY KEY(id))"


def table_of_edge(edge: EdgeType) -> str:
    """The embedded engine's table of an edge type."""
    pairs = ", ".join(f"FROM {a} TO {b}" for a, b in edge.pairs)
    columns = "".join(f", `{name}` {kind}" for name, kind in edge.properties.items())
    return f"CREATE REL TABLE IF NOT EXISTS {edge.name}({pairs}{columns})"


def constraint(label: str) -> str:
    """A server's constraint that identifiers are unique, which is their index as well."""
    return f"CREATE CONSTRAINT {label.lower()}_id IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE"


def index(label: str, name: str) -> str:
    """A server's index of a property that statements look nodes up by."""
    return f"CREATE INDEX {label.lower()}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.{name})"


_OF_ACTS = ("HAS_VERSION", "TRANSPOSES", "AMENDS", "REPEALS", "CONSOLIDATES", "RELATES_OUTSIDE")
_READ_QUESTIONS_AGAIN = (
    "MATCH (s:Source) WHERE s.reader STARTS WITH 'bsard-' OR s.reader STARTS WITH 'coliee-' OR s.reader STARTS WITH 'jsonl-' "
    "OR s.reader STARTS WITH 'beir-' OR s.reader = 'archive' SET s.sha256 = ''"
)
_FIRST = ("Graph", "Source", "Act", "Section", "Article", "Outside", "Question", "Model")

MIGRATIONS = (
    # The embedded engine's first tables are made with the graph.
    Migration(
        1,
        neo4j=(
            *map(constraint, _FIRST),
            index("Section", "act_id"),
            index("Article", "act_id"),
            index("Question", "source"),
            index("Model", "status"),
        ),
    ),
    # Authority of articles; a record of every training run; locks of a server's jobs.
    Migration(
        2,
        embedded=(
            "ALTER TABLE Article ADD IF NOT EXISTS authority DOUBLE",
            "ALTER TABLE Source ADD IF NOT EXISTS law_sha256 STRING DEFAULT ''",
            "ALTER TABLE Model ADD IF NOT EXISTS activated STRING DEFAULT ''",
            *(table_of_node(node) for node in NODES if node.name == "Run"),
        ),
        neo4j=(constraint("Run"), constraint("Lock")),
    ),
    # Versions of articles; what acts do to each other; which file an act was read from. The readers are newer too, so the
    # next ingest reads every file again and fills in what is new.
    Migration(
        3,
        embedded=(
            *(
                f"ALTER TABLE Act ADD IF NOT EXISTS {name} {kind}"
                for name, kind in (
                    *((name, "STRING DEFAULT ''") for name in ("short_title", "preamble", "file", "law_sha256", "tree_sha256")),
                    ("published", "DATE"),
                    ("updated", "DATE"),
                    ("subjects", "STRING[]"),
                )
            ),
            "ALTER TABLE Section ADD IF NOT EXISTS text STRING DEFAULT ''",
            "ALTER TABLE Source ADD IF NOT EXISTS collection STRING DEFAULT ''",
            "ALTER TABLE Source ADD IF NOT EXISTS rank INT64 DEFAULT 0",
            "ALTER TABLE Source ADD IF NOT EXISTS passed_over STRING[]",
            "ALTER TABLE Source DROP IF EXISTS act_id",
            "ALTER TABLE Source DROP IF EXISTS law_sha256",
            *(table_of_node(node) for node in NODES if node.name == "Version"),
            *(table_of_edge(edge) for edge in EDGES if edge.name in _OF_ACTS),
            "ALTER TABLE CITES ADD IF NOT EXISTS FROM Act TO Act",
        ),
        neo4j=(
            constraint("Version"),
            index("Version", "article_id"),
            "MATCH (a:Act) WHERE a.file IS NULL SET a.short_title = '', a.preamble = '', a.file = '', a.law_sha256 = '', "
            "a.tree_sha256 = '', a.subjects = []",
            "MATCH (s:Source) WHERE s.collection IS NULL SET s.collection = '', s.rank = 0, s.passed_over = []",
            "MATCH (s:Source) REMOVE s.act_id, s.law_sha256",
            "DROP INDEX source_act_id IF EXISTS",
            "MATCH (s:Section) WHERE s.text IS NULL SET s.text = ''",
            # An import from files leaves out lists without items.
            "MATCH (s:Source) WHERE s.passed_over IS NULL SET s.passed_over = []",
            "MATCH (a:Act) WHERE a.subjects IS NULL SET a.subjects = []",
            "MATCH (n:Article|Section) WHERE n.source_ids IS NULL SET n.source_ids = []",
        ),
    ),
    # Which file a question was read from, and which law lacked what it names: files that have some are read again.
    Migration(
        4,
        embedded=(
            "ALTER TABLE Question ADD IF NOT EXISTS file STRING DEFAULT ''",
            "ALTER TABLE Source ADD IF NOT EXISTS waits_since STRING DEFAULT ''",
            _READ_QUESTIONS_AGAIN,
        ),
        neo4j=(
            # What was imported from files knows its files already.
            f"MATCH (q:Question) WHERE q.file IS NULL WITH count(q) AS older WHERE older > 0 {_READ_QUESTIONS_AGAIN}",
            "MATCH (q:Question) WHERE q.file IS NULL SET q.file = ''",
            "MATCH (s:Source) WHERE s.waits_since IS NULL SET s.waits_since = ''",
        ),
    ),
)
