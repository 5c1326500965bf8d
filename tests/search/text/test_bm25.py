"""BM25 against the formula, and the index on disk."""

from collections import Counter
from math import log
from pathlib import Path

import numpy as np
import pytest

from cypher.engines.ladybug import open_graph
from schema.errors import NotReady
from schema.filter import Filter
from search.corpus.read import read_corpus
from search.text.analysis import analyzer
from search.text.bm25 import Bm25Index, kept_length
from search.text.index import build_text_index, open_text_index, remove_other_indexes
from search.text.options import Bm25Options
from search.text.words import group_documents, tokenised
from tests.support.disturbance import digests

QUERIES = ["pain", "pain pain farine", "boulanger licenciement malade", "article L. 111-1", "rien de connu zzz"]


def byte4(length: int) -> int:
    """The length as Lucene's ``SmallFloat`` gives it back: exact below 24, then four significant bits of the rest."""
    if length < 24:
        return length
    digits = bin(length - 24)[2:]
    return 24 + int(digits[:4] + "0" * len(digits[4:]), 2)


def plain_bm25(documents: list[list[str]], query: list[str], k1: float, b: float) -> list[float]:
    """Σ idf · tf / (tf + k1 · (1 - b + b · length / mean length)), idf = ln(1 + (N - df + ½) / (df + ½)) as Lucene has it.

    The length is that which Lucene keeps; N and the mean are of the documents that have words.
    """
    n = sum(map(bool, documents))
    mean = sum(map(len, documents)) / n
    result: list[float] = []
    for document in documents:
        tf = Counter(document)
        score = 0.0
        for word in query:
            df = sum(word in other for other in documents)
            if tf[word]:
                kept = byte4(len(document))
                score += log(1 + (n - df + 0.5) / (df + 0.5)) * tf[word] / (tf[word] + k1 * (1 - b + b * kept / mean))
        result.append(score)
    return result


@pytest.mark.parametrize("query", QUERIES)
def test_scores_are_the_formula_over_articles_and_over_sections(tiny_home: Path, query: str) -> None:
    options = Bm25Options()
    with open_graph(tiny_home) as graph:
        corpus, text = read_corpus(graph)
    index = open_text_index(tiny_home, corpus.sha256, options)
    words, above = tokenised(corpus, text)
    asked = tokenised_query(query)
    expected = plain_bm25(words, asked, options.k1, options.b)
    lists = index.lexical.lists(query, Filter())
    np.testing.assert_allclose(lists["bm25"], expected, rtol=1e-5, atol=1e-6)
    groups = list(group_documents(corpus, words, above))
    expected = plain_bm25(groups, asked, options.section_k1, options.section_b)
    np.testing.assert_allclose(lists["section"], np.array(expected)[corpus.group], rtol=1e-5, atol=1e-6)
    assert any(expected) != ("zzz" in query)


def tokenised_query(query: str) -> list[str]:
    return analyzer("fr").tokens(query)


def test_a_document_is_its_headings_its_number_and_its_text(tiny_home: Path) -> None:
    with open_graph(tiny_home) as graph:
        corpus, text = read_corpus(graph)
    words, above = tokenised(corpus, text)
    at = corpus.articles.index("fr/LEGITEXT000000000001/L111-1")
    assert above[at] == tokenised_query("Code de la boulangerie Partie législative Livre Ier : Du pain")
    assert words[at][: len(above[at])] == above[at]
    assert words[at][len(above[at])] == "l111-1"
    groups = list(group_documents(corpus, words, above))
    assert len(groups) == len(set(corpus.article_parent.tolist()))
    assert sum(map(len, groups)) == sum(len(w) - len(a) for w, a in zip(words, above, strict=True)) + sum(
        2 * len(above[corpus.group.tolist().index(g)]) for g in range(len(groups))
    )


@pytest.mark.parametrize("query", [["a"], ["a", "b", "a"], ["z"], []])
def test_scores_are_the_formula_over_long_and_over_empty_documents(query: list[str]) -> None:
    random = np.random.default_rng(5)
    lengths = [0, 1, 23, 24, 39, 40, 41, 100, 1000, 5000, 0, 3]
    documents = [random.choice(list("abcdefgh"), n).tolist() for n in lengths]
    found = Bm25Index.build(documents, k1=1.5, b=0.6).scores(query)
    np.testing.assert_allclose(found, plain_bm25(documents, query, 1.5, 0.6), rtol=1e-5, atol=1e-6)


def test_a_length_is_rounded_as_lucene_does() -> None:
    lengths = np.arange(100_000)
    assert kept_length(lengths).tolist() == [byte4(n) for n in lengths.tolist()]


def test_documents_without_words_score_nothing(tmp_path: Path) -> None:
    Bm25Index.build([[], []], k1=1.2, b=0.75).save(tmp_path)
    assert Bm25Index.load(tmp_path).scores(["pain"]).tolist() == [0, 0]


def test_an_index_is_made_once_opened_by_its_law_and_removed_with_it(tmp_path: Path, tiny_home: Path) -> None:
    with open_graph(tiny_home) as graph:
        corpus, text = read_corpus(graph)
    first = build_text_index(tmp_path, corpus, text, Bm25Options())
    before = digests(tmp_path)
    assert build_text_index(tmp_path, corpus, text, Bm25Options()) == first
    other = build_text_index(tmp_path, corpus, text, Bm25Options(k1=2))
    assert other != first
    remove_other_indexes(tmp_path, first.name)
    assert digests(tmp_path) == before
    for missing in (
        lambda: open_text_index(tmp_path, corpus.sha256, Bm25Options(k1=2)),
        lambda: open_text_index(tmp_path, "x", Bm25Options()),
    ):
        with pytest.raises(NotReady, match="run `lexgraph index`"):
            missing()
    remove_other_indexes(tmp_path / "nowhere", "x")
