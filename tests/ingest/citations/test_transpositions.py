"""What titles say of directives and of other acts: transposed, amended, repealed, or only named."""

import csv
import tarfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ingest.citations.transpositions import find_amendments, find_transpositions

DATA = Path(__file__).parents[4] / "shared" / "data"
TITLES = [
    ("Loi du 1er août 2018 portant transposition de la directive 2016/680/UE", {"32016L0680": "transposition"}),
    ("Loi du 29 avril 2000 transposant la directive n° 92/29/CEE du Conseil", {"31992L0029": "transposition"}),
    (
        "Loi du 3 mars 2020 modifiant le Code pénal, aux fins de transposition de la directive (UE) 2017/541",
        {"32017L0541": "transposition"},
    ),
    (
        "Loi du 3 mars 2020 modifiant la loi du 4 mai 2001 en vue de la transposition de la directive (UE) 2017/541",
        {"32017L0541": "transposition"},
    ),
    (
        "Loi du 12 mars 1998 portant transposition de la directive 92/101/CEE modifiant la directive 77/91/CEE",
        {"31992L0101": "transposition", "31977L0091": "amended directive"},
    ),
    (
        "Loi du 26 mars 1997 portant 1° transposition des directives 93/13/CEE concernant les clauses et 85/577/CEE",
        {"31993L0013": "transposition", "31985L0577": "transposition"},
    ),
    (
        "Loi du 14 mai 2002 portant transposition - de la directive 2000/28/CE modifiant la directive 2000/12/CE; "
        "- de la directive 2000/46/CE",
        {"32000L0028": "transposition", "32000L0012": "amended directive", "32000L0046": "transposition"},
    ),
    (
        "Règlement grand-ducal du 24 avril 2000 portant application de la directive cadre 89/391/CEE",
        {"31989L0391": "application"},
    ),
    (
        "Règlement du 31 juillet 2005 modifiant le règlement grand-ducal du 16 novembre 2001 transposant la directive 94/58/CE",
        {"31994L0058": "other act"},
    ),
    (
        "Loi du 8 mars 2023 mettant en œuvre le règlement (UE) n° 1107/2009 et abrogeant la directive 91/414/CEE",
        {"31991L0414": "amended directive"},
    ),
    ("Règlement du 14 février 1975 dans le cadre de la directive 72/159 CEE", {"31972L0159": "named"}),
    ("Loi du 23 décembre 2016 portant mise en œuvre du règlement (UE) 2016/679", {}),
    ("Loi du 10 août 1915 concernant les sociétés commerciales", {}),
]


@pytest.mark.parametrize(("title", "bases"), TITLES)
def test_directives_of_a_title(title: str, bases: dict[str, str]) -> None:
    found = find_transpositions(title)
    assert {one.celex: one.basis for one in found} == bases
    for one in found:
        assert one.evidence in title
        assert (one.confidence >= 0.9) == (one.basis in ("transposition", "application"))


CHANGES = [
    (
        "Loi du 1er mars 2020 modifiant la loi modifiée du 10 août 1915 concernant les sociétés",
        ["amends lu:loi:1915-08-10:concernant-les-societes"],
    ),
    ("Loi du 1er mars 2020 abrogeant la loi du 3 mai 2001", ["repeals lu:loi:2001-05-03"]),
    (
        "Loi du 1er mars 2020 portant modification : 1° du Code pénal ; 2° de la loi du 3 mai 2001 ; "
        "et abrogation de la loi du 4 mai 2001",
        ["amends lu:code:code penal", "amends lu:loi:2001-05-03", "repeals lu:loi:2001-05-04"],
    ),
    ("Loi du 1er mars 2020 portant modification de l'article 491 du Code pénal", ["amends lu:code:code penal"]),
    (
        "Règlement du 1er mars 2020 modifiant le règlement grand-ducal du 3 mai 2001 portant exécution de la loi du 4 mai 2001",
        ["amends lu:reglement-grand-ducal:2001-05-03:portant-execution-de-la-loi-du-4-mai-2001"],
    ),
    ("Loi du 1er mars 2020 relative à l'eau", []),
]


@pytest.mark.parametrize(("title", "changes"), CHANGES)
def test_acts_that_a_title_changes(title: str, changes: list[str]) -> None:
    assert [f"{one.change} {one.act}" for one in find_amendments(title, "lu")] == changes


@given(
    st.lists(
        st.sampled_from(["transposant", "modifiant", "la directive", "95/46/CE", ";", "loi du 3 mai 2001", "et", "règlement"])
    )
)
def test_any_title(words: list[str]) -> None:
    title = " ".join(words)
    found = find_transpositions(title)
    assert len({one.celex for one in found}) == len(found)
    find_amendments(title, "lu")


@pytest.mark.xdist_group("real legalize")
def test_the_titles_of_luxembourg_acts_name_the_directives_of_the_published_table() -> None:
    """For the directives of the table whose text there is: all pairs by title, and hardly another.

    Of other directives the table says nothing: it lacks those whose number stands behind its Union, as (UE) 2016/680.
    """
    archive, table = DATA / "legalize-lu.tar.xz", DATA / "eu-lu" / "transpositions.csv"
    if not (archive.exists() and table.exists()):
        pytest.skip(f"pack a checkout of github.com/legalize-dev/legalize-lu as {archive.name} beside eu-lu/ in ../shared/data")
    with table.open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["basis"] == "title" and row["directive_text"] == "yes"]
    labelled = {(row["act"], row["celex"]) for row in rows}
    directives = {celex for _, celex in labelled}
    found: set[tuple[str, str]] = set()
    with tarfile.open(archive) as packed:
        for member in packed:
            content = packed.extractfile(member) if member.name.endswith(".md") else None
            if content is None or "/lu/" not in f"/{member.name}":
                continue
            matter = yaml.load(content.read().decode("utf-8-sig").split("\n---", 1)[0], Loader=yaml.CSafeLoader)
            found |= {(matter["identifier"], one.celex) for one in find_transpositions(matter["title"])}
    found = {pair for pair in found if pair[1] in directives}
    right = len(found & labelled)
    print(f"{len(labelled)} pairs by title, {len(directives)} directives: {len(found)} found, {right} right")
    assert len(labelled) == 228
    assert right >= 0.95 * len(labelled)
    assert right >= 0.95 * len(found), sorted(found - labelled)
