"""The line before hits that probably do not answer: the acts that are searched, in English and in French."""

import pytest

from cli.hits import outside
from schema.records import Act


def _acts(*titles: str, kind: str = "code") -> list[Act]:
    return [Act(f"fr/{title}", "fr", kind, title, "fr") for title in titles]


def test_the_acts_that_are_searched_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert outside(_acts("Code A")) == "Probably outside the law that is loaded (1 code: Code A)"
    assert outside(_acts("Code A", "Code B")) == "Probably outside the law that is loaded (2 codes: Code A, Code B)"
    many = [*_acts("A", "B", "C", "D", "E"), *_acts("Loi", kind="law")]
    assert outside(many) == "Probably outside the law that is loaded (6 acts: A, B, C, D and 2 more)"


def test_in_french(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "fr_FR.UTF-8")
    assert outside(_acts("Code A")) == "Sans doute hors du droit chargé (1 code : Code A)"
    assert (
        outside(_acts("A", "B", "C", "D", "E", kind="law"))
        == "Sans doute hors du droit chargé (5 textes : A, B, C, D et 1 de plus)"
    )
