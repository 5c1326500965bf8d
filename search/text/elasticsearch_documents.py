"""The law as documents for a server's text index: their fields, and a digest by which copies are compared."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from itertools import chain
from typing import Any

from search.corpus.corpus import NO_END, NO_START, Corpus, CorpusText
from search.text.analysis import analyzer
from search.text.options import HEADING_WEIGHT, Bm25Options

Fields = dict[str, Any]
Kind = str
ARTICLES, GROUPS = "articles", "groups"
KINDS: tuple[Kind, Kind] = (ARTICLES, GROUPS)
LAYOUT = 2
"""Raised when the mapping or the fields of a document change, so that indexes are made anew and not as copies."""
ANALYZERS: Mapping[str, str] = {"fr": "french", "en": "english", "de": "german", "nl": "dutch", "it": "italian", "es": "spanish"}
"""The server's own analyzers by language of an act (``LEXGRAPH_ANALYSIS=native``); ``standard`` for any other."""
LONGEST_WORD = 127
"""Longest word that is indexed, in characters: the server's whitespace analyzer cuts at 255 UTF-16 units."""
_LONGEST_ID_BYTES = 512


def document_id(id: str) -> str:
    """Return the name of a document: the identifier of what it shows, or its digest where that is too long for a name."""
    data = id.encode()
    return id if len(data) <= _LONGEST_ID_BYTES else "sha256:" + hashlib.sha256(data).hexdigest()


def indexed(word: str) -> str:
    """Return a word as it stands in a server's index."""
    return word[:LONGEST_WORD]


@dataclass(frozen=True, slots=True)
class LawDocument:
    """One document: its name, the digest of all that it is made from, and its fields, made when they are asked for."""

    id: str
    sha256: str
    fields: Callable[[], Fields]


class LawDocuments:
    """Articles as documents, and acts and sections as documents.

    Words are made only of documents that are written: a copy is compared by the digest of what they are made from.

    Args:
        native: whether the server analyses the texts itself, in fields named by language.
    """

    def __init__(self, corpus: Corpus, text: CorpusText, *, native: bool) -> None:
        self._corpus, self._text, self._native = corpus, text, native
        self._paths: dict[int, list[str]] = {}
        self._above: dict[int, list[str]] = {}

    def count(self, kind: Kind) -> int:
        """Return the number of documents of one kind."""
        corpus = self._corpus
        return len(corpus.articles) if kind == ARTICLES else len(corpus.acts) + len(corpus.sections)

    def of(self, kind: Kind) -> Iterator[LawDocument]:
        """Return the documents of one kind."""
        return self._articles() if kind == ARTICLES else self._groups()

    def _articles(self) -> Iterator[LawDocument]:
        for position in range(len(self._corpus.articles)):
            facts = self._article(position)
            yield self._document(facts, facts, partial(self._article_words, position))

    def _groups(self) -> Iterator[LawDocument]:
        """Yield one document an act and a section; those that articles stand in directly have words."""
        for node in chain((-1 - act for act in range(len(self._corpus.acts))), range(len(self._corpus.sections))):
            facts = self._group(node)
            read = [self._read(position) for position in self._corpus.present_members(node)]
            yield self._document(facts, [facts, read], partial(self._group_words, node))

    def _document(self, facts: Fields, made_from: object, words: Callable[[Fields], Fields]) -> LawDocument:
        digest = _digest(made_from)
        return LawDocument(document_id(facts["id"]), digest, lambda: words(facts | {"sha256": digest}))

    def _shared(self, act: int, node: int, members: list[int]) -> Fields:
        """Return the fields of every document: of an act, at a node, about articles."""
        return {
            "act_id": self._corpus.acts[act],
            "parents": self._corpus.path_ids(node)[:0:-1],
            "path": self._path(node),
            "kind": self._corpus.kinds[act],
            "jurisdiction": self._corpus.jurisdictions[act],
            "language": self._text.languages[act],
            "in_force": self._in_force(members),
            "present": bool(self._corpus.present[members].any()),
        }

    def _article(self, position: int) -> Fields:
        corpus, text = self._corpus, self._text
        return self._shared(int(corpus.article_act[position]), int(corpus.article_parent[position]), [position]) | {
            "id": corpus.articles[position],
            "number": text.numbers[position],
            "heading": text.article_headings[position],
            "text": text.texts[position],
            "valid_from": _iso(int(corpus.valid_from[position])),
            "valid_to": _iso(int(corpus.valid_to[position])),
        }

    def _article_words(self, position: int, fields: Fields) -> Fields:
        language, parent = fields["language"], int(self._corpus.article_parent[position])
        if self._native:
            # The text is copied from its own field, which highlights are made of.
            fields[f"native_{language}"] = [*fields["path"], fields["number"]]
            fields[f"text_{language}"] = fields.pop("text")
        else:
            fields["words"] = _joined([*self._headings(parent, language), *self._own_words(position, language)])
        return fields

    def _group(self, node: int) -> Fields:
        corpus, path = self._corpus, self._path(node)
        return self._shared(-1 - corpus.ancestors(node)[0], node, corpus.members.get(node, [])) | {
            "id": corpus.node_id(node),
            "parent_id": corpus.node_id(int(corpus.section_parent[node])) if node >= 0 else "",
            "level": len(path) - 1,
            "heading": path[-1],
        }

    def _group_words(self, node: int, fields: Fields) -> Fields:
        language, members = fields["language"], self._corpus.present_members(node)
        if not members:
            return fields
        if self._native:
            read = [self._read(position) for position in members]
            fields[f"native_{language}"] = [*fields["path"] * HEADING_WEIGHT, *chain.from_iterable(read)]
        else:
            own = chain.from_iterable(self._own_words(position, language) for position in members)
            fields["words"] = _joined([*self._headings(node, language) * HEADING_WEIGHT, *own])
        return fields

    def _read(self, position: int) -> tuple[str, str]:
        return self._text.numbers[position], self._text.texts[position]

    def _own_words(self, position: int, language: str) -> Iterator[str]:
        return chain.from_iterable(map(analyzer(language).tokens, self._read(position)))

    def _headings(self, parent: int, language: str) -> list[str]:
        if parent not in self._above:
            self._above[parent] = list(chain.from_iterable(map(analyzer(language).tokens, self._path(parent))))
        return self._above[parent]

    def _path(self, parent: int) -> list[str]:
        if parent not in self._paths:
            self._paths[parent] = self._text.path(self._corpus, parent)
        return self._paths[parent]

    def _in_force(self, positions: list[int]) -> list[dict[str, int]]:
        """Return the spans of days on which the words here are those of an article, each once; days since 1970-01-01.

        Those are the days of its present wording, and of the others whose text nobody knows.
        """
        spans = {span for p in positions for span in self._corpus.wordings(p, known=False)}
        return [{"gte": start, "lte": end - 1} for start, end in sorted(spans) if start < end]


def _iso(day: int) -> str | None:
    return None if day in (NO_START, NO_END) else (date(1970, 1, 1) + timedelta(day)).isoformat()


def _digest(made_from: object) -> str:
    return hashlib.sha256(json.dumps(made_from, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _joined(words: list[str]) -> str:
    return " ".join(map(indexed, words))


def analyzer_of(language: str) -> str:
    """Return the server's own analyzer of a language."""
    return ANALYZERS.get(language, "standard")


def index_settings(options: Bm25Options) -> Fields:
    """Return the settings of an index."""
    return {
        # How many shards, and other things of the cluster, an index template for <prefix>-* may say.
        "auto_expand_replicas": "0-1",
        "refresh_interval": -1,  # refreshed by hand: it does not change once it is complete
        "merge.policy.expunge_deletes_allowed": 0,
        "similarity": {
            ARTICLES: {"type": "BM25", "k1": options.k1, "b": options.b},
            GROUPS: {"type": "BM25", "k1": options.section_k1, "b": options.section_b},
        },
    }


def properties_of(kind: Kind, languages: Iterable[str], *, native: bool) -> Fields:
    """Return the indexed fields of one kind of document; all others are kept and not indexed."""
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
        "present": {"type": "boolean"},
        "sha256": {"type": "keyword", "index": False},
    }
    if kind == GROUPS:
        fields |= {"parent_id": keyword, "level": {"type": "integer"}}
    if not native:
        words = {"type": "text", "analyzer": "whitespace", "index_options": "freqs", "similarity": kind}
        return fields | {"words": words}
    for language in languages:
        analyzer = {"type": "text", "analyzer": analyzer_of(language)}
        fields[f"native_{language}"] = analyzer | {"similarity": kind}
        if kind == ARTICLES:
            fields[f"text_{language}"] = analyzer | {"norms": False, "copy_to": f"native_{language}"}
    return fields
