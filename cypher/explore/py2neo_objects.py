"""Acts, sections and articles of a Neo4j server as Python objects, to walk through the law in a notebook.

They are py2neo's, which is no longer maintained (the last release is 2021.2.4); nothing else of Lexgraph uses it. They
only read: what would write raises `BadQuery`.
"""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import date
from typing import Any, NoReturn, TypeVar

from cypher.engines.neo4j_address import bolt_address
from cypher.statements import statements
from schema.errors import BadQuery, BadSetting, LexgraphError, MissingExtra, NotFound, NotReady, ServerUnavailable
from schema.identifiers import normal_number
from schema.settings import Settings, load_settings

try:
    from py2neo import Graph
    from py2neo.errors import ConnectionUnavailable, Neo4jError
    from py2neo.ogm import Model, Property
except ModuleNotFoundError as _error:
    raise MissingExtra(f"cypher.explore.py2neo_objects needs {_error.name}: install lexgraph[notebook]") from None

_STATEMENTS = statements("neo4j")
_Found = TypeVar("_Found", bound="LawObject")


def connect(settings: Settings | None = None) -> Graph:
    """A connection to the server that the settings name; without any, those of ``LEXGRAPH_*`` and ``lexgraph.toml``.

    Raises:
        BadSetting: no server is named, or it refuses user and password.
        ServerUnavailable: it does not answer.
        NotReady: it holds no law.
    """
    settings = settings or load_settings()
    if not settings.graph:
        raise BadSetting("LEXGRAPH_GRAPH is empty: the law is walked on a Neo4j server, not in the embedded graph")
    bolt_address(settings.graph)
    with _plain_errors(settings.graph):
        password = settings.graph_password.get_secret_value()
        graph = Graph(settings.graph, auth=(settings.graph_user, password), name=settings.graph_database)
        found = _rows(graph, "walk_graph")
    if not found:
        raise NotReady(f"no graph on {settings.graph}: run `lexgraph ingest` first")
    return graph


class _ReadOnly(Property):
    """A property that is only read; a date is one of Python's own."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        value: Any = super().__get__(instance, owner)
        return value.to_native() if hasattr(value, "to_native") else value

    def __set__(self, instance: Any, value: Any) -> None:
        _refuse(instance)


def _read() -> Any:
    return _ReadOnly()


_Model: Any = Model  # py2neo's own annotations do not reach through its metaclass


class LawObject(_Model):
    """Base of acts, sections and articles."""

    __primarykey__ = "id"

    id: str = _read()
    status: str | None = _read()
    valid_from: date | None = _read()
    """First day in force."""
    valid_to: date | None = _read()
    """First day no longer in force; None while no end is known."""
    source_id: str | None = _read()
    """The publisher's own identifier."""

    @classmethod
    def find(cls: type[_Found], graph: Graph, id: str) -> _Found:
        """The act, section or article of an identifier.

        Raises:
            NotFound: there is none.
        """
        found = _objects(graph, "walk_find", id=id)
        if not found or not isinstance(found[0], cls):
            raise NotFound(f"no such {cls.__name__.lower()}: {id}")
        return found[0]

    @property
    def cited_by(self) -> list["Article"]:
        """The articles that cite this, by identifier."""
        return self._related("walk_cited_by")

    def _related(self, statement: str) -> list[Any]:
        return _objects(self.__node__.graph, statement, id=self.id)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.id))

    def __db_create__(self, tx: Any) -> None:
        """Refused, as everything that writes. Raises: BadQuery."""
        _refuse(self)

    def __db_merge__(self, tx: Any, primary_label: Any = None, primary_key: Any = None) -> None:
        """Refused. Raises: BadQuery."""
        _refuse(self)

    def __db_push__(self, tx: Any) -> None:
        """Refused. Raises: BadQuery."""
        _refuse(self)

    def __db_delete__(self, tx: Any) -> None:
        """Refused. Raises: BadQuery."""
        _refuse(self)


class _Container(LawObject):
    """Base of acts and sections, which contain others."""

    @property
    def sections(self) -> list["Section"]:
        """The sections directly below, in reading order."""
        return self._related("walk_sections")

    @property
    def articles(self) -> list["Article"]:
        """The articles directly below, in reading order."""
        return self._related("walk_articles")

    @property
    def all_articles(self) -> list["Article"]:
        """The articles anywhere below, in reading order."""
        return self._related("walk_every_article")


class Act(_Container):
    """A code, a statute, a decree, a directive."""

    __primarylabel__ = "Act"

    title: str = _read()
    kind: str = _read()
    jurisdiction: str = _read()
    language: str = _read()
    updated: date | None = _read()
    """Day of the consolidation that was read."""
    eli: str | None = _read()
    celex: str | None = _read()
    licence: str | None = _read()

    @staticmethod
    def all(graph: Graph) -> list["Act"]:
        """All acts, by identifier."""
        return _objects(graph, "walk_acts")

    def article(self, number: str) -> "Article":
        """The article of a number, however it is written ("L. 1234-9").

        Raises:
            NotFound: there is none, or there are several.
        """
        found = Article.numbered(self.__node__.graph, number, self.id)
        if len(found) != 1:
            several = f": {', '.join(article.id for article in found)}" if found else ""
            raise NotFound(f"{len(found) or 'no'} articles of {self.id} have the number {number!r}{several}")
        return found[0]


class _Part(LawObject):
    """A part of an act."""

    act_id: str = _read()
    number: str = _read()
    """As the publisher writes it."""
    heading: str | None = _read()

    @property
    def act(self) -> Act:
        """The act that this is a part of."""
        return Act.find(self.__node__.graph, self.act_id)

    @property
    def path(self) -> "list[Act | Section]":
        """The act and the sections above this, from the act down."""
        return self._related("walk_path")


class Section(_Container, _Part):
    """A part, book, title, chapter, section …: an inner node of an act."""

    __primarylabel__ = "Section"

    level: int = _read()
    """1 directly below the act."""


class Article(_Part):
    """An article: what the law says."""

    __primarylabel__ = "Article"

    text: str = _read()
    language: str = _read()
    authority: float | None = _read()
    """PageRank over citations; 0.15 for an article that nobody cites."""

    @staticmethod
    def numbered(graph: Graph, number: str, act_id: str | None = None) -> list["Article"]:
        """The articles of a number, however it is written, of one act or of all."""
        return _objects(graph, "walk_numbered", numbers=[number, normal_number(number)], act=act_id)

    @property
    def cites(self) -> "list[Article | Section | Act]":
        """Return what this article cites and the graph holds, each once, in the order of its text."""
        return self._related("walk_cites")

    @property
    def next(self) -> "Article | None":
        """The article after this in reading order; None at the end of the act."""
        return next(iter(self._related("walk_next")), None)

    @property
    def previous(self) -> "Article | None":
        """The article before this in reading order; None at the beginning of the act."""
        return next(iter(self._related("walk_previous")), None)


_MADE_OF: dict[str, type[LawObject]] = {"Act": Act, "Section": Section, "Article": Article}


def _refuse(instance: Any) -> NoReturn:
    raise BadQuery(f"{type(instance).__name__.lower()}: the law is read-only here; it is written by `lexgraph ingest`")


def _rows(graph: Graph, statement: str, **parameters: Any) -> list[list[Any]]:
    # In a transaction that may not write, each of them fetched whole.
    found: Any = graph.query(_STATEMENTS[statement], parameters)
    return [list(record) for record in found]


def _objects(graph: Graph, statement: str, **parameters: Any) -> list[Any]:
    with _plain_errors("the graph's server"):
        nodes = [row[0] for row in _rows(graph, statement, **parameters)]
    return [_MADE_OF[next(label for label in node.labels if label in _MADE_OF)].wrap(node) for node in nodes]


@contextmanager
def _plain_errors(address: str) -> Generator[None]:
    """py2neo's errors as errors of `schema.errors`, each in one line."""
    try:
        yield
    except (ConnectionUnavailable, Neo4jError, OSError) as error:
        if _refused(error):
            raise BadSetting(
                f"{address}: user or password is refused: check LEXGRAPH_GRAPH_USER and LEXGRAPH_GRAPH_PASSWORD"
            ) from None
        if isinstance(error, Neo4jError):
            raise LexgraphError(f"{address}: {_line(error)}") from None
        raise ServerUnavailable(f"Neo4j at {address} does not answer: {_line(error)}") from None
    except ValueError as error:
        raise BadSetting(f"LEXGRAPH_GRAPH={address}: {_line(error)}") from None


def _refused(error: BaseException) -> bool:
    """Return whether a refused password is behind an error: py2neo tells of the connection that it closed thereupon."""
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, Neo4jError) and "Security" in str(behind):
            return True
        behind = behind.__context__
    return False


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
