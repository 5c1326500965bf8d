"""Sheets of service-public.fr that name articles in words: questions of a source of their own."""

import json
from pathlib import Path

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.loading.questions import read_outside, read_questions
from ingest.readers.service_public import NAMED_SOURCE, SOURCE, split_of
from ingest.sources import ingest
from tests.support.tiny_law import BAKERS_ID, article, code, section, write_law, write_sheets

_GONE = "LEGIARTI000000000777"


def _reference(title: str, complement: str = "", source_id: str = _GONE) -> dict[str, object]:
    parts = {"Titre": title, "Complement": complement}
    children = [{"type": "element", "name": n, "children": [{"type": "text", "text": t}]} for n, t in parts.items() if t]
    address = f"https://www.legifrance.gouv.fr/codes/article_lc/{source_id}"
    return {"type": "element", "name": "Reference", "attributes": {"URL": address}, "children": children}


def _write(folder: Path, sheets: dict[str, tuple[str, list[dict[str, object]]]]) -> Path:
    write_sheets(folder, {id: (title, "", []) for id, (title, _) in sheets.items()})
    for id, (_, references) in sheets.items():
        path = folder / "particuliers" / f"{id}.json"
        record = json.loads(path.read_text("utf-8"))
        record["children"] += references
        path.write_text(json.dumps(record, ensure_ascii=False), "utf-8")
    return folder


def test_articles_that_a_reference_names_by_act_and_number_answer_where_no_link_does(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "home")
    numbers = ("371", "372", "373", "375")
    articles = (article(700 + int(number), number, "<p>Les époux.</p>") for number in numbers)
    civil = code("LEGITEXT000006070721", "Code civil", section(9, "Livre", *articles))
    ingest(store, write_law(tmp_path / "law"))
    parents = [_reference("Code civil : articles 372 à 373", "Parents (article 375)"), _reference("Code du sport")]
    sheets = _write(
        tmp_path / "sheets",
        {
            "F1": ("Autorité parentale", parents),
            "F2": ("Le pain", [_reference("Code de la boulangerie : article L111-2", source_id="LEGIARTI000000000001")]),
            "F3": ("Un passeport", [_reference("Décret n°2005-1726 du 30 décembre 2005 : article 5")]),
        },
    )
    ingest(store, sheets)

    def asked() -> dict[str, dict[str, tuple[str, ...]]]:
        with open_graph(tmp_path / "home") as graph:
            found = {source: read_questions(graph, source) for source in (SOURCE, NAMED_SOURCE)}
            found["outside"] = read_outside(graph, SOURCE)
        return {source: {q.id: q.relevant for q in questions} for source, questions in found.items()}

    bread = {"service-public/F2": (f"{BAKERS_ID}/L111-1",)}
    assert asked() == {
        SOURCE: bread,
        NAMED_SOURCE: {},
        "outside": {"service-public/F1": (), "service-public/F3": ()},
    }, "the civil code is not there yet; a link counts, what it is called does not"

    ingest(store, write_law(tmp_path / "civil", civil))
    ingest(store, sheets)
    named = ("fr/LEGITEXT000006070721/372", "fr/LEGITEXT000006070721/373")
    assert asked() == {SOURCE: bread, NAMED_SOURCE: {"service-public/F1": named}, "outside": {"service-public/F3": ()}}
    with open_graph(tmp_path / "home") as graph:
        (question,) = read_questions(graph, NAMED_SOURCE)
    assert (question.split, question.split_by_dossier) == (split_of("F1"), split_of("N1"))
