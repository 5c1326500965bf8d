"""Articles embedded in torch, as a GPU does it after a training, against the graph that is exported."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gnn.fine_tuning.embedding as embedding
import gnn.fine_tuning.tuned as tuned
from cypher.engines.ladybug import open_graph
from gnn.encoders.features import PASSAGES
from gnn.encoders.kept_vectors import encoded, keep_encoded
from gnn.encoders.tuned import TunedEncoder
from gnn.fine_tuning.bi_encoder import BiEncoder
from gnn.fine_tuning.body import load_body
from gnn.fine_tuning.embedding import embedded, pieces_of_articles
from gnn.fine_tuning.export import export_bi_encoder
from gnn.fine_tuning.tuned import read_vectors
from runtime.progress import silent
from schema.errors import StorageFull
from search.questions import of_split
from tests.gnn.fine_tuning.small_body import bi_encoder_recipe
from tests.gnn.fine_tuning.test_tuned import working_on

_TEXTS = [f"Le pain est fait de farine, d'eau et de sel. {'Le licenciement est nul. ' * n}" for n in (3, 0, 12, 1, 0, 7)]


@pytest.fixture
def model(small_body: Path) -> BiEncoder:
    torch.manual_seed(5)
    return BiEncoder(load_body(str(small_body)), bi_encoder_recipe(small_body, passage_layers=1).bi_encoder).eval()


def test_articles_come_in_their_order_and_as_the_exported_graph_gives_them(model: BiEncoder, tmp_path: Path) -> None:
    done: list[int] = []
    vectors = embedded(model, pieces_of_articles(model, _TEXTS), done.append).numpy()
    assert sum(done) == len(_TEXTS)
    one_by_one = [embedded(model, pieces_of_articles(model, [text])).numpy()[0] for text in _TEXTS]
    np.testing.assert_allclose(vectors, one_by_one, atol=1e-6)
    export_bi_encoder(model, tmp_path, _TEXTS, _TEXTS)
    exported = TunedEncoder(tmp_path, threads=1).encode_raw(_TEXTS, "passage")
    assert (vectors * exported).sum(1).min() > 0.97  # its weights have 8 bits, its states 8 dimensions


@pytest.mark.parametrize("at_once", [1, 40, 1 << 20])
def test_how_many_are_read_at_once_changes_nothing(model: BiEncoder, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    whole = embedded(model, pieces_of_articles(model, _TEXTS))
    monkeypatch.setitem(embedding.WORD_PIECES, "cpu", at_once)
    torch.testing.assert_close(embedded(model, pieces_of_articles(model, _TEXTS)), whole)


def test_where_memory_runs_out_fewer_are_read_at_once(model: BiEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = embedded(model, pieces_of_articles(model, _TEXTS))
    read: list[int] = []
    articles = model.articles

    def small(passages: Sequence[Any]) -> torch.Tensor:
        if len(passages) > 2:
            raise torch.OutOfMemoryError("no memory")
        read.append(len(passages))
        return articles(passages)

    monkeypatch.setattr(model, "articles", small)
    torch.testing.assert_close(embedded(model, pieces_of_articles(model, _TEXTS)), whole)
    assert sum(read) == len(_TEXTS)
    monkeypatch.setattr(model, "articles", lambda passages: (_ for _ in ()).throw(torch.OutOfMemoryError("no memory")))
    with pytest.raises(torch.OutOfMemoryError):
        embedded(model, pieces_of_articles(model, _TEXTS))


class Lengths:
    """Embeds a text as its length, and remembers what it has read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode_raw(self, texts: Sequence[str], kind: str, advance: Callable[[int], None] = print) -> Any:
        self.read += texts
        return np.array([[len(text), 1] for text in texts], np.float32)


def test_what_was_kept_is_not_embedded_again(tmp_path: Path) -> None:
    encoder, kept = Lengths(), tmp_path / PASSAGES
    keep_encoded(["a", "bb"], np.array([[9, 9], [8, 8]], np.float32), kept)
    assert encoded(encoder, ["bb", "ccc", "a"], kept, silent).tolist() == [[8, 8], [3, 1], [9, 9]]
    assert encoded(encoder, ["ccc", "bb"], kept, silent).tolist() == [[3, 1], [8, 8]]
    assert encoder.read == ["ccc"]


@pytest.mark.parametrize("spoiled", [b"", b"PK\x03\x04 cut off", b"no archive"])
def test_what_was_kept_and_cannot_be_read_is_embedded_again(tmp_path: Path, spoiled: bytes) -> None:
    encoder, kept = Lengths(), tmp_path / PASSAGES
    kept.write_bytes(spoiled)
    assert encoded(encoder, ["a", "bb"], kept, silent).tolist() == [[1, 1], [2, 1]]
    assert encoded(encoder, ["bb"], kept, silent).tolist() == [[2, 1]]
    assert encoder.read == ["a", "bb"]


def test_a_full_disk_keeps_what_was_embedded_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: Path, **arrays: Any) -> None:
        file.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    encoder, kept = Lengths(), tmp_path / PASSAGES
    encoded(encoder, ["a"], kept, silent)
    monkeypatch.setattr("gnn.encoders.kept_vectors.np.savez", full)
    with pytest.raises(StorageFull, match=r"passages\.npz: No space left on device; what was encoded before stays"):
        encoded(encoder, ["a", "bb"], kept, silent)
    assert [path.name for path in tmp_path.iterdir()] == [PASSAGES], "nothing half-written stays"
    assert encoded(encoder, ["a"], kept, silent).tolist() == [[1, 1]]


@pytest.mark.slow
def test_after_a_training_on_a_gpu_nothing_is_left_for_processors_to_embed(
    own_home: Path, small_body: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = bi_encoder_recipe(small_body)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        training = of_split(workspace.questions, "random", "train")[:-1]
        chosen = np.array([4, 1, 2])
        on_processor = read_vectors(workspace, recipe, "random")
        monkeypatch.setattr(tuned, "embeds_itself", lambda device: True)
        monkeypatch.setattr(TunedEncoder, "encode_raw", lambda *asked: pytest.fail("embedded by the exported graph"))
        whole = read_vectors(workspace, recipe.seeded(1), "random")
        part = read_vectors(workspace, recipe, "random", training, chosen)
    assert whole.articles.shape == on_processor.articles.shape
    np.testing.assert_allclose(np.linalg.norm(whole.articles, axis=1), 1, atol=1e-5)
    assert np.flatnonzero(np.abs(part.articles).sum(1)).tolist() == sorted(chosen.tolist())
