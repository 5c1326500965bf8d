"""Options that a command cannot use together, and files that it cannot write, are told before it works."""

from pathlib import Path

import pytest

from cli.options_given import prepare_to_write
from schema.errors import BadQuery
from tests.support.commands import Lexgraph


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--benchmark", "eu-lu", "--split", "train"], "--split does nothing with --benchmark"),
        (["--benchmark", "eu-lu", "--per-question", "x"], "--per-question does nothing with --benchmark"),
        (["--basis", "cites"], "--basis is for --benchmark eu-lu"),
    ],
)
def test_options_of_evaluate_that_would_do_nothing_are_refused(tmp_path: Path, options: list[object], said: str) -> None:
    ended = Lexgraph.over(tmp_path)("evaluate", *options)
    assert said in ended.err
    assert ended.code == BadQuery.exit_code


@pytest.mark.parametrize("command", [["evaluate", "--per-question"], ["evaluate", "--picture"], ["compare", "bm25", "--out"]])
def test_a_folder_is_no_file_to_write(tmp_path: Path, command: list[str]) -> None:
    ended = Lexgraph.over(tmp_path)(*command, tmp_path)
    assert f"{tmp_path} is a folder" in ended.err
    assert ended.code == BadQuery.exit_code


def test_the_folder_of_a_file_is_made_before_the_work(tmp_path: Path) -> None:
    prepare_to_write(None, tmp_path / "to" / "come" / "page.md")
    assert (tmp_path / "to" / "come").is_dir()
