"""The text index on a real Elasticsearch: the same ranking as the embedded one, and what the server keeps."""

import dataclasses
from datetime import date
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from cypher.engines.ladybug import open_graph
from docker.elasticsearch_server import ElasticsearchServer
from ingest.loading.questions import read_questions
from schema.errors import BadSetting, NotReady
from schema.filter import Filter
from search.corpus.read import read_corpus
from search.modes import Mode
from search.questions import TITLE, WITH_DESCRIPTION, query_text
from search.ranking.fusion import HEAD, top
from search.retrieval import Retriever
from search.text import elasticsearch_documents
from search.text.elasticsearch import ElasticLexical, ElasticText
from search.text.elasticsearch_build import load_law
from search.text.elasticsearch_documents import ARTICLES, GROUPS, LawDocuments, document_id, properties_of
from tests.search.text.own_server import (
    OPTIONS,
    Law,
    assert_same_lists,
    indexes,
    law_of,
    opened,
    remove_all,
    text_at,
)
from tests.support.tiny_law import BAKERS, BAKERS_ID, MILLERS_ID, article, code, section, write_law

# -- the same ranking ----------------------------------------------------------------------------------------------


@pytest.mark.xdist_group("real law")
def test_real_questions_rank_the_same_list_as_the_embedded_index(real_home: Path, tmp_path: Path, text: ElasticText) -> None:
    """Every third question, every other without its description: the top 100 agree, ties aside, and so does what fusion makes."""
    with open_graph(real_home) as graph:
        law = read_corpus(graph)
        questions = read_questions(graph, "service-public")
    ours, theirs = opened(tmp_path, law), opened(tmp_path, law, text)
    queries = [query_text(q, (WITH_DESCRIPTION, TITLE)[n % 2]) for n, q in enumerate(questions[::3])]
    assert len(queries) == 270
    for query in queries:
        expected, found = ours.lexical.lists(query, Filter()), theirs.lexical.lists(query, Filter())
        for name in ("bm25", "section"):
            last = np.partition(expected[name], -100)[-100]
            clear = np.flatnonzero(expected[name] > last * 1.001)
            np.testing.assert_allclose(found[name][clear], expected[name][clear], rtol=1e-3, err_msg=query)
            also = np.flatnonzero(found[name] > last * 1.001)
            np.testing.assert_allclose(expected[name][also], found[name][also], rtol=1e-3, err_msg=query)
    # Only the best thousand come from the server; fusion and pooling must not tell.
    for filter in (Filter(), Filter(act="fr/LEGITEXT000006072050"), Filter(in_force_on=date(2010, 1, 1))):
        for query in queries[:40]:
            expected, _ = Retriever(ours, None).scores(query, filter=filter)
            found, _ = Retriever(theirs, None).scores(query, filter=filter)
            # The first hundred have each other's scores in an order of their own, in which those that are nearly alike
            # may change places; all other scores are as fusion gave them.
            np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=1e-3, atol=2e-3, err_msg=query)
            first, other = top(expected, 2 * HEAD), top(found, 2 * HEAD)
            places = {position: place for place, position in enumerate(other.tolist())}
            moved = [abs(places.get(position, 2 * HEAD) - place) for place, position in enumerate(first[:HEAD].tolist())]
            assert np.mean(np.array(moved) <= 1) >= 0.95, (query, moved)


def test_lengths_beyond_one_byte_and_empty_articles_score_the_same(tmp_path: Path, text: ElasticText) -> None:
    articles = [article(i, f"L{i}", "<p>" + "pain farine " * i**3 + "</p>") for i in range(1, 15)]
    law = law_of(
        tmp_path, code(BAKERS, "Code", section(1, "Livre Ier", *articles), section(2, "Livre II", article(99, None, "")))
    )
    index = opened(tmp_path, law, text)
    for query in ("pain", "farine farine pain", "livre", "code", "L3"):
        assert_same_lists(index, opened(tmp_path, law), query)


def test_words_and_names_past_the_limits_of_the_server_are_found(tmp_path: Path, law: Law, text: ElasticText) -> None:
    corpus, words = law
    long_id, long_word = "fr/" + "é" * 400, "pain" + "x" * 60_000
    assert len(document_id(long_id)) < 100
    changed = dataclasses.replace(corpus, sha256="long", articles=[long_id, *corpus.articles[1:]])
    index = opened(tmp_path, (changed, dataclasses.replace(words, texts=[long_word, *words.texts[1:]])), text)
    hits = Retriever(index, None, max_query_characters=1 << 20).search(long_word, Mode.BM25)
    assert [hit.id for hit in hits] == [long_id]
    assert isinstance(index.lexical, ElasticLexical)
    assert [row["id"] for row in index.lexical.documents([long_id])] == [long_id]


# -- what the server keeps -----------------------------------------------------------------------------------------


def test_articles_can_be_shown_without_the_graph(law: Law, tmp_path: Path, text: ElasticText) -> None:
    lexical = opened(tmp_path, law, text).lexical
    assert isinstance(lexical, ElasticLexical)
    rows = lexical.documents([f"{MILLERS_ID}/L2", "fr/nothing", f"{BAKERS_ID}/L121-2"])
    assert [row["id"] for row in rows] == [f"{MILLERS_ID}/L2", f"{BAKERS_ID}/L121-2"]
    assert rows[1]["path"] == ["Code de la boulangerie", "Partie législative", "Livre II : Du boulanger"]
    assert rows[1]["text"].startswith("Le licenciement du boulanger malade")
    shown = {name: rows[1][name] for name in ("number", "language", "act_id", "valid_from", "valid_to", "heading", "kind")}
    assert shown == {
        "number": "L121-2",
        "language": "fr",
        "act_id": BAKERS_ID,
        "valid_from": "1970-01-01",
        "valid_to": "2024-10-04",
        "heading": "",
        "kind": "code",
    }
    assert rows[1]["parents"] == [f"{BAKERS_ID}/partie-legislative/livre-ii", f"{BAKERS_ID}/partie-legislative"]
    assert "words" not in rows[1]
    groups = text.documents(text.index_name(GROUPS, lexical.key), [BAKERS_ID, f"{BAKERS_ID}/partie-legislative/livre-ii"])
    assert [(row["heading"], row["level"], row["parent_id"]) for row in groups] == [
        ("Code de la boulangerie", 0, ""),
        ("Livre II : Du boulanger", 2, f"{BAKERS_ID}/partie-legislative"),
    ]
    assert lexical.documents([]) == []


def test_digests_are_of_all_that_a_document_holds(law: Law) -> None:
    corpus, words = law
    first = {d.id: d.sha256 for d in LawDocuments(corpus, words, native=False).of(ARTICLES)}
    ended = corpus.valid_to.copy()
    ended[2] = 20_000
    for other in (
        (corpus, dataclasses.replace(words, texts=[*words.texts[:2], "x", *words.texts[3:]])),
        (corpus, dataclasses.replace(words, article_headings=[*words.article_headings[:2], "x", *words.article_headings[3:]])),
        (dataclasses.replace(corpus, valid_to=ended), words),
    ):
        changed = {d.id: d.sha256 for d in LawDocuments(*other, native=False).of(ARTICLES)}
        assert [id for id in first if first[id] != changed[id]] == [corpus.articles[2]]
    renamed = dataclasses.replace(words, titles=["x", *words.titles[1:]])
    changed = {d.id: d.sha256 for d in LawDocuments(corpus, renamed, native=False).of(ARTICLES)}
    assert sum(first[id] != changed[id] for id in first) == 8, "the title stands above all articles of its act"


# -- the server's own analysis -------------------------------------------------------------------------------------


def native(server: ElasticsearchServer) -> ElasticText:
    return text_at(server.address, text_prefix=f"test-{uuid4().hex[:8]}", analysis="native")


def test_native_analysis_without_its_module_is_refused_with_the_name_of_the_analyzer(
    law: Law, elasticsearch_server: ElasticsearchServer
) -> None:
    text = native(elasticsearch_server)
    with pytest.raises(BadSetting, match=r"no analyzer 'french'.*LEXGRAPH_ANALYSIS"):
        load_law(text, *law, OPTIONS)
    assert indexes(elasticsearch_server, text) == []


def test_native_analysis_asks_the_fields_of_each_language() -> None:
    fields = properties_of(ARTICLES, ["fr", "en", "xx"], native=True)
    assert {name: fields[f"native_{name}"]["analyzer"] for name in ("en", "fr", "xx")} == {
        "en": "english",
        "fr": "french",
        "xx": "standard",
    }
    assert fields["text_fr"]["copy_to"] == "native_fr"
    assert fields["native_fr"]["similarity"] == ARTICLES
    assert "words" not in fields
    groups = properties_of(GROUPS, ["fr", "en", "xx"], native=True)
    assert groups["native_fr"]["similarity"] == GROUPS
    assert "text_fr" not in groups


def test_native_analysis_ranks_filters_and_highlights(
    law: Law, tmp_path: Path, elasticsearch_server: ElasticsearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the one analyzer that every server has; French ones need the module that the test server lacks."""
    monkeypatch.setattr(elasticsearch_documents, "ANALYZERS", {})
    text = native(elasticsearch_server)
    index = opened(tmp_path, law, text)
    retriever = Retriever(index, None)
    hits = retriever.search("BAGUETTE", Mode.BM25)
    assert [hit.id for hit in hits] == [f"{BAKERS_ID}/L111-2"]
    assert retriever.search("meunerie", Mode.BM25, filter=Filter(act=BAKERS_ID)) == []
    assert len(retriever.search("meunerie", Mode.BM25)) == 2, "headings are searched, too"
    assert retriever.search('boulanger" OR pain:*', filter=Filter(section=f"{BAKERS_ID}/partie-legislative/livre-ii"))
    lexical = index.lexical
    assert isinstance(lexical, ElasticLexical)
    shown = lexical.highlights("baguette grammes", [f"{BAKERS_ID}/L111-2", f"{BAKERS_ID}/L111-1"])
    assert shown[f"{BAKERS_ID}/L111-2"].words == ("baguette", "grammes")
    assert shown[f"{BAKERS_ID}/L111-1"].marks == ()
    assert retriever.highlights("baguette grammes", list(shown)) == shown
    assert lexical.documents([f"{BAKERS_ID}/L111-2"])[0]["text"].startswith("La baguette")
    remove_all(elasticsearch_server, text)
    text.close()


# -- from the command line -----------------------------------------------------------------------------------------


def test_the_command_line_indexes_searches_and_checks_on_the_server(
    tmp_path: Path, text: ElasticText, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lexgraph import app

    def run(*arguments: str) -> str:
        app(["--quiet", *arguments], standalone_mode=False)
        return capsys.readouterr().out

    monkeypatch.setenv("LEXGRAPH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LEXGRAPH_TEXT", text.address)
    monkeypatch.setenv("LEXGRAPH_TEXT_PREFIX", text.prefix)
    run("ingest", str(write_law(tmp_path / "law")))
    assert "articles: 10 added" in run("index")
    assert "nothing changed" in run("index")
    assert "L121-2" in run("search", "licenciement du boulanger malade", "--first", "1")
    assert "in step" in run("status")
    folders = [folder.name for folder in (tmp_path / "home" / "index").iterdir()]
    assert len(folders) == 1
    assert not (tmp_path / "home" / "index" / folders[0] / "articles").exists(), "BM25 is on the server alone"
    monkeypatch.delenv("LEXGRAPH_TEXT")
    with pytest.raises(NotReady, match="run `lexgraph index`"):
        run("search", "pain")
    run("index")
    assert "L121-2" in run("search", "licenciement du boulanger malade", "--first", "1")
