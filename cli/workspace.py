"""The home that every command works on: the settings in force, the store, the index, the questions of a recipe."""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from runtime.progress import Progress

if TYPE_CHECKING:
    from cypher.graph import ReadableGraph, Store
    from gnn.recipe import Recipe
    from gnn.workspace import Workspace
    from schema.settings import Settings
    from search.text.elasticsearch import ElasticText
    from search.text.index import TextIndex
    from search.text.options import Bm25Options


@dataclass
class Home:
    """The home folder of the settings, with its graph, indexes and models."""

    settings: "Settings"
    progress: Progress

    @classmethod
    def of(cls, context: typer.Context) -> "Home":
        """Return the home that a command was started on."""
        return cast(Home, context.obj)

    @property
    def path(self) -> Path:
        """Folder of everything that lies on this machine."""
        return self.settings.home

    @cached_property
    def store(self) -> "Store":
        """The store of the graph, one for the whole command: what it writes is fenced by the locks that it holds."""
        from cypher.engines.open import open_store

        return open_store(self.settings)

    @property
    def bm25(self) -> "Bm25Options":
        """The options of BM25."""
        from search.text.options import Bm25Options

        return Bm25Options.of(self.settings)

    @property
    def text_server(self) -> "ElasticText | None":
        """The text server of the settings; None where the text index is a folder."""
        from search.text.open import text_server

        return text_server(self.settings)

    @contextmanager
    def graph(self, timeout_s: float = 0) -> Generator["ReadableGraph"]:
        """Open the graph for reading."""
        with self.store.reading(timeout_s) as graph:
            yield graph

    def index(self, graph: "ReadableGraph") -> "TextIndex":
        """Open the text index of the graph's law."""
        from search.text.index import open_text_index

        return open_text_index(self.path, law_of(graph), self.bm25, server=self.text_server)

    def recipe(self, name: str | None) -> "Recipe":
        """Load a recipe by name or file, or that of the settings."""
        from gnn.recipe import load_recipe

        return load_recipe(name or self.settings.recipe)

    def recipe_on(self, questions: str, name: str, encoder: str = "") -> "Recipe":
        """Load a recipe to learn from a source of questions, over the encoder of another one where that is named."""
        recipe = self.recipe(name).model_copy(update={"questions": questions})
        return recipe.over_encoder_of(self.recipe(encoder)) if encoder else recipe

    def workspace(self, graph: "ReadableGraph", recipe: "Recipe", check_lock: Callable[[], object] = lambda: None) -> "Workspace":
        """Return what training and evaluation work on: the law, its index, the recipe's questions, of all its sources."""
        return self.shared_workspace(graph, recipe.questions, recipe.further_sources, check_lock).of_recipe(recipe)

    def shared_workspace(
        self,
        graph: "ReadableGraph",
        source: str,
        more: Collection[str],
        check_lock: Callable[[], object] = lambda: None,
    ) -> "Workspace":
        """Return what several recipes work on: the law, its index, the questions of one source, and further ones apart."""
        from gnn.workspace import Workspace
        from ingest.loading.questions import read_outside, read_questions
        from search.corpus.read import steady_law

        with steady_law(graph):
            index = self.index(graph)
            questions, outside = (read(graph, source) for read in (read_questions, read_outside))
            further = {name: read_questions(graph, name) for name in sorted(more)}
        settings = self.settings
        return Workspace(
            self.store, graph, index, questions, outside, settings.models, settings.threads, check_lock, self.progress, further
        )


def law_of(graph: "ReadableGraph") -> str:
    """Return the fingerprint of a graph's law."""
    return graph.rows("graph_row")[0]["corpus_sha256"]
