"""What the documentation says of measured recipes is what their pages of results say."""

import re
from collections.abc import Iterator

import pytest

from tests.support.checkout import ROOT

PAPERS = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
RECIPES = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
SPLITS = ("random", "by-dossier")
MEASURES = ("R@100", "R@200", "R@500", "MAP", "nDCG@10")
LINK = re.compile(r"\[[^\]]+\]\(\.\./bench/results/([\w-]+\.md)\)")


def table_lines(text: str) -> Iterator[list[str]]:
    """The cells of each line of tables."""
    for line in text.splitlines():
        if line.startswith("|"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def rows_of(page: str, split: str) -> dict[str, dict[str, str]]:
    """The rows of a page of results, asked by title and description, by recipe, then by column."""
    text = (ROOT / "bench" / "results" / page).read_text(encoding="utf-8")
    title = rf"^## service-public: \d+ (?:test|cross-fitted|training and test) questions, {split} split, title \+ description\n"
    found = re.search(rf"{title}(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        return {}
    head, _, *rows = table_lines(found[1])
    return {row[0].strip("`"): dict(zip(head, row, strict=True)) for row in rows}


def recipe_of(cell: str) -> str:
    """The name that a cell has between backticks."""
    return cell.split("`")[1]


def of_pages(recipe: str, pages: str) -> dict[str, dict[str, str]]:
    """The row of a recipe on the pages that some text links, by split."""
    return {split: row for page in LINK.findall(pages) for split in SPLITS if (row := rows_of(page, split).get(recipe))}


ROWS = [row for row in table_lines(PAPERS) if LINK.search(row[-1]) and len(row) == 4 + 2 * len(MEASURES)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: recipe_of(row[0]))
def test_a_row_of_the_recipes_of_the_papers_is_that_of_its_page(row: list[str]) -> None:
    figures, (minutes, milliseconds, pages) = row[1:-3], row[-3:]
    found = of_pages(recipe_of(row[0]), pages)
    assert figures == [found[split][measure] for split in SPLITS for measure in MEASURES]
    assert minutes == found["random"]["training"].removesuffix(" min")
    assert milliseconds == found["random"]["ms a query"]


SEEDS = [row for row in table_lines(RECIPES) if len(row) == 2 + 2 * len(MEASURES) and row[0].startswith("`")]


@pytest.mark.parametrize("row", SEEDS, ids=lambda row: recipe_of(row[0]))
def test_a_row_of_recipes_to_choose_from_is_the_mean_of_five_seeds(row: list[str]) -> None:
    found = of_pages(recipe_of(row[0]), RECIPES.partition("Sources:")[2].partition("##")[0])
    means = [found[split][measure].partition(" ± ") for split in SPLITS for measure in MEASURES]
    assert all(deviation for _, _, deviation in means)
    assert row[2:] == [mean for mean, _, _ in means]


STRUCTURES = {
    "mean of the section": "static:alone",
    "attention from the features": "g-dsr:alone",
    "attention on top of the mean": "static-gatv2:alone",
    "pooling over the tree": "static:pooled",
}


@pytest.mark.parametrize("structure", STRUCTURES)
def test_what_a_structure_gains_over_a_shuffled_one_is_that_of_the_page(structure: str) -> None:
    graph = (ROOT / "docs" / "graph.md").read_text(encoding="utf-8")
    row = next(row for row in table_lines(graph) if row[0] == structure)
    pages = [rows_of("graph-cross-fitted.md", split)[STRUCTURES[structure]] for split in SPLITS]
    gains = [page[f"{measure} over the row above"] for page in pages for measure in ("R@100", "MAP")]
    assert row[1:5] == [re.sub(r"[+-]0\.0", "0.0", gain) for gain in gains]


def test_what_attention_over_the_candidates_gains_is_that_of_the_page() -> None:
    graph = (ROOT / "docs" / "graph.md").read_text(encoding="utf-8")
    row = next(row for row in table_lines(graph) if row[0].startswith("attention over the candidates"))
    pages = [rows_of("cross-fitted.md", split) for split in SPLITS]
    gains = [
        page[f"graph-reranker over graph-reranker-{other}"][measure]
        for other in ("shuffled", "none")
        for page in pages
        for measure in ("R@100", "MAP")
    ]
    assert row[1:] == [re.sub(r"[+-]0\.0", "0.0", gain) for gain in gains]


def test_no_table_went_unread() -> None:
    assert len(ROWS) >= 30
    assert len(SEEDS) >= 5
