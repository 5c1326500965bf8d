"""The law as Python objects, over a real server, and the notebook that walks it."""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from py2neo import Graph
from py2neo.ogm import Repository

from cypher.engines.neo4j import Neo4jStore
from cypher.explore.py2neo_objects import Act, Article, Section, connect
from cypher.export.dump import canonical_dump
from docker.neo4j_server import Neo4jServer
from ingest.sources import ingest
from schema.errors import BadQuery, BadSetting, NotFound, NotReady, ServerUnavailable
from schema.settings import Settings
from search.corpus.read import read_corpus
from search.text.index import build_text_index
from search.text.options import Bm25Options
from tests.support.disturbance import ROOT
from tests.support.on_server import environment_of, settings_of, store_of
from tests.support.servers import on_shared
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID, write_law

NOTEBOOK = ROOT / "notebooks" / "walk_the_law.ipynb"
L111_1, L111_2, L111_3, L121_1, R111_1 = (f"{BAKERS_ID}/{n}" for n in ("L111-1", "L111-2", "L111-3", "L121-1", "R111-1"))
SERVERS = [pytest.param(name, marks=on_shared(name)) for name in ("neo4j_2026", "neo4j_5")]


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Neo4jServer:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def store(server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Neo4jStore:
    """The tiny law on a server, and its text index."""
    home = tmp_path_factory.mktemp("walk")
    store = store_of(server, home)
    with pytest.raises(NotReady, match="lexgraph ingest"):
        connect(settings_of(server, home))
    ingest(store, write_law(home / "law"))
    with store.reading() as graph:
        build_text_index(home, *read_corpus(graph), Bm25Options())
    return store


@pytest.fixture(scope="module")
def graph(server: Neo4jServer, store: Neo4jStore) -> Graph:
    return connect(settings_of(server, store.home))


def ids(found: list[Act | Section | Article]) -> list[str]:
    return [one.id for one in found]


def test_an_act_is_walked_from_the_top_down(graph: Graph) -> None:
    assert ids([*Act.all(graph)]) == [BAKERS_ID, MILLERS_ID]
    act = Act.find(graph, BAKERS_ID)
    assert (act.title, act.kind, act.jurisdiction, act.updated) == ("Code de la boulangerie", "code", "fr", date(2020, 1, 1))
    assert (act.valid_from, act.valid_to) == (None, None), "a code's file has no first day of the code itself"
    assert [section.heading for section in act.sections] == ["Partie législative", "Partie réglementaire"]
    statute, decree = act.sections
    assert ids([*statute.sections]) == [f"{BAKERS_ID}/partie-legislative/livre-{n}" for n in ("ier", "ii")]
    assert statute.articles == []
    assert [article.number for article in statute.sections[0].articles] == ["L111-1", "L111-2", "L111-3"]
    assert [article.number for article in decree.articles] == ["R111-1", "Annexe I"]
    assert [a.number for a in act.all_articles] == [
        "L111-1", "L111-2", "L111-3", "L121-1", "L121-2", "R111-1", "Annexe I", "Annexe I",
    ]  # fmt: skip


def test_an_article_knows_its_place_its_neighbours_and_its_citations(graph: Graph) -> None:
    article = Article.find(graph, L111_2)
    assert article.text.startswith("La baguette pèse")
    assert article.valid_from == date(1970, 1, 1)
    assert type(article.valid_from) is date
    assert [type(above).__name__ for above in article.path] == ["Act", "Section", "Section"]
    assert ids([*article.path]) == [BAKERS_ID, f"{BAKERS_ID}/partie-legislative", f"{BAKERS_ID}/partie-legislative/livre-ier"]
    assert article.path[-1].path == article.path[:-1]
    assert article.act == Act.find(graph, BAKERS_ID)
    assert article.previous is not None
    assert article.next is not None
    assert (article.previous.id, article.next.id) == (L111_1, L111_3)
    assert Article.find(graph, L111_1).previous is None
    assert ids([*article.cites]) == [L111_1]
    assert ids([*Article.find(graph, L111_1).cited_by]) == [L111_2, R111_1]
    (cited,) = Article.find(graph, L111_3).cites
    assert isinstance(cited, Section)
    assert ids([*cited.cited_by]) == [L111_3]
    assert article.authority == pytest.approx(0.15)
    assert Article.find(graph, L111_1).authority > 0.15  # pyright: ignore


def test_articles_are_found_by_number_however_it_is_written(graph: Graph) -> None:
    act = Act.find(graph, BAKERS_ID)
    assert act.article("L. 111-1") == act.article("L111-1") == Article.find(graph, L111_1)
    assert len({act.article("L. 111-1"), act.article("L111-1")}) == 1
    assert ids([*Article.numbered(graph, "L1")]) == [f"{MILLERS_ID}/L1"]
    assert Article.numbered(graph, "L1", BAKERS_ID) == []
    assert len(Article.numbered(graph, "Annexe I")) == 2
    with pytest.raises(NotFound, match=r"2 articles of .* 'Annexe I': fr/"):
        act.article("Annexe I")
    with pytest.raises(NotFound, match="no articles of"):
        act.article("L999")
    with pytest.raises(NotFound, match="no such article: fr/none"):
        Article.find(graph, "fr/none")
    with pytest.raises(NotFound, match="no such section"):
        Section.find(graph, L111_1)
    assert [a.number for a in Article.match(graph).where(act_id=MILLERS_ID).order_by("_.id")] == ["L1", "L2"]


def test_nothing_can_be_written(graph: Graph, store: Neo4jStore) -> None:
    with store.reading() as before:
        dumped = list(canonical_dump(before))
    article = Article.find(graph, L111_1)
    repository = Repository.wrap(graph)
    for write in (
        lambda: graph.push(article),
        lambda: graph.create(article),
        lambda: graph.merge(article),
        lambda: graph.delete(article),
        lambda: repository.save(article),
        lambda: repository.delete(article),
        lambda: setattr(article, "text", "Le pain est fait de pierre."),
        lambda: graph.create(Article()),
        lambda: Act(title="Code"),
    ):
        with pytest.raises(BadQuery, match="the law is read-only here"):
            write()
    assert article.text.startswith("Le pain est fait de farine")
    with store.reading() as after:
        assert list(canonical_dump(after)) == dumped


def test_a_connection_that_fails_is_one_clear_line(server: Neo4jServer, tmp_path: Path) -> None:
    there = settings_of(server, tmp_path)
    with pytest.raises(BadSetting, match="LEXGRAPH_GRAPH is empty"):
        connect(Settings(home=tmp_path))
    wrong = Settings.model_validate({"home": tmp_path, "graph": server.address, "graph_password": "secret-but-wrong"})
    with pytest.raises(BadSetting, match="LEXGRAPH_GRAPH_PASSWORD") as caught:
        connect(wrong)
    assert "secret-but-wrong" not in str(caught.value)
    with pytest.raises(ServerUnavailable, match="does not answer") as away:
        connect(there.model_copy(update={"graph": "bolt://127.0.0.1:9"}))
    with pytest.raises(BadSetting, match="LEXGRAPH_GRAPH"):
        connect(there.model_copy(update={"graph": "law"}))
    assert "\n" not in str(away.value)


def test_without_py2neo_the_extra_is_named(tmp_path: Path) -> None:
    script = "import sys; sys.modules['py2neo'] = None; import cypher.explore.py2neo_objects"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "MissingExtra: cypher.explore.py2neo_objects needs py2neo: install lexgraph[notebook]" in done.stderr


def walked(home: Path, monkeypatch: pytest.MonkeyPatch, **environment: str) -> dict[str, str]:
    """What each cell of the notebook prints over a home, by its name."""
    for name, value in ({"LEXGRAPH_HOME": str(home), "PYTHONPATH": str(ROOT)} | environment).items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    return {cell.id: text_of(cell) for cell in notebook.cells if cell.cell_type == "code"}


def check_the_walk(shown: dict[str, str]) -> None:
    assert shown["acts"].splitlines()[0] == "2 acts"
    assert "Code de la boulangerie" in shown["acts"]
    assert shown["tree"].splitlines() == [
        "Code de la boulangerie",
        "  Partie législative: 5",
        "    Livre Ier : Du pain: 3",
        "    Livre II : Du boulanger: 2",
        "  Partie réglementaire: 3",
        "    Chapitre unique : Des annexes: 1",
    ]
    table = shown["citations"].splitlines()
    assert table[0].split() == ["article", "cited", "by", "authority", "since"]
    assert table[1].split()[:2] == ["L111-1", "2"], "the most cited article first"
    assert "Code de la boulangerie > Partie législative > Livre Ier : Du pain" in shown["article"]
    assert "cited by: L111-2 of Code de la boulangerie" in shown["article"]
    assert shown["search"].splitlines()[0].startswith("L121-2")


def test_the_notebook_walks_the_law_of_a_server(server: Neo4jServer, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = walked(store.home, monkeypatch, **environment_of(server))
    check_the_walk(shown)
    assert "L111-1 is cited by 2 articles" in shown["objects"]
    assert server.password not in "".join(shown.values())


@pytest.mark.slow
def test_the_notebook_walks_the_embedded_law(tiny_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = walked(tiny_home, monkeypatch)
    check_the_walk(shown)
    assert "need a server" in shown["objects"]


def test_the_notebook_ships_with_its_outputs_and_no_path_of_a_machine() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs and {output.get("name") for output in cell.outputs} == {"stdout"} for cell in cells)
    text = NOTEBOOK.read_text("utf-8")
    assert "29,115" in text or "4 acts" in text
    assert not re.search(r"/(tmp|home|root|Users|work)/", text)


def text_of(cell: nbformat.NotebookNode) -> str:
    """What a cell has printed, without warnings."""
    return "".join(output.text for output in cell.outputs if output.get("name") == "stdout").rstrip()
