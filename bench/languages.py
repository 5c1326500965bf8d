"""Titles of questions in English, asked of French law: in terms of the law, as they stand, and beside the French ones.

Needs a trained model and the sheets of service-public.fr: ``make demo`` first. The titles were translated for this by hand. The
options of `search.query.terms` were chosen by those of development questions; the measures here are of the test questions, on the
split by dossier, whose topics the model has not learnt.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.reporting import Figures
from bench.timing import seconds_of
from cli.workspace import Home
from gnn.versions.active import active_model
from gnn.versions.files import load_model
from runtime.progress import silent
from schema.errors import NotReady
from schema.settings import load_settings
from search.evaluation import Judged, all_ranks, measures_of
from search.questions import TITLE, judged, of_split
from search.retrieval import Retriever

TITLES = Path(__file__).with_name("titles_in_english.tsv")
SPLIT = "by-dossier"
_MEASURES = {"R@100": "recall_100", "MAP": "map", "nDCG@10": "ndcg_10", "S@5": "success_5"}
_WAYS = {"french": "in French", "english": "in English", "terms": "in English, by terms of the law"}


def titles() -> dict[str, str]:
    """Return English titles by the identifiers of their questions."""
    with TITLES.open(encoding="utf-8", newline="") as stream:
        return dict(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def measure(*, quick: bool = False) -> Figures:
    """Measure; ten questions, if quick.

    Raises:
        NotReady: the default recipe has not been trained on the split, or has no terms.
    """
    settings = load_settings()
    home = Home(settings, silent)
    english = titles()
    with home.graph() as graph:
        recipe = home.recipe(None)
        workspace = home.workspace(graph, recipe)
        active = active_model(home.path, graph, workspace.corpus, settings.threads)
        if active is None or active.terms is None:
            raise NotReady("no model that knows several languages is active: run `lexgraph train`")
        model = load_model(home.path, workspace.version_id(recipe, SPLIT), workspace.corpus, settings.threads)
        chosen = [one for one in of_split(workspace.questions, SPLIT, "test") if one.id in english][: 10 if quick else None]
        french = judged(workspace.corpus, chosen, TITLE)
        asked = [replace(one, query=english[question.id]) for one, question in zip(french, chosen, strict=True)]
        plain = Retriever(workspace.index, replace(model, terms=None))
        by_terms = Retriever(workspace.index, replace(model, terms=active.terms))
        found = {"french": _measured(plain, french), "english": _measured(plain, asked), "terms": _measured(by_terms, asked)}
        slower = [_ratio(by_terms, plain, one.query) for one in asked]
    values: dict[str, float] = {"questions": len(chosen)}
    explained = {"questions": f"test questions, {SPLIT} split, titles"}
    for way, means in found.items():
        for name, key in _MEASURES.items():
            values[f"{way}_{key}"] = means[name]
            explained[f"{way}_{key}"] = f"{name}, {_WAYS[way]}"
    values["terms_over_plain"] = float(np.median(slower))
    explained["terms_over_plain"] = "time of a search by terms of the law over one without, median of the ratios"
    return Figures("Languages", values, explained)


def _measured(retriever: Retriever, asked: Sequence[Judged]) -> Mapping[str, float]:
    """Return the means of the measures over questions, in percent."""
    found = measures_of(all_ranks(lambda query: retriever.scores(query)[0], asked))
    return {name: 100 * float(found[name].mean()) for name in _MEASURES}


def _ratio(one: Retriever, other: Retriever, query: str) -> float:
    """Return the time of a search by one retriever over that by another."""
    return seconds_of(lambda: one.search(query)) / seconds_of(lambda: other.search(query))
