"""Every format is told from every other, and loads from a folder, its questions with the articles that answer them."""

import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest import sources
from ingest.loading.questions import read_questions
from ingest.question_sources import QUESTION_FORMATS
from ingest.sources import FORMATS, Format, ingest
from schema.errors import BadSource, MissingFile
from schema.records import outside_source
from tests.support.small_texts import WRITTEN, write_format

LOADED = {
    # format: (acts, sections, articles, questions)
    "legi": (1, 5, 8, 0),
    "legalize": (1, 2, 3, 0),
    "eu-acts": (1, 1, 3, 0),
    "akoma-ntoso": (1, 2, 3, 0),
    "bsard": (2, 3, 3, 4),
    "coliee": (1, 5, 5, 4),
    "jsonl": (1, 2, 2, 1),
    "beir": (2, 0, 2, 2),
}


def test_there_is_a_small_text_of_every_format() -> None:
    assert set(WRITTEN) == set(LOADED) == {format.name for format in FORMATS} - {"law-as-git"}, "which comes out of repositories"


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_is_of_its_own_format_alone(name: str, tmp_path: Path) -> None:
    write_format(tmp_path, name)
    for file in WRITTEN[name]:
        path = tmp_path / file
        assert [f.name for f in FORMATS if path.match(f.pattern) and f.recognises(path)] == [name], file


@pytest.mark.parametrize("named", [False, True], ids=["recognised", "named"])
@pytest.mark.parametrize("name", WRITTEN)
def test_a_folder_of_a_format_loads(name: str, named: bool, tmp_path: Path) -> None:
    report = ingest(EmbeddedStore(tmp_path / "home"), write_format(tmp_path / name, name), name if named else None)
    assert (report.rejected, report.unrecognised, report.broken_files) == ([], [], 0)
    labels = ("Act", "Section", "Article", "Question")
    assert tuple(report.created[label] for label in labels) == LOADED[name]


@pytest.mark.slow
def test_all_formats_load_from_one_folder(tmp_path: Path) -> None:
    for name in WRITTEN:
        write_format(tmp_path / "law" / name, name)
    report = ingest(EmbeddedStore(tmp_path / "home"), tmp_path / "law")
    assert (report.rejected, report.unrecognised) == ([], [])
    with open_graph(tmp_path / "home") as graph:
        counts = Counter({row["label"]: row["n"] for row in graph.rows("counts")})
        assert counts["Question"] == sum(loaded[3] for loaded in LOADED.values())
        assert [row["source"] for row in graph.rows("question_sources")] == ["beir-beir", "bsard", "coliee", "own"]
        assert all(q.relevant for source in ("beir-beir", "bsard", "coliee", "own") for q in read_questions(graph, source))


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_a_missing_file_is_named_by_every_reader(format: Format, tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match=r"nowhere\.txt"):
        list(format.read(tmp_path / "nowhere.txt"))


def test_a_folder_without_a_file_of_the_format_that_was_named_says_so(tmp_path: Path) -> None:
    folder = write_format(tmp_path, "bsard")
    with pytest.raises(BadSource, match="no file here looks like coliee; name the file itself"):
        ingest(EmbeddedStore(tmp_path / "home"), folder, "coliee")


def test_an_archive_that_is_encrypted_or_compressed_in_an_unknown_way_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "law.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("law.md", "text")
    whole = archive.read_bytes()
    flags, method = 8, 10  # in the entry of the directory, from its signature on: two bytes each
    entry = whole.index(b"PK\x01\x02")
    for at, value in ((entry + flags, 1), (entry + method, 99)):
        archive.write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
        with pytest.raises(BadSource, match="not an archive that can be unpacked"):
            ingest(EmbeddedStore(tmp_path / "home"), archive)


def test_no_identifier_is_given_twice_whatever_the_numbers_are(tmp_path: Path) -> None:
    """A publisher's own tilde must not meet ours, nor an article a section of its name."""
    numbers = ["1", "1", "1~2", "1~2", "livre-i"]
    lines = [{"type": "act", "id": "be/a", "title": "A", "language": "fr"}]
    lines += [{"type": "article", "number": n, "path": ["Livre I"], "text": f"Texte {n}."} for n in numbers]
    (tmp_path / "law.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert ingest(EmbeddedStore(tmp_path / "home"), tmp_path / "law.jsonl").created["Article"] == 5


def test_a_file_of_no_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadSource, match=r"formats: legi, law-as-git, legalize, .*beir"):
        ingest(EmbeddedStore(tmp_path / "home"), tmp_path / "notes.csv")


ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "formats.md"


def test_the_reader_in_the_documentation_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    reader: dict[str, Any] = {}
    exec(code, reader)
    written = Format("paragraphs", "*.txt", 1, reader["read"], reader["recognises"])
    monkeypatch.setattr(sources, "FORMATS", (*FORMATS, written))
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / "brot.txt").write_text("Brotgesetz\n§ 1 Brot ist frei.\n§ 2 \n§ 3a Öfen auch.\n", "utf-8")
    report = ingest(EmbeddedStore(tmp_path / "home"), tmp_path / "law")
    assert [(r.place, r.reason) for r in report.rejected] == [("paragraph 2", "no text")]
    with open_graph(tmp_path / "home") as graph:
        assert {row["id"]: row["text"] for row in graph.rows("corpus_articles")} == {
            "de/brotgesetz/1": "Brot ist frei.",
            "de/brotgesetz/3a": "Öfen auch.",
        }


def test_every_format_is_documented_in_the_order_of_the_table() -> None:
    named = re.findall(r"^\| `([\w-]+)` \|", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    of_questions = [name for format in QUESTION_FORMATS for name in format.sources if not name.endswith(outside_source(""))]
    assert named == [*(format.name for format in FORMATS), *of_questions]


def test_the_lines_in_the_documentation_load(tmp_path: Path) -> None:
    (lines,) = re.findall(r"```json\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    (tmp_path / "civil.jsonl").write_text(lines, "utf-8")
    report = ingest(EmbeddedStore(tmp_path / "home"), tmp_path / "civil.jsonl")
    assert (report.created["Article"], report.created["Question"], report.rejected) == (1, 1, [])
