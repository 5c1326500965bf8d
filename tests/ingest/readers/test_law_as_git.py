"""Law-as-git with its history: wordings, places and numbers through the states of an act, and repositories that are none."""

import os
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.loading.report import LoadReport
from ingest.sources import ingest
from schema.errors import BadSource
from schema.wordings import place_on, value_on
from search.in_time.act_on_day import ActOnDay
from tests.support.disturbance import dump
from tests.support.small_history import (
    ACT,
    BAKER,
    FILE,
    HISTORY,
    MILL,
    OVEN,
    OVEN_LATER,
    Commit,
    bundled,
    flat,
    git,
    marked,
    write_repository,
)


def loaded(tmp_path: Path, source: Path) -> LoadReport:
    return ingest(EmbeddedStore(tmp_path / "home"), source)


def rows(tmp_path: Path, statement: str, ids: list[str]) -> list[dict[str, Any]]:
    with open_graph(tmp_path / "home") as graph:
        return graph.rows(statement, ids=ids)


def article(tmp_path: Path, number: str) -> dict[str, Any]:
    (row,) = rows(tmp_path, "articles_by_id", [f"{ACT}/{number}"])
    return row


def wordings(tmp_path: Path, number: str) -> list[tuple[date | None, date | None, str]]:
    return [(w["valid_from"], w["valid_to"], w["text"]) for w in rows(tmp_path, "wordings", [f"{ACT}/{number}"])]


def table(tmp_path: Path, day: date) -> list[tuple[str, str]]:
    with open_graph(tmp_path / "home") as graph:
        stood = ActOnDay.of(graph, ACT, day)
        return [(part.number, stood.path_above(part.id)[-1][1]) for part in stood.articles()]


def test_an_article_has_its_wordings_with_their_days_and_instruments(tmp_path: Path) -> None:
    loaded(tmp_path, write_repository(tmp_path / "law"))
    present = article(tmp_path, "1")
    assert (present["text"], present["valid_from"], present["valid_to"]) == (OVEN_LATER, date(1901, 7, 1), None)
    assert present["instrument"] == "JORF-1901-07-01"
    assert wordings(tmp_path, "1") == [(date(1804, 3, 21), date(1901, 7, 1), OVEN)]


def test_format_alone_is_no_new_wording_and_is_counted(tmp_path: Path) -> None:
    report = loaded(tmp_path, write_repository(tmp_path / "law"))
    assert any("3 changes of format dropped" in remark.reason for remark in report.remarks)
    assert article(tmp_path, "20")["valid_from"] == date(1950, 1, 1), "the marked dialect came in 2020"


def test_what_disappears_is_repealed_and_what_returns_has_a_gap(tmp_path: Path) -> None:
    loaded(tmp_path, write_repository(tmp_path / "law"))
    assert article(tmp_path, "10")["valid_to"] == date(1950, 1, 1)
    assert article(tmp_path, "11")["valid_from"] == date(1950, 1, 1)
    assert wordings(tmp_path, "11") == [(date(1804, 3, 21), date(1901, 7, 1), MILL)]


def test_a_text_goes_on_under_another_number(tmp_path: Path) -> None:
    loaded(tmp_path, write_repository(tmp_path / "law"))
    (edge,) = rows(tmp_path, "renumberings", [f"{ACT}/10"])
    assert (edge["number"], edge["on"], edge["similarity"]) == ("20", date(1950, 1, 1), 1.0)
    (back,) = rows(tmp_path, "renumberings_into", [f"{ACT}/20"])
    assert back["number"] == "10"


def test_the_tree_of_a_day_has_the_headings_of_that_day(tmp_path: Path) -> None:
    loaded(tmp_path, write_repository(tmp_path / "law"))
    assert table(tmp_path, date(1850, 1, 1)) == [
        ("1", "Titre Ier : Des fours"),
        ("10", "Titre II : Des boulangers et des meuniers"),
        ("11", "Titre II : Des boulangers et des meuniers"),
    ]
    assert [number for number, _ in table(tmp_path, date(1901, 7, 1))] == ["1", "10"], "the first day counts, the last does not"
    assert table(tmp_path, date(2021, 1, 1)) == [
        ("1", "Titre Ier : Des fours"),
        ("20", "Titre II : Des boulangers"),
        ("11", "Titre II : Des boulangers"),
    ]
    (section,) = rows(tmp_path, "sections_by_id", [f"{ACT}/titre-ii"])
    assert value_on(date(1804, 3, 21), section["stays"]) == "Titre II : Des boulangers et des meuniers"
    assert section["heading"] == "Titre II : Des boulangers"


def test_an_article_that_moves_keeps_its_places(tmp_path: Path) -> None:
    text = marked("2021-01-01", OVEN_LATER, [("20", BAKER)]).replace(
        "## Titre II", "##### Article 11\n\n" + MILL + "\n\n## Titre II"
    )
    loaded(tmp_path, write_repository(tmp_path / "law", [*HISTORY, Commit("2021-01-01", text)]))
    stays = article(tmp_path, "11")["stays"]
    assert [place_on(date(year, 6, 1), stays) for year in (1960, 2022)] == [(2, f"{ACT}/titre-ii"), (1, f"{ACT}/titre-ier")]
    assert wordings(tmp_path, "11") == [(date(1804, 3, 21), date(1901, 7, 1), MILL)], "to move is no new wording"


def law_in(home: Path) -> list[str]:
    """Lines of the dump that do not name the files which the law came from."""
    return [line for line in dump(home).splitlines() if '"label":"Source"' not in line and '"label":"Act"' not in line]


@pytest.mark.slow
def test_a_bundle_a_clone_its_git_folder_and_a_bare_repository_are_the_same_law(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), str(bare))
    sources = (repository, repository / ".git", bare, bundled(repository, tmp_path / "law.bundle"))
    for n, source in enumerate(sources):
        ingest(EmbeddedStore(tmp_path / f"home-{n}"), source)
    first, *others = (law_in(tmp_path / f"home-{n}") for n in range(len(sources)))
    assert len(first) > 10
    assert all(other == first for other in others)


def test_a_second_run_changes_nothing_and_one_commit_more_gives_what_all_at_once_gives(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law", HISTORY[:-1])
    loaded(tmp_path, repository)
    assert not loaded(tmp_path, repository).anything_changed
    assert loaded(tmp_path, write_repository(repository, HISTORY[-1:])).changed["Act"] == 1
    ingest(EmbeddedStore(tmp_path / "other"), write_repository(tmp_path / "all" / "law"))
    assert law_in(tmp_path / "home") == law_in(tmp_path / "other")


def test_a_wording_that_is_still_to_come_leaves_the_present_one(tmp_path: Path) -> None:
    later = Commit("2999-01-01", marked("2999-01-01", "Le four banal ferme.", [("20", BAKER), ("11", MILL)]))
    again = Commit("2020-02-01", marked("2020-02-01", OVEN_LATER, [("20", BAKER), ("11", MILL)]))
    loaded(tmp_path, write_repository(tmp_path / "law", [*HISTORY, later, again]))
    present = article(tmp_path, "1")
    assert (present["text"], present["valid_to"]) == (OVEN_LATER, date(2999, 1, 1))
    assert (date(2999, 1, 1), None, "Le four banal ferme.") in wordings(tmp_path, "1")


def test_the_last_commit_of_a_day_stands_for_it(tmp_path: Path) -> None:
    other = Commit("1901-07-01", flat("1901-07-01", "Le four banal est fermé.", [("10", BAKER)]))
    loaded(tmp_path, write_repository(tmp_path / "law", [HISTORY[0], other, *HISTORY[1:]]))
    assert [text for *_, text in wordings(tmp_path, "1")] == [OVEN]


def test_a_file_that_moves_is_the_same_act(tmp_path: Path) -> None:
    moved = "codes/fours.md"
    repository = write_repository(tmp_path / "law", HISTORY[:2])
    (repository / "codes").mkdir()
    git(repository, "mv", FILE, moved)
    git(repository, "commit", "--quiet", "-m", "move\n\nSource-Date: 1930-01-01", GIT_AUTHOR_DATE="1970-01-02T00:00:00+0000")
    write_repository(repository, [Commit(c.day, c.content, moved) for c in HISTORY[2:]])
    loaded(tmp_path, repository)
    assert [row["id"] for row in rows(tmp_path, "acts_by_id", [ACT])] == [ACT]
    assert wordings(tmp_path, "1") == [(date(1804, 3, 21), date(1901, 7, 1), OVEN)]


def test_the_author_counts_where_the_message_names_no_day(tmp_path: Path) -> None:
    commits = [HISTORY[0], Commit("", HISTORY[3].content, author="2020-05-05T00:00:00+0200")]
    loaded(tmp_path, write_repository(tmp_path / "law", commits))
    assert article(tmp_path, "1")["valid_from"] == date(2020, 5, 5)


def test_a_bundle_that_breaks_off_is_refused(tmp_path: Path) -> None:
    bundle = bundled(write_repository(tmp_path / "law"), tmp_path / "law.bundle")
    bundle.write_bytes(bundle.read_bytes()[:-200])
    with pytest.raises(BadSource, match="not a bundle that can be read to its end"):
        loaded(tmp_path, bundle)


def test_a_missing_blob_is_named_and_the_rest_is_loaded(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    blob = git(repository, "rev-parse", f"HEAD~2:{FILE}").strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    report = loaded(tmp_path, repository)
    assert [record.reason for record in report.rejected] == [
        f"blob {blob[:12]} is missing: the state of 1901-07-01 is not loaded"
    ]
    assert article(tmp_path, "20")["text"] == BAKER


def test_a_missing_tree_is_named_and_the_rest_is_loaded(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    tree, commit = git(repository, "rev-parse", "HEAD~2^{tree}", "HEAD~2").split()
    (repository / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    report = loaded(tmp_path, repository)
    assert any(record.place == f"commit {commit[:12]}" for record in report.rejected)
    assert article(tmp_path, "1")["text"] == OVEN_LATER


def test_a_shallow_clone_is_read_with_a_warning(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{repository}", str(tmp_path / "cut"))
    report = loaded(tmp_path, tmp_path / "cut")
    assert any("a shallow clone" in remark.reason for remark in report.remarks)
    assert (article(tmp_path, "20")["valid_from"], wordings(tmp_path, "1")) == (date(1950, 1, 1), [])


def test_nothing_of_a_hostile_repository_is_followed_or_run(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    secret = tmp_path / "secret.md"
    secret.write_text(HISTORY[0].content or "", encoding="utf-8")
    (repository / "fr" / "link.md").symlink_to(secret)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "-m", "link\n\nSource-Date: 2021-01-01")
    ran = tmp_path / "ran"
    for name in ("post-checkout", "reference-transaction", "pre-auto-gc"):
        hook = repository / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.sshCommand"):
        git(repository, "config", name, f"touch {ran}")
    git(repository, "config", "log.showSignature", "true")
    report = loaded(tmp_path, repository)
    assert any("a link or a submodule is not followed" in remark.reason for remark in report.remarks)
    assert not ran.exists()
    (repository / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "objects" / "info" / "alternates").write_text(f"{tmp_path}/elsewhere\n")
    (repository / ".git" / "refs" / "heads" / "main").write_text("0" * 40 + "\n")
    with pytest.raises(BadSource, match="objects of another repository, which is not followed"):
        loaded(tmp_path, repository)


def test_a_git_folder_that_points_elsewhere_is_refused(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    shutil.move(repository / ".git", tmp_path / "real.git")
    os.symlink(tmp_path / "real.git", repository / ".git")
    with pytest.raises(BadSource, match="points to another folder, which is not followed"):
        loaded(tmp_path, repository)


def test_the_first_commit_with_all_wordings_at_once_is_the_state_of_no_day(tmp_path: Path) -> None:
    all_at_once = flat("1800-01-01", OVEN, [(str(n), f"Texte {n}, {k}.") for n in range(2, 30) for k in (1, 2)])
    report = loaded(tmp_path, write_repository(tmp_path / "law", [Commit("1800-01-01", all_at_once), *HISTORY]))
    assert any("the wordings of all days at once" in remark.reason for remark in report.remarks)
    assert report.created["Article"] == 4


def test_a_line_of_the_message_names_the_day_and_a_day_that_no_calendar_has_is_passed_over(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law", HISTORY[:1])
    later = {"Fecha: 1850-02-03\n\n[reform]": OVEN_LATER, "[reform]\n\nSource-Date: 1860-02-30": "Le four banal ferme."}
    for message, oven in later.items():
        (repository / FILE).write_text(flat("", oven, [("10", BAKER)]), encoding="utf-8")
        git(repository, "commit", "--quiet", "--all", "-m", message, GIT_AUTHOR_DATE="1999-09-09T00:00:00+0000")
    loaded(tmp_path, repository)
    assert [start for start, *_ in wordings(tmp_path, "1")] == [date(1804, 3, 21), date(1850, 2, 3)]
    assert article(tmp_path, "1")["valid_from"] == date(1999, 9, 9), "the author's day"


def on_top(repository: Path, tree: str, author: str, message: str) -> str:
    """Put a commit that git itself would not make on top of the branch, and return its name."""
    parent = git(repository, "rev-parse", "HEAD").strip()
    content = repository / "made.commit"
    content.write_text(
        f"tree {tree}\nparent {parent}\n{author}committer A <a@example.org> 0 +0000\n\n{message}\n", encoding="utf-8"
    )
    name = git(repository, "hash-object", "-w", "--literally", "-t", "commit", str(content)).strip()
    (repository / ".git" / "refs" / "heads" / "main").write_text(f"{name}\n", encoding="ascii")
    return name


def test_an_article_of_another_act_that_is_reproduced_is_a_part_of_the_text(tmp_path: Path) -> None:
    quoting = BAKER + "\n\nArt. R. 444-1 du code de la meunerie\n\nLe moulin tourne."
    loaded(tmp_path, write_repository(tmp_path / "law", [Commit("1804-03-21", flat("1804-03-21", OVEN, [("10", quoting)]))]))
    assert article(tmp_path, "10")["text"] == quoting.replace("\n\n", "\n")
    assert [number for number, _ in table(tmp_path, date(1804, 3, 21))] == ["1", "10"]


def test_an_annex_that_is_an_article_is_one_in_both_dialects(tmp_path: Path) -> None:
    states = [
        (day, dialect(day, OVEN, [("10", BAKER), ("Annexe 1", MILL)]))
        for day, dialect in (("1804-03-21", flat), ("2020-01-01", marked))
    ]
    loaded(tmp_path, write_repository(tmp_path / "law", [Commit(*state) for state in states]))
    assert [number for number, _ in table(tmp_path, date(1804, 3, 21))] == ["1", "10", "Annexe 1"]
    assert (article(tmp_path, "10")["valid_from"], wordings(tmp_path, "10")) == (date(1804, 3, 21), [])


def test_a_commit_without_a_day_is_named_and_the_rest_is_loaded(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    (repository / FILE).write_text(flat("", "Le four banal ferme.", [("20", BAKER)]), encoding="utf-8")
    git(repository, "add", "--all")
    commit = on_top(repository, git(repository, "write-tree").strip(), "author A <a@example.org> some day\n", "[reform]")
    report = loaded(tmp_path, repository)
    assert [(record.place, record.reason) for record in report.rejected] == [
        (f"commit {commit[:12]}", "no day: neither its message nor its author's date has one")
    ]
    assert article(tmp_path, "1")["text"] == OVEN_LATER


def test_a_name_that_leads_out_of_the_repository_is_passed_over(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "law")
    above, whole = (git(repository, "rev-parse", name).strip() for name in ("HEAD:fr", "HEAD^{tree}"))
    entries = tmp_path / "entries"
    entries.write_bytes(b"40000 ..\0" + bytes.fromhex(above) + b"40000 fr\0" + bytes.fromhex(above))
    tree = git(repository, "hash-object", "-w", "--literally", "-t", "tree", str(entries)).strip()
    assert tree != whole
    on_top(repository, tree, "author A <a@example.org> 0 +0000\n", "out\n\nSource-Date: 2021-01-01")
    report = loaded(tmp_path, repository)
    assert any("a name that leads out of the repository is passed over" in remark.reason for remark in report.remarks)
    assert report.created["Act"] == 1
    assert article(tmp_path, "1")["text"] == OVEN_LATER
    assert not list(tmp_path.rglob("*.history"))


def test_an_act_whose_file_is_deleted_has_ended_with_all_its_articles(tmp_path: Path) -> None:
    ended = date(2021, 5, 1)
    loaded(tmp_path, write_repository(tmp_path / "law", [*HISTORY, Commit(str(ended), None)]))
    assert {article(tmp_path, number)["valid_to"] for number in ("1", "11", "20")} == {ended}
    assert article(tmp_path, "1")["text"] == OVEN_LATER
    assert [number for number, _ in table(tmp_path, date(2021, 4, 30))] == ["1", "20", "11"]
    assert table(tmp_path, ended) == []
