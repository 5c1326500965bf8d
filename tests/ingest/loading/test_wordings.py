"""Wordings that stay as history, with their days, from one source or from several."""

from copy import deepcopy
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.sources import ingest
from search.corpus.read import read_corpus
from tests.support.disturbance import dump
from tests.support.small_history import ACT as HISTORY_ACT
from tests.support.small_history import BAKER, OVEN, OVEN_LATER, write_repository
from tests.support.tiny_law import BAKERS, BAKERS_ID, article, bakers, code, statute, write_law
from tests.support.variants import variants


def test_a_wording_that_gives_way_is_kept_with_its_days(tmp_path: Path) -> None:
    older = bakers()
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", older))
    newer = deepcopy(older)
    changed = newer["children"][0]["children"][0]["children"][0]["data"]
    changed |= {"texteHtml": "<p>Le pain est fait de seigle.</p>", "dateDebut": 12_000 * 86_400_000}
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", newer))
    with open_graph(tmp_path) as graph:
        (version,) = graph.rows("wordings", ids=[f"{BAKERS_ID}/L111-1"])
        assert version["text"].startswith("Le pain est fait de farine")
        assert (version["valid_from"], version["valid_to"]) == (date(1970, 1, 1), date(2002, 11, 9))
        assert graph.rows("articles_by_id", ids=[f"{BAKERS_ID}/L111-1"])[0]["text"] == "Le pain est fait de seigle."
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", deepcopy(newer)))
    with open_graph(tmp_path) as graph:
        assert len(graph.rows("wordings", ids=[f"{BAKERS_ID}/L111-1"])) == 1


def consolidated(folder: Path, updated: str, text: str) -> Path:
    """A release of a Luxembourg act of 2001, whose source says when it was consolidated and not since when its words hold."""
    path = statute(folder, 1, text)
    path.write_text(path.read_text("utf-8").replace('last_updated: "2001-02-01"', f'last_updated: "{updated}"'), "utf-8")
    return folder


def wordings(home: Path, article: str) -> list[tuple[date | None, date | None, str]]:
    """All wordings of an article by their days, the present one last."""
    with open_graph(home) as graph:
        rows = [*graph.rows("wordings", ids=[article]), *graph.rows("articles_by_id", ids=[article])]
    return [(row["valid_from"], row["valid_to"], row["text"]) for row in rows]


@pytest.mark.slow
def test_every_wording_is_kept_with_its_days_where_the_source_dates_the_act_alone(tmp_path: Path) -> None:
    store, article = EmbeddedStore(tmp_path), "lu/leg-loi-2001-02-01-n1/1er"
    for year, text in ((2005, "Texte A."), (2010, "Texte B."), (2020, "Texte C.")):
        for _ in range(2):
            ingest(store, consolidated(tmp_path / "acts", f"{year}-01-01", text))
            seen = dump(tmp_path)
            assert not ingest(store, tmp_path / "acts").anything_changed
            assert dump(tmp_path) == seen
    first, second, third = date(2001, 2, 1), date(2010, 1, 1), date(2020, 1, 1)
    kept = [(first, second, "Texte A."), (second, third, "Texte B.")]
    assert wordings(tmp_path, article) == [*kept, (third, None, "Texte C.")]
    # The act is written anew, the article is not: it has read so since 2020.
    ingest(store, consolidated(tmp_path / "acts", "2021-01-01", "Texte C."))
    assert wordings(tmp_path, article) == [*kept, (third, None, "Texte C.")]
    today = datetime.now(UTC).date()
    for text in ("Texte C corrigé.", "Texte C deux fois corrigé.", "Texte C bien corrigé."):
        ingest(store, consolidated(tmp_path / "acts", "2020-01-01", text))
    assert sorted(wordings(tmp_path, article)[:-1], key=str) == sorted(
        [*kept, (third, today, "Texte C."), (today, today, "Texte C corrigé."), (today, today, "Texte C deux fois corrigé.")],
        key=str,
    )
    assert wordings(tmp_path, article)[-1] == (today, None, "Texte C bien corrigé.")


def test_the_dates_of_other_versions_are_records_and_answer_what_was_in_force(tmp_path: Path) -> None:
    from search.corpus.read import read_corpus

    day = 86_400_000
    dated = article(1, "L1", "<p>Le pain.</p>", first_day=10_000)
    versions = [
        {"id": "LEGIARTI000000000101", "etat": "MODIFIE", "dateDebut": 1000 * day, "dateFin": 5000 * day},
        {"id": "LEGIARTI000000000001", "etat": "VIGUEUR", "dateDebut": 10_000 * day, "dateFin": None},
    ]
    dated["data"]["articleVersions"] = versions
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", code(BAKERS, "Code", dated)))
    with open_graph(tmp_path) as graph:
        rows = graph.rows("wordings", ids=[f"{BAKERS_ID}/L1"])
        assert [(row["source_id"], row["valid_from"], row["valid_to"]) for row in rows] == [
            ("LEGIARTI000000000101", date(1972, 9, 27), date(1983, 9, 10))
        ]
        corpus, _ = read_corpus(graph)
    in_force = [bool(corpus.in_force_on(date(year, 1, 1))[0]) for year in (1970, 1980, 1990, 2000)]
    assert in_force == [False, True, False, True], "between its two wordings the article was out of force"


def one_act_from_two_sources(folder: Path) -> tuple[Path, Path]:
    """The code of the small history as LEGI JSON, whose earlier wordings have days and no text, and that history."""
    day = (date(1901, 7, 1) - date(1970, 1, 1)).days
    present = article(1, "1", f"<p>{OVEN_LATER}</p>", first_day=day)
    began = (date(1804, 3, 21) - date(1970, 1, 1)).days
    before = {"id": "LEGIARTI000000000900", "etat": "MODIFIE", "dateDebut": began * 86_400_000, "dateFin": day * 86_400_000}
    present["data"]["articleVersions"].append(before)
    other = article(2, "20", f"<p>{BAKER}</p>")
    return write_law(folder / "legi", code(HISTORY_ACT.removeprefix("fr/"), "Code des fours", present, other)), write_repository(
        folder / "history"
    )


@pytest.mark.parametrize("first", variants(["legi", "history"]))
def test_the_texts_of_a_history_fill_the_wordings_of_the_better_source(tmp_path: Path, first: str) -> None:
    legi, history = one_act_from_two_sources(tmp_path)
    store = EmbeddedStore(tmp_path / "home")
    for source in (legi, history) if first == "legi" else (history, legi):
        ingest(store, source)
    with open_graph(tmp_path / "home") as graph:
        (wording,) = graph.rows("wordings", ids=[f"{HISTORY_ACT}/1"])
        law = graph.rows("graph_row")[0]["corpus_sha256"]
        corpus, text = read_corpus(graph)
    assert (wording["source_id"], wording["valid_from"], wording["valid_to"]) == (
        "LEGIARTI000000000900",
        date(1804, 3, 21),
        date(1901, 7, 1),
    )
    assert wording["text"] == OVEN
    assert (corpus.sha256, text.wordings) == (law, [OVEN])
    assert not ingest(store, history).anything_changed
    assert not ingest(store, legi).anything_changed


def test_what_a_history_fills_is_other_law(tmp_path: Path) -> None:
    legi, history = one_act_from_two_sources(tmp_path)
    fingerprints: list[str] = []
    for source in (legi, history):
        ingest(EmbeddedStore(tmp_path / "home"), source)
        with open_graph(tmp_path / "home") as graph:
            fingerprints.append(graph.rows("graph_row")[0]["corpus_sha256"])
    assert len({*fingerprints, ""}) == 3
