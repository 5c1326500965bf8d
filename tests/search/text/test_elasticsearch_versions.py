"""Versions of the law on a real Elasticsearch: differences are sent, aliases flip together, a broken run is gone on with."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from docker.elasticsearch_server import ElasticsearchServer
from runtime.progress import silent
from schema.errors import NotReady, ServerUnavailable
from search.retrieval import Retriever
from search.text import elasticsearch_build
from search.text.elasticsearch import ElasticText
from search.text.elasticsearch_build import Changes, load_law
from search.text.elasticsearch_documents import ARTICLES, GROUPS, KINDS
from search.text.options import Bm25Options
from tests.search.text.own_server import OPTIONS, Law, assert_same_lists, changed, counting, indexes, law_of, opened, text_at
from tests.support.tiny_law import article, bakers, millers


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


def test_progress_counts_documents(law: Law, text: ElasticText) -> None:
    done: list[int] = []
    load_law(text, *law, OPTIONS, progress=counting(done.append))
    assert done == list(range(1, 19))
    load_law(text, *law, OPTIONS, progress=silent)
