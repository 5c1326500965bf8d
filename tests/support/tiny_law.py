"""A code of law small enough to read at once, in the project's own words, in the publisher's format."""

import json
from pathlib import Path
from typing import Any

BAKERS = "LEGITEXT000000000001"
MILLERS = "LEGITEXT000000000002"
BAKERS_ID, MILLERS_ID = f"fr/{BAKERS}", f"fr/{MILLERS}"

Json = dict[str, Any]
_DAY_MS = 86_400_000
_NO_END_MS = 32_472_144_000_000


def article(
    serial: int, number: str | None, html: str, *, versions: tuple[int, ...] = (), first_day: int = 0, end_day: int | None = None
) -> Json:
    """An article node; ``serial`` makes its identifier, days count from 1970-01-01."""
    source_id = f"LEGIARTI{serial:012}"
    return {
        "type": "article",
        "data": {
            "id": source_id,
            "cid": source_id,
            "num": number,
            "etat": "VIGUEUR",
            "intOrdre": serial,
            "dateDebut": first_day * _DAY_MS,
            "dateFin": _NO_END_MS if end_day is None else end_day * _DAY_MS,
            "texte": html,
            "texteHtml": html,
            "articleVersions": [{"id": f"LEGIARTI{version:012}"} for version in (serial, *versions)],
        },
    }


def section(serial: int, heading: str, *children: Json) -> Json:
    """A section node."""
    source_id = f"LEGISCTA{serial:012}"
    data = {
        "id": source_id,
        "cid": source_id,
        "title": heading,
        "etat": "VIGUEUR",
        "dateDebut": "1970-01-01",
        "dateFin": "2999-01-01",
    }
    return {"type": "section", "data": data, "children": list(children)}


def code(source_id: str, title: str, *children: Json) -> Json:
    """The root of a code."""
    data = {"id": source_id, "cid": source_id, "title": title, "etat": "VIGUEUR", "dateDebutVersion": "2020-01-01"}
    return {"type": "code", "data": data, "children": list(children)}


def link(serial: int, words: str, prefix: str = "LEGIARTI") -> str:
    """A link as the publisher writes them."""
    return f'<a href="/affichCodeArticle.do?cidTexte={BAKERS}&idArticle={prefix}{serial:012}&dateTexte=">{words}</a>'


def bakers() -> Json:
    """The code of bakers: two books, eight articles, citations inside and outside, two annexes of one number."""
    return code(
        BAKERS,
        "Code de la boulangerie",
        section(
            1,
            "Partie législative",
            section(
                2,
                "Livre Ier : Du pain",
                article(
                    1,
                    "L111-1",
                    "<p>Le pain est fait de farine, d'eau, de sel et de levain.</p><p>Il est cuit au four.</p>",
                    versions=(101, 102),
                ),
                article(
                    2,
                    "L111-2",
                    f"<p>La baguette pèse deux cent cinquante grammes, sous réserve de l'{link(101, 'article L. 111-1')}.</p>",
                ),
                article(
                    3,
                    "L111-3",
                    f"<p>Le pain vendu à la coupe est pesé devant le client ({link(2, 'livre Ier', 'LEGISCTA')}).</p>",
                ),
            ),
            section(
                3,
                "Livre II : Du boulanger",
                article(4, "L121-1", "<p>Le boulanger se repose un jour par semaine ; son apprenti aussi.</p>", first_day=10_000),
                article(
                    5,
                    "L121-2",
                    f"<p>Le licenciement du boulanger malade est nul ({link(999, 'article L. 9')} du code civil).</p>",
                    end_day=20_000,
                ),
            ),
        ),
        section(
            4,
            "Partie réglementaire",
            article(6, "R111-1", f"<p>La farine du pain est de blé, comme le dit l'{link(1, 'article L. 111-1')}.</p>"),
            article(7, "Annexe I", "<table><tr><td>Pain</td><td>250 g</td></tr></table>"),
            section(5, "Chapitre unique : Des annexes", article(8, "Annexe I", "<p>Modèle de registre du boulanger.</p>")),
        ),
    )


def millers() -> Json:
    """The code of millers: two articles, one citing the code of bakers."""
    return code(
        MILLERS,
        "Code de la meunerie",
        section(
            21,
            "Titre Ier : De la farine",
            article(
                21,
                "L1",
                f"<p>Le meunier livre la farine au boulanger ({link(4, 'article L. 121-1 du code de la boulangerie')}).</p>",
            ),
            article(22, "L2", "<p>Le moulin est contrôlé chaque année par un inspecteur.</p>"),
        ),
    )


STATUTE = """---
title: "{title}"
identifier: "{id}"
country: "lu"
rank: "loi"
publication_date: "{day}"
last_updated: "{day}"
status: "in_force"
source: ""
eli: "http://data.legilux.public.lu/eli/etat/{path}/jo"
modifies: "{modifies}"
cites: "{cites}"
---
# {title}

### Art. 1er.

{text}
"""


def statute(folder: Path, serial: int, text: str, *, title: str = "", modifies: str = "", cites: str = "") -> Path:
    """A Luxembourg act of one article, in a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"leg-loi-2001-02-0{serial}-n{serial}.md"
    fields = {"id": path.stem, "day": f"2001-02-0{serial}", "path": f"leg/loi/2001/02/0{serial}/n{serial}"}
    title = title or f"Loi du {serial} février 2001 concernant les fours"
    path.write_text(STATUTE.format(title=title, text=text, modifies=modifies, cites=cites, **fields), encoding="utf-8")
    return path


def write_law(folder: Path, *roots: Json) -> Path:
    """Write codes as LEGI JSON files into a folder; without codes, the bakers' and the millers'."""
    folder.mkdir(parents=True, exist_ok=True)
    for root in roots or (bakers(), millers()):
        path = folder / f"{root['data']['id']}.json"
        path.write_text(json.dumps(root, ensure_ascii=False), encoding="utf-8")
    return folder


def write_sheets(folder: Path, sheets: dict[str, tuple[str, str, list[str]]]) -> Path:
    """Write sheets (identifier: title, description, identifiers linked to) as service-public files."""
    for audience in ("particuliers", "professionnels", "associations"):
        (folder / audience).mkdir(parents=True, exist_ok=True)
    for id, (title, description, links) in sheets.items():
        texts = {
            "dc:title": title,
            "dc:description": description,
            "dc:relation": f"isPartOf N{id[1:]}",
            "Reference": " ".join(f"https://www.legifrance.gouv.fr/affich.do?id={target}" for target in links),
        }
        children = [{"type": "element", "name": n, "children": [{"type": "text", "text": t}]} for n, t in texts.items()]
        record = {"id": id, "children": [{"type": "element", "name": "Publication", "children": children}]}
        (folder / "particuliers" / f"{id}.json").write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    return folder


def write_labour_sheets(folder: Path, *sheets: Json) -> Path:
    """Write sheets as the labour ministry's are published."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "fiches-travail.json"
    path.write_text(json.dumps(list(sheets), ensure_ascii=False, indent=2), encoding="utf-8")
    return path


def labour_sheet(id: str, title: str, *sections: Json) -> Json:
    """A sheet of the labour ministry."""
    return {
        "date": "13/11/2025",
        "description": "",
        "intro": "",
        "pubId": id,
        "sections": list(sections),
        "title": title,
        "url": "",
    }


def labour_section(title: str, text: str, **named: list[str]) -> Json:
    """A section of such a sheet, with the numbers of the articles that it names, by code."""
    references = {code: {"articles": [{"fmt": number, "cid": "", "id": ""} for number in of]} for code, of in named.items()}
    return {"anchor": "", "description": "", "html": "", "references": references, "text": text, "title": title}
