"""The law as one request sees it: graph, index and model of one release, exchanged as a whole.

A request holds the snapshot that it began with. When a new release of the graph is there, the next requests
get a new snapshot; the old one is closed when the last request (and the last thread) is done with it.
"""

import asyncio
import gc
import logging
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cypher.engines.open import open_store
from cypher.graph import Graph, Row, Store
from cypher.origins import origins
from runtime.bounded_cache import BoundedCache
from schema.errors import LexgraphError, NotReady, QueryTimeout, ServerUnavailable
from schema.records import Origin
from schema.settings import Settings
from search.acts.similar import SimilarActs
from search.acts.views import open_act_texts
from search.corpus.corpus import Corpus
from search.corpus.read import read_corpus
from search.retrieval import TEXT, Retriever
from search.text.index import build_text_index, index_is_built, open_text_index
from search.text.open import text_server
from search.text.options import Bm25Options
from search.vectors.model import VectorModel

if TYPE_CHECKING:
    from search.text.elasticsearch import ElasticText

LoadModel = Callable[[Graph, Corpus], VectorModel | None]
"""Gives the active model of a graph over the positions of its law, or None where none is active."""

Stamp = object
GRAPH = "graph"
"""Name of what an answer can lack beside `search.ranking.rankers.TEXT` and `VECTORS`: what only the graph has."""
_LOG = logging.getLogger(__name__)
_REMEMBERED_LETTERS = 16_000_000
"""Letters of the rows that a snapshot remembers, most of a byte each: about nine thousand articles of a French code."""
_ROW_LETTERS = 1_000
"""What a row takes beside its texts, in letters."""
_UNREADABLE = "the newest law cannot be opened: see the log of this server"


class Remembered:
    """Rows of named statements by identifier, those that were read last; of a graph that may change, none.

    Args:
        graph: where they are read.
        letters: of all that are remembered.
    """

    def __init__(self, graph: Graph, letters: int = _REMEMBERED_LETTERS) -> None:
        self._frozen = graph.frozen
        self._kept: BoundedCache[tuple[str, str], Sequence[Row]] = BoundedCache(letters)

    def get(self, statement: str, id: str) -> Sequence[Row] | None:
        """Return the rows that a statement gave for an identifier; None where they are not remembered."""
        return self._kept.get((statement, id)) if self._frozen else None

    def put(self, statement: str, id: str, rows: Sequence[Row]) -> None:
        """Remember all rows that a statement gives for an identifier, none as well."""
        if self._frozen:
            letters = sum(len(value) for row in rows for value in row.values() if isinstance(value, str))
            self._kept.put((statement, id), rows, letters + _ROW_LETTERS * max(len(rows), 1))


class _Uses:
    """The number of holders of a snapshot, and whether it is to be closed when there are none."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holders = 0
        self.retired = False
        self.closed = False


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Graph, retriever and model of one release of the law; nothing of it changes.

    Attributes:
        stamp: tells the release of the graph from any other.
        home: the folder that the index lies in.
    """

    graph: Graph
    retriever: Retriever
    stamp: Stamp
    home: Path
    _uses: _Uses = field(default_factory=_Uses, repr=False)

    @property
    def corpus(self) -> Corpus:
        """The law as arrays."""
        return self.retriever.corpus

    @property
    def model_id(self) -> str | None:
        """Identifier of the active model version."""
        return self.retriever.model.id if self.retriever.model else None

    @cached_property
    def remembered(self) -> Remembered:
        """Rows that requests have read: they are gone with the snapshot."""
        return Remembered(self.graph)

    @cached_property
    def similar_acts(self) -> SimilarActs:
        """The finder of similar acts, opened when it is first asked for: most services never are.

        Raises:
            NotReady: the acts of this law are not indexed.
        """
        return SimilarActs(open_act_texts(self.home, self.corpus.sha256))

    @contextmanager
    def held(self) -> Generator["Snapshot"]:
        """Keep the snapshot open until the block ends.

        Raises:
            NotReady: it is closed already.
        """
        uses = self._uses
        with uses.lock:
            if uses.closed:
                raise NotReady("this release of the law is closed")
            uses.holders += 1
        try:
            yield self
        finally:
            with uses.lock:
                uses.holders -= 1
            self._close_if_unused()

    def retire(self) -> None:
        """Close the snapshot as soon as nobody holds it."""
        with self._uses.lock:
            self._uses.retired = True
        self._close_if_unused()

    @property
    def closed(self) -> bool:
        """True once the graph is closed."""
        return self._uses.closed

    def _close_if_unused(self) -> None:
        uses = self._uses
        with uses.lock:
            if uses.closed or uses.holders or not uses.retired:
                return
            uses.closed = True
        self.graph.close()


def open_snapshot(settings: Settings, store: Store, load_model: LoadModel, server: "ElasticText | None" = None) -> Snapshot:
    """Open the law as it is now, with its text index and its active model.

    The server is that of the text index, where the settings name one.

    Raises:
        NotReady: there is no graph, or no index of the law that it holds.
        GraphTooNew: a newer version of Lexgraph wrote the graph.
    """
    # Taken first: a release that comes while this one is being opened is then found at the next look.
    stamp = store.stamp()
    graph = store.reading(settings.query_timeout_s)
    try:
        corpus_sha256 = graph.rows("graph_row")[0]["corpus_sha256"]
        options = Bm25Options.of(settings)
        if server is not None and corpus_sha256 and not index_is_built(settings.home, corpus_sha256, options, server=server):
            # This process has not indexed the law itself: what it needs beside the servers it reads from the graph.
            server.check(corpus_sha256, options)
            build_text_index(settings.home, *read_corpus(graph), options, server=server)
        index = open_text_index(settings.home, corpus_sha256, options, server=server)
        model = load_model(graph, index.corpus)
        retriever = Retriever(index, model, max_query_characters=settings.max_query_characters, reranks=settings.rerank)
        snapshot = Snapshot(graph, retriever, stamp, settings.home)
        # Made now and not by the first requests, which would each make them at the same time.
        _ = index.corpus.article_position, index.corpus.section_position, snapshot.remembered
        retriever.understanding.open()
        return snapshot
    except BaseException:
        graph.close()
        raise


def _settle() -> None:
    """Leave what a snapshot is made of out of garbage collection, until the next one comes.

    It is many objects that live as long as the snapshot: to walk over them all stops every thread for 40 ms (four French codes),
    and answers make enough objects for that to happen every few seconds.
    """
    gc.unfreeze()  # of the snapshot before, which may be garbage by now
    gc.collect()
    gc.freeze()


class SnapshotHolder:
    """Holds the current snapshot and exchanges it for that of a newer release."""

    def __init__(self, settings: Settings, load_model: LoadModel) -> None:
        self._settings = settings
        self._store = open_store(settings)
        self._text = text_server(settings)
        self._load_model = load_model
        self._lock = threading.Lock()
        self._checking = threading.Lock()
        self._current: Snapshot | None = None
        self._reason: str | None = "the law is being opened"
        self._away: dict[str, str] = {}
        self._origins: list[Origin] = []
        self._closed = False
        self._settled = True

    @property
    def reason(self) -> str | None:
        """The reason why the newest law is not served; None where it is, as far as this process can tell."""
        return self._reason

    @property
    def away(self) -> dict[str, str]:
        """Reasons by name of what did not answer at the last look ("graph", "text"); the rest serves on without it."""
        return dict(self._away)

    @property
    def stale(self) -> list[str]:
        """Names of the sources that were last loaded or updated too long ago, as of the last look."""
        now, after = datetime.now(UTC), self._settings.stale_after_days
        return [origin.id for origin in self._origins if origin.is_stale(after, now)]

    @property
    def home(self) -> Path:
        """The folder that is served."""
        return self._settings.home

    @contextmanager
    def use(self) -> Generator[Snapshot]:
        """Keep the current snapshot open until the block ends.

        Raises:
            NotReady: there is none; the message says why.
        """
        with self._lock:  # so that it is not retired between the look and the hold
            current = self._current
            if current is None:
                raise NotReady(self._reason or "no law is open")
            held = current.held()
            held.__enter__()
        try:
            yield current
        finally:
            held.__exit__(None, None, None)

    def check(self) -> bool:
        """Look for a newer release and open it; whether it is served now. Never raises: `reason` says what was wrong."""
        with self._checking:
            current = self._current
            if self._closed:
                return False
            try:
                if current is not None and not self._newer(current):
                    if not self._settled:  # requests that held the old release have ended since
                        self._settled = True
                        _settle()
                    self._note(self._text_lags(current))
                    return False
                fresh = open_snapshot(self._settings, self._store, self._load_model, self._text)
            except LexgraphError as error:
                self._note(str(error))
                return False
            except Exception:
                # Whatever a broken file makes a library say: the old law is served on.
                if self._reason != _UNREADABLE:  # once, and not at every look
                    _LOG.exception("the newest law cannot be opened")
                self._note(_UNREADABLE)
                return False
            with self._lock:
                old, self._current = current, fresh
            self._note(None)
            with self._noting_absence(GRAPH):
                self._origins = origins(fresh.graph)
            if old is not None:
                old.retire()
                self._settled = False
            old = current = None
            _settle()
            _LOG.info("serving the law %s, model %s", fresh.corpus.sha256[:12], fresh.model_id or "none")
            return True

    def _newer(self, current: Snapshot) -> bool:
        """Return whether the graph is another than the one that is served; False where its server does not say."""
        with self._noting_absence(GRAPH):
            if self._store.stamp() != current.stamp:
                return True
            self._origins = origins(current.graph)  # a look that found nothing new is no new release on a server
        return False

    def _text_lags(self, current: Snapshot) -> str | None:
        """Return why the text server does not hold the law that is served; None where it does, or does not say."""
        if self._text is None:
            return None
        try:
            with self._noting_absence(TEXT):
                self._text.check(current.corpus.sha256, Bm25Options.of(self._settings))
        except LexgraphError as error:
            return str(error)
        return None

    @contextmanager
    def _noting_absence(self, name: str) -> Generator[None]:
        """Note whether a server answers; one that does not ends the block without an error."""
        try:
            yield
        except (ServerUnavailable, QueryTimeout) as error:
            if name not in self._away:
                _LOG.warning("%s is away: %s", name, error)
            self._away = {**self._away, name: str(error)}
            return
        if name in self._away:
            _LOG.info("%s is back", name)
            self._away = {other: reason for other, reason in self._away.items() if other != name}

    def _note(self, reason: str | None) -> None:
        if reason is not None and reason != self._reason:
            _LOG.warning("not serving the newest law: %s", reason)
        self._reason = reason

    async def watch(self) -> None:
        """Check again and again, every `reload_s` seconds, until cancelled."""
        while True:
            await asyncio.sleep(self._settings.reload_s)
            await asyncio.to_thread(self.check)

    def close(self) -> None:
        """Serve nothing from now on; the snapshot closes when the last request is done with it."""
        with self._checking, self._lock:
            self._closed = True
            current, self._current = self._current, None
            self._reason = "the server is shutting down"
            self._store.close()
            if self._text is not None:
                self._text.close()
        if current is not None:
            current.retire()
