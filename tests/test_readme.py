"""The README is true: its two commands do all the set-up, and every command in it runs here, on real law.

The demo takes some minutes the first time; it works in the checkout's own folder, and run again does only what changed.
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import lexgraph
from tests.support.checkout import HOME, ROOT, bench, environment, measured
from tests.test_bench import IN_THE_README, OVER_THE_DEMO, QUICK

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines() if line.strip()]
QUERY = re.findall(r"```graphql\n(.*?)```", README, re.DOTALL)[0]
pytestmark = [pytest.mark.timeout(4500), pytest.mark.xdist_group("real README")]


@pytest.fixture(scope="module")
def demo() -> str:
    """What the demo prints."""
    done = subprocess.run(
        ["make", "demo", f"VENV={sys.prefix}"], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


EVALUATE = ".venv/bin/lexgraph evaluate --json --picture evaluation.png --per-question ranks.jsonl"
SHOWN = {"R@100": 2.5, "R@500": 2.5, "MAP": 2.5, "MRR@10": 4.0, "S@5": 4.0}
"""Columns of the README's table for each split, and how far another processor's figures may be from them: it rounds otherwise,
training follows its rounding, and one question more among the first five is 0.6 points."""


@pytest.fixture(scope="module")
def evaluated(demo: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The figures that the README's own command prints, and the folder that it writes into."""
    assert EVALUATE in COMMANDS
    folder = tmp_path_factory.mktemp("evaluated")
    return json.loads(_run(_here(EVALUATE, folder)).stdout), folder


@pytest.fixture(scope="module")
def figures(evaluated: tuple[dict[str, Any], Path]) -> dict[str, Any]:
    """The figures that the README's own command prints."""
    return evaluated[0]


def _here(command: str, folder: Path) -> str:
    """A command of the README by the programs that run here, its files in a folder."""
    return re.sub(r"(\S+\.(?:png|jsonl))", rf"{folder}/\1", command).replace(".venv/", f"{sys.prefix}/")


def _run(command: str, cwd: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        shlex.split(command),
        cwd=cwd,
        env=environment() | {"LEXGRAPH_HOME": str(HOME)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def test_the_first_command_does_the_whole_job(demo: str) -> None:
    assert "service-public: 161 test questions, random split, title + description" in demo
    assert "service-public: 204 test questions, by-dossier split, title + description" in demo
    assert (HOME / "evaluation.png").stat().st_size > 10_000


def test_the_hybrid_is_as_good_as_promised(figures: dict[str, Any]) -> None:
    promised = {"random": (72, 80, 88, 38), "by-dossier": (70, 78, 86, 36)}
    for split, least in promised.items():
        table = figures if split == "random" else figures[split]
        row = table["systems"]["hybrid"]
        for measure, value in zip(("R@100", "R@200", "R@500", "MAP"), least, strict=True):
            assert row[measure] >= value, (split, measure, row)
    assert (figures["n"], figures["by-dossier"]["n"]) == (161, 204)


def test_the_evaluation_draws_and_tells_the_ranks_of_each_question(evaluated: tuple[dict[str, Any], Path]) -> None:
    figures, folder = evaluated
    assert (folder / "evaluation.png").stat().st_size > 10_000
    ranks = (folder / "ranks.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(ranks) == sum(table["n"] for table in (figures, *figures.values()) if isinstance(table, dict) and "n" in table)


def test_the_table_shows_what_each_part_earns(figures: dict[str, Any]) -> None:
    systems = figures["systems"]
    assert {
        "bm25",
        "encoder",
        "refit",
        "section-mean",
        "hierarchical",
        "hybrid-no-pooling",
        "hybrid",
        "reranked",
    } <= systems.keys()
    assert systems["bm25"]["R@100"] == pytest.approx(57.9, abs=1.5)
    for row in systems.values():
        for measure, (low, high) in row["intervals"].items():
            assert low <= row[measure] <= high


def test_the_figures_in_the_readme_are_those_measured(figures: dict[str, Any]) -> None:
    figure = r" ([\d.]+) \|"
    rows = re.findall(rf"^\| (\S+) \|{figure * (2 * len(SHOWN))}$", README, re.MULTILINE)
    assert len(rows) >= 8
    for system, *told in rows:
        for split, values in ((figures, told[: len(SHOWN)]), (figures["by-dossier"], told[len(SHOWN) :])):
            for (measure, leeway), value in zip(SHOWN.items(), values, strict=True):
                measured = split["systems"][system][measure]
                assert float(value) == pytest.approx(measured, abs=leeway), (system, measure, value)


def test_the_second_command_is_the_one_that_runs_here() -> None:
    assert "make test" in COMMANDS
    assert "make test" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("command", [c for c in COMMANDS if not c.startswith("make ") and c != EVALUATE])
def test_every_other_command_runs(demo: str, command: str, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": 1, "text": "indemnité de licenciement", "relevant": ["fr/LEGITEXT000006072050/L1234-9"]}\n')
    assert _run(_here(command, tmp_path)).stdout


def test_the_measurements_of_the_readme_are_not_measured_elsewhere() -> None:
    assert sorted(command.split()[-1] for command in COMMANDS if "-m bench" in command) == sorted(IN_THE_README)


@pytest.mark.parametrize("name", OVER_THE_DEMO)
def test_every_measurement_of_the_demo_prints_one_json_object(demo: str, name: str) -> None:
    assert measured(name, *QUICK.get(name, []))


def test_two_checkouts_are_held_side_by_side(demo: str) -> None:
    done = bench("api", "--beside", str(ROOT), "--quick", "--rounds", "2")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["errors"] == 0, "the same checkout twice: both give pages of ten hits"
    assert 0 < figures["ratio_least"] <= figures["ratio"]
    assert min(figures["rps_32"], figures["rps_32_before"], figures["processor_ms"], figures["processor_ms_before"]) > 0


def test_a_second_demo_changes_nothing(demo: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in HOME.rglob("*") if path.is_file() and path.name != "evaluation.png"}
    again = _run("make demo VENV=" + sys.prefix).stdout
    assert "trained " not in again.split("service-public:")[0]
    after = {path: path.stat().st_mtime_ns for path in HOME.rglob("*") if path.is_file() and path.name != "evaluation.png"}
    assert before == after


def test_the_query_of_the_readme_is_answered(demo: str) -> None:
    from functools import partial

    from starlette.testclient import TestClient

    from api.app import make_app
    from gnn.versions.active import active_model
    from schema.settings import Settings

    settings = Settings(home=HOME)  # pyright: ignore[reportCallIssue]
    with TestClient(make_app(settings, partial(active_model, settings.home))) as client:
        answer = client.post("/graphql", json={"query": QUERY}).json()
    assert "errors" not in answer
    assert len(answer["data"]["search"]["edges"]) == 3


def test_a_question_in_english_finds_the_french_article(demo: str) -> None:
    (command,) = (command for command in COMMANDS if "maternity" in command)
    hits = json.loads(_run(f"{command} -k 3 --json".replace(".venv", sys.prefix)).stdout)
    assert "fr/LEGITEXT000006072050/L1225-17" in [hit["id"] for hit in hits]


def test_the_readme_names_every_verb_that_exists_and_no_other() -> None:
    verbs = set(get_command(lexgraph.app).commands)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType]
    named = set(re.findall(r"`?(?:lexgraph) ([a-z]+)\b", README))
    assert named <= verbs
    for verb in ("ingest", "index", "train", "evaluate", "search", "serve", "status", "doctor", "cypher"):
        assert verb in verbs
        assert verb in README
