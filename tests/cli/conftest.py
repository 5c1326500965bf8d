"""The tiny law with wordings that have days: one text known of an earlier day, one not."""

from pathlib import Path

import pytest

from tests.support.commands import Lexgraph
from tests.support.tiny_law import Json, article, bakers, millers, write_law

_DAY_MS = 86_400_000


def dated(node: Json, *others: tuple[int, int, int]) -> Json:
    """An article with other wordings: serial, first day and end."""
    node["data"]["articleVersions"] += [
        {"id": f"LEGIARTI{serial:012}", "etat": "MODIFIE", "dateDebut": start * _DAY_MS, "dateFin": end * _DAY_MS}
        for serial, start, end in others
    ]
    return node


@pytest.fixture(scope="session")
def dated_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny law; L2 of the millers had another text until 2000, of which the dates alone are known."""
    home = tmp_path_factory.mktemp("dated")
    run = Lexgraph.over(home)
    mills = dated(
        article(22, "L2", "<p>Le moulin est contrôlé chaque année par un inspecteur.</p>", first_day=10_957), (220, 0, 10_957)
    )
    root = millers()
    root["children"][0]["children"][1] = mills
    run.do("ingest", write_law(home / "law", bakers(), root))
    run.do("index")
    return home


@pytest.fixture
def ask(dated_home: Path) -> Lexgraph:
    """Lexgraph in English."""
    return Lexgraph(dated_home, {"LEXGRAPH_HOME": str(dated_home), "LC_ALL": "C.UTF-8"})


@pytest.fixture
def ask_in_french(dated_home: Path) -> Lexgraph:
    """Lexgraph in French."""
    return Lexgraph(dated_home, {"LEXGRAPH_HOME": str(dated_home), "LC_ALL": "fr_FR.UTF-8"})
