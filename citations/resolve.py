"""From the key of a citation to what it cites, by a light index of the law in memory.

`LawIndex.resolve` gives identifiers of the graph, or one of the reasons why there are none.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from citations.act_names import common_beginning, likeness, names_of, title_words, without_words
from citations.section_paths import SectionPaths, parts_of_key
from schema.identifiers import act_of, normal_number
from schema.records import Act, ActTree

Label = Literal["Act", "Section", "Article"]
Target = tuple[Label, str]

ACT_NOT_LOADED = "act not loaded"
ARTICLE_NOT_IN_ACT = "article not in act"
SECTION_NOT_IN_ACT = "section not in act"
AMBIGUOUS = "ambiguous"
LONGEST_RANGE = 2000
"""More articles than this are no citation of each of them; the range is left unresolved."""
TOO_LONG = "range too long"
_NUMBERS = 1 << 15
"""Article numbers that are kept in their compared forms: most acts number theirs alike."""

# Of several acts of one kind and date that one is meant whose title begins with more of the cited words than any other's,
# two at least; or else the one whose title has the most of them, half at least, with a lead over the next.
_BEGINNING = 2
_CLEAR = 0.5
_LEAD = 0.1


@dataclass(slots=True)
class _Articles:
    """The articles of one act: identifiers in reading order, and their places by loose number."""

    ids: list[str] = field(default_factory=list[str])
    places: dict[str, list[int]] = field(default_factory=lambda: defaultdict[str, list[int]](list))

    _by_number: list[tuple[tuple[tuple[int, int, str], ...], int]] = field(
        default_factory=list[tuple[tuple[tuple[int, int, str], ...], int]]
    )

    def add(self, id: str, number: str) -> None:
        self.places[loose_number(number)].append(len(self.ids))
        self.ids.append(id)

    def between(self, first: str, last: str) -> list[int]:
        """Return the places of the articles from one loose number to another."""
        if len(self._by_number) != len(self.ids):
            self._by_number = sorted((_sort_key(number), place) for number, places in self.places.items() for place in places)
        low = bisect_left(self._by_number, (_sort_key(first), -1))
        high = bisect_right(self._by_number, (_sort_key(last), len(self.ids)))
        return sorted(place for _, place in self._by_number[low:high])


@dataclass(slots=True)
class LawIndex:
    """Acts by their names, articles by act and number with their reading order, sections by the parts of their headings."""

    _acts: dict[str, dict[str, tuple[str, ...]]] = field(
        default_factory=lambda: defaultdict[str, dict[str, tuple[str, ...]]](dict)
    )
    _articles: dict[str, _Articles] = field(default_factory=dict[str, _Articles])
    _sections: dict[str, SectionPaths] = field(default_factory=dict[str, SectionPaths])
    _labels: dict[str, Label] = field(default_factory=dict[str, Label])

    @classmethod
    def of(cls, trees: Sequence[ActTree]) -> "LawIndex":
        """Return the index of acts that are in memory."""
        index = cls()
        for tree in trees:
            articles = ((article.id, article.number) for article in tree.articles)
            index.add(tree.act, articles, (section.id for section in tree.sections))
        return index

    def add(self, act: Act, articles: Iterable[tuple[str, str]], sections: Iterable[str]) -> None:
        """Add an act, or put it in the place of what was added of it before.

        Args:
            act: the act, which answers to its `names_of`.
            articles: identifier and number of each article; ranges follow the order of the numbers (`number_order`).
            sections: the identifiers of its sections.
        """
        self.remove(act.id)
        for name in names_of(act):
            acts = self._acts[without_words(name)]
            acts[act.id] = max(acts.get(act.id, ()), title_words(name), key=len)
        held = self._articles[act.id] = _Articles()
        for id, number in sorted(articles, key=lambda article: (number_order(article[1]), article[0])):
            held.add(id, number)
        kept = list(sections)
        self._sections[act.id] = SectionPaths(kept)
        self._labels.update((id, "Section") for id in kept)
        self._labels.update((id, "Article") for id in held.ids)

    def remove(self, act_id: str) -> None:
        """Forget an act."""
        if act_id in self._articles:
            for acts in self._acts.values():
                acts.pop(act_id, None)
            del self._articles[act_id], self._sections[act_id]
            self._labels = {id: label for id, label in self._labels.items() if act_of(id) != act_id}

    def acts_named(self, name: str) -> list[str]:
        """Return the acts that a name may mean: one where its words tell them apart, several where they do not."""
        act = self._act(name)
        return sorted(self._acts[without_words(name)]) if act == AMBIGUOUS else [] if act == ACT_NOT_LOADED else [act]

    def sections_at(self, act: str, place: str) -> list[str]:
        """Return the sections of an act that the parts in a key ("/livre-1/titre-2") may mean."""
        return self._sections[act].find(parts_of_key(place)) if act in self._sections else []

    def targets(self, key: str) -> list[Target]:
        """Return what a key cites, each with its label; nothing where `resolve` gives a reason."""
        resolved = self.resolve(key)
        return [] if isinstance(resolved, str) else resolved

    def resolve(self, key: str) -> list[Target] | str:
        """Return what a key cites, each with its label, in reading order; or the reason why it is not to be had."""
        name, _, place = key.partition("#")
        if not place and name.count("/") > 1:
            return self._identified(name)
        act = self._act(name)
        if act in (ACT_NOT_LOADED, AMBIGUOUS):
            return act
        if not place:
            return [("Act", act)]
        if place.startswith("/"):
            ids = self._sections[act].find(parts_of_key(place))
            return [("Section", ids[0])] if len(ids) == 1 else AMBIGUOUS if ids else SECTION_NOT_IN_ACT
        first, _, last = place.partition("..")
        return self._range(act, first, last) if last else self._article(act, first)

    def _identified(self, id: str) -> list[Target] | str:
        label = self._labels.get(id)
        if label:
            return [(label, id)]
        return ARTICLE_NOT_IN_ACT if act_of(id) in self._articles else ACT_NOT_LOADED

    def _act(self, name: str) -> str:
        acts = self._acts.get(without_words(name))
        if not acts:
            return ACT_NOT_LOADED
        cited = title_words(name)
        if len(acts) == 1:
            id, words = next(iter(acts.items()))
            return id if not (cited and words) or likeness(cited, words) else ACT_NOT_LOADED
        if not cited:
            return AMBIGUOUS
        best, second = sorted(((common_beginning(cited, words), likeness(cited, words), id) for id, words in acts.items()))[
            -1:-3:-1
        ]
        begins = best[0] > second[0] and best[0] >= min(_BEGINNING, len(cited), len(acts[best[2]]))
        return best[2] if begins or (best[1] >= _CLEAR and best[1] - second[1] >= _LEAD) else AMBIGUOUS

    def _article(self, act: str, number: str) -> list[Target] | str:
        articles = self._articles[act]
        places = articles.places.get(loose_number(number), [])
        if not places:
            return ARTICLE_NOT_IN_ACT
        return [("Article", articles.ids[places[0]])] if len(places) == 1 else AMBIGUOUS

    def _range(self, act: str, first: str, last: str) -> list[Target] | str:
        articles = self._articles[act]
        begin, end = (articles.places.get(loose_number(number), []) for number in (first, last))
        if len(begin) == len(end) == 1 and begin[0] <= end[0]:
            ids = articles.ids[begin[0] : end[0] + 1]
        else:  # an end that is repealed by now: what stands between the two numbers
            ids = [articles.ids[place] for place in articles.between(loose_number(first), loose_number(last))]
        if len(ids) > LONGEST_RANGE:
            return TOO_LONG
        return [("Article", id) for id in ids] or ARTICLE_NOT_IN_ACT


@lru_cache(_NUMBERS)
def loose_number(number: str) -> str:
    """Return an article number as it is compared: stars, case, and the ending of "1er" do not tell articles apart.

    >>> loose_number("Art. 1er."), loose_number("R.* 123-1"), loose_number("3 bis") == loose_number("3bis")
    ('1', 'r123-1', True)
    """
    number = re.sub(r"^art(?:icle)?\.?[\s-]+", "", number.strip(), flags=re.IGNORECASE)
    loose = normal_number(number).lower().replace("*", "").strip(".")
    loose = re.sub(r"^premier$|^ier$", "1", loose)
    return re.sub(r"(?<=\d)-(?=[a-z])", "", re.sub(r"^1er\b", "1", loose))


def number_order(number: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that puts articles in the order of their numbers.

    >>> sorted(["L10", "L9-2", "L9", "L9 bis"], key=number_order)
    ['L9', 'L9 bis', 'L9-2', 'L10']
    """
    return _sort_key(loose_number(number))


@lru_cache(_NUMBERS)
def _sort_key(number: str) -> tuple[tuple[int, int, str], ...]:
    parts = re.findall(r"\d+|[a-z]+", number)
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)
