"""Best-first search down the tree."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cypher.engines.ladybug import open_graph
from search.corpus.corpus import Corpus
from search.corpus.read import read_corpus
from search.vectors.tree_descent import BEAM, PATH_SHARE, HierarchicalSearch


@pytest.fixture(scope="module")
def corpus(tiny_home: Path) -> Corpus:
    with open_graph(tiny_home) as graph:
        return read_corpus(graph)[0]


def wide_corpus(sections: int) -> Corpus:
    """One act of many sections, an article in each."""
    n = np.arange(sections, dtype=np.int32)
    none = np.zeros(sections, np.int32)
    names = [f"a/{i}" for i in range(sections)]
    flat = np.full(sections, -1, np.int32)
    return Corpus(
        "",
        ["a"],
        names,
        names,
        ["code"],
        ["fr"],
        n,
        flat,
        none,
        n,
        none,
        none,
        np.ones(sections, bool),
        np.zeros((0, 3), np.int32),
        np.zeros(0, bool),
        np.zeros((0, 4), np.int32),
        np.zeros((0, 2), np.int32),
        np.ones(len(names), np.float32),
    )


def test_every_article_is_scored_by_the_path_to_it(corpus: Corpus) -> None:
    random = np.random.default_rng(1)
    acts, sections, articles = (random.random(len(x)).astype(np.float32) for x in (corpus.acts, corpus.sections, corpus.articles))

    def node(position: int) -> float:
        if position < 0:
            return float(acts[-1 - position])
        return PATH_SHARE * node(int(corpus.section_parent[position])) + (1 - PATH_SHARE) * float(sections[position])

    expected = [
        PATH_SHARE * node(int(p)) + (1 - PATH_SHARE) * float(s) for p, s in zip(corpus.article_parent, articles, strict=True)
    ]
    np.testing.assert_allclose(HierarchicalSearch(corpus)(acts, sections, articles), expected, rtol=1e-5)


def test_it_steps_back_from_a_branch_that_turns_out_poor(corpus: Corpus) -> None:
    """The first book looks best from above, its chapters are poor: the other act is opened before them."""
    bakers, millers = corpus.acts
    at = {id: i for i, id in enumerate(corpus.sections)}
    acts = np.array([0.9, 0.6], np.float32)
    sections = np.full(len(at), 0.0, np.float32)
    sections[at[f"{millers}/titre-ier"]] = 0.9
    articles = np.zeros(len(corpus.articles), np.float32)
    reached = HierarchicalSearch(corpus)(acts, sections, articles, opened=3)  # bakers, millers, titre Ier
    assert {corpus.articles[i] for i in np.flatnonzero(np.isfinite(reached))} == {f"{millers}/L1", f"{millers}/L2"}
    assert bakers


def test_a_filter_leaves_only_what_passes(corpus: Corpus) -> None:
    ones = [np.ones(len(x), np.float32) for x in (corpus.acts, corpus.sections, corpus.articles)]
    allowed = corpus.article_act == 1
    reached = HierarchicalSearch(corpus)(*ones, allowed=allowed)
    assert (np.isfinite(reached) == allowed).all()
    assert np.isneginf(HierarchicalSearch(corpus)(*ones, allowed=np.zeros(len(corpus.articles), bool))).all()


def test_only_the_best_children_of_a_node_are_followed() -> None:
    corpus = wide_corpus(BEAM * 3)
    sections = np.arange(BEAM * 3, dtype=np.float32)
    reached = HierarchicalSearch(corpus)(np.ones(1, np.float32), sections, np.zeros(BEAM * 3, np.float32))
    assert np.flatnonzero(np.isfinite(reached)).tolist() == list(range(BEAM * 2, BEAM * 3))


@pytest.mark.parametrize("wanted", [0, 500, 999])
def test_a_filter_reaches_what_the_beam_would_never_have_opened(wanted: int) -> None:
    corpus = wide_corpus(1000)
    sections = np.arange(1000, dtype=np.float32)
    allowed = np.arange(1000) == wanted
    reached = HierarchicalSearch(corpus)(np.ones(1, np.float32), sections, np.zeros(1000, np.float32), allowed)
    assert np.flatnonzero(np.isfinite(reached)).tolist() == [wanted]


def test_law_without_sections_is_searched_from_its_acts() -> None:
    wide = wide_corpus(3)
    flat = replace(wide, sections=[], section_parent=np.zeros(0, np.int32), article_parent=np.full(3, -1, np.int32))
    scores = HierarchicalSearch(flat)(np.ones(1, np.float32), np.zeros(0, np.float32), np.array([0, 1, 2], np.float32))
    np.testing.assert_allclose(scores, PATH_SHARE + (1 - PATH_SHARE) * np.array([0, 1, 2]), rtol=1e-6)
