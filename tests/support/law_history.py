"""A small code in a git repository, a commit a state: articles that change, move, end, and go on under another number."""

import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

CODE = "LEGITEXT000000000009"
CODE_ID = f"fr/{CODE}"
_MATTER = f"""---
title: "Code des fours"
identifier: "{CODE}"
country: "fr"
rank: "code"
publication_date: "1900-01-01"
last_updated: "2020-01-01"
status: "in_force"
---
# Code des fours
"""
OVEN_1900 = "Tout boulanger entretient son four au charbon et en répond devant le syndic selon l'article 10."
OVEN_1950 = "Tout boulanger entretient son four au gaz et en répond devant le préfet."
FAULT = (
    "Tout fait quelconque de l'homme, qui cause à autrui un dommage, oblige celui par la faute duquel il est arrivé à le réparer."
)
PROOF = "La preuve par présomption est laissée aux lumières du juge."
WATER = "L'eau du pétrin est puisée au puits communal."
STATES = {
    "1900-01-01": [
        ("Livre Ier : Des fours", [("1", OVEN_1900), ("2", WATER)]),
        ("Livre II : Des délits et des quasi-délits", [("10", FAULT), ("11", "On répond aussi de sa négligence.")]),
    ],
    "1950-06-01": [
        ("Livre Ier : Des fours", [("1", OVEN_1950), ("2", WATER)]),
        ("Livre II : Des délits et des quasi-délits", [("10", FAULT), ("11", "On répond aussi de sa négligence.")]),
    ],
    "2016-10-01": [
        ("Livre Ier : Des fours", [("1", OVEN_1950)]),
        ("Livre II : La responsabilité extracontractuelle", [("20", FAULT), ("21", "On répond aussi de sa négligence.")]),
        ("Livre III : De la preuve", [("10", PROOF)]),
    ],
}
"""Headings and articles of the code, by the first day of each state."""


def write_history(
    folder: Path, days: Iterable[str] = tuple(STATES), *, last: Callable[[bytes], bytes] = lambda state: state
) -> Path:
    """Make the repository in a folder, and return it; one that is there gets the states of more days.

    Args:
        folder: where it is.
        days: of `STATES`.
        last: may change the file of the last state.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        _git(folder, "init", "-q", "-b", "main")
    for day in days:
        lines = [_MATTER.replace("2020-01-01", day)]
        for heading, articles in STATES[day]:
            lines.append(f"## {heading}")
            lines += [f"##### Article {number}\n\n{text}" for number, text in articles]
        (folder / "fr").mkdir(exist_ok=True)
        state = ("\n\n".join(lines) + "\n").encode()
        (folder / "fr" / f"{CODE}.md").write_bytes(last(state) if day == max(STATES) else state)
        _git(folder, "add", "-A")
        _git(
            folder,
            "commit",
            "-q",
            "-m",
            f"[reform] Code des fours\n\nFecha: {day}\n\nSource-Date: {day}\nNorm-Id: {CODE}\nSource-Id: LOI-{day}",
        )
    return folder


def _git(folder: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _WHO.items()}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **who}
    subprocess.run(["git", *arguments], cwd=folder, check=True, env=environment, capture_output=True)


_WHO = {"NAME": "law", "EMAIL": "law@example.org", "DATE": "2020-01-01T00:00:00Z"}
