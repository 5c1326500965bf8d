"""BEIR layout in and out: documents, judgements by split, and the graph written as a collection that reads back."""

from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.loading.questions import read_questions
from ingest.readers.beir import read
from ingest.sources import ingest
from schema.errors import BadSource, MissingFile
from schema.records import ActTree, Question, Rejected
from tests.support.commands import Lexgraph
from tests.support.small_texts import write_format


def test_a_document_is_an_act_with_one_article(tmp_path: Path) -> None:
    trees = [t for t in read(write_format(tmp_path / "bread", "beir") / "corpus.jsonl") if isinstance(t, ActTree)]
    assert [(t.act.id, t.act.title, t.act.language) for t in trees] == [
        ("beir/bread-d1", "Bread", "en"),
        ("beir/bread-d_2~85d37ac5", "An oven is hot.", "en"),
    ]
    assert [a.text for t in trees for a in t.articles] == ["Bread is flour and water.", "An oven is hot."]
    assert trees[1].articles[0].source_id == "beir:bread:d/2#text"


def test_judgements_make_questions_of_their_split(tmp_path: Path) -> None:
    folder = write_format(tmp_path / "bread", "beir")
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    found = [q for q in read(folder / "qrels" / "dev.tsv") if isinstance(q, Question)]
    assert [(q.id, q.relevant, q.split) for q in found] == [
        ("beir-bread/q1", ("beir:bread:d1#text",), "development"),
        ("beir-bread/q2", ("beir:bread:d/2#text",), "development"),
    ]


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    folder = write_format(tmp_path / "bread", "beir")
    with (folder / "corpus.jsonl").open("a") as corpus:
        corpus.write('{"_id": "d1", "text": "again"}\n{"_id": 5}\n{"text": ""}\n')
    with (folder / "queries.jsonl").open("a") as queries:
        queries.write('{"_id": "q4"}\n')
    with (folder / "qrels" / "test.tsv").open("a") as judgements:
        judgements.write("q1\td1\tmany\nq9\td1\t1\n")
    told = {
        name: [(r.place, r.reason) for r in read(folder / name) if isinstance(r, Rejected)]
        for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
    }
    assert told["corpus.jsonl"] == [
        ("line 3, $._id", "repeated identifier: beir:bread:d1 is on line 1"),
        ("line 4, $._id", "not text: 5"),
        ("line 5, $._id", "a document without an identifier"),
    ]
    assert told["queries.jsonl"] == [("line 4, $", "a query without an identifier or a text")]
    assert told["qrels/test.tsv"] == [
        ("line 5", "a score that is none: 'many'"),
        ("query-id q9", "no such query in queries.jsonl"),
    ]


def test_judgements_without_their_columns_or_queries_are_refused(tmp_path: Path) -> None:
    folder = write_format(tmp_path / "bread", "beir")
    (folder / "queries.jsonl").unlink()
    with pytest.raises(MissingFile, match=r"queries\.jsonl"):
        list(read(folder / "qrels" / "test.tsv"))
    (folder / "qrels" / "test.tsv").write_text("query\tcorpus\n")
    with pytest.raises(BadSource, match="line 1: columns are missing: corpus-id, query-id"):
        list(read(folder / "qrels" / "test.tsv"))


def test_the_law_and_its_questions_are_written_and_read_back(tmp_path: Path) -> None:
    run = Lexgraph.over(tmp_path / "home")
    for name in ("bsard", "coliee"):
        run.do("ingest", write_format(tmp_path / name, name))
    run.do("export", "--beir", tmp_path / "collection")
    ingest(EmbeddedStore(tmp_path / "again"), tmp_path / "collection")
    with open_graph(run.home) as one, open_graph(tmp_path / "again") as other:
        texts = [{row["text"] for row in graph.rows("corpus_articles")} for graph in (one, other)]
        assert texts[0] == texts[1]
        assert len(texts[0]) == 8
        text_of = [{row["id"]: row["text"] for row in graph.rows("corpus_articles")} for graph in (one, other)]
        before = [q for source in ("bsard", "coliee") for q in read_questions(one, source)]
        after = read_questions(other, "beir-collection")
        asked = [
            {(q.text, q.description, q.split, frozenset(texts[a] for a in q.relevant)) for q in questions}
            for questions, texts in zip((before, after), text_of, strict=True)
        ]
        assert asked[0] == asked[1]
        titles = {row["title"] for row in other.rows("acts")}
        assert "Civil Code of Japan > Part I General Provisions > Chapter I Common Provisions > Fundamental Principles" in titles
        assert {row["language"] for row in other.rows("acts")} == {"en", "fr"}
