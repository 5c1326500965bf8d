"""Each option comes from the environment, else from the file, else from its default; nonsense is named."""

from pathlib import Path

import pytest

from schema.errors import BadSetting
from schema.settings import NO_OPTIONS, Settings, load_settings, origins


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working folder, and none of the options in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"LEXGRAPH_{name.upper()}", raising=False)


def origin(name: str) -> tuple[str, str]:
    return {row[0]: (row[1], row[2]) for row in origins(load_settings())}[name]


def test_environment_over_file_over_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert origin("port") == ("8000", "default")
    Path("lexgraph.toml").write_text("port = 8001\nmax_page = 7\n")
    assert origin("port") == ("8001", "lexgraph.toml")
    monkeypatch.setenv("LEXGRAPH_PORT", "8002")
    assert origin("port") == ("8002", "environment LEXGRAPH_PORT")
    assert origin("max_page") == ("7", "lexgraph.toml")
    assert load_settings().port == 8002


def test_every_option_has_a_default_and_a_line_of_help() -> None:
    rows = origins(load_settings())
    assert [row[0] for row in rows] == list(Settings.model_fields)
    assert all(value and help for _, value, _, help in rows)


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        ("prot = 8001", "prot"),
        ("port = 'eighty'", "port"),
        ("port = 70000", "port"),
        ("bm25_b = 1.5", "bm25_b"),
        ("log_level = 'loud'", "log_level"),
        ("[port]\nx = 1", "port"),
        ("port = ", "lexgraph.toml"),
    ],
)
def test_an_unknown_option_or_a_bad_value_in_the_file_is_named(toml: str, named: str) -> None:
    Path("lexgraph.toml").write_text(toml)
    with pytest.raises(BadSetting, match=named) as caught:
        load_settings()
    assert caught.value.exit_code == 78


def test_a_file_that_is_not_utf8_is_named() -> None:
    Path("lexgraph.toml").write_bytes("home = 'données'".encode("latin-1"))
    with pytest.raises(BadSetting, match=r"lexgraph\.toml"):
        load_settings()


@pytest.mark.parametrize(("option", "value"), [("PORT", "-1"), ("MEMORY_MB", "much"), ("BM25_K1", "0"), ("QUERY_TIMEOUT_S", "")])
def test_a_bad_value_in_the_environment_is_named(monkeypatch: pytest.MonkeyPatch, option: str, value: str) -> None:
    monkeypatch.setenv(f"LEXGRAPH_{option}", value)
    with pytest.raises(BadSetting, match=f"LEXGRAPH_{option}"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("LEXGRAPH_GRPAH", "LEXGRAPH_GRAPH"),
        ("LEXGRAPH_GRAPH_PASWORD", "LEXGRAPH_GRAPH_PASSWORD"),
        ("LEXGRAPH_NOTHING_LIKE_IT", ""),
    ],
)
def test_a_misspelt_variable_is_named_with_what_is_near_and_without_its_value(
    monkeypatch: pytest.MonkeyPatch, name: str, near: str
) -> None:
    monkeypatch.setenv(name, "secret")
    with pytest.raises(BadSetting, match=f"Unknown setting {name}") as caught:
        load_settings()
    assert ("did you mean" in str(caught.value)) == bool(near)
    assert near in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [*sorted(NO_OPTIONS), "LEXGRAPH_SERVICE_HOST", "LEXGRAPH_PORT_8000_TCP_ADDR", "LEXGRAPHIC", "lexgraph_home"],
)
def test_other_variables_are_let_be(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "x")
    load_settings()
