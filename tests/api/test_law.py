"""Acts, sections and articles, and the ways from one to another."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import make_app
from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.sources import ingest
from schema.settings import Settings
from search.corpus.read import read_corpus
from search.text.index import build_text_index
from search.text.options import Bm25Options
from tests.api.conftest import ask, no_model, refusal
from tests.support.tiny_law import BAKERS, BAKERS_ID, MILLERS_ID, statute

BOOK_ONE = f"{BAKERS_ID}/partie-legislative/livre-ier"
L111_1, L111_2, L111_3 = (f"{BAKERS_ID}/L111-{n}" for n in (1, 2, 3))


def nodes(connection: dict[str, Any]) -> list[str]:
    return [edge["node"]["id"] for edge in connection["edges"]]


def test_an_act_shows_all_its_properties(client: TestClient) -> None:
    query = """query($id: ID!) { act(id: $id) {
      id title kind jurisdiction language status validFrom validTo updated eli celex sourceId licence } }"""
    act = ask(client, query, id=BAKERS_ID)["act"]
    assert act["licence"]
    del act["licence"]
    assert act == {
        "id": BAKERS_ID, "title": "Code de la boulangerie", "kind": "code", "jurisdiction": "fr", "language": "fr",
        "status": "VIGUEUR", "validFrom": None, "validTo": None, "updated": "2020-01-01", "eli": None, "celex": None,
        "sourceId": BAKERS,
    }  # fmt: skip


def test_all_acts_are_listed(client: TestClient) -> None:
    shown = ask(client, "{ acts { totalCount edges { node { id } } } }")["acts"]
    assert (nodes(shown), shown["totalCount"]) == ([BAKERS_ID, MILLERS_ID], 2)
    first = ask(client, "{ acts(first: 1) { edges { node { id } } pageInfo { endCursor hasNextPage } } }")["acts"]
    assert (nodes(first), first["pageInfo"]["hasNextPage"]) == ([BAKERS_ID], True)
    query = "query($after: String) { acts(first: 1, after: $after) { edges { node { id } } pageInfo { hasNextPage } } }"
    second = ask(client, query, after=first["pageInfo"]["endCursor"])["acts"]
    assert (nodes(second), second["pageInfo"]["hasNextPage"]) == ([MILLERS_ID], False)


def test_a_section_shows_all_its_properties_and_its_place(client: TestClient) -> None:
    query = """query($id: ID!) { section(id: $id) {
      id number heading level status validFrom validTo sourceId act { id } parent { id } ancestors { id }
      siblings { edges { node { id } } }
      contents { totalCount edges { node { __typename id } } }
      citedBy { totalCount edges { text start end kind node { id } } } } }"""
    section = ask(client, query, id=BOOK_ONE)["section"]
    assert section == {
        "id": BOOK_ONE, "number": "Livre Ier", "heading": "Livre Ier : Du pain", "level": 2, "status": "VIGUEUR",
        "validFrom": "1970-01-01", "validTo": None, "sourceId": "LEGISCTA000000000002", "act": {"id": BAKERS_ID},
        "parent": {"id": f"{BAKERS_ID}/partie-legislative"},
        "ancestors": [{"id": BAKERS_ID}, {"id": f"{BAKERS_ID}/partie-legislative"}],
        "siblings": {"edges": [{"node": {"id": f"{BAKERS_ID}/partie-legislative/livre-ii"}}]},
        "contents": {
            "totalCount": 3,
            "edges": [{"node": {"__typename": "Article", "id": id}} for id in (L111_1, L111_2, L111_3)],
        },
        "citedBy": {
            "totalCount": 1,
            "edges": [{"text": "livre Ier", "start": 52, "end": 61, "kind": "link", "node": {"id": L111_3}}],
        },
    }  # fmt: skip


def test_an_article_shows_all_its_properties_and_its_place(client: TestClient) -> None:
    query = """query($id: ID!) { node(id: $id) { __typename id ... on Article {
      number heading text language authority status validFrom validTo sourceId
      act { title } parent { id ... on Section { heading } } ancestors { id }
      siblings { edges { node { id } } } next { id } previous { id }
      cites { edges { text start end kind node { id } } } citedBy { edges { text node { id } } } } } }"""
    article = ask(client, query, id=L111_2)["node"]
    text = "La baguette pèse deux cent cinquante grammes, sous réserve de l'article L. 111-1."
    assert article == {
        "__typename": "Article", "id": L111_2, "number": "L111-2", "heading": None, "text": text, "language": "fr",
        "authority": 0.15, "status": "VIGUEUR", "validFrom": "1970-01-01", "validTo": None, "sourceId": "LEGIARTI000000000002",
        "act": {"title": "Code de la boulangerie"}, "parent": {"id": BOOK_ONE, "heading": "Livre Ier : Du pain"},
        "ancestors": [{"id": BAKERS_ID}, {"id": f"{BAKERS_ID}/partie-legislative"}, {"id": BOOK_ONE}],
        "siblings": {"edges": [{"node": {"id": L111_1}}, {"node": {"id": L111_3}}]},
        "next": {"id": L111_3}, "previous": {"id": L111_1},
        "cites": {
            "edges": [{"text": "article L. 111-1", "start": 64, "end": 80, "kind": "link", "node": {"id": L111_1}}],
        },
        "citedBy": {"edges": []},
    }  # fmt: skip
    assert text[64:80] == "article L. 111-1"


def test_the_authority_of_an_article_grows_with_its_citations(client: TestClient) -> None:
    query = "query($id: ID!) { node(id: $id) { ... on Article { authority citedBy { totalCount } } } }"
    cited, uncited = (ask(client, query, id=id)["node"] for id in (L111_1, L111_3))
    assert cited["citedBy"]["totalCount"] == 2
    assert cited["authority"] > uncited["authority"] == 0.15


def test_the_day_that_an_article_ends_is_shown(client: TestClient) -> None:
    article = ask(client, 'query($id: ID!) { article(act: $id, number: "L121-2") { validTo } }', id=BAKERS_ID)["article"]
    assert article == {"validTo": "2024-10-04"}


def test_an_article_knows_what_cites_it_from_other_acts_too(client: TestClient) -> None:
    query = (
        'query($act: ID!) { article(act: $act, number: "L121-1") { citedBy { totalCount edges { node { id act { id } } } } } }'
    )
    cited_by = ask(client, query, act=BAKERS_ID)["article"]["citedBy"]
    assert cited_by == {"totalCount": 1, "edges": [{"node": {"id": f"{MILLERS_ID}/L1", "act": {"id": MILLERS_ID}}}]}


def test_a_link_to_a_section_leads_to_the_section(client: TestClient) -> None:
    query = "query($id: ID!) { node(id: $id) { ... on Article { cites { edges { node { __typename id } } } } } }"
    edges = ask(client, query, id=L111_3)["node"]["cites"]["edges"]
    assert edges == [{"node": {"__typename": "Section", "id": BOOK_ONE}}]


def test_following_next_reads_the_whole_act_in_order(client: TestClient) -> None:
    query = "query($id: ID!) { node(id: $id) { ... on Article { next { id previous { id } } } } }"
    read = [L111_1]
    while following := ask(client, query, id=read[-1])["node"]["next"]:
        assert following["previous"]["id"] == read[-1]
        read.append(following["id"])
    assert [id.removeprefix(f"{BAKERS_ID}/").partition("~")[0] for id in read] == [
        "L111-1", "L111-2", "L111-3", "L121-1", "L121-2", "R111-1", "Annexe-I", "Annexe-I",
    ]  # fmt: skip


@pytest.mark.parametrize("number", ["L111-1", "L. 111-1", "l. 111-1", "  L 111-1 ", "Article L. 111-1"])
def test_an_article_is_found_by_its_number_however_it_is_written(client: TestClient, number: str) -> None:
    query = "query($act: ID!, $number: String!) { article(act: $act, number: $number) { id } }"
    assert ask(client, query, act=BAKERS_ID, number=number)["article"] == {"id": L111_1}


def test_annexes_that_share_a_number_are_all_given_and_the_first_alone(client: TestClient) -> None:
    query = """query($act: ID!) { article(act: $act, number: "Annexe I") { id }
      articles(act: $act, number: "Annexe I") { edges { node { id text } } } }"""
    found = ask(client, query, act=BAKERS_ID)
    both = [edge["node"] for edge in found["articles"]["edges"]]
    assert [article["text"] for article in both] == ["Pain | 250 g", "Modèle de registre du boulanger."]
    assert found["article"]["id"] == both[0]["id"]


def test_what_is_not_there_is_null(client: TestClient) -> None:
    query = """query($article: ID!, $act: ID!) {
      a: node(id: "fr/NOTHING/1") { id } b: act(id: "fr/NOTHING") { id } c: section(id: "fr/NOTHING/x") { id }
      d: article(act: $act, number: "L999") { id } e: article(act: "fr/NOTHING", number: "L1") { id }
      f: articles(act: $act, number: "") { edges { cursor } } g: act(id: $article) { id } h: section(id: $article) { id } }"""
    found = ask(client, query, article=L111_1, act=BAKERS_ID)
    assert found == {**dict.fromkeys("abcdegh"), "f": {"edges": []}}


def test_an_act_may_be_named_as_people_name_it(client: TestClient) -> None:
    query = """query($act: ID!) { article(act: $act, number: "L. 111-1") { id }
      articles(act: $act, number: "L111-1") { totalCount } similarActs(id: $act) { totalCount } }"""
    by_title, by_id = (ask(client, query, act=act) for act in ("code de la Boulangerie", BAKERS_ID))
    assert by_title == by_id
    assert by_title["article"]["id"] == L111_1


def test_a_number_of_one_act_is_not_found_in_another(client: TestClient) -> None:
    query = 'query($act: ID!) { article(act: $act, number: "L111-1") { id } }'
    assert ask(client, query, act=MILLERS_ID)["article"] is None


@pytest.mark.parametrize("first", [1, 2, 3, 100])
def test_pages_of_contents_walk_every_child_once(client: TestClient, first: int) -> None:
    query = """query($id: ID!, $first: Int!, $after: String) { section(id: $id) { contents(first: $first, after: $after) {
      totalCount edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
    walked: list[str] = []
    after = None
    while True:
        page = ask(client, query, id=f"{BAKERS_ID}/partie-reglementaire", first=first, after=after)["section"]["contents"]
        info = page["pageInfo"]
        assert info["hasPreviousPage"] == bool(walked)
        assert (info["startCursor"], info["endCursor"]) == (page["edges"][0]["cursor"], page["edges"][-1]["cursor"])
        walked += nodes(page)
        if not info["hasNextPage"]:
            break
        after = info["endCursor"]
    assert len(walked) == len(set(walked)) == page["totalCount"] == 3
    assert walked[0] == f"{BAKERS_ID}/R111-1"
    assert walked[2].startswith(f"{BAKERS_ID}/partie-reglementaire/chapitre-unique")


def test_an_act_contains_its_parts(client: TestClient) -> None:
    query = "query($id: ID!) { act(id: $id) { contents { edges { node { id number heading parent { id } } } } } }"
    found = nodes(ask(client, query, id=BAKERS_ID)["act"]["contents"])
    assert found == [f"{BAKERS_ID}/partie-legislative", f"{BAKERS_ID}/partie-reglementaire"]


def test_a_cursor_of_one_list_is_refused_by_another(client: TestClient) -> None:
    query = (
        """query($id: ID!, $after: String) { act(id: $id) { contents(first: 1, after: $after) { pageInfo { endCursor } } } }"""
    )
    cursor = ask(client, query, id=BAKERS_ID)["act"]["contents"]["pageInfo"]["endCursor"]
    message, code = refusal(client, query, id=MILLERS_ID, after=cursor)
    assert "is not a cursor of this list" in message
    assert code == "BadQuery"


@pytest.mark.parametrize("field", ["cites", "citedBy"])
@pytest.mark.parametrize("first", [0, -1, 101])
def test_pages_of_citations_have_bounds(client: TestClient, field: str, first: int) -> None:
    query = f"query($id: ID!) {{ node(id: $id) {{ ... on Article {{ {field}(first: {first}) {{ totalCount }} }} }} }}"
    assert refusal(client, query, id=L111_1) == (f"first: {first} is not between 1 and 100", "BadQuery")


def test_what_acts_do_to_each_other_is_shown_from_both_ends(tmp_path: Path) -> None:
    first, second, third = (f"lu/leg-loi-2001-02-0{n}-n{n}" for n in (1, 2, 3))
    eli = "http://data.legilux.public.lu/eli/etat/leg/loi/2001/02/0{0}/n{0}/jo"
    statute(tmp_path / "acts", 1, "Les fours sont déclarés.", modifies=eli.format(2), cites=eli.format(3))
    for n in (2, 3):
        statute(tmp_path / "acts", n, "Les fours sont chauds.")
    ingest(EmbeddedStore(tmp_path), tmp_path / "acts")
    with open_graph(tmp_path) as graph:
        build_text_index(tmp_path, *read_corpus(graph), Bm25Options())
    query = """query($id: ID!, $types: [RelationType!]) { act(id: $id) {
      relations(types: $types) { edges { node { type basis evidence confidence act { id } } } }
      relatedBy(types: $types) { totalCount edges { node { type act { id } } } } } }"""
    with TestClient(make_app(Settings(home=tmp_path), no_model)) as client:
        shown = ask(client, query, id=first)["act"]
        relations = [edge["node"] for edge in shown["relations"]["edges"]]
        assert [(r["type"], r["act"]["id"], r["basis"], r["confidence"]) for r in relations] == [
            ("AMENDS", second, "metadata", 1.0),
            ("CITES", third, "metadata", 1.0),
        ]
        assert relations[1]["evidence"] == f"cites: {eli.format(3)}"
        assert shown["relatedBy"] == {"totalCount": 0, "edges": []}
        assert ask(client, query, id=first, types=["CITES"])["act"]["relations"]["edges"] == shown["relations"]["edges"][1:]
        for other, type in ((second, "AMENDS"), (third, "CITES")):
            assert ask(client, query, id=other)["act"]["relatedBy"] == {
                "totalCount": 1,
                "edges": [{"node": {"type": type, "act": {"id": first}}}],
            }


def test_an_article_reads_on_a_day_as_it_read_on_that_day(tmp_path: Path) -> None:
    for year, text in ((2005, "Le four est déclaré."), (2010, "Le four est contrôlé."), (2020, "Le four est interdit.")):
        path = statute(tmp_path / "acts", 1, text)
        path.write_text(path.read_text("utf-8").replace('last_updated: "2001-02-01"', f'last_updated: "{year}-01-01"'), "utf-8")
        ingest(EmbeddedStore(tmp_path), tmp_path / "acts")
    with open_graph(tmp_path) as graph:
        build_text_index(tmp_path, *read_corpus(graph), Bm25Options())
    query = 'query($id: ID!, $on: Date!) { article(act: $id, number: "1er") { wording(on: $on) { text } } }'
    with TestClient(make_app(Settings(home=tmp_path), no_model)) as client:
        days = ("2001-01-31", "2001-02-01", "2009-12-31", "2010-01-01", "2019-12-31", "2026-01-01")
        found = [ask(client, query, id="lu/leg-loi-2001-02-01-n1", on=day)["article"]["wording"] for day in days]
    assert [wording and wording["text"] for wording in found] == [
        None,
        "Le four est déclaré.",
        "Le four est déclaré.",
        "Le four est contrôlé.",
        "Le four est contrôlé.",
        "Le four est interdit.",
    ]
