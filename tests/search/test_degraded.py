"""What is answered when the text index or the vector search is away: the rest, and it says so."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

from runtime.background_call import in_background
from runtime.deadline import deadline, within
from schema.errors import LexgraphError, NotReady, QueryTimeout, ServerUnavailable
from schema.filter import Filter
from search.arrays import unit
from search.modes import Mode
from search.retrieval import DEEPEST, Retriever
from search.text.index import TextIndex
from search.vectors.encoding import Encoding
from search.vectors.model import QuestionMemory, VectorModel
from tests.search.test_retrieval import random_model, retriever_of
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID

Scores = npt.NDArray[np.float32]
Found = Callable[[], tuple[npt.NDArray[np.intp], Scores]]
AWAY = [ServerUnavailable("down"), QueryTimeout("slow"), NotReady("no index there")]


@dataclasses.dataclass
class Away:
    """A text index that does not answer."""

    error: LexgraphError

    def lists_of(self, queries: Sequence[str], filter: Filter, *, sections: bool = True) -> list[dict[str, Scores]]:
        raise self.error


@pytest.fixture(scope="module")
def index(tiny_home: Path) -> TextIndex:
    return retriever_of(tiny_home, with_model=False).index


def model_of(index: TextIndex) -> VectorModel:
    """A model whose vectors mean nothing, and that gives every query the same one."""
    model = random_model(index.corpus)
    vector = model.encode(["any"])
    return dataclasses.replace(model, encoding=Encoding(lambda queries: np.repeat(vector, len(queries), axis=0)))


def without_text(index: TextIndex, error: LexgraphError = AWAY[0]) -> TextIndex:
    return dataclasses.replace(index, lexical=Away(error))


def away(error: LexgraphError) -> Callable[..., Found]:
    """A vector search that does not answer."""

    def answer() -> tuple[npt.NDArray[np.intp], Scores]:
        raise error

    return lambda vector, filter, k: answer


def served(index: TextIndex, model: VectorModel) -> VectorModel:
    """The model with its vectors on a server, which filters by itself and gives at most three."""

    def nearest(vector: Scores, filter: Filter, k: int) -> Found:
        scores = np.float32(model.scale) * (model.articles @ vector) + model.bias
        mask = index.corpus.passing(filter)
        allowed = np.flatnonzero(np.ones(len(scores), bool) if mask is None else mask)
        best = allowed[np.argsort(-scores[allowed])][: min(k, 3)]
        return lambda: (best, scores[best])

    return dataclasses.replace(model, nearest=nearest)


@pytest.mark.parametrize("error", AWAY, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.BM25])
@pytest.mark.parametrize("filter", [Filter(), Filter(act=MILLERS_ID)])
def test_without_text_vectors_rank_alone(index: TextIndex, error: LexgraphError, mode: Mode, filter: Filter) -> None:
    model = model_of(index)
    hits = Retriever(without_text(index, error), model).search("pain", mode, filter=filter, first=DEEPEST)
    alone = Retriever(index, model).search("pain", Mode.VECTOR, filter=filter, first=DEEPEST)
    assert hits.degraded == ("text",)
    assert alone.degraded == ()
    assert {hit.id for hit in hits} == {hit.id for hit in alone}
    assert all(set(hit.places) - {"heading"} == {"vector"} for hit in hits), "headings are in memory"
    assert hits


@pytest.mark.parametrize("error", AWAY, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.VECTOR])
def test_without_vectors_words_rank_alone(index: TextIndex, error: LexgraphError, mode: Mode) -> None:
    model = dataclasses.replace(model_of(index), nearest=away(error))
    hits = Retriever(index, model).search("baguette", mode)
    assert hits[0].id == f"{BAKERS_ID}/L111-2"
    assert hits.degraded == ("vectors",)
    assert all("vector" not in hit.places for hit in hits)


def test_sentences_are_asked_of_what_answers(index: TextIndex) -> None:
    query = "le pain du boulanger. la farine du meunier."
    model = dataclasses.replace(model_of(index), sentences=1.0)
    for lacking, retriever in {
        "text": Retriever(without_text(index), model),
        "vectors": Retriever(index, dataclasses.replace(model, nearest=away(AWAY[0]))),
    }.items():
        hits = retriever.search(query, first=DEEPEST)
        assert hits.degraded == (lacking,)
        assert len(hits.understood.sentences) == 2
        assert hits
    asked: list[list[str]] = []

    def encode(queries: Sequence[str]) -> Scores:
        asked.append(list(queries))
        return model.encode(queries)

    parts = ["le pain du boulanger.", "la farine du meunier."]
    on_server = Retriever(index, served(index, dataclasses.replace(model, encoding=Encoding(encode))))
    on_server.search(query)
    assert asked == [[query], parts], "the query by itself, as towers have learnt from queries"
    asked.clear()
    on_server.search(query, Mode.VECTOR)
    Retriever(index, served(index, dataclasses.replace(model, encoding=Encoding(encode), sentences=0.0))).search(query)
    assert asked == [[query], [query]], "sentences are embedded for the hybrid alone, and where they have a say"


def test_a_server_is_asked_one_vector_for_all_sentences(index: TextIndex) -> None:
    asked: list[Scores] = []
    model = random_model(index.corpus)
    on_server = served(index, model)
    assert on_server.nearest is not None

    def nearest(vector: Scores, filter: Filter, k: int) -> Found:
        asked.append(vector)
        return on_server.nearest(vector, filter, k)  # pyright: ignore[reportOptionalCall]

    whole, *parts = model.encode(["whole", "first", "second"])

    def encode_in(text: str, of: Sequence[str]) -> Scores:
        assert of == ("le pain du boulanger.", "la farine du meunier.")
        return np.stack([whole, *parts])

    query = "le pain du boulanger. la farine du meunier."
    model = dataclasses.replace(on_server, nearest=nearest, sentences=0.5, encoding=Encoding(model.encode, encode_in))
    Retriever(index, model).search(query)
    (vector,) = asked
    mixed = whole + 0.5 * unit(np.mean(parts, axis=0))
    np.testing.assert_allclose(vector, mixed / np.linalg.norm(mixed), rtol=1e-5)


@pytest.mark.parametrize("beside", [True, False], ids=["beside", "in turn"])
@pytest.mark.parametrize("on_server", [True, False], ids=["server", "here"])
def test_words_rank_alone_where_the_query_cannot_be_embedded(index: TextIndex, on_server: bool, beside: bool) -> None:
    def encode(queries: Sequence[str]) -> Scores:
        raise NotReady("the encoder is away")

    def begin_in(text: str, parts: Sequence[str]) -> Callable[[], Scores]:
        return lambda: encode([text, *parts])

    model = model_of(index)
    votes = QuestionMemory(model.encode(["pain"]), sparse.csr_array(np.eye(1, len(index.corpus.articles), dtype=np.float32)))
    model = dataclasses.replace(model, questions=votes, weights={**model.weights, "questions": 1.0})
    model = dataclasses.replace(model, encoding=Encoding(encode, begin_in=begin_in if beside else None))
    hits = Retriever(index, served(index, model) if on_server else model).search("baguette")
    assert hits.degraded == ("vectors",)
    assert hits[0].id == f"{BAKERS_ID}/L111-2"


def test_a_fault_of_the_encoder_is_no_lost_server(index: TextIndex) -> None:
    def broken(text: str, parts: Sequence[str]) -> Callable[[], Scores]:
        return in_background("embedding", lambda: np.ones(3, np.float32) @ np.ones(4, np.float32))

    model = model_of(index)
    with pytest.raises(ValueError, match="mismatch"):
        Retriever(index, dataclasses.replace(model, encoding=Encoding(model.encode, begin_in=broken))).search("baguette")


@pytest.mark.parametrize("beside", [True, False], ids=["beside", "in turn"])
def test_a_server_is_asked_within_the_time_of_the_request(index: TextIndex, beside: bool) -> None:
    limits: list[float] = []
    model = served(index, model_of(index))
    assert model.nearest is not None

    def nearest(vector: Scores, filter: Filter, k: int) -> Found:
        limits.append(within(0))
        return model.nearest(vector, filter, k)  # pyright: ignore[reportOptionalCall]

    def begin_in(text: str, parts: Sequence[str]) -> Callable[[], Scores]:
        return lambda: model.encode([text, *parts])

    encoding = Encoding(model.encode, begin_in=begin_in if beside else None)
    with deadline(60):
        Retriever(index, dataclasses.replace(model, nearest=nearest, encoding=encoding)).search("baguette")
    (limit,) = limits
    assert 0 < limit <= 60


def test_words_rank_alone_even_where_the_model_gives_them_no_weight(index: TextIndex) -> None:
    model = dataclasses.replace(model_of(index), nearest=away(AWAY[0]), weights={"vector": 1.0, "bm25": 0.0})
    hits = Retriever(index, model).search("baguette")
    assert hits[0].id == f"{BAKERS_ID}/L111-2"


def test_training_questions_vote_whatever_is_away(index: TextIndex) -> None:
    model = model_of(index)
    votes = sparse.csr_array(np.eye(1, len(index.corpus.articles), 4, dtype=np.float32))
    memory = QuestionMemory(model.encode(["pain"]), votes)
    model = dataclasses.replace(model, questions=memory, weights={**model.weights, "questions": 1.0})
    hits = Retriever(without_text(index), model).search("pain", first=DEEPEST)
    assert "questions" in next(hit for hit in hits if hit.position == 4).places


def test_nothing_is_learnt_or_measured_from_half_of_the_lists(index: TextIndex) -> None:
    retriever = Retriever(without_text(index), model_of(index))
    assert retriever.rank("pain").lost
    for learning in (retriever.whole_rank, retriever.scores):
        with pytest.raises(ServerUnavailable):
            learning("pain")


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.BM25, Mode.VECTOR])
def test_without_either_the_error_says_both(index: TextIndex, mode: Mode) -> None:
    model = dataclasses.replace(model_of(index), nearest=away(QueryTimeout("vectors are slow")))
    retriever = Retriever(without_text(index, ServerUnavailable("text is down")), model)
    with pytest.raises(ServerUnavailable) as caught:
        retriever.search("pain", mode)
    assert "text is down" in str(caught.value)
    assert "vectors are slow" in str(caught.value)


@pytest.mark.parametrize("error", AWAY, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.BM25])
def test_without_text_and_without_a_model_the_error_comes_out(index: TextIndex, error: LexgraphError, mode: Mode) -> None:
    with pytest.raises(type(error), match=str(error)):
        Retriever(without_text(index, error), None).search("pain", mode)


def test_figures_are_not_made_of_half_an_answer(index: TextIndex) -> None:
    with pytest.raises(ServerUnavailable, match="down"):
        Retriever(without_text(index), model_of(index)).scores("pain")


def test_an_error_of_another_kind_is_not_swallowed(index: TextIndex) -> None:
    broken = dataclasses.replace(index, lexical=Away(LexgraphError("a fault of ours")))
    with pytest.raises(LexgraphError, match="a fault of ours"):
        Retriever(broken, model_of(index)).search("pain")


@pytest.mark.parametrize("filter", [Filter(), Filter(act=BAKERS_ID), Filter(act=MILLERS_ID)])
def test_vectors_from_a_server_rank_first_what_they_rank_here(index: TextIndex, filter: Filter) -> None:
    model = model_of(index)
    here = Retriever(index, model).search("pain", Mode.VECTOR, filter=filter)
    there = Retriever(index, served(index, model)).search("pain", Mode.VECTOR, filter=filter)
    assert [hit.id for hit in there[:3]] == [hit.id for hit in here[:3]]
    assert {hit.id for hit in there} == {hit.id for hit in here}
    hybrid = Retriever(index, served(index, model)).search("pain", filter=filter)
    assert {hit.id for hit in hybrid} == {hit.id for hit in here}
    assert hybrid.degraded == ()
