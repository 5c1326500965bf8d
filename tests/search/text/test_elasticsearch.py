"""The text index on a real Elasticsearch: the same ranking, versions, differences, breakage, and answers without it."""

import dataclasses
import json
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np
import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from docker.elasticsearch_server import ElasticsearchServer
from ingest.loading.questions import read_questions
from ingest.sources import ingest
from runtime.circuit_breaker import Breaker
from runtime.progress import Advance, Progress, silent
from schema.errors import BadSetting, MissingExtra, NotReady, QueryTimeout, ServerUnavailable
from schema.filter import Filter
from schema.settings import Settings
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.read import read_corpus
from search.modes import Mode
from search.questions import TITLE, WITH_DESCRIPTION, query_text
from search.ranking.fusion import HEAD, top
from search.retrieval import DEEPEST, Retriever
from search.text import elasticsearch_build, elasticsearch_documents
from search.text.elasticsearch import ElasticLexical, ElasticText
from search.text.elasticsearch_build import Changes, Loaded, load_law
from search.text.elasticsearch_documents import ARTICLES, GROUPS, KINDS, LawDocuments, document_id, properties_of
from search.text.index import TextIndex, build_text_index, open_text_index
from search.text.open import text_server
from search.text.options import Bm25Options
from tests.search.test_retrieval import random_model
from tests.support.tiny_law import BAKERS, BAKERS_ID, MILLERS_ID, article, bakers, code, millers, section, write_law
from tests.support.waiting import eventually

Law = tuple[Corpus, CorpusText]
OPTIONS = Bm25Options()


def law_of(folder: Path, *roots: dict[str, Any]) -> Law:
    """The law of some codes, through a graph of its own."""
    ingest(EmbeddedStore(folder), write_law(folder / "sources", *roots))
    with open_graph(folder) as graph:
        return read_corpus(graph)


@pytest.fixture(scope="module")
def law(tiny_home: Path) -> Law:
    with open_graph(tiny_home) as graph:
        return read_corpus(graph)


@pytest.fixture
def text(elasticsearch_server: ElasticsearchServer) -> Iterator[ElasticText]:
    """The shared server, under a prefix of this test's own."""
    server = text_at(elasticsearch_server.address, text_prefix=f"test-{uuid4().hex[:8]}")
    yield server
    remove_all(elasticsearch_server, server)
    server.close()


def text_at(address: str, **settings: Any) -> ElasticText:
    """The client of a server, with some settings."""
    return ElasticText(Settings(text=address, **settings))


def remove_all(server: ElasticsearchServer, text: ElasticText) -> None:
    for name in indexes(server, text):
        server.request("DELETE", f"/{name}")


def indexes(server: ElasticsearchServer, text: ElasticText) -> list[str]:
    """The names of all indexes under a prefix."""
    return sorted(server.request("GET", f"/{text.prefix}-*")[1])


def changed(loaded: Loaded) -> bool:
    return loaded.articles.any or loaded.groups.any


def opened(home: Path, law: Law, text: ElasticText | None = None) -> TextIndex:
    """The index of a law, made if it is not there."""
    if text is not None:
        load_law(text, *law, OPTIONS)
    build_text_index(home, *law, OPTIONS, server=text)
    return open_text_index(home, law[0].sha256, OPTIONS, server=text)


def assert_same_lists(index: TextIndex, other: TextIndex, query: str = "pain boulanger moulin farine article L111-1") -> None:
    for name, scores in other.lexical.lists(query, Filter()).items():
        np.testing.assert_allclose(index.lexical.lists(query, Filter())[name], scores, rtol=1e-5, atol=1e-6)


def counting(progress: Callable[[int], None]) -> Progress:
    """A progress that tells how many units of all work have been done so far."""
    done = 0

    @contextmanager
    def open_one(label: str, total: int) -> Generator[Advance]:
        def advance(n: int) -> None:
            nonlocal done
            done += n
            progress(done)

        yield advance

    return open_one


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


# -- versions ------------------------------------------------------------------------------------------------------


def test_a_second_run_does_nothing_and_a_difference_is_all_that_is_sent(
    tmp_path: Path, text: ElasticText, elasticsearch_server: ElasticsearchServer
) -> None:
    before = law_of(tmp_path / "before", bakers())
    loaded = load_law(text, *before, OPTIONS)
    assert (loaded.articles, loaded.groups) == (Changes(added=8), Changes(added=6))
    assert not changed(load_law(text, *before, OPTIONS))
    old = opened(tmp_path, before, text)

    root = bakers()
    books = root["children"][0]["children"]
    books[0]["children"][1]["data"]["texteHtml"] = "<p>La baguette pèse trois cents grammes.</p>"
    books[1]["children"].append(article(31, "L121-3", "<p>L'apprenti dort.</p>"))
    root["children"][1]["children"].pop(0)
    after = law_of(tmp_path / "after", root)
    loaded = load_law(text, *after, OPTIONS)
    assert loaded.articles == Changes(added=1, changed=1, removed=1, unchanged=6)
    assert loaded.groups == Changes(changed=3, unchanged=3)
    new = opened(tmp_path, after, text)
    for query in ("pain", "baguette grammes", "apprenti", "registre annexe"):
        assert_same_lists(new, opened(tmp_path, after), query)
        assert_same_lists(old, opened(tmp_path, before), query)  # for those who still read the law before
    assert len(indexes(elasticsearch_server, text)) == 4

    both = law_of(tmp_path / "both", bakers(), millers())
    load_law(text, *both, OPTIONS)
    assert_same_lists(opened(tmp_path, both, text), opened(tmp_path, both))
    left = {text.index_name(kind, text.key(law[0].sha256, OPTIONS)) for kind in KINDS for law in (after, both)}
    assert set(indexes(elasticsearch_server, text)) == left, "the version before the last one is gone"
    retriever = Retriever(old, None)
    with pytest.raises(NotReady, match="run `lexgraph index`"):
        retriever.search("pain")


def test_other_weights_make_an_index_of_their_own(law: Law, text: ElasticText) -> None:
    load_law(text, *law, OPTIONS)
    assert load_law(text, *law, Bm25Options(k1=2.0)).articles == Changes(added=10)
    text.check(law[0].sha256, Bm25Options(k1=2.0))
    with pytest.raises(NotReady, match=r"alias .* points elsewhere"):
        text.check(law[0].sha256, OPTIONS)
    assert not changed(load_law(text, *law, OPTIONS)), "the aliases go back, nothing is written"
    assert "10 articles" in text.check(law[0].sha256, OPTIONS)


def test_aliases_flip_together_and_only_when_all_is_there(
    law: Law, tmp_path: Path, text: ElasticText, elasticsearch_server: ElasticsearchServer
) -> None:
    before = law_of(tmp_path, bakers())
    load_law(text, *before, OPTIONS)
    seen: set[tuple[tuple[str, ...], int]] = set()

    def look(done: int) -> None:
        aliases = elasticsearch_server.request("GET", f"/_alias/{text.prefix}-*")[1]
        names = tuple(sorted(name.rsplit("-", 1)[1] for name in aliases if aliases[name]["aliases"]))
        count = elasticsearch_server.request("GET", f"/{text.alias(ARTICLES)}/_count")[1]["count"]
        seen.add((names, count))

    load_law(text, *law, OPTIONS, progress=counting(look))
    old, new = text.key(before[0].sha256, OPTIONS), text.key(law[0].sha256, OPTIONS)
    assert seen == {((old, old), 8)}
    look(0)
    assert ((new, new), 10) in seen


def test_a_half_filled_index_is_filled_and_not_doubled(
    law: Law, tmp_path: Path, text: ElasticText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elasticsearch_build, "_CHUNK", 2)

    def stop(done: int) -> None:
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_law(text, *law, OPTIONS, progress=counting(stop))
    with pytest.raises(NotReady, match="run `lexgraph index`"):
        text.check(law[0].sha256, OPTIONS)
    loaded = load_law(text, *law, OPTIONS)
    assert loaded.articles == Changes(added=4, unchanged=6)
    assert_same_lists(opened(tmp_path, law, text), opened(tmp_path, law))


def test_a_server_killed_while_it_is_written_to_is_filled_by_the_next_run(
    law: Law,
    tmp_path: Path,
    own_elasticsearch: Callable[..., ElasticsearchServer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(elasticsearch_build, "_CHUNK", 2)
    server = own_elasticsearch()
    text = text_at(server.address)
    before = law_of(tmp_path, bakers())
    load_law(text, *before, OPTIONS)

    with monkeypatch.context() as patched:
        patched.setattr(elasticsearch_build, "_BULK_ATTEMPTS", 2)
        with pytest.raises(ServerUnavailable, match="no Elasticsearch answers at"):
            load_law(text, *law, OPTIONS, progress=counting(lambda done: server.kill() if done == 10 else None))
    with pytest.raises(ServerUnavailable) as caught:
        load_law(text, *law, OPTIONS)
    assert str(caught.value).count("\n") == 0
    server.start()
    assert "8 articles" in text.check(before[0].sha256, OPTIONS), "readers have the law before, whole"
    assert_same_lists(opened(tmp_path, before, text), opened(tmp_path, before))

    # Now it dies and comes back while a run goes on: that run waits, and ends well.
    back = threading.Thread(target=lambda: (server.kill(), server.start()))
    loaded = load_law(text, *law, OPTIONS, progress=counting(lambda done: back.start() if done == 9 else None))
    back.join()
    assert changed(loaded)
    assert_same_lists(opened(tmp_path, law, text), opened(tmp_path, law))
    for kind, count in ((ARTICLES, 10), (GROUPS, 8)):
        assert server.request("GET", f"/{text.alias(kind)}/_count")[1]["count"] == count
    text.close()


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


# -- wrong settings ------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_wrong_address_is_one_clear_line(law: Law) -> None:
    text = text_at(f"http://127.0.0.1:{free_port()}")
    for call in (lambda: load_law(text, *law, OPTIONS), lambda: text.check("x", OPTIONS)):
        with pytest.raises(ServerUnavailable, match=r"no Elasticsearch answers at http://127.0.0.1:\d+ .*refused") as caught:
            call()
        assert "\n" not in str(caught.value)
        assert (caught.value.exit_code, caught.value.http_status) == (71, 503)
    with pytest.raises(ServerUnavailable, match=r"no Elasticsearch answers at http://no-such-host\.invalid:9200"):
        text_at("http://no-such-host.invalid").check("x", OPTIONS)


@pytest.mark.parametrize("address", ["localhost:9200", "ftp://localhost", "http://", "http://localhost:port", "x"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadSetting, match="not an address"):
        text_server(Settings(text=address))
    with pytest.raises(BadSetting, match="settings of their own"):
        text_server(Settings(text="http://elastic:secret@localhost:9200"))


def test_the_port_may_be_left_out() -> None:
    assert text_at("http://localhost").address == "http://localhost:9200"
    assert text_at("https://text.example/path/").address == "https://text.example:443/path"
    assert text_at("http://[::1]:9201").address == "http://[::1]:9201"


class _Refusing(BaseHTTPRequestHandler):
    """Answers every request as a server with security does to a wrong password."""

    headers_of_product = (("X-Elastic-Product", "Elasticsearch"),)
    status = 401

    def do_GET(self) -> None:
        body = b'{"error": {"type": "security_exception", "reason": "unable to authenticate user"}, "status": 401}'
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.status)
        for name, value in (*self.headers_of_product, ("Content-Type", "application/json"), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class _Other(_Refusing):
    """Answers as something else does."""

    headers_of_product = ()
    status = 200


@pytest.fixture
def standing_in() -> Iterator[Callable[[type[BaseHTTPRequestHandler]], str]]:
    started: list[HTTPServer] = []

    def start(handler: type[BaseHTTPRequestHandler]) -> str:
        server = HTTPServer(("127.0.0.1", 0), handler)
        started.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def test_a_wrong_password_is_told_without_the_password(standing_in: Callable[..., str], law: Law) -> None:
    text = text_at(standing_in(_Refusing), text_password="secret")
    with pytest.raises(BadSetting, match=r"refuses user 'elastic' \(LEXGRAPH_TEXT_USER, LEXGRAPH_TEXT_PASSWORD\)") as caught:
        load_law(text, *law, OPTIONS)
    assert "secret" not in str(caught.value)
    with pytest.raises(BadSetting, match="refuses requests without a password"):
        text_at(text.address).check("x", OPTIONS)


class _Starting(_Refusing):
    """Takes a bulk request the third time: a proxy says that its server is away, then the server puts a document off."""

    status = 200
    asked: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        self.asked.append(0)
        turn = len(self.asked)
        item = {"_id": "a", "status": 503 if turn == 2 else 201}
        if turn == 2:
            item["error"] = {"type": "unavailable_shards_exception", "reason": "primary shard is not active"}
        answer: dict[str, Any] = {"errors": turn == 2, "items": [{"index": item}]}
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps(answer).encode() if turn > 1 else b"<html>Bad Gateway</html>"
        self.send_response(502 if turn == 1 else 200)
        kind = "application/json" if turn > 1 else "text/html"
        for name, value in (*self.headers_of_product, ("Content-Type", kind), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST  # noqa: N815


def test_what_a_server_that_is_being_started_puts_off_is_sent_again(standing_in: Callable[..., str]) -> None:
    text = text_at(standing_in(_Starting))
    elasticsearch_build._write_chunk(text, text.client, "index", [{"_op_type": "index", "_id": "a", "_source": {"id": "a"}}])
    assert len(_Starting.asked) == 3


def test_what_is_no_elasticsearch_is_told(standing_in: Callable[..., str], law: Law) -> None:
    with pytest.raises(BadSetting, match="is no Elasticsearch"):
        load_law(text_at(standing_in(_Other)), *law, OPTIONS)


def test_without_the_extra_the_setting_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "search.text.elasticsearch", None)
    assert text_server(Settings()) is None
    monkeypatch.delitem(__import__("sys").modules, "search.text.elasticsearch")
    monkeypatch.setitem(__import__("sys").modules, "elasticsearch", None)
    with pytest.raises(MissingExtra, match=r"lexgraph\[servers\]"):
        text_server(Settings(text="http://localhost:9200"))


# -- answers without the server ------------------------------------------------------------------------------------


def test_without_the_text_index_vectors_answer_and_say_so(
    law: Law, tmp_path: Path, own_elasticsearch: Callable[..., ElasticsearchServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = own_elasticsearch()
    text = ElasticText(Settings(text=server.address, text_timeout_s=1.0), Breaker(rest_s=1.0, clock=lambda: now))
    index = opened(tmp_path, law, text)
    with_model, lexical = Retriever(index, random_model(index.corpus)), Retriever(index, None)
    now = 0.0
    asked: list[str] = []
    perform = text.client.transport.perform_request

    def counted(method: str, target: str, **more: Any) -> Any:
        asked.append(target)
        return perform(method, target, **more)

    monkeypatch.setattr(text.client.transport, "perform_request", counted)

    def is_back() -> bool:
        """Ask once more, after a rest: on a busy machine a server that has just begun takes its time."""
        nonlocal now
        now += 1.1
        return with_model.search("pain").degraded == ()

    eventually(is_back)

    server.pause()
    hits = with_model.search("pain", first=DEEPEST)
    assert hits.degraded == ("text",)
    assert len(hits) == 10
    assert {name for hit in hits for name in hit.places} == {"vector", "heading"}, "headings are held in memory"
    before = len(asked)
    assert with_model.search("pain", Mode.BM25).degraded == ("text",)
    assert len(asked) == before, "a server that failed a moment ago is not asked"
    now += 1.1
    with pytest.raises(QueryTimeout, match=r"did not answer in time \(LEXGRAPH_TEXT_TIMEOUT_S\)"):
        lexical.search("pain")
    assert len(asked) > before
    server.resume()
    eventually(is_back)

    server.kill()
    assert with_model.search("pain").degraded == ("text",)
    with pytest.raises(ServerUnavailable):
        lexical.search("pain", Mode.BM25)
    with pytest.raises(ServerUnavailable):  # figures are not made of half an answer
        with_model.scores("pain")
    assert with_model.search("pain", Mode.VECTOR).degraded == ()
    server.start()
    eventually(is_back)
    assert lexical.search("pain")
    text.close()


def test_in_step_or_not_is_told(law: Law, tmp_path: Path, text: ElasticText) -> None:
    with pytest.raises(NotReady, match="does not hold the law of the graph: run `lexgraph index`"):
        text.check(law[0].sha256, OPTIONS)
    opened(tmp_path, law, text)
    assert "10 articles" in text.check(law[0].sha256, OPTIONS)
    with pytest.raises(NotReady):
        text.check("other law", OPTIONS)
    with pytest.raises(NotReady, match="run `lexgraph index`"):
        open_text_index(tmp_path / "nowhere", law[0].sha256, OPTIONS, server=text)


def test_many_threads_ask_at_once(law: Law, tmp_path: Path, text: ElasticText) -> None:
    retriever = Retriever(opened(tmp_path, law, text), None)
    expected = [hit.id for hit in retriever.search("pain farine")]
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append([h.id for h in retriever.search("pain farine")])) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 32


def test_progress_counts_documents(law: Law, text: ElasticText) -> None:
    done: list[int] = []
    load_law(text, *law, OPTIONS, progress=counting(done.append))
    assert done == list(range(1, 19))
    load_law(text, *law, OPTIONS, progress=silent)


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
