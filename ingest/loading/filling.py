"""Texts of wordings whose days one source of an act knows and whose words another has."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date

from schema.records import Article, Wording

_Texts = Mapping[str, list[tuple[date, date, str]]]


def texts_in_time(articles: Iterable[Article], wordings: Iterable[Wording]) -> _Texts:
    """Return the texts of each article with their days, of those that are known."""
    texts: dict[str, list[tuple[date, date, str]]] = defaultdict(list)
    for id, record in [*((a.id, a) for a in articles), *((w.article_id, w) for w in wordings)]:
        if record.text:
            texts[id].append((record.valid_from or date.min, record.valid_to or date.max, record.text))
    return texts


def filled(wordings: Iterable[Wording], texts: _Texts) -> list[Wording]:
    """Return the wordings that lack a text and get one: the text that was in force on all of their days."""
    found: list[Wording] = []
    for wording in wordings:
        if wording.text or wording.valid_from is None:
            continue
        last = wording.valid_to or date.max
        text = next((t for start, end, t in texts.get(wording.article_id, ()) if start <= wording.valid_from and last <= end), "")
        if text:
            found.append(replace(wording, text=text))
    return found
