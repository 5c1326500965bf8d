"""What stands in the graph is explained where it is declared."""

import pytest

from cli.labels import described_schema
from schema.labels import EDGES, NODES, EdgeType, NodeLabel


@pytest.mark.parametrize("kind", [*NODES, *EDGES], ids=lambda kind: kind.name)
def test_every_label_edge_and_property_has_a_meaning(kind: NodeLabel | EdgeType) -> None:
    meaning, properties = kind.meanings
    assert meaning.endswith(".")
    assert {name for name in kind.properties if not properties.get(name)} == set()


def test_the_schema_is_described_with_types_and_ends() -> None:
    described = described_schema()
    (article,) = (label for label in described["labels"] if label["name"] == "Article")
    properties = {each["name"]: each for each in article["properties"]}
    assert properties["valid_to"]["type"] == "DATE"
    assert properties["authority"]["meaning"].startswith("PageRank")
    assert "SHA-256" in properties["text_sha256"]["meaning"]
    (cites,) = (edge for edge in described["edges"] if edge["name"] == "CITES")
    assert ["Article", "Act"] in cites["between"]
