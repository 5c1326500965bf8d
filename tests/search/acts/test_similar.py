"""Similar acts, found by their words; known transpositions are labels and nothing else."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.sources import ingest
from schema.errors import BadQuery, BadSource, MissingFile, NotFound, NotReady
from search.acts.benchmark import (
    FOLDS,
    Asked,
    Chosen,
    Pair,
    cross_validated,
    folds_of,
    learned_ages,
    measure,
    quality,
    read_transpositions,
    relevant_of,
    tune,
)
from search.acts.eu_titles import names_of
from search.acts.similar import AGE_EDGES, BM25, COSINES, LongQuery, SimilarActs
from search.acts.views import VIEWS, ActTexts, build_act_texts, open_act_texts
from search.corpus.corpus import NO_START, days_of
from search.corpus.read import read_corpus
from search.evaluation import ranks_in_order
from tests.support.tiny_acts import SUBJECTS, write_acts


def texts_of(home: Path, sources: Path) -> ActTexts:
    store = EmbeddedStore(home)
    ingest(store, sources / "eu_acts.jsonl")
    ingest(store, sources / "lu")
    with open_graph(home) as graph:
        corpus, text = read_corpus(graph)
        build_act_texts(home, corpus, text, graph.rows("acts"))
        return open_act_texts(home, corpus.sha256)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> ActTexts:
    home = tmp_path_factory.mktemp("acts")
    return texts_of(home, write_acts(home / "sources"))


@pytest.fixture(scope="module")
def similar(texts: ActTexts) -> SimilarActs:
    return SimilarActs(texts)


def directive(n: int) -> str:
    return f"eu/3200{n}L0001"


def test_no_word_of_any_view_has_a_digit(texts: ActTexts) -> None:
    assert texts.words
    assert not any(c.isdigit() for word in texts.words for c in word)
    assert {view: counts.shape for view, counts in texts.counts.items()} == dict.fromkeys(VIEWS, (8, len(texts.words)))


@pytest.mark.parametrize("n", range(4))
def test_a_directive_finds_its_act_and_the_act_its_directive(similar: SimilarActs, n: int) -> None:
    act = f"lu/leg-{list(SUBJECTS)[n]}"
    down, up = similar.similar(directive(n), jurisdiction="lu"), similar.similar(act, kind="directive")
    assert (down[0].id, up[0].id) == (act, directive(n))
    assert {hit.id.partition("/")[0] for hit in down} == {"lu"}
    assert down[0].places[BM25].rank == 1
    assert act not in {hit.id for hit in similar.similar(act)}


def test_known_edges_and_quoted_numbers_change_no_score(texts: ActTexts, tmp_path: Path) -> None:
    other = texts_of(tmp_path / "home", write_acts(tmp_path / "sources", transposes=False, number="2001/1/CE"))
    assert other.words == texts.words
    ours, theirs = SimilarActs(texts), SimilarActs(other)
    for act in texts.acts:
        assert ours.similar(act) == theirs.similar(act)


def test_what_is_too_old_or_too_young_does_not_answer(similar: SimilarActs) -> None:
    # Directives are dated 2000 to 2003, the acts July 2004 to July 2007.
    assert [h.id for h in similar.similar(directive(0), jurisdiction="lu", years_after=5)] == ["lu/leg-pain"]
    assert len(similar.similar(directive(3), jurisdiction="lu", years_after=5)) == 4
    assert similar.similar(directive(0), jurisdiction="lu", years_before=1, years_after=1) == []
    assert {h.id for h in similar.similar("lu/leg-pain", kind="directive", years_before=2)} == {directive(3)}


def test_what_cannot_be_asked_is_refused(similar: SimilarActs, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such act: lu/none"):
        similar.similar("lu/none")
    with pytest.raises(BadQuery, match="first: 0"):
        similar.similar(directive(0), first=0)
    with pytest.raises(BadQuery, match="negative"):
        similar.similar(directive(0), years_after=-1)
    with pytest.raises(NotReady, match="lexgraph index"):
        open_act_texts(tmp_path, "unknown")


def test_cosines_lie_between_nought_and_one_and_an_act_is_most_like_itself(similar: SimilarActs) -> None:
    act = similar.texts.position["lu/leg-pain"]
    for name, (asked, found) in COSINES.items():
        scores = similar.scores(act, name, None)
        assert scores.min() >= 0
        assert scores.max() <= 1 + 1e-5
        if asked == found:
            assert scores[act] == pytest.approx(1, abs=1e-5)


def test_bm25_of_a_long_query_by_hand() -> None:
    counts = sparse.csr_array(np.array([[2, 0, 1], [1, 1, 0], [0, 3, 0]], np.float32))
    texts = ActTexts(["x/a", "x/b", "x/c"], ["x"] * 3, ["act"] * 3, np.full(3, NO_START, np.int32), ["u", "v", "w"],
                     dict.fromkeys(VIEWS, counts))  # fmt: skip
    # Act 0 asks by its one word of highest tf·idf: u (2 · ln(4/3)) beats w (1 · ln(4/2)) only without idf.
    scores = SimilarActs(texts).bm25(0, LongQuery(terms=1, denoised=False), None)
    idf = np.log1p((3 - 1 + 0.5) / (1 + 0.5))
    norm = 1.2 * (1 - 0.75 + 0.75 * 3 / (8 / 3))
    np.testing.assert_allclose(scores, [idf / (1 + norm), 0, 0], rtol=1e-5)


def test_eu_acts_are_named_as_others_cite_them() -> None:
    text = (
        "conformément à la directive 2014/59/UE du Parlement européen et du Conseil du 15 mai 2014 établissant un cadre pour "
        "le redressement (JO L 173); la directive 77/388/CEE du Conseil, du 17 mai 1977, en matière de taxes (1)"
    )
    assert names_of(["32014L0059", "31977L0388", "32000L0001"], [text]) == {
        "32014L0059": "établissant un cadre pour le redressement",
        "31977L0388": "en matière de taxes",
    }


PAIRS = [Pair(d, 100 + a) for d in range(20) for a in (d, d // 2, 19 - d)]


def test_all_pairs_of_a_directive_stand_in_one_fold() -> None:
    folds = folds_of(pair.directive for pair in PAIRS)
    assert set(folds) == set(range(20))
    assert sorted(np.bincount(list(folds.values()))) == [4] * FOLDS
    assert folds == folds_of(reversed([pair.directive for pair in PAIRS]))


def queries(direction: str) -> list[Asked]:
    """Two lists: the first knows all answers, the second is noise."""
    fold = folds_of(pair.directive for pair in PAIRS)
    random = np.random.default_rng(0)
    found: list[Asked] = []
    for asking, relevant in relevant_of(PAIRS, "down" if direction == "down" else "up").items():
        places = np.array(sorted({r - 100 if direction == "down" else r for r in relevant}))
        lists = random.normal(size=(2, 20)).astype(np.float32)
        lists[0, places] += 9
        folds = np.array([fold[asking if direction == "down" else p] for p in places.tolist()])
        found.append(Asked(asking, places, folds, np.arange(20), lists, np.full(20, 3.0)))
    return found


@pytest.mark.parametrize("direction", ["down", "up"])
def test_labels_of_the_fold_left_out_do_not_reach_what_is_chosen(direction: str) -> None:
    asked = queries(direction)
    for fold in range(FOLDS):
        # The same queries with the labels of that fold moved elsewhere: nothing chosen may change.
        moved = [
            Asked(q.asking, np.where(q.folds == fold, (q.relevant + 7) % 20, q.relevant), q.folds, q.candidates, q.lists, q.years)
            for q in asked
        ]
        assert learned_ages(asked, fold) == learned_ages(moved, fold)
        ours, theirs = (tune(each, fold, start=[0.0, 1.0], ages=True) for each in (asked, moved))
        assert ours.weights.tolist() == theirs.weights.tolist()
        assert ours.age == theirs.age


def test_tuning_finds_the_list_that_knows_and_each_pair_is_ranked_without_its_fold() -> None:
    asked = queries("down")
    chosen = tune(asked, None, start=[0.0, 1.0])
    assert quality(asked, chosen, None) == pytest.approx(1)
    seen: list[int] = []

    def choose(fold: int) -> Chosen:
        seen.append(fold)
        return tune(asked, fold, start=[0.0, 1.0])

    assert np.mean([row["R-precision"] for row in cross_validated(asked, choose)]) == pytest.approx(1)
    assert seen == list(range(FOLDS))


def test_measures_by_hand() -> None:
    ranks = ranks_in_order(np.array([5, 4, 4, -np.inf, 1], np.float32), np.array([0, 2, 3]))
    assert ranks.tolist() == [1, 3, np.iinfo(np.int64).max]
    values = measure(ranks)
    assert values["R@20"] == pytest.approx(2 / 3)
    assert values["R-precision"] == pytest.approx(2 / 3)
    assert values["nDCG@20"] == pytest.approx((1 + 1 / 2) / (1 + 1 / np.log2(3) + 1 / 2))


def test_ages_are_log_odds_by_whole_years() -> None:
    query = Asked(0, np.array([1]), np.array([0]), np.arange(3), np.zeros((1, 3), np.float32), np.array([-3.0, 2.5, 30.0]))
    odds = learned_ages([query], None)
    assert len(odds) == len(AGE_EDGES) + 1
    assert odds[3] == max(odds)
    assert learned_ages([query], 0)[0] == learned_ages([query], 0)[3]


def test_transpositions_are_read_by_basis_and_named_where_they_cannot_be(tmp_path: Path) -> None:
    position = {"eu/32000L0001": 0, "lu/leg-pain": 1}
    path = tmp_path / "pairs.csv"
    path.write_text(
        "act,celex,basis,directive_text\nleg-pain,32000L0001,title,yes\nleg-pain,32000L0001,cites,yes\n"
        "leg-none,32000L0001,title,yes\nleg-pain,32000L0001,title,no\n"
    )
    assert read_transpositions(path, position, "title") == [Pair(0, 1)]
    with pytest.raises(BadQuery, match="no such basis: words"):
        read_transpositions(path, position, "words")
    path.write_text("act,basis\nx,y\n")
    with pytest.raises(BadSource, match="no column"):
        read_transpositions(path, position, "title")
    with pytest.raises(MissingFile):
        read_transpositions(tmp_path / "none.csv", position, "title")


def test_days_are_kept(texts: ActTexts) -> None:
    assert texts.published[texts.position["lu/leg-pain"]] == days_of(date(2004, 7, 1), NO_START)
