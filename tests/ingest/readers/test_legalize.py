"""Law-as-git: a small act read through, jurisdictions that are not known, and all of the real files of two countries."""

import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.fetching.archives import unpacked
from ingest.readers.legalize import read
from ingest.sources import ingest
from schema.errors import BadSource
from schema.records import ActTree, Remark
from tests.support.small_texts import LEGALIZE, write_format

DATA = Path(__file__).parents[3].parent / "shared" / "data"
REAL = {
    # files, by country
    "lu": 19_775,
    "fr": 68,
}


def tree_of(folder: Path, text: str) -> ActTree:
    path = folder / "act.md"
    path.write_text(text, "utf-8")
    (tree,) = (item for item in read(path) if isinstance(item, ActTree))
    return tree


def test_front_matter_headings_articles_and_links(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, LEGALIZE)
    act = tree.act
    assert (act.id, act.kind, act.published, act.status) == ("lu/leg-loi-2021-05-03-a1", "loi", date(2021, 5, 3), "in_force")
    assert act.preamble.startswith("Nous Henri")
    assert [(s.number, s.heading) for s in tree.sections] == [
        ("Chapitre 1er", "Chapitre 1er – Du pain"),
        ("Chapitre 2", "Chapitre 2 – Du boulanger"),
    ]
    assert [(a.id, a.text) for a in tree.articles] == [
        (f"{act.id}/1er", "Le pain est fait de farine et d'eau.\nIl est cuit au four."),
        (f"{act.id}/2", "Voir l'article 1er de la présente loi."),
        (f"{act.id}/2bis", "Le boulanger se repose le dimanche."),
    ]
    (citation,) = tree.citations
    assert (citation.text, citation.target) == ("article 1er", f"{act.id}/1er")
    assert [(r.type, r.target) for r in tree.relations] == [("CITES", "eu/32016L0680"), ("AMENDS", "lu/leg-loi-2018-08-21-a837")]


def test_a_jurisdiction_that_is_not_known_loads_with_a_remark(tmp_path: Path) -> None:
    source = write_format(tmp_path / "law", "legalize")
    text = LEGALIZE.replace("country: lu", "country: xx").replace("### Art. 1er.", "### Article 1 – Bread")
    (source / "leg-loi-2021-05-03-a1.md").write_text(text, "utf-8")
    report = ingest(EmbeddedStore(tmp_path / "home"), source)
    assert [remark.reason for remark in report.remarks] == ["unknown jurisdiction 'xx': read by the words most share"]
    assert report.rejected == []
    with open_graph(tmp_path / "home") as graph:
        assert {row["number"] for row in graph.rows("corpus_articles")} == {"1", "2", "2bis"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("---\ntitle", "title"), "line 1: no front matter"),
        (("status: in_force\n", "status: [in_force\n"), r"line \d+: front matter is not YAML"),
        (
            ("identifier: leg-loi-2021-05-03-a1", "identifier: ../../etc/passwd"),
            "not an identifier of an act: '../../etc/passwd'",
        ),
        (("identifier: leg-loi-2021-05-03-a1", "identifier: a..b"), "not an identifier of an act"),
        (("country: lu", "country: ../x"), "not a country"),
        (("publication_date: 2021-05-03", "publication_date: '2021-13-03'"), "publication_date: not a date"),
        (('title: "Loi du 3 mai 2021 sur les boulangeries"\n', ""), "no title"),
        (("country: lu", "<<: {a: 1}\ncountry: lu"), "a merge of mappings"),
        (("rank: loi", "rank: " + "[" * 30_000), "line 5: front matter nests deeper than 20 levels"),
        (("rank: loi", "rank: " + "{a: " * 10_000), "line 5: front matter nests deeper than 20 levels"),
        (("rank: loi", "rank:\n" + "- " * 30_000), "line 6: front matter nests deeper than 20 levels"),
        (("rank: loi", f"rank: {'x' * (70 << 10)}"), "at most 65,536 are read"),
    ],
)
def test_a_broken_file_is_refused_with_place_and_reason(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    assert change[0] in LEGALIZE
    with pytest.raises(BadSource, match=message):
        tree_of(tmp_path, LEGALIZE.replace(*change))


def test_a_file_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "act.md"
    path.write_bytes(LEGALIZE.encode("latin-1", "replace"))
    with pytest.raises(BadSource, match=r"line 15, byte \d+: not UTF-8 text"):
        list(read(path))


@pytest.mark.timeout(30)
@pytest.mark.parametrize("piece", ["#", "# ", " ", "\\*", "[a](", "**a", "&"])
def test_an_enormous_line_is_read_in_linear_time(piece: str, tmp_path: Path) -> None:
    line = piece * 100_000 + "x"
    tree = tree_of(tmp_path, f"{LEGALIZE}\n### Art. 3.\n\n# {line}\n\n{line}\n")
    assert [article.number for article in tree.articles] == ["1er", "2", "2bis", "3"]


HEADING_OF_AN_ARTICLE = re.compile(
    r"^#{1,6}[ \t]+\W*(?:Articles?|Art\.?)[\s\xa0]*\W*(?:(?:LO|[LRDA])[. *]*)?(?:\d|[IVX]+\b|unique|premier|annexe|préliminaire)",
    re.IGNORECASE | re.MULTILINE,
)
"""What a person would take for the heading of an article: counted without the reader."""


@pytest.mark.xdist_group("real legalize")
@pytest.mark.parametrize(("country", "files"), REAL.items())
def test_all_files_of_a_country_are_read_and_their_headings_become_articles(country: str, files: int, tmp_path: Path) -> None:
    archive = DATA / f"legalize-{country}.tar.xz"
    if not archive.exists():
        pytest.skip(f"pack a checkout of github.com/legalize-dev/legalize-{country} as ../shared/data/{archive.name}")
    unpacked(archive, tmp_path)
    headed = articles = 0
    lost: Counter[str] = Counter()
    refused: list[str] = []
    paths = [path for path in sorted(tmp_path.rglob("*.md")) if path.parent.name == country]
    for path in paths:
        try:
            (tree,) = read(path)
        except BadSource as error:
            refused.append(str(error))
            continue
        assert isinstance(tree, ActTree), "the jurisdiction is known: no remark"
        assert tree.rejected == ()
        n = len(HEADING_OF_AN_ARTICLE.findall(path.read_text("utf-8")))
        own = sum(article.number != "Texte" for article in tree.articles)
        headed, articles = headed + n, articles + own
        if own < n:
            lost[path.name] = n - own
        ids = [article.id for article in tree.articles] + [section.id for section in tree.sections]
        assert len(set(ids)) == len(ids)
    print(f"{country}: {len(paths)} files, {headed} headings of articles, {articles} articles, lost {lost.most_common(5)}")
    assert (len(paths), refused) == (files, [])
    assert headed > 50_000
    assert sum(lost.values()) <= 0.005 * headed, lost.most_common(10)


def test_remarks_are_no_rejections(tmp_path: Path) -> None:
    path = tmp_path / "act.md"
    path.write_text(LEGALIZE.replace("country: lu", "country: xx-yy"), "utf-8")
    remark, tree = read(path)
    assert isinstance(remark, Remark)
    assert isinstance(tree, ActTree)
    assert tree.act.jurisdiction == "xx-yy"
