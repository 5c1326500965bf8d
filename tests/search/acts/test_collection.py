"""Known transpositions as a collection: what asks, what answers, and that nothing of the test is learnt from."""

from itertools import combinations
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.sources import ingest
from schema.records import Question
from search.acts.benchmark import Direction, Pair
from search.acts.collection import MaskedAct, masked_acts, queries_of
from search.corpus.read import read_corpus
from tests.support.tiny_acts import write_acts


def act(n: int) -> MaskedAct:
    return MaskedAct(f"act {n}", "lu", "fr", f"Title {n}", "word " * 500)


# Directives have the positions 0 to 19, acts those behind them.
ACTS = [act(n) for n in range(60)]
PAIRS = [Pair(0, 20), Pair(0, 21), Pair(1, 20)]
WEAK = [Pair(0, 30), Pair(2, 21), *(Pair(n, 20 + n) for n in range(2, 20)), Pair(3, 25)]


def by_part(questions: list[Question]) -> dict[str, list[Question]]:
    return {part: [q for q in questions if q.split == part] for part in ("train", "development", "test")}


@pytest.mark.parametrize("direction", ["down", "up"])
def test_nothing_that_the_test_asks_or_answers_is_learnt_from(direction: Direction) -> None:
    parts = by_part(queries_of(ACTS, PAIRS, WEAK, direction))
    assert all(parts.values())
    met = {part: {id for q in asked for id in (q.id, *q.relevant)} for part, asked in parts.items()}
    assert met["test"] == {"act 0", "act 1", "act 20", "act 21"}
    assert met["train"].isdisjoint(met["test"])
    assert met["development"].isdisjoint(met["test"])
    for one, other in combinations(parts.values(), 2):
        assert {q.id for q in one}.isdisjoint(q.id for q in other)


def test_each_act_asks_once_for_all_that_answers_it() -> None:
    down = {q.id: q for q in queries_of(ACTS, PAIRS, WEAK, "down")}
    up = {q.id: q for q in queries_of(ACTS, PAIRS, WEAK, "up")}
    assert down["act 0"].relevant == ("act 20", "act 21")
    assert up["act 20"].relevant == ("act 0", "act 1")
    assert down["act 0"].text == "Title 0"
    assert len(down["act 0"].description.split()) == 400, "by its lead, not by all of it"
    learnt = [Pair(n, 50) for n in range(2, 12)]  # of one act, in several folds: none of them may count as wrong
    (several,) = (q for q in queries_of(ACTS, PAIRS, learnt, "up") if q.split != "test")
    assert several.relevant == tuple(f"act {n}" for n in range(2, 12))


def test_acts_are_masked(tmp_path: Path) -> None:
    store, sources = EmbeddedStore(tmp_path / "home"), write_acts(tmp_path)
    ingest(store, sources / "eu_acts.jsonl")
    ingest(store, sources / "lu")
    with open_graph(tmp_path / "home") as graph:
        corpus, text = read_corpus(graph)
        acts = list(masked_acts(corpus, text, list(graph.rows("acts"))))
    assert [one.id for one in acts] == corpus.acts
    assert {one.jurisdiction for one in acts} == {"eu", "lu"}
    assert all(one.title and one.text for one in acts)
    assert not any(character.isdigit() for one in acts for character in one.title + one.text)
