"""Loading of the law into Elasticsearch.

Each version of the law has two indexes, ``<prefix>-articles-<key>`` and ``<prefix>-groups-<key>``, and the aliases
``<prefix>-articles`` and ``<prefix>-groups`` point at the newest two. A version is made beside the one before, as
a copy of it in which only what differs is written, and is never written to once it is complete; the aliases then
flip in one request. A reader asks the version that its corpus was made with, so it sees all of it or nothing.
"""

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import NamedTuple, cast

from elastic_transport import TransportError
from elasticsearch import ApiError, Elasticsearch
from elasticsearch.helpers import scan, streaming_bulk
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from runtime.progress import Advance, Progress, silent
from schema.errors import BadSetting, ServerUnavailable
from search.corpus.corpus import Corpus, CorpusText
from search.text.elasticsearch import ElasticText, is_complete
from search.text.elasticsearch_documents import (
    KINDS,
    LAYOUT,
    Fields,
    Kind,
    LawDocument,
    LawDocuments,
    analyzer_of,
    index_settings,
    properties_of,
)
from search.text.options import FORMAT, Bm25Options

_CHUNK, _CHUNK_BYTES = 500, 8 << 20
_BULK_ATTEMPTS = 8
_EXPUNGE_ATTEMPTS = 8
_BUSY = (429, 502, 503, 504)
"""Statuses of a server, or of a proxy before it, that has too much to do or is just being started."""
_WRITING_TIMEOUT_S = 120.0
_SCANNED = 5000


@dataclass(frozen=True, slots=True)
class Changes:
    """Numbers of documents that were written, removed, and kept as they were."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0

    @property
    def any(self) -> bool:
        """True where something was written or removed."""
        return bool(self.added or self.changed or self.removed)

    def __str__(self) -> str:
        if not self.any:
            return "nothing changed"
        return f"{self.added:,} added, {self.changed:,} changed, {self.removed:,} removed, {self.unchanged:,} unchanged"


class Loaded(NamedTuple):
    """Changes of articles, and of acts and sections."""

    articles: Changes
    groups: Changes

    def __str__(self) -> str:
        return f"articles: {self.articles}; acts and sections: {self.groups}"


def load_law(
    server: ElasticText, corpus: Corpus, text: CorpusText, options: Bm25Options, *, progress: Progress = silent
) -> Loaded:
    """Make the indexes of a version of the law, unless they exist, and point the aliases at them.

    Documents of an earlier version are copied inside the server; only those that differ are sent. A run that was cut
    off, or whose server died, is continued by the next. The version before is kept for those who still read it, older
    ones are removed.

    Raises:
        ServerUnavailable: The server does not answer, or refuses to.
        StorageFull: Its disk is full.
        BadSetting: It lacks an analyzer that ``native`` analysis needs.
    """
    with server.errors.translated():
        return _Build(server, corpus, text, options, progress).run()


class _Build:
    """The making of the indexes of one version of the law."""

    def __init__(self, server: ElasticText, corpus: Corpus, text: CorpusText, options: Bm25Options, progress: Progress) -> None:
        self._server, self._options, self._progress = server, options, progress
        self._client = server.client.options(request_timeout=_WRITING_TIMEOUT_S)
        self._documents = LawDocuments(corpus, text, native=server.native)
        self._languages = sorted(set(text.languages))
        self._key = server.key(corpus.sha256, options)
        layout = [FORMAT, LAYOUT, server.native, asdict(options)]
        self._meta = {"key": self._key, "corpus_sha256": corpus.sha256, "layout": layout}

    def run(self) -> Loaded:
        if self._server.native:
            _need_analyzers(self._server, self._languages)
        loaded = Loaded(*map(self._fill, KINDS))
        self._flip()
        return loaded

    def _fill(self, kind: Kind) -> Changes:
        """Bring one index to what its documents are."""
        name, total = self._server.index_name(kind, self._key), self._documents.count(kind)
        meta = self._server.meta(name)
        if is_complete(meta, self._key):
            return Changes(unchanged=total)
        if meta is None:
            self._create(kind, name)
        # Of a copy this also takes off the mark of being complete, which it has from the index it was copied from.
        self._mark(kind, name, "loading")
        self._client.cluster.health(index=name, wait_for_status="yellow", timeout="60s")
        self._client.indices.refresh(index=name)
        counts = Counter[str]()
        with self._progress(f"Elasticsearch: {kind}", total) as advance:
            self._write(name, _difference(self._documents.of(kind), self._digests(name), counts, advance))
        self._client.indices.refresh(index=name)
        held = self._client.count(index=name)["count"]
        if held != total:
            at = f"{name} at {self._server.address}"
            raise ServerUnavailable(f"{at} holds {held:,} documents of {total:,}: run `lexgraph index` again")
        _expunge(self._client, name)
        self._mark(kind, name, "complete")
        self._client.indices.put_settings(index=name, settings={"index.blocks.write": True})
        return Changes(**counts)

    def _mark(self, kind: Kind, name: str, state: str) -> None:
        properties = self._properties(kind)
        self._client.indices.put_mapping(index=name, properties=properties, meta={"lexgraph": self._meta | {"state": state}})

    def _properties(self, kind: Kind) -> Fields:
        return properties_of(kind, self._languages, native=self._server.native)

    def _create(self, kind: Kind, name: str) -> None:
        """Create an index to fill: a copy of the newest one of the same layout, or an empty one."""
        indices = self._client.indices
        for older in self._server.behind(kind):
            like = self._server.meta(older) or {}
            if like.get("state") == "complete" and like.get("layout") == self._meta["layout"]:
                indices.put_settings(index=older, settings={"index.blocks.write": True})
                indices.clone(index=older, target=name, settings={"index.blocks.write": None})
                return
        mappings = {"dynamic": False, "_source": {"excludes": ["words", "native_*"]}, "properties": self._properties(kind)}
        indices.create(index=name, settings={"index": index_settings(self._options)}, mappings=mappings)

    def _write(self, name: str, operations: Iterator[Fields]) -> None:
        again = Retrying(
            retry=retry_if_exception_type(TransportError),
            stop=stop_after_attempt(_BULK_ATTEMPTS),
            wait=wait_exponential(multiplier=0.5, max=10),
            reraise=True,
        )
        while chunk := list(islice(operations, _CHUNK)):
            # Names are fixed, so that what is sent twice stands there once.
            again(_write_chunk, self._server, self._client, name, chunk)

    def _digests(self, name: str) -> dict[str, str]:
        """Return the digests of the stored documents, by name."""
        hits = scan(
            self._client,
            index=name,
            query={"query": {"match_all": {}}, "_source": False, "docvalue_fields": ["sha256"], "sort": ["_doc"]},
            size=_SCANNED,
            preserve_order=True,  # the sort is in the query
        )
        return {hit["_id"]: hit["fields"]["sha256"][0] for hit in hits}

    def _flip(self) -> None:
        """Point both aliases at the version, in one step; remove what is older than the version before it."""
        actions: list[Fields] = []
        keep: set[str] = set()
        for kind in KINDS:
            name, alias, before = self._server.index_name(kind, self._key), self._server.alias(kind), self._server.behind(kind)
            keep |= {name, *before}
            if before != [name]:
                actions += [{"remove": {"index": other, "alias": alias}} for other in before if other != name]
                actions.append({"add": {"index": name, "alias": alias}})
        if not actions:
            return
        indices = self._client.indices
        indices.update_aliases(actions=actions)
        for alias in map(self._server.alias, KINDS):
            ours = re.compile(re.escape(f"{alias}-") + "[0-9a-f]{16}")
            for name in indices.get(index=f"{alias}-*", features="aliases"):
                if ours.fullmatch(name) and name not in keep:
                    indices.delete(index=name, ignore_unavailable=True)


def _difference(
    documents: Iterable[LawDocument], stored: dict[str, str], counts: Counter[str], advance: Advance
) -> Iterator[Fields]:
    """Return the operations that make an index hold the documents, and count them.

    Args:
        documents: Documents that the index is to hold.
        stored: Digests of those that it holds, by name; it is emptied.
        counts: Counter of `Changes`.
        advance: Progress, by documents.
    """
    for document in documents:
        advance(1)
        digest = stored.pop(document.id, None)
        if digest == document.sha256:
            counts["unchanged"] += 1
            continue
        counts["added" if digest is None else "changed"] += 1
        yield {"_op_type": "index", "_id": document.id, "_source": document.fields()}
    for id in stored:
        counts["removed"] += 1
        yield {"_op_type": "delete", "_id": id}


def _write_chunk(server: ElasticText, client: Elasticsearch, name: str, chunk: list[Fields]) -> None:
    results = streaming_bulk(
        client,
        chunk,
        index=name,
        chunk_size=_CHUNK,
        max_chunk_bytes=_CHUNK_BYTES,
        max_retries=8,  # of what a busy server put off, waiting longer each time
        retry_on_status=_BUSY,
        initial_backoff=0.5,
        max_backoff=30,
        raise_on_error=False,
    )
    for done, result in results:
        operation, answer = next(iter(cast(dict[str, Fields], result).items()))
        if done or (operation == "delete" and answer.get("status") == 404):
            continue
        error = answer.get("error") or {}
        reason = error.get("reason", "no reason") if isinstance(error, dict) else str(error)
        if isinstance(error, dict) and error.get("type") == "cluster_block_exception":
            raise server.errors.full(reason)
        raise ServerUnavailable(f"{server.address} refused the document {answer.get('_id')}: {reason}")


def _expunge(client: Elasticsearch, name: str) -> None:
    """Rewrite the segments that hold removed documents: Lucene counts these in its statistics until then.

    Segments that the server is merging at the moment are left out, so that one time may not be enough. A server that has just
    come back counts nothing of a shard until that is open.
    """
    client.cluster.health(index=name, wait_for_status="yellow", timeout="60s")
    client.indices.refresh(index=name)
    for attempt in range(_EXPUNGE_ATTEMPTS):
        if not client.indices.stats(index=name, metric="docs")["_all"]["primaries"]["docs"]["deleted"]:
            return
        if attempt:
            time.sleep(0.5 * attempt)
        client.indices.flush(index=name, wait_if_ongoing=True)
        client.options(request_timeout=3600).indices.forcemerge(index=name, only_expunge_deletes=True)
        client.indices.refresh(index=name)


def _need_analyzers(server: ElasticText, languages: Iterable[str]) -> None:
    for analyzer in sorted(set(map(analyzer_of, languages))):
        try:
            server.client.indices.analyze(analyzer=analyzer, text="a")
        except ApiError as error:
            if error.status_code != 400:
                raise
            raise BadSetting(
                f"{server.address} has no analyzer {analyzer!r} (its module analysis-common is missing): "
                "analysis (LEXGRAPH_ANALYSIS) must be lexgraph there"
            ) from None
