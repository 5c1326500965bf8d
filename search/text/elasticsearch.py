"""The text index on Elasticsearch 9: BM25 over the same words, with the same weights, as the embedded index.

Each version of the law has two indexes, ``<prefix>-articles-<key>`` and ``<prefix>-groups-<key>``, and the aliases
``<prefix>-articles`` and ``<prefix>-groups`` point at the newest two. A version is made beside the one before, as
a copy of it in which only what differs is written, and is never written to once it is complete; the aliases then
flip in one request. A reader asks the version that its corpus was made with, so it sees all of it or nothing.
"""

import hashlib
import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import Any, cast
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
from elastic_transport import ConnectionTimeout, TransportError
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError
from elasticsearch.helpers import scan, streaming_bulk
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from runtime.circuit_breaker import Breaker
from runtime.progress import Progress, silent
from schema.errors import BadQuery, BadSetting, LexgraphError, NotReady, QueryTimeout, ServerUnavailable, StorageFull
from schema.filter import Filter
from schema.settings import Settings
from search.corpus.corpus import NO_END, Corpus, CorpusText, days_of
from search.ranking.fusion import DEPTH
from search.text.analysis import query_tokens
from search.text.elasticsearch_documents import Fields, LawDocument, LawDocuments, document_id, indexed
from search.text.options import FORMAT, Bm25Options, index_key
from search.text.snippets import WIDTH, Snippet

# A server that is down is one line of this project's, not one of each library between.
logging.getLogger("elastic_transport").setLevel(logging.ERROR)

Scores = npt.NDArray[np.float32]
Kind = str
ARTICLES, GROUPS = "articles", "groups"
KINDS: tuple[Kind, Kind] = (ARTICLES, GROUPS)
LAYOUT = 1
"""Raised when the mapping or the fields of a document change, so that indexes are made anew and not as copies."""
ANALYZERS: Mapping[str, str] = {"fr": "french", "en": "english", "de": "german", "nl": "dutch", "it": "italian", "es": "spanish"}
"""The server's own analyzers by language of an act (``LEXGRAPH_ANALYSIS=native``); ``standard`` for any other."""
_CHUNK, _CHUNK_BYTES = 500, 8 << 20
_BULK_ATTEMPTS = 8
_EXPUNGE_ATTEMPTS = 8
_BUSY = (429, 502, 503, 504)
"""Statuses of a server, or of a proxy before it, that has too much to do or is just being started."""
_WRITING_TIMEOUT_S = 120.0
_SCANNED = 5000
_NEEDED = ["-responses.hits.hits._index", "-responses._shards"]
# Characters without a meaning of their own, around the matched words of a highlight.
_OPEN, _CLOSE = "\ue000", "\ue001"


@dataclass(frozen=True, slots=True)
class Changes:
    """How many documents were written, removed, and kept as they were."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0

    @property
    def any(self) -> bool:
        """Whether there was something to do."""
        return bool(self.added or self.changed or self.removed)

    def __str__(self) -> str:
        if not self.any:
            return "nothing changed"
        return f"{self.added:,} added, {self.changed:,} changed, {self.removed:,} removed, {self.unchanged:,} unchanged"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the loading of a version of the law did to articles, and to acts and sections."""

    articles: Changes
    groups: Changes

    @property
    def any(self) -> bool:
        """Whether there was something to do."""
        return self.articles.any or self.groups.any

    def __str__(self) -> str:
        return f"articles: {self.articles}; acts and sections: {self.groups}"


class ElasticText:
    """A server with text indexes whose names begin with ``prefix``. For any number of threads.

    Args:
        address: ``http://host:port`` or ``https://host:port``.
        user, password: sent where there is a password.
        native: whether the server analyses texts itself.
        timeout_s: time limit of one query, in seconds.
    """

    def __init__(
        self,
        address: str,
        *,
        user: str = "",
        password: str = "",
        prefix: str = "lexgraph",
        native: bool = False,
        timeout_s: float = 10.0,
        breaker: Breaker | None = None,
    ) -> None:
        self.address = _with_port(address)
        self.prefix = prefix
        self.native = native
        self.timeout_s = timeout_s
        self._user = user if password else ""
        self._breaker = breaker or Breaker()
        self._client = Elasticsearch(
            self.address,
            basic_auth=(user, password) if password else None,
            request_timeout=timeout_s,
            max_retries=0,
            retry_on_timeout=False,
            connections_per_node=16,
        )

    @classmethod
    def of(cls, settings: Settings) -> "ElasticText":
        """The server of the settings.

        Raises:
            BadSetting: the address is none.
        """
        return cls(
            settings.text,
            user=settings.text_user,
            password=settings.text_password.get_secret_value(),
            prefix=settings.text_prefix,
            native=settings.analysis == "native",
            timeout_s=settings.text_timeout_s,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def key(self, corpus_sha256: str, options: Bm25Options) -> str:
        """What the names of the indexes of a version of the law end in."""
        return _short([index_key(corpus_sha256, options), LAYOUT, self.native])

    def index_name(self, kind: Kind, key: str) -> str:
        """The index of one kind of document of a version."""
        return f"{self.prefix}-{kind}-{key}"

    def alias(self, kind: Kind) -> str:
        """The alias of the newest index of one kind."""
        return f"{self.prefix}-{kind}"

    def lexical(self, corpus: Corpus, languages: tuple[str, ...], options: Bm25Options) -> "ElasticLexical":
        """The lists of the version that a corpus belongs to. The server is not asked yet."""
        lexical = ElasticLexical(self, corpus, languages, options, self.key(corpus.sha256, options))
        _ = lexical.positions  # made now and not by the first queries, which would each make them at the same time
        return lexical

    def check(self, corpus_sha256: str, options: Bm25Options) -> str:
        """In one line, what the server holds of a version of the law.

        Raises:
            NotReady: not all of it, or the aliases point elsewhere.
            ServerUnavailable: it does not answer, or refuses to.
        """
        key = self.key(corpus_sha256, options)
        with self.asking():
            for kind in KINDS:
                name = self.index_name(kind, key)
                if not _is_complete(self._meta(name), key):
                    raise NotReady(f"{self.address} does not hold the law of the graph: run `lexgraph index`")
                if self._behind(kind) != [name]:
                    raise NotReady(f"the alias {self.alias(kind)} at {self.address} points elsewhere: run `lexgraph index`")
            name = self.index_name(ARTICLES, key)
            return f"{self._client.count(index=name)['count']:,} articles in {name} at {self.address}"

    def load(self, corpus: Corpus, text: CorpusText, options: Bm25Options, *, progress: Progress = silent) -> Loaded:
        """Make the indexes of a version of the law, unless they are there, and point the aliases at them.

        What an earlier version has is copied inside the server; only documents that differ are sent. A run that
        was cut off, or whose server died, is gone on with by the next. The version before is kept for those who
        still read it, older ones are removed.

        Raises:
            ServerUnavailable: the server does not answer, or refuses to.
            StorageFull: its disk is full.
            BadSetting: it lacks an analyzer that ``native`` analysis needs.
        """
        key = self.key(corpus.sha256, options)
        documents = LawDocuments(corpus, text, native=self.native)
        with self.asking():
            if self.native:
                self._need_analyzers(text.languages)
            body = _Body.of(text.languages, options, native=self.native)
            meta = {"key": key, "corpus_sha256": corpus.sha256, "layout": [FORMAT, LAYOUT, self.native, asdict(options)]}
            articles = self._fill(ARTICLES, body, meta, documents.articles, documents.articles_count, progress)
            groups = self._fill(GROUPS, body, meta, documents.groups, documents.groups_count, progress)
            self._flip(key)
        return Loaded(articles, groups)

    # -- one index ---------------------------------------------------------------------------------------------

    def _fill(
        self,
        kind: Kind,
        body: "_Body",
        meta: dict[str, Any],
        source: Callable[[], Iterable[LawDocument]],
        total: int,
        progress: Progress,
    ) -> Changes:
        name = self.index_name(kind, meta["key"])
        found = self._meta(name)
        if _is_complete(found, meta["key"]):
            return Changes(unchanged=total)
        client = self._writing
        properties = body.properties(kind)
        if found is None:
            self._create(kind, name, body, meta)
        # Of a copy this also takes off the mark of being complete, which it has from the index it was copied from.
        loading = {"lexgraph": meta | {"state": "loading"}}
        client.indices.put_mapping(index=name, properties=properties, meta=loading)
        client.cluster.health(index=name, wait_for_status="yellow", timeout="60s")
        client.indices.refresh(index=name)
        there = self._digests(name)
        counts = Counter[str]()

        def operations() -> Iterator[dict[str, Any]]:
            for document in source():
                advance(1)
                digest = there.pop(document.id, None)
                if digest == document.sha256:
                    counts["unchanged"] += 1
                    continue
                counts["added" if digest is None else "changed"] += 1
                yield {"_op_type": "index", "_id": document.id, "_source": document.fields()}
            for id in there:
                counts["removed"] += 1
                yield {"_op_type": "delete", "_id": id}

        with progress(f"Elasticsearch: {kind}", total) as advance:
            self._write(name, operations())
        client.indices.refresh(index=name)
        held = client.count(index=name)["count"]
        if held != total:
            raise ServerUnavailable(f"{name} at {self.address} holds {held:,} documents of {total:,}: run `lexgraph index` again")
        self._expunge(name)
        complete = {"lexgraph": meta | {"state": "complete"}}
        client.indices.put_mapping(index=name, properties=properties, meta=complete)
        client.indices.put_settings(index=name, settings={"index.blocks.write": True})
        return Changes(**counts)

    def _expunge(self, name: str) -> None:
        """Rewrite the segments that hold removed documents: Lucene counts these in its statistics until then.

        Segments that the server is merging at the moment are left out, so that one time may not be enough.
        """
        client = self._writing
        for attempt in range(_EXPUNGE_ATTEMPTS):
            if not client.indices.stats(index=name, metric="docs")["_all"]["primaries"]["docs"]["deleted"]:
                return
            if attempt:
                time.sleep(0.5 * attempt)
            client.indices.flush(index=name, wait_if_ongoing=True)
            client.options(request_timeout=3600).indices.forcemerge(index=name, only_expunge_deletes=True)
            client.indices.refresh(index=name)

    def _create(self, kind: Kind, name: str, body: "_Body", meta: dict[str, Any]) -> None:
        """An index to fill: a copy of the newest one of the same layout, or an empty one."""
        for older in self._behind(kind):
            like = self._meta(older) or {}
            if like.get("state") == "complete" and like.get("layout") == meta["layout"]:
                self._writing.indices.put_settings(index=older, settings={"index.blocks.write": True})
                self._writing.indices.clone(index=older, target=name, settings={"index.blocks.write": None})
                return
        self._writing.indices.create(
            index=name,
            settings={"index": body.settings},
            mappings={"dynamic": False, "_source": {"excludes": ["words", "native_*"]}, "properties": body.properties(kind)},
        )

    def _write(self, name: str, operations: Iterator[dict[str, Any]]) -> None:
        client = self._writing
        again = Retrying(
            retry=retry_if_exception_type(TransportError),
            stop=stop_after_attempt(_BULK_ATTEMPTS),
            wait=wait_exponential(multiplier=0.5, max=10),
            reraise=True,
        )
        while chunk := list(islice(operations, _CHUNK)):
            # Names are fixed, so that what is sent twice stands there once.
            again(self._write_chunk, client, name, chunk)

    def _write_chunk(self, client: Elasticsearch, name: str, chunk: list[dict[str, Any]]) -> None:
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
            operation, answer = next(iter(cast(dict[str, dict[str, Any]], result).items()))
            if done or (operation == "delete" and answer.get("status") == 404):
                continue
            error = answer.get("error") or {}
            reason = error.get("reason", "no reason") if isinstance(error, dict) else str(error)
            if isinstance(error, dict) and error.get("type") == "cluster_block_exception":
                raise StorageFull(f"{self.address} takes no more documents: {reason}")
            raise ServerUnavailable(f"{self.address} refused the document {answer.get('_id')}: {reason}")

    def _digests(self, name: str) -> dict[str, str]:
        found = scan(
            self._writing,
            index=name,
            query={"query": {"match_all": {}}, "_source": False, "docvalue_fields": ["sha256"], "sort": ["_doc"]},
            size=_SCANNED,
            preserve_order=True,  # the sort is given above
        )
        return {hit["_id"]: hit["fields"]["sha256"][0] for hit in found}

    def _flip(self, key: str) -> None:
        """Point both aliases at a version, in one step; remove what is older than the version before it."""
        actions: list[dict[str, Any]] = []
        keep: set[str] = set()
        for kind in KINDS:
            name, before = self.index_name(kind, key), self._behind(kind)
            keep |= {name, *before}
            if before != [name]:
                actions += [{"remove": {"index": other, "alias": self.alias(kind)}} for other in before if other != name]
                actions.append({"add": {"index": name, "alias": self.alias(kind)}})
        if not actions:
            return
        self._writing.indices.update_aliases(actions=actions)
        for kind in KINDS:
            ours = re.compile(re.escape(f"{self.prefix}-{kind}-") + "[0-9a-f]{16}")
            for name in self._writing.indices.get(index=f"{self.prefix}-{kind}-*", features="aliases"):
                if ours.fullmatch(name) and name not in keep:
                    self._writing.indices.delete(index=name, ignore_unavailable=True)

    # -- what the server holds ---------------------------------------------------------------------------------

    def _behind(self, kind: Kind) -> list[str]:
        """The indexes that an alias points at."""
        try:
            return sorted(self._client.indices.get_alias(name=self.alias(kind)))
        except ApiError as error:
            if error.status_code == 404:
                return []
            raise

    def _meta(self, name: str) -> dict[str, Any] | None:
        """What an index says of itself; None where there is none."""
        try:
            found = self._client.indices.get_mapping(index=name)
        except ApiError as error:
            if error.status_code == 404:
                return None
            raise
        return found[name]["mappings"].get("_meta", {}).get("lexgraph", {})

    def _need_analyzers(self, languages: Iterable[str]) -> None:
        for analyzer in sorted({ANALYZERS.get(language, "standard") for language in languages}):
            try:
                self._client.indices.analyze(analyzer=analyzer, text="a")
            except ApiError as error:
                if error.status_code != 400:
                    raise
                raise BadSetting(
                    f"{self.address} has no analyzer {analyzer!r} (its module analysis-common is missing): "
                    "analysis (LEXGRAPH_ANALYSIS) must be lexgraph there"
                ) from None

    @property
    def _writing(self) -> Elasticsearch:
        return self._client.options(request_timeout=_WRITING_TIMEOUT_S)

    # -- asking ------------------------------------------------------------------------------------------------

    def query(self, bodies: Sequence[tuple[str, Fields]]) -> list[Fields]:
        """The answers to searches that are sent together, each a pair of index and body.

        Raises:
            ServerUnavailable: the server does not answer, or failed a moment ago.
            QueryTimeout: it did not answer in time.
            NotReady: it lacks an index.
        """
        limit = {"timeout": f"{int(self.timeout_s * 1000)}ms"}
        searches: list[Fields] = []
        for index, body in bodies:
            # Statistics of all shards: scores are then those of one index, however it is spread.
            header = {"index": index, "search_type": "dfs_query_then_fetch", "allow_partial_search_results": False}
            searches += [header, limit | body]
        with self._breaker.call(), self.asking():
            answers = cast(list[Fields], self._client.msearch(searches=searches, filter_path=_NEEDED)["responses"])
        for answer in answers:
            if "error" in answer:
                raise self._told(answer["status"], answer["error"])
            if answer["timed_out"]:
                raise QueryTimeout(f"{self.address} did not answer in {self.timeout_s:g} s (LEXGRAPH_TEXT_TIMEOUT_S)")
        return answers

    def documents(self, index: str, ids: Sequence[str]) -> list[Fields]:
        """The stored fields of documents, in the order asked for; without those that are not there.

        Raises:
            ServerUnavailable, QueryTimeout, NotReady: as `query`.
        """
        if not ids:
            return []
        with self._breaker.call(), self.asking():
            found = self._client.mget(index=index, ids=[document_id(id) for id in ids])["docs"]
        for document in found:
            if "error" in document:
                raise self._told(404, document["error"])
        return [document["_source"] for document in found if document["found"]]

    @contextmanager
    def asking(self) -> Generator[None]:
        """Around requests: what goes wrong comes out as this project's errors, each in one line."""
        try:
            yield
        except UnsupportedProductError:
            raise BadSetting(f"what answers at {self.address} is no Elasticsearch (LEXGRAPH_TEXT)") from None
        except ConnectionTimeout:
            raise QueryTimeout(f"{self.address} did not answer in time (LEXGRAPH_TEXT_TIMEOUT_S)") from None
        except TransportError as error:
            raise ServerUnavailable(f"no Elasticsearch answers at {self.address} (LEXGRAPH_TEXT): {_reason(error)}") from None
        except ApiError as error:
            body: Any = error.body
            problem = body.get("error", {}) if isinstance(body, dict) else {}
            raise self._told(error.status_code, problem if isinstance(problem, dict) else {"reason": str(problem)}) from None

    def _told(self, status: int, problem: Mapping[str, Any]) -> LexgraphError:
        """The error that an answer of the server stands for."""
        kinds = {problem.get("type"), *(cause.get("type") for cause in problem.get("root_cause", ()))}
        caused: Any = problem.get("caused_by")
        while caused:
            kinds.add(caused.get("type"))
            caused = caused.get("caused_by")
        reason = " ".join(str(problem.get("reason") or "no reason given").split())
        if status in (401, 403) and "cluster_block_exception" not in kinds:
            who = f"user {self._user!r}" if self._user else "requests without a password"
            return BadSetting(f"{self.address} refuses {who} (LEXGRAPH_TEXT_USER, LEXGRAPH_TEXT_PASSWORD)")
        if "search_timeout_exception" in kinds:
            return QueryTimeout(f"{self.address} did not answer in {self.timeout_s:g} s (LEXGRAPH_TEXT_TIMEOUT_S)", answered=True)
        if "index_not_found_exception" in kinds:
            return NotReady(f"{self.address} does not hold the law of the graph: run `lexgraph index`")
        if kinds & {"too_many_clauses", "too_many_nested_clauses"}:
            return BadQuery(f"the query has too many words for {self.address}")
        if "cluster_block_exception" in kinds and "flood-stage" in reason:
            return StorageFull(f"{self.address} takes no more documents: {reason}")
        return ServerUnavailable(f"{self.address} answered {status}: {reason}", answered=True)


@dataclass(frozen=True, eq=False)
class ElasticLexical:
    """The lists of one version of the law, from the server.

    Attributes:
        languages: of the law, for the analysis of queries.
        key: what the names of the version's indexes end in.
    """

    server: ElasticText
    corpus: Corpus
    languages: tuple[str, ...]
    options: Bm25Options
    key: str

    @cached_property
    def positions(self) -> dict[Kind, dict[str, int]]:
        """Articles and groups by identifier."""
        corpus = self.corpus
        _, first = np.unique(corpus.group, return_index=True)
        parents = corpus.article_parent[first].tolist()
        groups = [corpus.node_id(parent) for parent in parents]
        return {ARTICLES: corpus.article_position, GROUPS: {id: i for i, id in enumerate(groups)}}

    def lists(self, query: str, filter: Filter) -> dict[str, Scores]:
        """The lists "bm25" and "section" of a query: the best `DEPTH` articles and groups that pass the filter.

        Raises:
            ServerUnavailable, QueryTimeout, NotReady: as `Lexical.lists`.
            BadQuery: the query has more words than the server takes.
        """
        clause = self._clause(query)
        if clause is None:
            nothing = np.zeros(len(self.corpus.articles), np.float32)
            return {"bm25": nothing, "section": nothing.copy()}
        body = {
            "query": {"bool": {"must": [clause], "filter": self._filters(filter)}},
            "size": DEPTH,
            # Identifiers come from a column of their own: stored fields lie in compressed blocks with the texts.
            "stored_fields": "_none_",
            "docvalue_fields": ["id"],
            "track_total_hits": False,
        }
        articles, groups = self.server.query([(self.server.index_name(kind, self.key), body) for kind in KINDS])
        return {
            "bm25": self._dense(articles, ARTICLES, len(self.corpus.articles)),
            "section": self._dense(groups, GROUPS, int(self.corpus.group.max(initial=-1)) + 1)[self.corpus.group],
        }

    def highlights(self, query: str, ids: Sequence[str]) -> dict[str, Snippet]:
        """Passages of articles with the words that the server matched; none where the project's analysis is used.

        Raises:
            ServerUnavailable, QueryTimeout, NotReady: as `lists`.
        """
        clause = self._clause(query)
        if not self.server.native or clause is None or not ids:
            return {}
        names = {document_id(id): id for id in ids}
        fields = {f"text_{language}": {"highlight_query": self._match(query, "text")} for language in self.languages}
        shape = {"number_of_fragments": 1, "fragment_size": WIDTH, "no_match_size": WIDTH}
        body = {
            "query": {"ids": {"values": list(names)}},
            "size": len(names),
            "_source": False,
            "highlight": {"fields": fields, "pre_tags": [_OPEN], "post_tags": [_CLOSE], **shape},
        }
        (answer,) = self.server.query([(self.server.index_name(ARTICLES, self.key), body)])
        marked = {hit["_id"]: next(iter(hit.get("highlight", {}).values()), [""])[0] for hit in answer["hits"]["hits"]}
        return {names[name]: _marked(passage) for name, passage in marked.items() if passage}

    def documents(self, ids: Sequence[str]) -> list[Fields]:
        """What the server keeps of articles: ``id``, ``act_id``, ``number``, ``heading``, ``text``, ``path`` (headings
        from the act's title down), ``language``, ``valid_from`` and ``valid_to`` (ISO dates or None), …; in the order
        asked for, without those that it lacks.

        Raises:
            ServerUnavailable, QueryTimeout, NotReady: as `lists`.
        """
        rows = self.server.documents(self.server.index_name(ARTICLES, self.key), ids)
        for row in rows:
            row.setdefault("text", row.pop(f"text_{row['language']}", ""))
        return rows

    def groups(self, ids: Sequence[str]) -> list[Fields]:
        """What the server keeps of acts and sections: ``id``, ``heading`` (of an act: its title), ``language``, ….

        Raises:
            ServerUnavailable, QueryTimeout, NotReady: as `lists`.
        """
        return self.server.documents(self.server.index_name(GROUPS, self.key), ids)

    def _clause(self, query: str) -> Fields | None:
        """The query as the server's: terms of our own making, or words for its analyzers; never its syntax."""
        if self.server.native:
            return self._match(query, "native")
        words = Counter(map(indexed, query_tokens(query, self.languages)))
        terms = [{"term": {"words": {"value": word, "boost": float(n)}}} for word, n in words.items()]
        return {"bool": {"should": terms}} if terms else None

    def _match(self, query: str, field: str) -> Fields:
        matches = [{"match": {f"{field}_{language}": {"query": query}}} for language in self.languages]
        return {"dis_max": {"queries": matches}}

    def _filters(self, filter: Filter) -> list[Fields]:
        clauses: list[Fields] = []
        if filter.act is not None:
            clauses.append({"term": {"act_id": filter.act}})
        if filter.section is not None:
            clauses.append({"term": {"parents": filter.section}})
        if filter.in_force_on is not None:
            # A group passes when any article that stands in it does.
            clauses.append({"term": {"in_force": days_of(filter.in_force_on, NO_END)}})
        for name, value in (("kind", filter.kind), ("jurisdiction", filter.jurisdiction)):
            if value is not None:
                clauses.append({"term": {name: value}})
        return clauses

    def _dense(self, answer: Fields, kind: Kind, n: int) -> Scores:
        positions = self.positions[kind]
        # The server still multiplies by k1 + 1, which Lucene itself and `bm25s` leave out.
        left_out = 1 + (self.options.k1 if kind == ARTICLES else self.options.section_k1)
        scores = np.zeros(n, np.float32)
        for hit in answer["hits"]["hits"]:
            position = positions.get(hit["fields"]["id"][0])
            if position is not None:
                scores[position] = hit["_score"] / left_out
        return scores


@dataclass(frozen=True, slots=True)
class _Body:
    """Settings and fields of the indexes of a version."""

    settings: dict[str, Any]
    languages: tuple[str, ...]
    native: bool

    @classmethod
    def of(cls, languages: Iterable[str], options: Bm25Options, *, native: bool) -> "_Body":
        settings = {
            # How many shards, and other things of the cluster, an index template for <prefix>-* may say.
            "auto_expand_replicas": "0-1",
            "refresh_interval": -1,  # refreshed by hand: it does not change once it is complete
            "merge.policy.expunge_deletes_allowed": 0,
            "similarity": {
                ARTICLES: {"type": "BM25", "k1": options.k1, "b": options.b},
                GROUPS: {"type": "BM25", "k1": options.section_k1, "b": options.section_b},
            },
        }
        return cls(settings, tuple(sorted(set(languages))), native)

    def properties(self, kind: Kind) -> dict[str, Any]:
        """The indexed fields of one kind of document; all others are kept and not indexed."""
        keyword = {"type": "keyword"}
        fields: dict[str, Any] = {
            "id": keyword,
            "act_id": keyword,
            "parents": keyword,
            "kind": keyword,
            "jurisdiction": keyword,
            "language": keyword,
            "number": keyword,
            "in_force": {"type": "integer_range", "doc_values": False},
            "sha256": {"type": "keyword", "index": False},
        }
        if kind == GROUPS:
            fields |= {"parent_id": keyword, "level": {"type": "integer"}}
        if not self.native:
            words = {"type": "text", "analyzer": "whitespace", "index_options": "freqs", "similarity": kind}
            return fields | {"words": words}
        for language in self.languages:
            analyzer = {"type": "text", "analyzer": ANALYZERS.get(language, "standard")}
            fields[f"native_{language}"] = analyzer | {"similarity": kind}
            if kind == ARTICLES:
                fields[f"text_{language}"] = analyzer | {"norms": False, "copy_to": f"native_{language}"}
        return fields


def _with_port(address: str) -> str:
    """The address as the client wants it, with its port.

    Raises:
        BadSetting: it is none.
    """
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 9200, "https": 443}[parts.scheme]
    except (ValueError, KeyError):
        raise BadSetting(f"text (LEXGRAPH_TEXT): not an address: {address!r} (write http://host:9200)") from None
    if not parts.hostname:
        raise BadSetting(f"text (LEXGRAPH_TEXT): not an address: {address!r} (write http://host:9200)")
    if parts.username or parts.password:
        raise BadSetting("text (LEXGRAPH_TEXT): user and password have settings of their own, text_user and text_password")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def _is_complete(meta: Mapping[str, Any] | None, key: str) -> bool:
    return meta is not None and meta.get("state") == "complete" and meta.get("key") == key


def _marked(passage: str) -> Snippet:
    """A passage with marks in it as a passage and its marks."""
    text, marks = "", []
    for piece in re.split(f"({_OPEN}[^{_CLOSE}]*{_CLOSE})", passage):
        clean = piece.replace(_OPEN, "").replace(_CLOSE, "").replace("\n", " ")
        if piece.startswith(_OPEN):
            marks.append((len(text), len(text) + len(clean)))
        text += clean
    return Snippet(text, tuple(marks))


def _reason(error: TransportError) -> str:
    """The innermost reason of a failed connection, without the addresses of Python objects."""
    text = " ".join(str(error.message).split())
    found = re.search(r"\[Errno -?\d+\] ([^()']+)|certificate verify failed[^()]*|wrong version number", text)
    return (found[1] or found[0]).strip() if found else text.split(": ", 1)[-1][:200]


def _short(made_from: object) -> str:
    return hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()[:16]
