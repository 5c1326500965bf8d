"""COLIEE in one command: years as a split, answers as sets of articles, and the user's graph left alone."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gnn.comparison.coliee import Cut, Head, best_cut, by_year, heads, measures
from runtime.progress import silent
from schema.errors import BadQuery, BadSetting, MissingFile
from schema.records import Question
from search.evaluation import Judged
from tests.support.commands import Lexgraph, recipe_file
from tests.support.small_texts import write_format

YEARS = ("H29", "H30", "R01", "R02", "R03")


def question(id: str) -> Question:
    return Question(f"coliee/{id}", "?", "", "coliee", ("jp/civil-code/1",))


def head(gaps: Sequence[float], right: Sequence[bool], ranks: Sequence[int]) -> Head:
    return Head(np.array(gaps), np.array(right), np.array(ranks))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A code of five articles, and questions of five years, one of which names an article that it lacks."""
    folder = write_format(tmp_path / "coliee", "coliee")
    for file in folder.glob("riteval*"):
        file.unlink()
    texts = {1: "Public welfare and private rights.", 3: "Rights begin at birth.", 709: "Who infringes a right pays damages."}
    for year in YEARS:
        pairs = [
            {"id": f"{year}-{n}-A", "query": f"{text} ({year})", "paragraph": f"Article {number}  x"}
            for n, (number, text) in enumerate(texts.items(), 1)
        ]
        pairs[0]["paragraph"] = "Article 1  x\nArticle 999  y"
        (folder / f"riteval_{year}_en.json").write_text(json.dumps(pairs), "utf-8")
    return folder


def test_the_years_before_train_and_the_last_of_them_chooses() -> None:
    asked = by_year([question(f"{year}-1-A") for year in ("R03", "H30", "R02", "R01", "H18")], "R02")
    assert {q.id[7:10]: (q.split, q.split_by_dossier) for q in asked} == {
        "H18": ("train", "train"),
        "H30": ("train", "train"),
        "R01": ("development", "development"),
        "R02": ("test", "test"),
    }


@pytest.mark.parametrize(
    ("test", "message"),
    [("R09", "no questions of 'R09'; there are those of: H30, R01"), ("R01", "R01: two years before it are needed")],
)
def test_a_year_that_cannot_be_tested_is_told(test: str, message: str) -> None:
    with pytest.raises(BadQuery, match=message):
        by_year([question("H30-1-A"), question("R01-1-A")], test)


def test_an_answer_is_measured_as_a_set_of_each_question_and_of_all_together() -> None:
    answers = [
        head([0, 0.5, 2], [True, False, True], [1, 3]),  # two given, one right of two
        head([0, 1.5, 2], [True, False, False], [1]),  # one given, right
        head([0, 0.1, 0.2], [False, False, False], [7]),  # two given, none right
    ]
    found = measures(answers, Cut(1.0, 2))
    assert found["precision"] == pytest.approx(100 * (1 / 2 + 1 + 0) / 3)
    assert found["recall"] == pytest.approx(100 * (1 / 2 + 1 + 0) / 3)
    assert found["F2"] == pytest.approx(100 * (0.5 + 1 + 0) / 3)
    assert found["micro precision"] == pytest.approx(100 * 2 / 5)
    assert found["micro recall"] == pytest.approx(100 * 2 / 4)
    assert found["micro F2"] == pytest.approx(100 * 5 * 0.4 * 0.5 / (4 * 0.4 + 0.5))
    assert (found["R@1"], found["R@10"]) == (pytest.approx(50), pytest.approx(100))


def test_the_cut_is_the_one_with_the_best_f2() -> None:
    near, far = head([0, 0.4, 3], [True, True, False], [1, 2]), head([0, 0.9, 3], [True, False, False], [1])
    assert best_cut([near, far]) == Cut(0.4, 2)
    assert best_cut([far]) == Cut(0.0, 1)


def test_the_head_of_a_ranking_is_its_first_articles_in_deviations_below_the_first() -> None:
    scores = np.array([1, 5, 3, -np.inf], np.float32)
    (found,) = heads(lambda query: scores, [Judged("?", np.array([2]))], silent)
    assert found.right.tolist() == [False, True, False]
    assert found.ranks.tolist() == [2]
    assert found.gaps == pytest.approx([0, 2 / np.std([1, 3, 5]), 4 / np.std([1, 3, 5])], rel=1e-5)


@pytest.mark.slow
def test_the_verb_trains_and_measures_in_a_home_of_its_own(folder: Path, tmp_path: Path) -> None:
    run = Lexgraph.over(tmp_path / "home")
    small = str(recipe_file(tmp_path, "small"))
    page = tmp_path / "coliee.md"
    arguments = ("compare", "bm25:alone", small, "--coliee", folder, "--test", "r03")
    ended = run(*arguments, "--out", page)
    assert ended.code == 0, ended
    assert ended.err.count("names articles that the graph lacks: jp/civil-code/999") == len(YEARS)
    assert "COLIEE R03: 3 questions; trained on 9 of H29 to R01, chosen by 3 of R02" in page.read_text("utf-8")
    table = json.loads(run.do(*arguments, "--json", "--seeds", 2))
    assert [(row["name"].rpartition("/")[2], len(row["cuts"])) for row in table["rows"]] == [("bm25:alone", 1), ("small.toml", 2)]
    assert all(0 <= value <= 100 for row in table["rows"] for value in row["means"].values())
    assert table["rows"][0]["means"]["R@5"] == 100
    assert not (tmp_path / "home" / "graph.lbug").exists(), "the user's graph is not made"
    assert "bm25 has no encoder to borrow" in run(*arguments, "--encoder", "bm25").err, "the option is read here too"


def test_a_recipe_that_learns_from_questions_which_the_folder_has_not_is_refused(folder: Path, tmp_path: Path) -> None:
    ended = Lexgraph.over(tmp_path / "home")("compare", "bm25", "static-more", "--coliee", folder, "--test", "R03")
    assert "recipe static-more: no questions from" in ended.err
    assert ended.code == BadSetting.exit_code


def test_what_is_no_folder_is_told(tmp_path: Path) -> None:
    ended = Lexgraph.over(tmp_path)("compare", "bm25", "--coliee", tmp_path / "none", "--test", "R05")
    assert (ended.code, "no such folder" in ended.err) == (MissingFile.exit_code, True)
