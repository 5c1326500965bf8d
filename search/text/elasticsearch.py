"""The text index on Elasticsearch 9: BM25 over the same words, with the same weights, as the embedded index.

Queries are here; `search.text.elasticsearch_build` loads the law that they search.
"""

import hashlib
import json
import logging
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast
from urllib.parse import urlsplit

import numpy as np
from elasticsearch import ApiError, Elasticsearch

from runtime.circuit_breaker import Breaker
from runtime.counted import counted
from runtime.deadline import within
from schema.errors import BadSetting, NotReady
from schema.filter import Filter
from schema.settings import Settings
from search.corpus.corpus import NO_END, Corpus, days_of
from search.ranking.fusion import DEPTH, Scores
from search.text.analysis import query_tokens
from search.text.elasticsearch_documents import ARTICLES, GROUPS, KINDS, LAYOUT, Fields, Kind, document_id, indexed
from search.text.elasticsearch_errors import ServerErrors
from search.text.options import Bm25Options, index_key
from search.text.snippets import WIDTH, Snippet

# A server that is down is one line of this project's, not one of each library between.
logging.getLogger("elastic_transport").setLevel(logging.ERROR)

_NEEDED = ["-responses.hits.hits._index", "-responses._shards"]
LIST_OF: Mapping[Kind, str] = {ARTICLES: "bm25", GROUPS: "section"}
"""Name of the list that each kind of document makes."""
# Characters without a meaning of their own, around the matched words of a highlight.
_OPEN, _CLOSE = "\ue000", "\ue001"


class ElasticText:
    """A server with text indexes, safe for any number of threads.

    Attributes:
        address: Address of the server, with its port.
        prefix: Beginning of the names of its indexes.
        native: True where the server analyses texts itself.
        errors: Errors of the server as this project's.
        client: Client of the server.
    """

    def __init__(self, settings: Settings, breaker: Breaker | None = None) -> None:
        """Prepare the client of the server of the settings; the server is not asked yet.

        Raises:
            BadSetting: The address is none.
        """
        self.address = _with_port(settings.text)
        self.prefix = settings.text_prefix
        self.native = settings.analysis == "native"
        user, password = settings.text_user, settings.text_password.get_secret_value()
        self.errors = ServerErrors(self.address, user if password else "", settings.text_timeout_s)
        self._breaker = breaker or Breaker()
        self.client = Elasticsearch(
            self.address,
            basic_auth=(user, password) if password else None,
            request_timeout=settings.text_timeout_s,
            max_retries=0,
            retry_on_timeout=False,
            connections_per_node=16,
        )

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def key(self, corpus_sha256: str, options: Bm25Options) -> str:
        """Return the end of the names of the indexes of a version of the law."""
        made_from = json.dumps([index_key(corpus_sha256, options), LAYOUT, self.native])
        return hashlib.sha256(made_from.encode()).hexdigest()[:16]

    def alias(self, kind: Kind) -> str:
        """Return the alias of the newest index of one kind of document."""
        return f"{self.prefix}-{kind}"

    def index_name(self, kind: Kind, key: str) -> str:
        """Return the name of the index of one kind of document of a version."""
        return f"{self.alias(kind)}-{key}"

    def lexical(self, corpus: Corpus, languages: tuple[str, ...], options: Bm25Options) -> "ElasticLexical":
        """Return the lists of the version that a corpus belongs to. The server is not asked yet."""
        lexical = ElasticLexical(self, corpus, languages, options, self.key(corpus.sha256, options))
        _ = lexical.positions  # made now and not by the first queries, which would each make them at the same time
        return lexical

    def check(self, corpus_sha256: str, options: Bm25Options) -> str:
        """Return in one line what the server holds of a version of the law.

        Raises:
            NotReady: Not all of it, or the aliases point elsewhere.
            ServerUnavailable: It does not answer, or refuses to.
        """
        key = self.key(corpus_sha256, options)
        with self.errors.translated():
            for kind in KINDS:
                name = self.index_name(kind, key)
                if not is_complete(self.meta(name), key):
                    raise self.errors.not_loaded()
                if self.behind(kind) != [name]:
                    raise NotReady(f"the alias {self.alias(kind)} at {self.address} points elsewhere: run `lexgraph index`")
            name = self.index_name(ARTICLES, key)
            return f"{counted(self.client.count(index=name)['count'], 'article')} in {name} at {self.address}"

    def behind(self, kind: Kind) -> list[str]:
        """Return the indexes that an alias points at."""
        try:
            return sorted(self.client.indices.get_alias(name=self.alias(kind)))
        except ApiError as error:
            if error.status_code == 404:
                return []
            raise

    def meta(self, name: str) -> Fields | None:
        """Return what the mapping of an index says of how it was made; None where there is no such index."""
        try:
            mapping = self.client.indices.get_mapping(index=name)
        except ApiError as error:
            if error.status_code == 404:
                return None
            raise
        return mapping[name]["mappings"].get("_meta", {}).get("lexgraph", {})

    def query(self, bodies: Sequence[tuple[str, Fields]]) -> list[Fields]:
        """Return the answers to searches that are sent together, each a pair of index and body.

        Raises:
            ServerUnavailable: The server does not answer, or failed a moment ago.
            QueryTimeout: It did not answer in time.
            NotReady: It lacks an index.
        """
        limit = {"timeout": f"{math.ceil(within(self.errors.timeout_s) * 1000)}ms"}
        searches: list[Fields] = []
        for index, body in bodies:
            # Statistics of all shards: scores are then those of one index, however it is spread.
            header = {"index": index, "search_type": "dfs_query_then_fetch", "allow_partial_search_results": False}
            searches += [header, limit | body]
        with self._breaker.call(), self.errors.translated():
            answers = cast(list[Fields], self.client.msearch(searches=searches, filter_path=_NEEDED)["responses"])
        for answer in answers:
            if "error" in answer:
                raise self.errors.of(answer["status"], answer["error"])
            if answer["timed_out"]:
                raise self.errors.timeout()
        return answers

    def documents(self, index: str, ids: Sequence[str]) -> list[Fields]:
        """Return the stored fields of documents, in the order asked for, without those that the index lacks.

        Raises:
            ServerUnavailable, QueryTimeout, NotReady: As `query`.
        """
        if not ids:
            return []
        with self._breaker.call(), self.errors.translated():
            documents = self.client.mget(index=index, ids=[document_id(id) for id in ids])["docs"]
        for document in documents:
            if "error" in document:
                raise self.errors.of(404, document["error"])
        return [document["_source"] for document in documents if document["found"]]


@dataclass(frozen=True, eq=False)
class ElasticLexical:
    """The lists of one version of the law, from the server (`search.text.protocol.Lexical`).

    Attributes:
        languages: Languages of the law, for the analysis of queries.
        key: End of the names of the version's indexes.
    """

    server: ElasticText
    corpus: Corpus
    languages: tuple[str, ...]
    options: Bm25Options
    key: str

    @cached_property
    def positions(self) -> dict[Kind, dict[str, int]]:
        """Positions of articles and of groups, by identifier."""
        corpus = self.corpus
        _, first = np.unique(corpus.group, return_index=True)
        parents = corpus.article_parent[first].tolist()
        groups = [corpus.node_id(parent) for parent in parents]
        return {ARTICLES: corpus.article_position, GROUPS: {id: i for i, id in enumerate(groups)}}

    def lists(self, query: str, filter: Filter, *, sections: bool = True) -> dict[str, Scores]:
        """Return the lists "bm25" and "section": the best `DEPTH` articles and groups that pass the filter."""
        return self.lists_of([query], filter, sections=sections)[0]

    def lists_of(self, queries: Sequence[str], filter: Filter, *, sections: bool = True) -> list[dict[str, Scores]]:
        """Return the lists of each query, all of which are sent together."""
        kinds = KINDS if sections else (ARTICLES,)
        clauses = [self._clause(query) for query in queries]
        filters = self._filters(filter)
        bodies = [
            (self.server.index_name(kind, self.key), self._body(clause, filters))
            for clause in clauses
            if clause is not None
            for kind in kinds
        ]
        answers = iter(self.server.query(bodies) if bodies else [])
        return [self._lists(kinds, None if clause is None else [next(answers) for _ in kinds]) for clause in clauses]

    def _lists(self, kinds: Sequence[Kind], answers: Sequence[Fields] | None) -> dict[str, Scores]:
        """Return the lists of one query from what was answered for each kind; of a query without words, lists of zeros."""
        if answers is None:
            return {LIST_OF[kind]: np.zeros(len(self.corpus.articles), np.float32) for kind in kinds}
        lists = {LIST_OF[kind]: self._dense(answer, kind) for kind, answer in zip(kinds, answers, strict=True)}
        return {name: scores[self.corpus.group] if name == "section" else scores for name, scores in lists.items()}

    @staticmethod
    def _body(clause: Fields, filters: Sequence[Fields]) -> Fields:
        return {
            "query": {"bool": {"must": [clause], "filter": list(filters)}},
            "size": DEPTH,
            # Identifiers come from a column of their own: stored fields lie in compressed blocks with the texts.
            "stored_fields": "_none_",
            "docvalue_fields": ["id"],
            "track_total_hits": False,
        }

    @property
    def marks(self) -> bool:
        """True where the server analyses in a way of its own."""
        return self.server.native

    def highlights(self, query: str, ids: Sequence[str]) -> dict[str, Snippet]:
        """Return passages with the words that the server matched; none where this project's analysis is used."""
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
        """Return the stored fields of articles: ``id``, ``act_id``, ``number``, ``heading``, ``text``, ``language``, ….

        ``path`` holds the headings from the act's title down, ``valid_from`` and ``valid_to`` are ISO dates or None.
        """
        rows = self.server.documents(self.server.index_name(ARTICLES, self.key), ids)
        for row in rows:
            row.setdefault("text", row.pop(f"text_{row['language']}", ""))
        return rows

    def groups(self, ids: Sequence[str]) -> list[Fields]:
        """Return the stored fields of acts and sections: ``id``, ``heading`` (of an act: its title), ``language``, …."""
        return self.server.documents(self.server.index_name(GROUPS, self.key), ids)

    def _clause(self, query: str) -> Fields | None:
        """Return the query as the server's: terms of our own making, or words for its analyzers; never its syntax."""
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
        # A group passes when any article that stands in it does.
        if filter.in_force_on is not None:
            clauses.append({"term": {"in_force": days_of(filter.in_force_on, NO_END)}})
        elif not filter.across_time and not self.corpus.present.all():
            clauses.append({"term": {"present": True}})
        for name, value in (("kind", filter.kind), ("jurisdiction", filter.jurisdiction)):
            if value is not None:
                clauses.append({"term": {name: value}})
        return clauses

    def _dense(self, answer: Fields, kind: Kind) -> Scores:
        n = len(self.corpus.articles) if kind == ARTICLES else int(self.corpus.group.max(initial=-1)) + 1
        positions = self.positions[kind]
        # The server still multiplies by k1 + 1, which Lucene itself and `bm25s` leave out.
        left_out = 1 + (self.options.k1 if kind == ARTICLES else self.options.section_k1)
        scores = np.zeros(n, np.float32)
        for hit in answer["hits"]["hits"]:
            position = positions.get(hit["fields"]["id"][0])
            if position is not None:
                scores[position] = hit["_score"] / left_out
        return scores


def _with_port(address: str) -> str:
    """Return the address as the client wants it, with its port.

    Raises:
        BadSetting: It is no address.
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


def is_complete(meta: Mapping[str, Any] | None, key: str) -> bool:
    """Return whether an index holds all of a version, by what `ElasticText.meta` says."""
    return meta is not None and meta.get("state") == "complete" and meta.get("key") == key


def _marked(passage: str) -> Snippet:
    """Return a passage with marks in it as a passage and its marks."""
    text, marks = "", []
    for piece in re.split(f"({_OPEN}[^{_CLOSE}]*{_CLOSE})", passage):
        clean = piece.replace(_OPEN, "").replace(_CLOSE, "").replace("\n", " ")
        if piece.startswith(_OPEN):
            marks.append((len(text), len(text) + len(clean)))
        text += clean
    return Snippet(text, tuple(marks))
