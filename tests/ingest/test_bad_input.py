"""Bad input is named by file, place and reason; what is good beside it is loaded; nothing is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.loading.quarantine import quarantined
from ingest.loading.report import summary
from ingest.readers.jsonl import read_questions_file
from ingest.readers.legi import read_act
from ingest.sources import ingest
from schema.errors import BadSource, LexgraphError, MissingFile
from tests.support.disturbance import dump
from tests.support.tiny_law import BAKERS, BAKERS_ID, MILLERS, article, bakers, code, millers, section, write_law, write_sheets
from tests.support.variants import variants

Json = dict[str, Any]


def law_file(folder: Path, content: bytes) -> Path:
    path = folder / f"{BAKERS}.json"
    path.write_bytes(content)
    return path


def nodes(root: Json) -> int:
    """How many sections and articles a tree has, counted without the reader."""
    return sum(1 + nodes(child) for child in root.get("children", []))


WHOLE = json.dumps(bakers(), ensure_ascii=False, indent=1).encode()
BROKEN = {
    "truncated": (WHOLE[: len(WHOLE) // 2], r"line \d+, column \d+: not JSON"),
    "Latin-1": (WHOLE.decode().encode("latin-1"), r"line 16, byte \d+: not UTF-8 text"),
    "empty": (b"", "line 1, column 1: not JSON"),
    "another root": (b'{"type": "book"}', r"\$: not LEGI JSON"),
    "no identifier": (b'{"type": "code", "data": {"id": 5}}', r"\$\.data\.id: not an identifier of a code: 5"),
    "title no text": (json.dumps({"type": "code", "data": {"id": BAKERS, "title": 5}}).encode(), r"\$\.data\.title: not text"),
    "nested beyond reason": (b'{"children":[' * 5000, "nested too deeply"),
    "a number of ten thousand digits": (b'{"n": ' + b"9" * 10_000 + b"}", "not JSON that can be read"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_named_with_place_and_reason(tmp_path: Path, content: bytes, message: str) -> None:
    path = law_file(tmp_path, content)
    with pytest.raises(BadSource, match=message) as caught:
        read_act(path)
    assert str(path) in str(caught.value)
    assert caught.value.exit_code == 65


@pytest.mark.parametrize("content", variants({name: content for name, (content, _) in BROKEN.items()}, quick=2))
def test_a_broken_file_leaves_its_act_as_it_was_and_the_others_are_loaded(tmp_path: Path, content: bytes) -> None:
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "sources", bakers()))
    before = dump(tmp_path)
    write_law(tmp_path / "sources", millers())
    law_file(tmp_path / "sources", content)
    report = ingest(EmbeddedStore(tmp_path), tmp_path / "sources")
    assert (report.read_files, report.broken_files) == (1, 1)
    assert set(before.splitlines()) - set(dump(tmp_path).splitlines()) <= {before.splitlines()[0]}, "only the fingerprint changed"
    (waiting,) = quarantined(tmp_path)["legi"]
    assert waiting.file == f"{BAKERS}.json"
    assert "1 record rejected" in summary(report)


@pytest.mark.parametrize("name", ["law.json", "folder"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    for attempt in (lambda: ingest(EmbeddedStore(tmp_path / "home"), tmp_path / name), lambda: read_act(tmp_path / name)):
        with pytest.raises(MissingFile, match=name) as caught:
            attempt()
        assert caught.value.exit_code == 66
    assert not (tmp_path / "home").exists()


def test_a_file_that_is_named_in_a_folder_but_not_there_is_reported_and_the_others_are_loaded(tmp_path: Path) -> None:
    sources = write_law(tmp_path / "sources", millers())
    (sources / f"{BAKERS}.json").symlink_to(tmp_path / "nowhere")
    report = ingest(EmbeddedStore(tmp_path), sources)
    assert (report.read_files, report.broken_files) == (1, 1)
    assert [(r.file, r.reason) for r in report.rejected] == [(f"{BAKERS}.json", "cannot be read: No such file or directory")]


def test_a_file_of_no_known_format_is_refused_with_the_formats_there_are(tmp_path: Path) -> None:
    (tmp_path / "law.txt").write_text("Art. 1. Le pain est bon.")
    for path in (tmp_path / "law.txt", tmp_path):
        with pytest.raises(BadSource, match=r"legi, .*service-public"):
            ingest(EmbeddedStore(tmp_path / "home"), path)


def tree(*extra: Json) -> Json:
    """The code of bakers with more below its first section."""
    root = bakers()
    root["children"][0]["children"] += extra
    return root


INNER = section(
    60,
    "Titre Ier",
    article(61, "L611-1", "<p>Dedans.</p>"),
    section(62, "Chapitre Ier", article(63, "L612-1", "<p>Au fond.</p>")),
)
DATED = article(50, "L500-1", "<p>Daté.</p>")


def having(record: Json, **data: object) -> Json:
    """A record with other data."""
    return record | {"data": record["data"] | data}


AT = "$.children[0].children[2]"
RECORDS: dict[str, tuple[Json, str, str, int]] = {
    "no number": (article(50, None, "<p>Sans numéro.</p>"), AT, "article LEGIARTI000000000050 without a number", 1),
    "a blank number": (article(50, " . ", "<p>Sans numéro.</p>"), AT, "article LEGIARTI000000000050 without a number", 1),
    "repeated article": (article(1, "L111-1", "<p>Encore.</p>"), AT, "repeated identifier LEGIARTI000000000001", 1),
    "repeated section": (section(2, "Livre Ier", *INNER["children"]), AT, "repeated identifier LEGISCTA000000000002", 4),
    "section in itself": (
        section(60, "Titre Ier", article(61, "L1", ""), section(60, "Titre Ier", article(62, "L2", ""))),
        f"{AT}.children[1]",
        "a cycle in the tree: section LEGISCTA000000000060 contains itself",
        2,
    ),
    "not an object": ({"type": "article"}, AT, "not an object with data", 1),
    "another type": ({"type": "annex", "data": {"id": "x"}}, AT, "neither a section nor an article: type 'annex'", 1),
    "another identifier": ({"type": "article", "data": {"id": "JORF1"}}, AT, "not an identifier of an article: 'JORF1'", 1),
    "a word for a date": (
        having(DATED, dateDebut="yesterday"),
        f"{AT}.data.dateDebut",
        "not a date: 'yesterday'",
        1,
    ),
    "a date past all time": (having(DATED, dateFin=10**30), f"{AT}.data.dateFin", f"not a date: {10**30}", 1),
    "a section's date": (
        having(INNER, dateDebut="2020-02-30"),
        f"{AT}.data.dateDebut",
        "not a date: '2020-02-30'",
        4,
    ),
    "a section's date past all time": (
        having(INNER, dateFin=10**30),
        f"{AT}.data.dateFin",
        f"not a date: {10**30}",
        4,
    ),
    "text that is none": (having(DATED, texteHtml=["x"]), f"{AT}.data.texteHtml", "not text: ['x']", 1),
    "half a character": (
        having(DATED, texteHtml="<p>\ud800</p>"),
        f"{AT}.data.texteHtml",
        "holds half a character (a lone surrogate)",
        1,
    ),
    "versions that are none": (
        having(DATED, articleVersions="x"),
        f"{AT}.data.articleVersions",
        "not a list",
        1,
    ),
}


@pytest.mark.parametrize(("record", "place", "reason", "lost"), variants(RECORDS, quick=5))
def test_a_bad_record_is_quarantined_whole_and_all_else_is_loaded(
    tmp_path: Path, record: Json, place: str, reason: str, lost: int
) -> None:
    root = tree(record)
    (tmp_path / f"{BAKERS}.json").write_text(json.dumps(root))
    report = ingest(EmbeddedStore(tmp_path / "home"), tmp_path)
    (found,) = report.rejected
    assert (found.file, found.place, found.reason) == (f"{BAKERS}.json", place, reason)
    inner = record["children"][1] if "cycle" in reason else record
    assert found.record == inner
    assert quarantined(tmp_path / "home") == {"legi": [found]}
    loaded = report.created["Section"] + report.created["Article"]
    assert 1 + nodes(inner) == lost
    assert loaded + lost == nodes(root), "nothing is lost"
    with open_graph(tmp_path / "home") as graph:
        counts = {row["label"]: row["n"] for row in graph.rows("counts")}
    assert counts["Section"] + counts["Article"] == loaded


def test_children_that_are_no_list_are_quarantined(tmp_path: Path) -> None:
    bad = section(60, "Titre Ier") | {"children": {"0": article(61, "L1", "")}}
    write_law(tmp_path / "sources", tree(bad))
    (found,) = ingest(EmbeddedStore(tmp_path), tmp_path / "sources").rejected
    assert (found.place, found.reason, found.record) == (f"{AT}.children", "not a list", bad["children"])


def test_two_versions_of_one_node_are_one_too_many(tmp_path: Path) -> None:
    """Another identifier of the version, the same permanent one and the same number: the first is kept."""
    again, part = article(50, "L111-1", "<p>Encore.</p>"), section(70, "Livre Ier : Du pain")
    again["data"]["cid"] = "LEGIARTI000000000001"
    first = article(51, "L111-1", "<p>Un homonyme.</p>")
    part["data"]["cid"] = "LEGISCTA000000000002"
    report = ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "sources", tree(again, first, part)))
    reasons = sorted(r.reason for r in report.rejected)
    assert reasons == ["repeated identifier LEGIARTI000000000001", "repeated identifier LEGISCTA000000000002"]
    assert report.created["Article"] == 9


def test_an_identifier_that_is_no_text_does_not_stop_the_load(tmp_path: Path) -> None:
    odd = section(60, "Titre Ier", article(61, "L611-1", "<p>Dedans.</p>"))
    odd["data"]["cid"] = 5
    report = ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "sources", tree(odd)))
    assert report.rejected == []
    assert report.created["Section"] == 6


def test_a_rejected_part_may_nest_as_deep_as_a_file_can(tmp_path: Path) -> None:
    deep = article(900, "L900", "<p>Au fond.</p>")
    for level in range(150):
        deep = section(1000 + level, f"Titre {level}", deep)
    deep["data"]["dateDebut"] = "yesterday"
    report = ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "sources", tree(deep)))
    assert [r.record for r in quarantined(tmp_path)["legi"]] == [r.record for r in report.rejected] == [deep]


def test_the_same_act_in_two_files_is_read_from_the_first_today_and_tomorrow(tmp_path: Path) -> None:
    sources = write_law(tmp_path / "sources")
    other = bakers()
    other["data"]["title"] = "Code d'une autre boulangerie"
    (sources / "LEGITEXT999999999999.json").write_text(json.dumps(other), encoding="utf-8")
    for _ in range(3):
        report = ingest(EmbeddedStore(tmp_path), sources)
        (found,) = report.rejected
        assert found.file == "LEGITEXT999999999999.json"
        assert found.place == BAKERS_ID
        assert found.reason == f"repeated identifier: act {BAKERS_ID} was read from legi/sources/{BAKERS}.json already"
        with open_graph(tmp_path) as graph:
            assert {row["title"] for row in graph.rows("acts")} == {"Code de la boulangerie", "Code de la meunerie"}


def test_an_act_whose_file_was_renamed_is_known_by_its_new_file_alone(tmp_path: Path) -> None:
    sources = write_law(tmp_path / "sources", bakers())
    ingest(EmbeddedStore(tmp_path), sources)
    (sources / f"{BAKERS}.json").rename(sources / "LEGITEXT-renamed.json")
    report = ingest(EmbeddedStore(tmp_path), sources)
    assert not report.anything_changed
    with open_graph(tmp_path) as graph:
        assert [row["id"] for row in graph.rows("sources")] == ["legi/sources/LEGITEXT-renamed.json"]


def test_quarantine_keeps_what_still_waits_and_lets_go_what_was_mended(tmp_path: Path) -> None:
    numberless = article(50, None, "<p>Sans numéro.</p>")
    bad_millers = millers()
    bad_millers["children"].append(article(51, None, "<p>Sans numéro.</p>"))
    sources = write_law(tmp_path / "sources", tree(numberless), bad_millers)
    assert len(ingest(EmbeddedStore(tmp_path), sources).rejected) == 2
    write_law(sources, millers())
    ingest(EmbeddedStore(tmp_path), sources)
    assert [r.file for r in quarantined(tmp_path)["legi"]] == [f"{BAKERS}.json"], "the bakers' file was not read again"
    ingest(EmbeddedStore(tmp_path), sources)
    assert [r.file for r in quarantined(tmp_path)["legi"]] == [f"{BAKERS}.json"]
    write_law(sources, bakers())
    ingest(EmbeddedStore(tmp_path), sources)
    assert quarantined(tmp_path) == {}


def test_a_title_with_a_null_character_is_law_like_any_other(tmp_path: Path) -> None:
    odd = code(MILLERS, "Code\0 de la meunerie", article(21, "L1", "<p>Un\0 moulin.</p>"), section(22, "Titre\0 Ier"))
    report = ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "sources", odd))
    assert report.created == {"Act": 1, "Section": 1, "Article": 1}
    assert ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "sources", odd)).unchanged_files == 1


BAD_SHEETS = {
    "truncated": ('{"id": "F9", "x": "https://www.legifrance.gouv.fr/LEGIARTI000000000001"', "not JSON"),
    "no identifier": ('{"x": "https://www.legifrance.gouv.fr/LEGIARTI000000000001"}', "no identifier"),
    "no title": ('{"id": "F9", "x": "https://www.legifrance.gouv.fr/LEGIARTI000000000001"}', "no dc:title"),
    "children no list": (
        '{"id": "F9", "children": 5, "x": "https://www.legifrance.gouv.fr/LEGIARTI000000000001"}',
        "no dc:title",
    ),
}


@pytest.mark.parametrize(("content", "reason"), BAD_SHEETS.values(), ids=BAD_SHEETS)
def test_a_bad_sheet_is_quarantined_and_the_others_are_questions(tmp_path: Path, content: str, reason: str) -> None:
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "sources"))
    sheets = write_sheets(tmp_path / "sheets", {"F1": ("Que pèse le pain ?", "", ["LEGIARTI000000000001"])})
    (sheets / "particuliers" / "F9.json").write_text(content)
    report = ingest(EmbeddedStore(tmp_path), sheets)
    assert report.created["Question"] == 1
    (found,) = quarantined(tmp_path)["service-public"]
    assert found.file == "particuliers/F9.json"
    assert reason in found.reason


def question_line(**changes: object) -> str:
    return json.dumps({"id": "1", "text": "Que pèse le pain ?", "relevant": [f"{BAKERS_ID}/L111-2"]} | changes)


BAD_QUESTIONS = {
    "not JSON": ("{", "line 2, column 2: not JSON"),
    "not an object": ("[]", "line 2, $: not an object"),
    "no id": (question_line(id=""), "line 2, $.id: no identifier"),
    "no text": (question_line(id="2", text=" "), "line 2, $.text: no text"),
    "nothing relevant": (question_line(id="2", relevant=[]), "line 2, $.relevant: not a list of article identifiers"),
    "unknown article": (question_line(id="2", relevant=["fr/x"]), "line 2, $.relevant: no such article: fr/x"),
    "repeated": (question_line(), "line 2, $.id: repeated identifier 1"),
}


@pytest.mark.parametrize(("line", "message"), BAD_QUESTIONS.values(), ids=BAD_QUESTIONS)
def test_a_bad_question_is_named_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(f"{question_line()}\n{line}\n")
    with pytest.raises(BadSource) as caught:
        read_questions_file(path, {f"{BAKERS_ID}/L111-2"})
    assert f"{path}: {message}" in str(caught.value)


def test_a_question_file_that_is_missing_or_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    errors: list[LexgraphError] = []
    for content in (None, question_line(text="pèse").replace("\\u00e8", "è").encode("latin-1")):
        if content:
            path.write_bytes(content)
        with pytest.raises(LexgraphError, match=r"questions\.jsonl") as caught:
            read_questions_file(path, set())
        errors.append(caught.value)
    assert [type(error) for error in errors] == [MissingFile, BadSource]
