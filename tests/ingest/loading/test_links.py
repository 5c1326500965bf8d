"""Edges between acts, whichever comes first."""

from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.sources import ingest
from tests.support.tiny_law import BAKERS, BAKERS_ID, article, code, link, section, statute, write_law
from tests.support.variants import variants


def test_what_acts_do_to_each_other_is_linked_whichever_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "acts"
    statute(folder, 2, "Les fours sont inspectés.", modifies="/eli/etat/leg/loi/2001/02/01/n1/jo; /eli/dir_ue/2010/75/jo")
    ingest(EmbeddedStore(tmp_path), folder)
    later = "lu/leg-loi-2001-02-02-n2"
    with open_graph(tmp_path) as graph:
        outside = graph.rows("outside_relations_of_acts", ids=[later])
        assert {row["target"] for row in outside} == {"lu/leg-loi-2001-02-01-n1", "eu/32010L0075"}
    statute(folder, 1, "Les fours sont déclarés.")
    ingest(EmbeddedStore(tmp_path), folder)
    with open_graph(tmp_path) as graph:
        (row,) = graph.rows("relations_of_acts", ids=[later])
        assert (row["type"], row["target"], row["basis"]) == ("AMENDS", "lu/leg-loi-2001-02-01-n1", "metadata")
    (folder / "leg-loi-2001-02-01-n1.md").unlink()
    ingest(EmbeddedStore(tmp_path), folder)
    with open_graph(tmp_path) as graph:
        assert graph.rows("relations_of_acts", ids=[later]) == []
        assert len(graph.rows("outside_relations_of_acts", ids=[later])) == 2


@pytest.mark.parametrize("order", variants({"amended act first": ((1, 2),), "amending act first": ((2, 1),)}))
def test_what_an_act_does_to_another_is_one_edge_in_whatever_order_they_come(tmp_path: Path, order: tuple[int, int]) -> None:
    """The metadata and the title of the second act name the first; one of them is enough."""
    folder, later = tmp_path / "acts", "lu/leg-loi-2001-02-02-n2"
    written = {
        1: lambda: statute(folder, 1, "Les fours sont déclarés."),
        2: lambda: statute(
            folder,
            2,
            "Les fours sont inspectés.",
            title="Loi du 2 février 2001 modifiant la loi du 1er février 2001 concernant les fours",
            modifies="/eli/etat/leg/loi/2001/02/01/n1/jo",
        ),
    }
    for serial in order:
        ingest(EmbeddedStore(tmp_path), written[serial]())
    with open_graph(tmp_path) as graph:
        (row,) = graph.rows("relations_of_acts", ids=[later])
    assert (row["type"], row["target"], row["basis"]) == ("AMENDS", "lu/leg-loi-2001-02-01-n1", "metadata")


def test_citations_in_words_find_their_act_when_it_comes(tmp_path: Path) -> None:
    folder = tmp_path / "acts"
    statute(folder, 2, "Voir l'article 1er de la loi du 1er février 2001 concernant les fours et la directive 2010/75/UE.")
    ingest(EmbeddedStore(tmp_path), folder)
    with open_graph(tmp_path) as graph:
        assert graph.rows("citations") == []
        assert {row["kind"] for row in graph.rows("outside_citations")} == {"text"}
    statute(folder, 1, "Les fours sont déclarés.")
    ingest(EmbeddedStore(tmp_path), folder)
    with open_graph(tmp_path) as graph:
        (row,) = graph.rows("citations")
        assert (row["article"], row["target"]) == ("lu/leg-loi-2001-02-02-n2/1er", "lu/leg-loi-2001-02-01-n1/1er")
        (outside,) = graph.rows("outside_citations")
        assert outside["target"] == "eu/32010L0075"


def test_a_range_is_an_edge_to_each_of_its_articles_and_grows_with_its_statute(tmp_path: Path) -> None:
    def release(*numbers: int) -> Path:
        articles = [article(n, f"L{n}", f"<p>Article {n}.</p>") for n in numbers]
        citing = article(90, "L90", "<p>Voir les articles L. 1 à L. 4.</p>")
        return write_law(tmp_path / "law", code(BAKERS, "Code", section(1, "Livre Ier", *articles, citing)), millers_citing())

    def millers_citing() -> dict[str, object]:
        return code("LEGITEXT000000000002", "Code de la meunerie", article(21, "L1", f"<p>{link(999, 'rien')}</p>"))

    for numbers in ((1, 2, 4), (1, 2, 3, 4), (1, 4)):
        ingest(EmbeddedStore(tmp_path), release(*numbers))
        with open_graph(tmp_path) as graph:
            cited = sorted(row["target"] for row in graph.rows("citations") if row["kind"] == "text")
        assert cited == [f"{BAKERS_ID}/L{n}" for n in numbers]
