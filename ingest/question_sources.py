"""The table of sources that have questions alone, and the load of one: a reader finds their articles in the law at hand."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cypher.graph import Graph, Store
from ingest.citations.link import KnownLaw
from ingest.loading.quarantine import write_quarantine
from ingest.loading.questions import load_questions
from ingest.loading.report import LoadReport
from ingest.readers import fiches_travail, service_public
from runtime.progress import Progress, silent
from schema.records import Question, Rejected, outside_source


@dataclass(frozen=True, slots=True)
class ReadQuestions:
    """Questions that a reader found at a path, from how many files, and what it could not read."""

    files: int
    questions: list[Question]
    rejected: list[Rejected]


@dataclass(frozen=True, slots=True)
class QuestionFormat:
    """A format of questions on law that other files bring.

    Attributes:
        sources: of its questions, as recipes name them.
        recognises: true where a path has it.
        read: its questions on the law in a graph.
    """

    name: str
    sources: tuple[str, ...]
    recognises: Callable[[Path], bool]
    read: Callable[[Graph, Path, Progress], ReadQuestions]


def _read_service_public(graph: Graph, folder: Path, progress: Progress) -> ReadQuestions:
    files = service_public.sheet_files(folder)
    rejected: list[Rejected] = []
    sheets = list(service_public.read_sheets(files, rejected, progress))
    articles = {source: row["id"] for row in graph.rows("article_source_ids") for source in row["source_ids"]}
    below, law = articles_below_sections(graph), KnownLaw.of(graph)

    def named(key: str) -> list[str]:
        return [id for label, id in law.targets(key) if label == "Article"]

    linked = service_public.questions_of(sheets, articles, below)
    others = service_public.other_questions_of(sheets, articles, below, named)
    return ReadQuestions(len(files), [*linked, *others], rejected)


def _read_fiches_travail(graph: Graph, path: Path, progress: Progress) -> ReadQuestions:
    rejected: list[Rejected] = []
    articles = {row["id"] for row in graph.rows("article_source_ids")}
    return ReadQuestions(1, fiches_travail.read(path, articles, rejected), rejected)


QUESTION_FORMATS = (
    QuestionFormat(
        service_public.SOURCE,
        (service_public.SOURCE, service_public.NAMED_SOURCE, outside_source(service_public.SOURCE)),
        lambda path: (path / service_public.FOLDERS[0]).is_dir(),
        _read_service_public,
    ),
    QuestionFormat(fiches_travail.SOURCE, (fiches_travail.SOURCE,), fiches_travail.recognises, _read_fiches_travail),
)

_FOLDERS = (".", "data", "package/data")
"""Where a path, a folder of an npm package, or one unpacked, has its files."""


def question_source_at(path: Path, format: str | None) -> tuple[QuestionFormat, Path] | None:
    """Return the format of the questions at a path, or where an npm package keeps its data below it, and that place.

    Args:
        format: the only one that is looked for.
    """
    wanted = [asked for asked in QUESTION_FORMATS if format in (None, asked.name)]
    for folder in _FOLDERS:
        for asked in wanted:
            if asked.recognises(path / folder):
                return asked, path / folder
    return None


def load_question_source(store: Store, format: QuestionFormat, path: Path, progress: Progress = silent) -> LoadReport:
    """Make the questions of a format those at a path, on the law at hand; what cannot be read goes into quarantine.

    Raises:
        MissingFile: a file or a folder of the format is not there.
        BadSource: a file is broken as a whole.
        NotReady: there is no graph.
    """
    with store.reading() as graph:
        found = format.read(graph, path, progress)
    report = LoadReport(read_files=found.files, rejected=found.rejected)
    report.add(load_questions(store, format.sources, found.questions))
    write_quarantine(store.home, format.name, found.rejected)
    return report


def articles_below_sections(graph: Graph) -> dict[str, frozenset[str]]:
    """Return the identifiers of all articles below each section, by every publisher's identifier of the section."""
    parents = {row["id"]: row["parent_id"] for row in graph.rows("corpus_sections")}
    below: dict[str, set[str]] = defaultdict(set)
    for row in graph.rows("corpus_articles"):
        place = row["parent_id"]
        while place in parents:
            below[place].add(row["id"])
            place = parents[place]
    return {source: frozenset(below[row["id"]]) for row in graph.rows("section_source_ids") for source in row["source_ids"]}
