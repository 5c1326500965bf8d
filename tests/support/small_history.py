"""A small code as law-as-git with its history, in the project's own words: two dialects, a renumbering, a repeal and a return."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ACT = "fr/LEGITEXT000000000077"
FILE = "fr/LEGITEXT000000000077.md"
_FRONT = """---
title: "Code des fours"
identifier: "LEGITEXT000000000077"
country: "fr"
rank: "code"
publication_date: "1804-03-21"
last_updated: "{day}"
status: "in_force"
---
# Code des fours

"""
BAKER = "Tout boulanger qui laisse brûler par sa faute le pain d'autrui est tenu de lui en donner un autre de même poids."
OVEN = "Le four banal est ouvert à tous les habitants."
OVEN_LATER = "Le four banal est ouvert à tous les habitants de la commune."
MILL = "Le meunier rend en farine le grain qu'il reçoit."
_TITLES = ("Titre Ier : Des fours", "Titre II : Des boulangers")


def flat(day: str, first: str, articles: Sequence[tuple[str, str]], second: str = _TITLES[1]) -> str:
    """Return a state in the flat dialect: the article ``1`` under the first title, the others under the second."""
    text = _FRONT.format(day=day) + f"{_TITLES[0]}\n\nArticle 1\n\n{first}\n\n{second}\n\n"
    return text + "\n".join(f"Article {number}\n\n{words}\n" for number, words in articles)


def marked(day: str, first: str, articles: Sequence[tuple[str, str]]) -> str:
    """Return a state in the dialect with marked headings."""
    text = _FRONT.format(day=day) + f"## {_TITLES[0]}\n\n##### Article 1\n\n{first}\n\n## {_TITLES[1]}\n\n"
    return text + "\n".join(f"##### Article {number}\n\n{words}\n" for number, words in articles)


@dataclass(frozen=True)
class Commit:
    """One commit: the day that its message names ("" for none), and the file's content; None deletes it."""

    day: str
    content: str | None
    file: str = FILE
    author: str = "1970-01-02T00:00:00+0000"


HISTORY = (
    Commit("1804-03-21", flat("1804-03-21", OVEN, [("10", BAKER), ("11", MILL)], "Titre II : Des boulangers et des meuniers")),
    Commit("1901-07-01", flat("1901-07-01", OVEN_LATER, [("10", BAKER)])),
    Commit("1950-01-01", flat("1950-01-01", OVEN_LATER, [("20", BAKER), ("11", MILL)])),
    Commit(
        "2020-01-01", marked("2020-01-01", OVEN_LATER.replace("four banal", "**four  banal**"), [("20", BAKER), ("11", MILL)])
    ),
)


def git(folder: Path, *arguments: str, **environment: str) -> str:
    """Run git in a folder, without this machine's configuration."""
    names = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
    }
    names |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org", "HOME": str(folder), "PATH": os.environ["PATH"]}
    done = subprocess.run(["git", "-C", str(folder), *arguments], env=names | environment, capture_output=True, check=True)
    return done.stdout.decode()


def write_repository(folder: Path, history: Sequence[Commit] = HISTORY) -> Path:
    """Make a repository with a history; one that is there gets more commits."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    for commit in history:
        path = folder / commit.file
        path.parent.mkdir(parents=True, exist_ok=True)
        if commit.content is None:
            path.unlink()
        else:
            path.write_text(commit.content, encoding="utf-8")
        git(folder, "add", "--all")
        message = "[reform] Code des fours" + (
            f"\n\nSource-Id: JORF-{commit.day}\nSource-Date: {commit.day}" if commit.day else ""
        )
        git(
            folder,
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            message,
            GIT_AUTHOR_DATE=commit.author,
            GIT_COMMITTER_DATE=commit.author,
        )
    return folder


def bundled(repository: Path, bundle: Path) -> Path:
    """Write the branch of a repository into a bundle."""
    git(repository, "bundle", "create", "--quiet", str(bundle.absolute()), "main", "HEAD")
    return bundle
