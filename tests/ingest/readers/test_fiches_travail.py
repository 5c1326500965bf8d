"""The labour ministry's sheets: a question for each section that names articles which the law at hand has."""

import tarfile
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.loading.questions import read_questions
from ingest.readers.fiches_travail import SOURCE, read, recognises
from ingest.readers.service_public import split_of
from ingest.sources import ingest
from schema.errors import BadSource, MissingFile
from schema.records import Rejected
from tests.support.tiny_law import BAKERS, BAKERS_ID, labour_section, labour_sheet, write_labour_sheets, write_law

ARTICLES = {f"{BAKERS_ID}/{number}" for number in ("L111-1", "L111-2", "L121-1")}
BREAD = labour_sheet(
    "article7",
    "Le pain",
    labour_section("Le pain", "À savoir."),
    labour_section("De quoi est-il fait\xa0?", "De  farine\net d'eau. " * 40, **{BAKERS: ["L. 111-1", "L111-1", "L999"]}),
    labour_section("Combien pèse-t-il ?", "250 g", **{BAKERS: ["L111-2"], "UNDEFINED": ["L121-1"]}),
    labour_section("Que dit une autre loi ?", "Rien.", LEGITEXT000000000009=["L1"]),
    labour_section("Le pain", "En bref.", **{BAKERS: ["L121-1"]}),
)


def test_sections_ask_and_name_articles_by_code_and_number(tmp_path: Path) -> None:
    rejected: list[Rejected] = []
    questions = read(write_labour_sheets(tmp_path, BREAD), ARTICLES, rejected)
    assert [(q.id, q.text, q.relevant) for q in questions] == [
        ("fiches-travail/article7-1", "Le pain – De quoi est-il fait ?", (f"{BAKERS_ID}/L111-1",)),
        ("fiches-travail/article7-2", "Le pain – Combien pèse-t-il ?", (f"{BAKERS_ID}/L111-2",)),
        ("fiches-travail/article7-4", "Le pain", (f"{BAKERS_ID}/L121-1",)),
    ]
    assert not rejected
    assert questions[0].description.startswith("De farine et d'eau. De farine")
    assert len(questions[0].description) <= 300
    assert questions[0].description.endswith(("farine", "d'eau.", "De", "et")), "it ends with a word"


def test_a_sheet_published_twice_asks_once_and_its_sections_stay_together(tmp_path: Path) -> None:
    again = BREAD | {"pubId": "article8"}
    more = labour_sheet("article9", "Le pain", labour_section("Et le four ?", "", **{BAKERS: ["L111-1"]}))
    questions = read(write_labour_sheets(tmp_path, BREAD, again, more), ARTICLES, [])
    assert [q.id for q in questions] == [f"fiches-travail/article{n}" for n in ("7-1", "7-2", "7-4", "9-0")]
    assert [q.split for q in questions] == [split_of(q.id) for q in questions]
    assert len({q.split_by_dossier for q in questions}) == 1


def test_a_section_that_names_a_whole_field_of_the_law_asks_nothing(tmp_path: Path) -> None:
    numbers = [f"L{n}" for n in range(1, 102)]
    whole = labour_sheet("article1", "Tout", labour_section("Textes", "", **{BAKERS: numbers}))
    assert read(write_labour_sheets(tmp_path, whole), {f"{BAKERS_ID}/{n}" for n in numbers}, []) == []


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    broken = [
        labour_sheet("", "Sans nom"),
        labour_sheet("article2", "") | {"title": 3},
        labour_sheet("article3", "Le four") | {"sections": [1]},
        labour_sheet("article4", "Le sel") | {"sections": [{"title": "Le sel", "references": []}, {"references": [1]}]},
        BREAD,
    ]
    rejected: list[Rejected] = []
    assert len(read(write_labour_sheets(tmp_path, *broken), ARTICLES, rejected)) == 3
    assert [(r.file, r.place, r.reason) for r in rejected] == [
        ("fiches-travail.json", "$[0]", "not a sheet: no pubId"),
        ("fiches-travail.json", "$[1].title", "not text: 3"),
        ("fiches-travail.json", "$[2].sections[0]", "not a section"),
        ("fiches-travail.json", "$[3].sections[1].references", "not an object"),
    ]


@pytest.mark.parametrize("text", ['{"pubId": 1}', "[", ""])
def test_a_file_that_is_no_list_of_sheets_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "fiches-travail.json").write_text(text, "utf-8")
    assert not recognises(tmp_path)
    with pytest.raises(BadSource):
        read(tmp_path, ARTICLES, [])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert not recognises(tmp_path)
    with pytest.raises(MissingFile, match=r"fiches-travail\.json"):
        read(tmp_path, ARTICLES, [])


@pytest.mark.slow
@pytest.mark.parametrize("as_folder", [True, False])
def test_the_questions_load_beside_the_law_and_change_with_their_file(as_folder: bool, tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "home")
    ingest(store, write_law(tmp_path / "law"))
    file = write_labour_sheets(tmp_path / "sheets", BREAD)
    path = file.parent if as_folder else file
    assert recognises(path)
    assert ingest(store, path).created["Question"] == 3
    assert not ingest(store, path).anything_changed
    write_labour_sheets(tmp_path / "sheets", BREAD | {"sections": BREAD["sections"][:2]})
    assert ingest(store, path).removed["Question"] == 2
    with open_graph(tmp_path / "home") as graph:
        assert [q.id for q in read_questions(graph, SOURCE)] == ["fiches-travail/article7-1"]


def packed(folder: Path, archive: Path) -> Path:
    """Pack the files of a package as npm does."""
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, "package")
    return archive


def package(folder: Path) -> Path:
    """The ministry's package, unpacked."""
    write_labour_sheets(folder / "data", BREAD)
    (folder / "package.json").write_text('{"name": "@socialgouv/fiches-travail-data"}')
    return folder


@pytest.mark.parametrize("shape", ["unpacked", "packed", "below a folder"])
def test_the_package_is_read_as_npm_gives_it(tmp_path: Path, shape: str) -> None:
    store = EmbeddedStore(tmp_path / "home")
    ingest(store, write_law(tmp_path / "law"))
    path = package(tmp_path / "package")
    if shape != "unpacked":
        (tmp_path / "downloads").mkdir()
        path = packed(path, tmp_path / "downloads" / "socialgouv-fiches-travail-data-4.1174.0.tgz")
    report = ingest(store, path.parent if shape == "below a folder" else path)
    assert (report.read_files, report.unrecognised) == (1, [])
    with open_graph(tmp_path / "home") as graph:
        assert len(read_questions(graph, SOURCE)) == 3


def test_a_broken_package_is_named_itself_and_changes_nothing(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "home")
    ingest(store, write_law(tmp_path / "law"))
    folder = package(tmp_path / "package")
    archive = packed(folder, tmp_path / "sheets.tgz")
    ingest(store, archive)
    sheets = folder / "data" / "fiches-travail.json"
    sheets.write_text(sheets.read_text("utf-8")[:-9], "utf-8")
    with pytest.raises(BadSource, match=r"sheets\.tgz: .*(?:line|column|char)"):
        ingest(store, packed(folder, archive))
    with pytest.raises(BadSource, match=r"sheets\.tgz: no file of a known format"):
        ingest(store, archive, "service-public")
    with open_graph(tmp_path / "home") as graph:
        assert len(read_questions(graph, SOURCE)) == 3
