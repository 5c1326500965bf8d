"""A property of the law stands in one place: added to a record, it goes from the reader to the dump by itself."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docker.neo4j_server import Neo4jServer
from tests.support.disturbance import ROOT
from tests.support.on_server import environment_of
from tests.support.servers import on_shared

ROOMS = ("runtime", "schema", "citations", "cypher", "ingest", "search", "cli", "gnn", "lexgraph.py")
LAW = [
    {"type": "act", "id": "be/pain", "title": "Loi du pain", "gazette": "Moniteur du four", "pages": ["3", "4"]},
    {"type": "article", "number": "1", "text": "Le pain est cuit."},
]
CHECK = """
import json, sys
from cypher.engines.open import open_store
from ingest.loading.difference import StoredActs
from schema.settings import load_settings
with open_store(load_settings()).reading() as graph:
    act = StoredActs.of(graph, ["be/pain"]).acts["be/pain"]
    rows = graph.query("MATCH (a:Act) RETURN a.gazette, a.pages", {}, 10).rows
print(json.dumps({"record": [act.gazette, act.pages], "graph": rows}, default=list))
"""


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """The rooms with two properties more in the record of an act, and no other edit."""
    (tmp_path / "house").mkdir()
    for room in ROOMS:
        copy = shutil.copytree if (ROOT / room).is_dir() else shutil.copy
        copy(ROOT / room, tmp_path / "house" / room)
    records = tmp_path / "house" / "schema" / "records.py"
    text = records.read_text(encoding="utf-8")
    last = '    preamble: str = ""\n'
    assert text.count(last) == 1
    records.write_text(text.replace(last, f'{last}    gazette: str = ""\n    pages: tuple[str, ...] = ()\n'), encoding="utf-8")
    return tmp_path / "house"


def run(house: Path, environment: dict[str, str], *command: object) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=house, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_the_property(house: Path, environment: dict[str, str]) -> None:
    law = house / "law" / "pain.jsonl"
    law.parent.mkdir()
    law.write_text("\n".join(map(json.dumps, LAW)), encoding="utf-8")
    run(house, environment, "lexgraph.py", "ingest", law.parent)
    kept = json.loads(run(house, environment, "-c", CHECK))
    assert kept == {"record": ["Moniteur du four", ["3", "4"]], "graph": [["Moniteur du four", ["3", "4"]]]}
    lines = map(json.loads, run(house, environment, "lexgraph.py", "export", "-").splitlines())
    (act,) = (line for line in lines if line.get("label") == "Act")
    assert (act["gazette"], act["pages"]) == ("Moniteur du four", ["3", "4"])
    law.write_text("\n".join(map(json.dumps, [LAW[0] | {"gazette": "Journal"}, LAW[1]])), encoding="utf-8")
    assert "1 act changed" in run(house, environment, "lexgraph.py", "ingest", law.parent)
    assert json.loads(run(house, environment, "-c", CHECK))["record"][0] == "Journal"


@pytest.mark.slow
def test_a_property_added_to_a_record_goes_through_the_embedded_graph(house: Path) -> None:
    check_the_property(house, {"LEXGRAPH_HOME": str(house / "home")})


@on_shared("neo4j_2026")
def test_a_property_added_to_a_record_goes_through_neo4j(house: Path, neo4j_2026: Neo4jServer) -> None:
    check_the_property(house, environment_of(neo4j_2026) | {"LEXGRAPH_HOME": str(house / "home")})
