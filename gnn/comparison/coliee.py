"""COLIEE Task 3, year by year: which articles of the code decide a question.

Measured as Goebel et al. do, "Overview of Benchmark Datasets and Methods for the Legal Information Extraction/Entailment
Competition (COLIEE) 2023", section 5. An answer is a set of articles: the first ones of the ranking, at most k, whose score is
at most θ below the first. Both are chosen for F2 on the last year before the one that is tested, which chooses the epoch and
the weights of a recipe too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn.comparison.contenders import Entry, Score, contender, seeds_of
from gnn.comparison.markdown import table_lines, with_deviation, written_by
from gnn.training.train import Trainer
from gnn.workspace import Workspace
from runtime.progress import Progress
from schema.errors import BadQuery
from schema.records import Question
from search.arrays import Positions
from search.evaluation import Judged, f_measure, ranks_of, recall
from search.questions import judged, of_split
from search.ranking.fusion import standard_scores, top

SPLIT = "random"
"""Name of the split that the years are put in the place of."""
LARGEST_K = 10
THETAS = tuple(round(0.1 * step, 1) for step in range(61))
CUTS = (1, 5, 10, 20, 30, 100)
_YEAR = re.compile(r"coliee/([HR]\d{2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cut:
    """Limits of an answer: at most ``k`` articles, none further than ``theta`` below the first, in deviations of the head."""

    theta: float
    k: int


@dataclass(frozen=True, slots=True)
class Head:
    """The first articles of a ranking with their standard scores, best first, and the ranks of the relevant ones.

    Attributes:
        gaps: float[LARGEST_K], how far each stands below the first.
        right: bool[LARGEST_K], whether each is relevant.
    """

    gaps: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    ranks: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ColieeRow:
    """One recipe: measures in percent, means over seeds, with their deviations (None of one seed); the cut of each seed.

    Measures are precision, recall and F2 as COLIEE counts them (of each question, then the mean), the same over all answers
    together (micro), and R@k.
    """

    name: str
    about: str
    means: Mapping[str, float]
    deviations: Mapping[str, float | None]
    cuts: Sequence[Cut]


@dataclass(frozen=True, slots=True)
class ColieeTable:
    """Recipes on the questions of one year.

    Attributes:
        trained_on: years; chosen_on: the year that chose θ, k, epochs and weights; n: questions by year.
    """

    test: str
    chosen_on: str
    trained_on: Sequence[str]
    n: Mapping[str, int]
    rows: Sequence[ColieeRow]

    def as_json(self) -> dict[str, Any]:
        """Return the table as an object."""
        return asdict(self)


def year_of(question: Question) -> str:
    """Return the year of a question, as ``H18`` or ``R05``; empty where its identifier names none."""
    found = _YEAR.match(question.id)
    return found[1].upper() if found else ""


def by_year(questions: Sequence[Question], test: str) -> list[Question]:
    """Return the questions up to a year as a split: that year tests, the last one before chooses, all others train.

    Raises:
        BadQuery: there are no questions of that year, or of fewer than two years before it.
    """
    years = sorted({year_of(question) for question in questions} - {""})  # H (Heisei) comes before R (Reiwa)
    if test not in years:
        raise BadQuery(f"no questions of {test!r}; there are those of: {', '.join(years) or 'no year'}")
    before = years[: years.index(test)]
    if len(before) < 2:
        raise BadQuery(f"{test}: two years before it are needed, to train on and to choose by; there are: {', '.join(before)}")
    part = dict.fromkeys(before[:-1], "train") | {before[-1]: "development", test: "test"}
    return [
        replace(question, split=part[year], split_by_dossier=part[year])
        for question in questions
        if (year := year_of(question)) in part
    ]


def compare_on_coliee(workspace: Workspace, entries: Sequence[Entry], test: str, seeds: int = 1) -> ColieeTable:
    """Return the recipes' answers to the questions of one year; nothing is written but features of the law.

    Args:
        workspace: over the code, with the questions of all years.
        test: the year.
        seeds: trainings of each recipe.

    Raises:
        BadQuery: as `by_year`.
        BadSetting: a recipe learns from further questions, which the folder does not have.
    """
    asked = by_year(workspace.questions, test)
    for entry in entries:
        workspace.of_recipe(entry.recipe)
    trainer = Trainer(replace(workspace, questions=asked))
    development, tested = (judged(workspace.corpus, of_split(asked, SPLIT, part)) for part in ("development", "test"))
    runs: dict[tuple[str, str], list[tuple[Cut, dict[str, float]]]] = {}
    for recipe in {entry.recipe.key(): entry.recipe for entry in entries}.values():  # of each, one training serves all ways
        ways = sorted({entry.measured_way for entry in entries if entry.recipe.key() == recipe.key()})
        for seed in range(seeds_of(recipe, seeds)):
            one = contender(trainer, recipe.seeded(seed), SPLIT, ways)
            for way in ways:
                cut = best_cut(heads(one.ways[way], development, workspace.progress))
                answers = measures(heads(one.ways[way], tested, workspace.progress), cut)
                runs.setdefault((recipe.key(), way), []).append((cut, answers))
    rows = [_row(entry, runs[entry.recipe.key(), entry.measured_way]) for entry in entries]
    years = {year: part for question in asked for year, part in [(year_of(question), question.split)]}
    n = {year: sum(year_of(question) == year for question in asked) for year in sorted(years)}
    chosen = next(year for year, part in years.items() if part == "development")
    return ColieeTable(test, chosen, [year for year in n if years[year] == "train"], n, rows)


def _row(entry: Entry, runs: Sequence[tuple[Cut, Mapping[str, float]]]) -> ColieeRow:
    values = {name: [measured[name] for _, measured in runs] for name in runs[0][1]}
    return ColieeRow(
        entry.name,
        " ".join(entry.recipe.description.split()),
        {name: float(np.mean(of)) for name, of in values.items()},
        {name: float(np.std(of, ddof=1)) if len(of) > 1 else None for name, of in values.items()},
        [cut for cut, _ in runs],
    )


def heads(score: Score, questions: Sequence[Judged], progress: Progress) -> list[Head]:
    """Return the head of the ranking of each question."""
    found: list[Head] = []
    with progress("answers", len(questions)) as advance:
        for question in questions:
            scores = score(question.query)
            best: Positions = top(scores, LARGEST_K)
            ranks = ranks_of(scores, question.relevant)
            standing = standard_scores(scores)[best].astype(np.float64)
            found.append(Head(standing[:1] - standing, np.isin(best, question.relevant), ranks))
            advance(1)
    return found


def best_cut(answers: Sequence[Head]) -> Cut:
    """Return the cut with the best mean F2 over questions; of equal ones that which answers with the fewest articles."""
    cuts = (Cut(theta, k) for k in range(1, LARGEST_K + 1) for theta in THETAS)
    return max(cuts, key=lambda cut: measures(answers, cut)["F2"])


def measures(answers: Sequence[Head], cut: Cut) -> dict[str, float]:
    """Return precision, recall and F2 of questions, of each question and then the mean, and micro; and R@k; in percent."""
    given = np.array([int((head.gaps[: cut.k] <= cut.theta).sum()) for head in answers])
    right = np.array([int(head.right[:n].sum()) for head, n in zip(answers, given.tolist(), strict=True)])
    wanted = np.array([len(head.ranks) for head in answers])
    precisions, recalls = right / np.maximum(given, 1), right / wanted
    micro = right.sum() / max(given.sum(), 1), right.sum() / wanted.sum()
    found = {
        "precision": precisions.mean(),
        "recall": recalls.mean(),
        "F2": np.mean([f_measure(p, r) for p, r in zip(precisions.tolist(), recalls.tolist(), strict=True)]),
        "micro precision": micro[0],
        "micro recall": micro[1],
        "micro F2": f_measure(*micro),
        **{f"R@{cut}": np.mean([recall(head.ranks, cut) for head in answers]) for cut in CUTS},
    }
    return {name: 100 * float(value) for name, value in found.items()}


def figures(table: ColieeTable) -> Iterator[list[str]]:
    """Yield the names of the columns, then the cells of each row."""
    yield ["recipe", *table.rows[0].means, "θ", "k"]
    for row in table.rows:
        means = [with_deviation(mean, row.deviations[name]) for name, mean in row.means.items()]
        yield [row.name, *means, ", ".join(f"{cut.theta:g}" for cut in row.cuts), ", ".join(str(cut.k) for cut in row.cuts)]


def coliee_page(table: ColieeTable, command: str) -> str:
    """Return the table as a page of Markdown."""
    names, *rows = figures(table)
    lines = [*written_by("Recipes compared on COLIEE", command), f"## {coliee_title(table)}", "", *table_lines(names, rows)]
    lines += ["", *(f"- `{row.name}`: {row.about}" for row in table.rows)]
    return "\n".join(lines) + "\n"


def coliee_title(table: ColieeTable) -> str:
    """Return the title of a table."""
    trained = sum(table.n[year] for year in table.trained_on)
    return (
        f"COLIEE {table.test}: {table.n[table.test]:,} questions; trained on {trained:,} of {table.trained_on[0]} to "
        f"{table.trained_on[-1]}, chosen by {table.n[table.chosen_on]:,} of {table.chosen_on}"
    )
