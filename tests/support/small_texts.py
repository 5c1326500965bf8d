"""A small text in each format of law, in the project's own words: the folder that a person would ingest."""

import json
from pathlib import Path

from tests.support.tiny_law import bakers

LEGALIZE = """---
title: "Loi du 3 mai 2021 sur les boulangeries"
identifier: leg-loi-2021-05-03-a1
country: lu
rank: loi
publication_date: 2021-05-03
status: in_force
eli: http://data.legilux.public.lu/eli/etat/leg/loi/2021/05/03/a1/jo
cites:
  - http://data.europa.eu/eli/dir/2016/680/oj
modifies: http://data.legilux.public.lu/eli/etat/leg/loi/2018/08/21/a837/jo
---
# Loi du 3 mai 2021 sur les boulangeries

Nous Henri, Grand-Duc de Luxembourg, avons ordonné :

## Chapitre 1er – Du pain

### Art. 1er.

Le pain est fait de **farine** et d'eau.

Il est cuit au four.

### Art. 2.

Voir l'[article 1er](/eli/etat/leg/loi/2021/05/03/a1/jo/art_1er/jo) de la présente loi.

## Chapitre 2 – Du boulanger

### Art. 2bis.

Le boulanger se repose le dimanche.
"""

EU_ACT = {
    "celex": "32016L0999",
    "title": "Directive (UE) 2016/999 sur le pain",
    "consolidated": "2020-01-01",
    "provisions": [
        {
            "type": "article",
            "num": "Article premier",
            "heading": "Objet",
            "path": ["CHAPITRE I Général"],
            "text": "Le pain.\nL'eau.",
        },
        {"type": "article", "num": "Article 2", "heading": None, "path": ["CHAPITRE I Général"], "text": "La farine."},
        {"type": "annex", "num": None, "heading": "ANNEXE I", "path": [], "text": "Modèle."},
    ],
}

OWN_LINES = [
    {
        "type": "act",
        "id": "be/code-du-four",
        "kind": "code",
        "title": "Code du four",
        "language": "fr",
        "valid_from": "2020-01-01",
        "celex": "",
        "relations": [{"type": "TRANSPOSES", "target": "eu/32016L0999"}],
    },
    {"type": "article", "number": "1382", "path": ["Livre III", "Titre IV : Du four"], "text": "Tout pain brûlé oblige."},
    {
        "type": "article",
        "number": "1383",
        "path": ["Livre III", "Titre IV : Du four"],
        "text": "Sauf l'article 1382, chacun répond de son four.",
        "cites": [{"start": 7, "end": 19, "target": "be/code-du-four/1382"}],
    },
    {"type": "question", "id": "q1", "text": "Qui répond du pain brûlé ?", "relevant": ["be/code-du-four/1382"], "split": "test"},
]

BEIR_CORPUS = [
    {"_id": "d1", "title": "Bread", "text": "Bread is flour and water.", "metadata": {"type": "act"}},
    {"_id": "d/2", "title": "", "text": "An oven is hot.", "metadata": {"language": "en"}},
]
BEIR_QUERIES = [
    {"_id": "q1", "text": "What is bread?"},
    {"_id": "q2", "text": "What is hot?"},
    {"_id": "q3", "text": "What?"},
]
BEIR_QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td/2\t0\nq2\td/2\t2\n"

BSARD_ARTICLES = (
    "id,reference,article,law_type,description,code,book,part,act,chapter,section,subsection\n"
    '1,"Art. 1.1.1, Code du Pain (Livre I, Chapitre 2)","Le pain est fait de farine.\nEt d\'eau.",regional,'
    '"Livre I, Chapitre 2",Code du Pain,Livre I,,,Chapitre 2,,\n'
    '2,"Art. 1.1.2, Code du Pain","Le four est chaud.",regional,"Livre I, Chapitre 2",Code du Pain,Livre I,,,Chapitre 2,,\n'
    '3,"Art. 7, Code du Moulin","Le moulin tourne.",national,"Titre 1",Code du Moulin,,,,,,\n'
)
BSARD_QUESTIONS = (
    "id,category,subcategory,question,extra_description,article_ids\n"
    '11,Pain,Farine,De quoi est fait le pain ?,En Wallonie,"1,2"\n'
    "12,Moulin,Ailes,Pourquoi le moulin tourne-t-il ?,,3\n"
)

COLIEE_CODE = """\ufeffCivil Code (Part I, Part II and Part III)

Part I General Provisions
Chapter I Common Provisions
(Fundamental Principles)
Article 1  (1) Private rights must conform to the public welfare.
(2) No abuse of rights is permitted.
Chapter II Persons Section 1 Capacity
Chapter II Persons
Section 1 Capacity
(Commencement)
Article 3  The enjoyment of private rights begins at birth.
Articles 4 through 6 Deleted
Article 398-2  (1) A mortgage may be created:
(i) for claims of a kind; and
(ii) for others.
Part III Claims
(Damages in Torts)
Article 709  A person that has infringed a right is liable,
Article 1 notwithstanding, for the damage.
"""
COLIEE_XML = """<?xml version="1.0" encoding="UTF-8"?>
<dataset>
<pair id="R03-01-A" label="Y">
<t1>
(Damages in Torts)
Article 709  A person that has infringed a right is liable, Article 3 notwithstanding.
Article 398-2  (1) A mortgage may be created:
</t1>
<t2>
Who infringes a right pays for it.
</t2>
</pair>
<pair id="H30-02-B" label="N"><t1>Article 3  Birth.</t1><t2>Rights begin at school.</t2></pair>
</dataset>
"""
COLIEE_JSON = [
    {"id": "R02-05-O", "label": "Y", "query": "Rights are not to be abused.", "paragraph": "Article 1 (1) Private rights"},
    {"id": "R02-06-A", "label": "N", "query": "A mortgage has a limit.", "paragraph": ["Article 398-2 (1) A", "Article 709 B"]},
]

AKOMA_NTOSO = """<?xml version="1.0" encoding="UTF-8"?>
<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0">
  <act name="act">
    <meta>
      <identification source="#us">
        <FRBRWork>
          <FRBRthis value="/akn/za/act/2009/10/!main"/>
          <FRBRuri value="/akn/za/act/2009/10"/>
          <FRBRalias value="Bread Act" name="title"/>
          <FRBRdate date="2009-03-04" name="Generation"/>
          <FRBRcountry value="za"/>
        </FRBRWork>
        <FRBRExpression>
          <FRBRdate date="2012-01-01" name="Generation"/>
          <FRBRlanguage language="eng"/>
        </FRBRExpression>
      </identification>
      <analysis source="#us">
        <activeModifications>
          <textualMod type="substitution" eId="mod_1">
            <source href="#sec_2"/><destination href="/akn/za/act/1998/84/eng@/!main~sec_5"/>
          </textualMod>
          <textualMod type="repeal" eId="mod_2"><source href="#sec_2"/><destination href="/akn/za/act/1950/7"/></textualMod>
        </activeModifications>
        <passiveModifications>
          <textualMod type="repeal" eId="mod_3"><source href="/akn/za/act/2020/1"/><destination href="#sec_2"/></textualMod>
        </passiveModifications>
      </analysis>
    </meta>
    <preface><longTitle><p>An act on bread.</p></longTitle></preface>
    <body>
      <chapter eId="chp_I">
        <num>I</num>
        <heading>Of bread</heading>
        <intro><p>In this chapter:</p></intro>
        <crossHeading eId="chp_I__crossHeading_1">Dough</crossHeading>
        <section eId="chp_I__sec_1">
          <num>1.</num>
          <heading>Meaning</heading>
          <subsection eId="chp_I__sec_1__subsec_1">
            <num>(1)</num>
            <content><p>Bread is <b>flour</b>, water<sup>2</sup> and salt<authorialNote><p>Sea.</p></authorialNote>.</p></content>
          </subsection>
          <subsection eId="chp_I__sec_1__subsec_2">
            <num>(2)</num>
            <content><p>See <ref href="#sec_2__subsec_1">section 2(1)</ref> and
              <ref href="/za/act/1998/84/eng@/main#sec-5">section 5 of the Flour Act</ref>.</p></content>
          </subsection>
        </section>
      </chapter>
      <section eId="sec_2">
        <num>Section 2</num>
        <content><p>Replace section 5: <mod><quotedStructure><article eId="a"><num>5</num><content><p>Bake.</p></content>
          </article></quotedStructure></mod></p></content>
      </section>
    </body>
    <attachments>
      <attachment eId="att_1">
        <heading>Schedule of ovens</heading>
        <doc name="schedule"><meta/><mainBody><p>One oven.</p></mainBody></doc>
      </attachment>
    </attachments>
  </act>
</akomaNtoso>
"""


def json_lines(rows: list[dict[str, object]]) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


WRITTEN: dict[str, dict[str, str]] = {
    "legi": {"LEGITEXT000000000001.json": json.dumps(bakers(), ensure_ascii=False)},
    "legalize": {"leg-loi-2021-05-03-a1.md": LEGALIZE},
    "eu-acts": {"eu_acts.fr.jsonl": json_lines([EU_ACT])},
    "akoma-ntoso": {"bread-act.xml": AKOMA_NTOSO},
    "bsard": {
        "articles.csv": BSARD_ARTICLES,
        "questions_train.csv": BSARD_QUESTIONS,
        "questions_test.csv": BSARD_QUESTIONS.replace("11,", "21,").replace("12,", "22,"),
    },
    "coliee": {
        "civil_code_en.txt": COLIEE_CODE,
        "riteval_R03_en.xml": COLIEE_XML,
        "riteval_R02_en.json": json.dumps(COLIEE_JSON, indent=1),
    },
    "jsonl": {"own.jsonl": json_lines(OWN_LINES)},
    "beir": {
        "corpus.jsonl": json_lines(BEIR_CORPUS),
        "queries.jsonl": json_lines(BEIR_QUERIES),
        "qrels/test.tsv": BEIR_QRELS,
    },
}
"""File names and contents by format; every file is of its format and of no other."""


def write_format(folder: Path, format: str) -> Path:
    """Write the files of a format into a folder."""
    for name, text in WRITTEN[format].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
