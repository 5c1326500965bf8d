"""The interface of text indexes: the two BM25 lists of a query, over all articles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from schema.filter import Filter
from search.arrays import Scores
from search.corpus.corpus import Ints
from search.text.analysis import query_tokens
from search.text.bm25 import Bm25Index
from search.text.snippets import Snippet


class Lexical(Protocol):
    """BM25 over the articles of one corpus and over its groups of articles.

    An index on a server raises ServerUnavailable where it does not answer, QueryTimeout where it does not in time, and
    NotReady where it does not hold the law of this corpus.
    """

    def lists(self, query: str, filter: Filter, *, sections: bool = True) -> dict[str, Scores]:
        """Return the lists "bm25" and "section" of a query, as `lists_of` gives them."""
        ...

    def lists_of(self, queries: Sequence[str], filter: Filter, *, sections: bool = True) -> list[dict[str, Scores]]:
        """Return the lists "bm25" and "section" of each query: each float32[n] over article positions, never below 0.

        Args:
            queries: words; a server is asked all of them at once.
            filter: of the articles that may answer.
            sections: whether there shall be the list "section".

        "section" gives an article the score of its group. Articles that a filter leaves out may have a score or 0;
        of those that pass, at least the `search.ranking.fusion.DEPTH` best of each list have their scores, and the others
        theirs or 0: fusion puts all below that depth on one level anyway.
        """
        ...

    @property
    def marks(self) -> bool:
        """True where `highlights` gives any passages."""
        ...

    def highlights(self, query: str, ids: Sequence[str]) -> dict[str, Snippet]:
        """Return passages with the words that matched, where the index analyses in a way of its own; else none."""
        ...

    def documents(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the stored fields of articles (`search.text.elasticsearch.ElasticLexical`), without those that it lacks."""
        ...

    def groups(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the stored fields of acts and sections: ``id``, ``heading``, ``language`` and others."""
        ...


@dataclass(frozen=True, eq=False)
class EmbeddedLexical:
    """The lists from two indexes on this machine, in full.

    Attributes:
        group: int32[n], the group of each article.
        languages: of the law, for the analysis of queries.
    """

    articles: Bm25Index
    sections: Bm25Index
    group: Ints
    languages: tuple[str, ...]

    @property
    def marks(self) -> bool:
        """False: `search.text.snippets.snippet` analyses as this index does."""
        return False

    def lists_of(self, queries: Sequence[str], filter: Filter, *, sections: bool = True) -> list[dict[str, Scores]]:
        """Return the lists of each query."""
        return [self.lists(query, filter, sections=sections) for query in queries]

    def lists(self, query: str, filter: Filter, *, sections: bool = True) -> dict[str, Scores]:
        """Return the lists "bm25" and "section" of a query, of all articles whatever the filter."""
        tokens = query_tokens(query, self.languages)
        lists = {"bm25": self.articles.scores(tokens)}
        return {**lists, "section": self.sections.scores(tokens)[self.group]} if sections else lists

    def highlights(self, query: str, ids: Sequence[str]) -> dict[str, Snippet]:
        """Return none: `search.text.snippets.snippet` analyses as this index does."""
        return {}

    def documents(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return none: words alone are indexed here, and the graph has the rest."""
        return []

    def groups(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return none, as `documents` does."""
        return []
