"""A version is on the shelf whole or not at all, however its writing or its removal ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.local import LocalFileSystem

from gnn.versions.shared_folder import fetch_model, model_folder, remove_shared, share_model
from schema.errors import LexgraphError, NotReady, StorageFull


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = model_folder(tmp_path / "home", "m")
    (folder / "encoder").mkdir(parents=True)
    (folder / "model.json").write_text("{}")
    (folder / "encoder" / "words").write_text("pain")
    return tmp_path / "home"


def failing(number: int) -> Callable[..., Any]:
    def fail(*arguments: Any, **options: Any) -> None:
        raise OSError(number, "the shelf refuses")

    return fail


def test_a_version_whose_removal_fails_is_not_fetched_by_halves(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = str(tmp_path / "shelf")
    share_model(home, shelf, "m")
    fetch_model(tmp_path / "second", shelf, "m")
    assert (model_folder(tmp_path / "second", "m") / "encoder" / "words").read_text() == "pain"
    with monkeypatch.context() as patched:
        patched.setattr(LocalFileSystem, "rm", failing(13))
        with pytest.raises(LexgraphError, match=r"cannot be removed: .*the shelf refuses"):
            remove_shared(shelf, "m")
    with pytest.raises(NotReady, match="is neither under"):
        fetch_model(tmp_path / "third", shelf, "m")
    remove_shared(shelf, "m")
    remove_shared(shelf, "m")
    assert not (tmp_path / "shelf" / "m").exists()


@pytest.mark.parametrize(("number", "error"), [(28, StorageFull), (122, StorageFull), (13, LexgraphError)])
def test_a_shelf_that_cannot_be_written_says_why(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[LexgraphError]
) -> None:
    monkeypatch.setattr(LocalFileSystem, "put_file", failing(number))
    with pytest.raises(LexgraphError, match=r"cannot be written: .*the shelf refuses") as caught:
        share_model(home, str(tmp_path / "shelf"), "m")
    assert type(caught.value) is error
