"""The law in a graph held against the git objects that it was read from, by another way of reading them."""

import html
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from cypher.graph import Graph, Row
from schema.identifiers import normal_number
from schema.wordings import in_force_on

SEED = 14
_ARTICLE = re.compile(
    r"(?:#+ +)?(?:\*\*)?Article +((?:[LRDAO]{1,2}[ .]*)?\*{0,2} ?"
    r"(?:\d|[IVX]+\b|[A-Z]\b|unique|premier|pr[ée]lim|additionnel|annexe).{0,60}?)(?:\*\*)?",
    re.IGNORECASE,
)
_FLAT_LENGTH = 48
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_TAG = re.compile(r"</?(?:sup|sub|b|i|u|em|strong|span|br)\s*/?>", re.IGNORECASE)
_KIND = re.compile(
    r"(?:\S+ )?(?:sous-)?(?:partie|livre|titre|chapitre|section|paragraphe|annexe)s?\b|[IVXLC\dA-Z][\w° .-]{0,18} ?[:\u2013] ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Commit:
    """A state of an act in the repository."""

    name: str
    act: str
    day: date
    blob: str
    subject: str


@dataclass(slots=True)
class Comparison:
    """Articles of states, and those that differ, each with its state and its number.

    Attributes:
        passed_over: states that stand for no day, with the reason.
    """

    states: int = 0
    articles: int = 0
    different: list[tuple[Commit, str]] = field(default_factory=list[tuple[Commit, str]])
    passed_over: list[tuple[Commit, str]] = field(default_factory=list[tuple[Commit, str]])

    @property
    def share_equal(self) -> float:
        """Share of the articles that are equal, from 0 to 1."""
        return 1 - len(self.different) / max(self.articles, 1)


def git(repository: Path, *arguments: str) -> str:
    """Return what git prints of a repository."""
    done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8")


def commits(repository: Path) -> list[Commit]:
    """Return the states of all acts, in the order of the history."""
    log = git(
        repository,
        "log",
        "--reverse",
        "--raw",
        "--no-abbrev",
        "--format=@%H%x09%(trailers:key=Source-Date,valueonly,separator=%x2C)%x09%s",
    )
    found: list[Commit] = []
    name = day = subject = ""
    for line in log.splitlines():
        if line.startswith("@"):
            name, day, subject = line[1:].split("\t", 2)
        elif line.startswith(":"):
            details, path = line.split("\t")
            found.append(Commit(name, Path(path).stem, date.fromisoformat(day.strip()), details.split()[3], subject))
    return found


def compare(graph: Graph, repository: Path, sample: int, seed: int = SEED) -> Comparison:
    """Compare states drawn at random with the graph: number by number, text by text without white space and marks."""
    listed = commits(repository)
    last = {(commit.act, commit.day): commit for commit in listed}
    first = {commit.act: commit for commit in reversed(listed)}
    result = Comparison()
    acts: dict[str, list[tuple[Row, list[Row]]]] = {}
    headings: dict[str, frozenset[str]] = {}
    for commit in random.Random(seed).sample(listed, sample):
        if last[commit.act, commit.day] is not commit:
            result.passed_over.append((commit, "a later commit of the same day"))
            continue
        if first[commit.act] is commit and "bootstrap" in commit.subject:
            result.passed_over.append((commit, "the wordings of all days at once"))
            continue
        if commit.act not in acts:
            acts[commit.act] = _law(graph, f"fr/{commit.act}")
            tip = [c for c in listed if c.act == commit.act][-1]
            headings[commit.act] = _marked_headings(git(repository, "cat-file", "blob", tip.blob))
        given = Counter(_on_day(acts[commit.act], commit.day))
        result.states += 1
        for number, texts in _articles(git(repository, "cat-file", "blob", commit.blob), headings[commit.act]):
            result.articles += 1
            equal = next((text for text in texts if given[number, text]), None)
            if equal is None:
                result.different.append((commit, number))
            else:
                given[number, equal] -= 1
        result.different += ((commit, number) for number, _ in given.elements())
    return result


def _law(graph: Graph, act: str) -> list[tuple[Row, list[Row]]]:
    wordings: dict[str, list[Row]] = {}
    for row in graph.rows("wordings_of_acts", ids=[act]):
        wordings.setdefault(row["article_id"], []).append(row)
    return [(row, wordings.get(row["id"], [])) for row in graph.rows("articles_of_acts", ids=[act])]


def _on_day(law: Sequence[tuple[Row, list[Row]]], day: date) -> Iterator[tuple[str, str]]:
    for article, others in law:
        place = in_force_on(day, [(row["valid_from"], row["valid_to"]) for row in (article, *others)])
        if place is not None:
            text = "".join((article, *others)[place]["text"].split())
            yield normal_number(article["number"]), text.replace("*", "").replace("\\", "")


def _marked_headings(markdown: str) -> frozenset[str]:
    return frozenset(_text([line.lstrip("#")]) for line in markdown.split("\n") if line.startswith("#"))


def _articles(markdown: str, headings: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    """Number of each article in a file, line by line, and its text; of the flat dialect with and without what may be a heading.

    Args:
        headings: those that are sure.
    """
    body = markdown.split("\n---\n", 1)[1]
    marked = "\n##### Article" in body
    number: str | None = None
    lines: list[str] = []
    for line in [*body.split("\n"), "#"]:
        found = _ARTICLE.fullmatch(line) if line.startswith("#") or len(line) <= _FLAT_LENGTH else None
        if not (line.startswith("#") if marked else found or line == "#"):
            lines.append(line)
            continue
        if number is not None:
            yield number, [_text(lines)] if marked else list(_with_fewer(lines, headings))
        number, lines = (normal_number(found[1].rstrip(" .")) if found else None), []


def _with_fewer(lines: list[str], headings: frozenset[str]) -> Iterator[str]:
    kept = [line for line in lines if line.strip()]
    while kept and _text(kept[-1:]) in headings:
        kept.pop()
    yield _text(kept)
    while kept and (_KIND.match(kept[-1].strip()) or _text(kept[-1:]) in headings):
        kept.pop()
        yield _text(kept)


def _text(lines: Sequence[str]) -> str:
    text = _TAG.sub(lambda tag: " " if "br" in tag[0].lower() else "", _LINK.sub(r"\1", "\n".join(lines)))
    return "".join(html.unescape(text).replace("*", "").replace("\\", "").split())
