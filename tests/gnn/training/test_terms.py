"""Terms of the law beside a version: embedded once, read back, shared, and none where no encoder knows several languages."""

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from gnn.encoders.joined import JoinedEncoder
from gnn.training.terms import complete_terms
from gnn.training.train import train
from gnn.versions.files import load_model
from gnn.versions.shared_folder import TERM_FILES, TERMS, fetch_model, model_folder, share_model
from gnn.workspace import Workspace
from ingest.loading.questions import read_questions
from schema.errors import StorageFull
from search.text.index import open_text_index
from search.text.options import Bm25Options
from tests.gnn.conftest import small_recipe
from tests.gnn.encoders.test_muse import small


@pytest.fixture
def trained(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Workspace, str]]:
    """A workspace, and the version that serves: its encoder knows several languages from now on."""
    monkeypatch.setattr("search.query.terms._SEEN", 1)
    recipe = small_recipe(epochs=0).model_copy(update={"splits": ("random",), "tune_fusion": False})
    with open_graph(own_home) as graph:
        index = open_text_index(own_home, graph.rows("graph_row")[0]["corpus_sha256"], Bm25Options())
        workspace = Workspace(EmbeddedStore(own_home), graph, index, read_questions(graph, "service-public"))
        report = train(workspace, recipe)
        assert not report.termed, "latent semantic analysis knows one language"
        assert load_model(own_home, report.active, index.corpus).terms is None
        encoder = model_folder(own_home, report.active) / "encoder"
        shutil.rmtree(encoder)
        JoinedEncoder((small(),)).save(encoder)
        yield workspace, report.active


def test_terms_are_embedded_once(trained: tuple[Workspace, str]) -> None:
    workspace, id = trained
    assert complete_terms(workspace, id)
    assert not complete_terms(workspace, id)
    terms = load_model(workspace.home, id, workspace.corpus).terms
    assert terms is not None
    assert {"pain", "farine", "boulanger"} <= terms.words.keys()
    assert terms.vectors.shape == (len(terms.words) + len(terms.pairs), 5)
    place = list(terms.words).index("pain")
    np.testing.assert_allclose(terms.vectors[place], small().raw(["pain"])[0], atol=1e-6)


def test_who_brings_the_encoder_reads_no_terms(trained: tuple[Workspace, str]) -> None:
    workspace, id = trained
    complete_terms(workspace, id)
    assert load_model(workspace.home, id, workspace.corpus, encoder=JoinedEncoder((small(),))).terms is None


def test_terms_come_to_machines_that_have_the_version(trained: tuple[Workspace, str], tmp_path: Path) -> None:
    workspace, id = trained
    shelf = str(tmp_path / "shelf")
    share_model(workspace.home, shelf, id)
    fetch_model(tmp_path / "earlier", shelf, id)
    complete_terms(workspace, id)
    fetch_model(tmp_path / "earlier", shelf, id)
    assert not (model_folder(tmp_path / "earlier", id) / TERMS).exists(), "the shelf has none yet"
    share_model(workspace.home, shelf, id)
    for home in ("earlier", "later"):
        fetch_model(tmp_path / home, shelf, id)
        for name in TERM_FILES:
            here, there = (model_folder(folder, id) / TERMS / name for folder in (workspace.home, tmp_path / home))
            assert here.read_bytes() == there.read_bytes()


def test_a_version_that_is_here_serves_without_a_shelf(trained: tuple[Workspace, str], tmp_path: Path) -> None:
    workspace, id = trained
    for shelf in (str(tmp_path / "none"), "nosuch://shelf"):
        fetch_model(workspace.home, shelf, id)
    assert load_model(workspace.home, id, workspace.corpus).terms is None


def test_a_full_disk_leaves_the_version_as_it_was(trained: tuple[Workspace, str], monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, id = trained

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageFull, match=r"terms: No space left on device; the model version is as it was"):
        complete_terms(workspace, id)
    monkeypatch.undo()
    assert load_model(workspace.home, id, workspace.corpus).terms is None
    assert sorted(path.name for path in model_folder(workspace.home, id).glob("*terms*")) == []
