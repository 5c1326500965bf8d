"""Questions: they come, change and go with their files, and wait for the law that they name."""

import tarfile
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.loading.quarantine import quarantined
from ingest.loading.questions import read_questions
from ingest.sources import ingest, retry
from schema.labels import SCHEMA_VERSION
from tests.ingest.loading.own_law import own_law, write_lines
from tests.support.disturbance import dump
from tests.support.variants import variants


def asked(path: Path, *serials: int, text: str = "Quel pain ?", about: str = "be/pain/1") -> Path:
    """Questions of one source and one split in lines of one's own."""
    shared = {"type": "question", "source": "mine", "split": "test", "text": text, "relevant": [about]}
    return write_lines(path, *(shared | {"id": f"q{n}"} for n in serials))


def questions(home: Path) -> dict[str, str]:
    """Text by identifier."""
    with open_graph(home) as graph:
        return {question.id: question.text for question in read_questions(graph, "mine")}


def test_questions_come_change_and_go_with_their_file_and_leave_those_of_others(tmp_path: Path) -> None:
    folder, store = tmp_path / "own", EmbeddedStore(tmp_path)
    own_law(folder / "law.jsonl", 1)
    first, second = asked(folder / "a.jsonl", 1, 2), asked(folder / "b.jsonl", 3)
    assert ingest(store, folder).created["Question"] == 3
    asked(first, 1, 2, text="Lequel ?")
    assert dict(ingest(store, folder).changed)["Question"] == 2
    assert questions(tmp_path) == {"mine/q1": "Lequel ?", "mine/q2": "Lequel ?", "mine/q3": "Quel pain ?"}
    asked(first, 2, text="Lequel ?")
    assert ingest(store, first).removed["Question"] == 1
    assert questions(tmp_path) == {"mine/q2": "Lequel ?", "mine/q3": "Quel pain ?"}
    second.unlink()
    assert ingest(store, folder).removed["Question"] == 1
    assert questions(tmp_path) == {"mine/q2": "Lequel ?"}
    first.rename(folder / "c.jsonl")
    assert not ingest(store, folder).removed["Question"]
    (folder / "c.jsonl").write_text("", "utf-8")
    assert questions(tmp_path) == {"mine/q2": "Lequel ?"}


def test_a_question_of_two_files_is_that_of_the_other_when_its_own_goes(tmp_path: Path) -> None:
    folder, store = tmp_path / "own", EmbeddedStore(tmp_path)
    own_law(folder / "law.jsonl", 1)
    first = asked(folder / "a.jsonl", 1)
    asked(folder / "b.jsonl", 1, 2, text="Lequel ?")
    (repeated,) = ingest(store, folder).rejected
    assert (repeated.file, repeated.place) == ("b.jsonl", "mine/q1")
    assert repeated.reason == "repeated identifier: it was read from jsonl/own/a.jsonl already"
    assert questions(tmp_path) == {"mine/q1": "Quel pain ?", "mine/q2": "Lequel ?"}
    first.unlink()
    for _ in range(2):
        ingest(store, folder)
    assert questions(tmp_path) == {"mine/q1": "Lequel ?", "mine/q2": "Lequel ?"}
    assert quarantined(tmp_path) == {}


@pytest.mark.parametrize("how", variants(["its file", "its folder", "retry"]))
def test_a_question_that_names_what_the_graph_lacks_waits_in_the_quarantine_until_it_is_there(tmp_path: Path, how: str) -> None:
    home, folder = tmp_path / "home", tmp_path / "own"
    own_law(folder / "law.jsonl", 1)
    path = asked(folder / "questions.jsonl", 1, about="be/four/1")
    for _ in range(2):
        ingest(EmbeddedStore(home), folder)
    (waiting,) = quarantined(home)["jsonl"]
    assert (waiting.file, waiting.reason) == ("questions.jsonl", "names articles that the graph lacks: be/four/1")
    store = EmbeddedStore(home)
    stamp = store.stamp()
    for again in (ingest(store, folder), retry(store)):
        assert (again.read_files, again.anything_changed) == (0, False), "nothing has come"
    assert store.stamp() == stamp
    assert quarantined(home)["jsonl"] == [waiting]
    ingest(store, own_law(tmp_path / "other" / "law.jsonl", 1, act="be/four"))
    report = retry(store) if how == "retry" else ingest(store, path if how == "its file" else folder)
    assert (report.rejected, report.created["Question"], report.read_files) == ([], 1, 1)
    assert questions(home) == {"mine/q1": "Quel pain ?"}
    assert quarantined(home) == {}
    assert not ingest(store, folder).read_files


def test_a_question_finds_what_comes_beside_it(tmp_path: Path) -> None:
    folder, store = tmp_path / "own", EmbeddedStore(tmp_path)
    asked(folder / "a.jsonl", 1, about="be/pain/2")
    own_law(folder / "law.jsonl", 1)
    ingest(store, folder)
    assert questions(tmp_path) == {}
    own_law(folder / "law.jsonl", 1, 2)
    assert ingest(store, folder).created["Question"] == 1


@pytest.mark.slow
def test_an_archive_whose_questions_wait_is_unpacked_again_when_there_is_other_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EmbeddedStore(tmp_path / "home")
    archive = tmp_path / "own.tar"
    with tarfile.open(archive, "w") as packed:
        packed.add(asked(tmp_path / "questions.jsonl", 1), "questions.jsonl")
    ingest(store, archive)
    with monkeypatch.context() as without:
        without.setattr("ingest.sources.unpacked", lambda *_: pytest.fail("it was unpacked again"))
        ingest(store, archive)
    ingest(store, own_law(tmp_path / "law" / "law.jsonl", 1))
    assert ingest(store, archive).created["Question"] == 1
    monkeypatch.setattr("ingest.sources.unpacked", lambda *_: pytest.fail("it was unpacked again"))
    assert ingest(store, archive).unchanged_files == 1


@pytest.mark.slow
def test_questions_of_a_graph_of_an_older_schema_learn_their_file_from_the_next_load(tmp_path: Path) -> None:
    folder, store = tmp_path / "own", EmbeddedStore(tmp_path)
    own_law(folder / "law.jsonl", 1)
    path = asked(folder / "a.jsonl", 1)
    ingest(store, folder)
    whole = dump(tmp_path)
    with store.writing() as graph:
        graph._run("ALTER TABLE Question DROP file", {})  # pyright: ignore[reportPrivateUsage]
        graph.write("set_schema_version", schema_version=3)
    assert store.migrate() == (3, SCHEMA_VERSION)
    assert not ingest(store, folder).anything_changed
    assert dump(tmp_path) == whole
    path.unlink()
    assert ingest(store, folder).removed["Question"] == 1
