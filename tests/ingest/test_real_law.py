"""Four French codes and the service-public sheets, as published: nothing is lost, nothing is made up."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedGraph, EmbeddedStore, open_graph, release_stamp
from ingest.loading.questions import read_outside, read_questions
from ingest.readers.service_public import SOURCE
from ingest.sources import ingest
from tests.support.disturbance import dump

pytestmark = pytest.mark.xdist_group("real law")
LABOUR = "fr/LEGITEXT000006072050"


@pytest.fixture(scope="module")
def graph(real_home: Path) -> Iterator[EmbeddedGraph]:
    with open_graph(real_home) as graph:
        yield graph


def test_every_node_of_the_publication_is_in_the_graph(graph: EmbeddedGraph) -> None:
    counts = {row["label"]: row["n"] for row in graph.rows("counts")}
    assert {label: counts[label] for label in ("Act", "Section", "Article", "Question")} == {
        "Act": 4,
        "Section": 11_020,
        "Article": 29_115,
        "Question": 809 + 4 + 2_085,  # that link to these codes, that name them alone, and without an answer there
    }


def test_every_edge_of_the_publication_is_in_the_graph(graph: EmbeddedGraph) -> None:
    counts = {row["type"]: row["n"] for row in graph.rows("edge_counts")}
    assert counts == {
        "CITES": 53_894,
        "CITES_OUTSIDE": 13_400,
        "HAS_WORDING": 38_029,
        "CONTAINS": 40_135,
        "NEXT": 29_111,
        "RELEVANT_TO": 10_050 + 17,
    }
    assert counts["CITES"] + counts["CITES_OUTSIDE"] == 67_294


def test_citations_by_what_they_cite(graph: EmbeddedGraph) -> None:
    assert Counter(row["label"] for row in graph.rows("citations") if row["kind"] == "link") == {
        "Article": 33_335,
        "Section": 79,
        "Act": 37,
    }
    outside = [row for row in graph.rows("outside_citations") if row["kind"] == "link"]
    assert Counter(row["target_kind"] for row in outside) == {
        "act": 887,
        "article": 6_148,
        "page": 23,
        "section": 67,
    }
    articles = Counter(row["target"][:8] for row in outside if row["target_kind"] == "article")
    assert articles == {"LEGIARTI": 6_000, "JORFARTI": 148}


def test_the_splits_of_the_questions_are_those_of_the_benchmark(graph: EmbeddedGraph) -> None:
    questions = read_questions(graph, SOURCE)
    assert Counter(q.split for q in questions) == {"train": 526, "development": 122, "test": 161}
    assert Counter(q.split_by_dossier for q in questions) == {"train": 437, "development": 168, "test": 204}
    assert all(1 <= len(q.relevant) <= 100 for q in questions)
    outside = read_outside(graph, SOURCE)
    assert {q.split for q in outside} == {q.split_by_dossier for q in outside} == {"development", "test"}
    assert 0.45 < sum(q.split == "test" for q in outside) / len(outside) < 0.55
    assert not {q.id for q in outside} & {q.id for q in questions}


def test_identifiers_are_unique_across_acts_sections_and_articles(graph: EmbeddedGraph) -> None:
    statements = ("acts", "section_source_ids", "article_source_ids")
    ids = Counter(row["id"] for statement in statements for row in graph.rows(statement))
    assert [id for id, n in ids.items() if n > 1] == []
    assert len(ids) == 4 + 11_020 + 29_115


def test_annexes_that_share_a_number_carry_the_publishers_identifier(graph: EmbeddedGraph) -> None:
    rows = [row for row in graph.rows("articles_of_acts", ids=[LABOUR]) if "~" in row["id"]]
    numbers = Counter(row["number"] for row in rows)
    assert rows
    assert all(n > 1 for n in numbers.values()), "only what shares its number needs more than a number"
    assert all(number.lower().startswith("annexe") for number in numbers)
    assert all(row["id"].endswith(f"~{row['source_id']}") for row in rows)


def test_every_citation_stands_in_the_text_where_it_says(graph: EmbeddedGraph) -> None:
    wrong: list[str] = []
    checked = 0
    for act in graph.rows("acts"):
        text = {row["id"]: row["text"] for row in graph.rows("articles_of_acts", ids=[act["id"]])}
        for statement in ("citations_of_acts", "outside_citations_of_acts"):
            for row in graph.rows(statement, ids=[act["id"]]):
                checked += 1
                if text[row["article"]][row["start"] : row["end"]] != row["text"]:
                    wrong.append(row["article"])
    assert wrong == []
    assert checked == 67_294


def test_texts_have_their_paragraphs_and_no_markup(graph: EmbeddedGraph) -> None:
    texts = {row["id"]: row["text"] for row in graph.rows("articles_of_acts", ids=[LABOUR])}
    article = texts[f"{LABOUR}/L1234-1"]
    paragraphs = article.split("\n")
    assert paragraphs[0].startswith("Lorsque le licenciement n'est pas motivé par une faute grave")
    assert [p[:3] for p in paragraphs[1:4]] == ["1° ", "2° ", "3° "]
    assert not any("  " in text or "\n\n" in text or text != text.strip() for text in texts.values())
    assert not any("<p>" in text or "<br" in text or "&nbsp;" in text for text in texts.values())


def test_each_act_is_read_in_one_order(graph: EmbeddedGraph) -> None:
    following = {row["article"]: row["following"] for row in graph.rows("next_of_acts", ids=[LABOUR])}
    assert following[f"{LABOUR}/L1234-1"] == f"{LABOUR}/L1234-2"
    assert len(set(following.values())) == len(following)


def test_a_second_ingest_changes_nothing(real_home: Path, real_sources: tuple[Path, Path]) -> None:
    stamp = release_stamp(real_home)
    codes, sheets = (ingest(EmbeddedStore(real_home), source) for source in real_sources)
    assert codes.unchanged_files == 4
    assert codes.read_files == 0
    assert not codes.anything_changed
    assert not sheets.anything_changed
    assert release_stamp(real_home) == stamp


def test_a_code_read_again_is_found_to_be_the_same(real_home: Path, real_sources: tuple[Path, Path], tmp_path: Path) -> None:
    """A file whose bytes differ but whose law does not: read, compared, nothing written but its fingerprint."""
    (tmp_path / "graph.lbug").write_bytes((real_home / "graph.lbug").read_bytes())
    again = tmp_path / "legi-data" / "LEGITEXT000031366350.json"
    again.parent.mkdir()
    again.write_bytes((real_sources[0] / again.name).read_bytes() + b"\n")
    report = ingest(EmbeddedStore(tmp_path), again)
    assert report.read_files == 1
    assert not report.anything_changed
    different = set(dump(tmp_path).splitlines()) ^ set(dump(real_home).splitlines())
    assert len(different) == 2
    assert all(line.startswith('{"label":"Source"') for line in different)
