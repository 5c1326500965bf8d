"""A text while its citations are read: the references so far, and the acts that the text speaks of."""

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import islice

from citations.act_names import ActName, act_names_at, back_noun, likeness, title_words, without_words
from citations.amended_text import Zone, amended_zones, zone_at
from citations.patterns import AMENDED, AMENDS, BREAK
from citations.reference import Context, Form, Reference

_RECENT = 100
"""What a text refers back to is looked for among so many citations before it, no more."""
_SENTENCE = 2000
"""A sentence is looked for no further back than this, in characters."""


@dataclass(slots=True)
class Draft:
    """A reference whose act may still be named: an empty ``act`` is not known; ``whole`` is an identifier of the graph."""

    start: int
    end: int
    form: Form
    act: str
    place: str = ""
    whole: str = ""
    is_relative: bool = False
    act_words: tuple[int, int] | None = None

    @property
    def target(self) -> str:
        """Key of what is cited, "" where its act stayed unknown."""
        return self.whole or (f"{self.act}#{self.place}" if self.act and self.place else self.act)


@dataclass(slots=True)
class Passage:
    """A text that is read from its beginning on.

    Attributes:
        zones: stretches of the text that are new words for another place.
        may_amend: the text has words of amendment somewhere.
        named: the acts named so far.
        preposed: a place, and the act named right before the articles that begin there.
    """

    text: str
    context: Context
    may_amend: bool
    zones: list[Zone]
    drafts: list[Draft] = field(default_factory=list[Draft])
    named: list[ActName] = field(default_factory=list[ActName])
    preposed: tuple[int, str] = (-1, "")
    _full_names: dict[str, str] = field(default_factory=dict[str, str])
    _zone_acts: dict[int, str] = field(default_factory=dict[int, str])
    _verbs: list[int] | None = None

    @classmethod
    def of(cls, text: str, context: Context) -> "Passage":
        """Return a text whose zones of amendment are known, and nothing else yet."""
        may_amend = AMENDS.search(text) is not None
        return cls(text, context, may_amend, amended_zones(text, context) if may_amend else [])

    def references(self) -> list[Reference]:
        """Return the references whose act is known."""
        return [
            Reference(self.text[d.start : d.end], d.start, d.end, target, d.form, d.is_relative, d.act_words)
            for d in self.drafts
            if (target := d.target)
        ]

    # The acts that the text names

    def names_at(self, start: int) -> list[ActName]:
        """Return the acts named from a place on."""
        given = self.context.given.get(start)
        return [given] if given else act_names_at(self.text, start, self.context.jurisdiction)

    def remember(self, names: list[ActName]) -> None:
        """Let later words refer back to these acts."""
        self.named += names
        for name in names:
            if name.name.count(":") == 3:
                self._full_names.setdefault(without_words(name.name), name.name)

    def act_of(self, name: str) -> str:
        """Return the text's own act for one of its names, else the name, as full as the law gives it."""
        own = self.context.names.get(without_words(name))
        words = title_words(name)
        if own is not None and (not words or not own or likeness(words, own) >= 0.5):
            return self.context.act
        if not words and name.count(":") == 2:
            return self._full_names.get(name) or self.context.full_names.get(name, name)
        return name

    def is_own_noun(self, noun: str) -> bool:
        """Return whether the text's act speaks of itself by a noun."""
        return not self.context.noun or back_noun(noun) == self.context.noun

    def own_act(self, at: int, noun: str) -> str:
        """Return the act that "la présente loi" means here, to which later words may refer back."""
        zone = self.zone(at)
        act = self.context.act if zone is None else self.zone_act(zone)
        self.named.append(ActName(act, at, at, back_noun(noun)))
        return act

    def earlier(self, noun: str, at: int) -> str:
        """Return the act last named by a noun before a place; what new words name counts only among themselves."""
        zone = self.zone(at)
        recent = islice(reversed(self.named), _RECENT)
        named = (name for name in recent if name.noun == noun and self.zone(name.start) in (None, zone))
        here = next((self.act_of(name.name) for name in named), "")
        return here or self.act_of(self.context.spoken.get(noun, ""))

    def earlier_in_sentence(self, start: int, noun: str) -> str:
        """Return the act last named in the sentence of a place, by a noun or by "" for any."""
        if not self.named:
            return ""
        begin = self._sentence_start(start)
        for name in reversed(self.named):
            if name.start < begin:
                break
            if (not noun or name.noun == noun) and name.start < start:
                return self.act_of(name.name)
        return ""

    def _sentence_start(self, start: int) -> int:
        lowest, at = max(0, start - _SENTENCE), start
        lowest = max(lowest, self.text.rfind(".\n", lowest, start))
        while (at := self.text.rfind(". ", lowest, at)) >= 0:
            if not (self.text[at - 1 : at].isupper() or self.text[max(0, at - 3) : at].lower() == "art"):
                return at
        return lowest

    # Words of amendment

    def is_amended(self, start: int, end: int) -> bool:
        """Return whether a sentence replaces or inserts words, so that the articles in it are of another act."""
        if not self.may_amend:
            return False
        if self._verbs is None:
            self._verbs = [verb.start() for verb in AMENDED.finditer(self.text)]
        verbs = self._verbs
        following = bisect_left(verbs, start)
        if following < len(verbs) and verbs[following] - end < 160:
            return BREAK.search(self.text, end, verbs[following]) is None
        return following > 0 and verbs[following - 1] > max(self._sentence_start(start), start - 300)

    def zone(self, at: int) -> Zone | None:
        """Return the quoted words that a place stands in."""
        return zone_at(self.zones, at) if self.zones else None

    def zone_act(self, zone: Zone) -> str:
        """Return the act that quoted words are to stand in: the one that is spoken of before them."""
        if zone.start not in self._zone_acts:
            own = self.context.act if self.context.is_lettered else self.context.spoken.get("", "")
            before = zone.start
            named = next((name for name in islice(reversed(self.named), _RECENT) if name.end <= before), None)
            recent = islice(reversed(self.drafts), _RECENT)
            cited = next((draft for draft in recent if draft.end <= before and self.zone(draft.start) is None), None)
            if cited and (not named or cited.start > named.start or cited.act_words):
                own = cited.act or (self.context.act if self.context.is_lettered else "")
            elif named:
                own = self.act_of(named.name)
            self._zone_acts[zone.start] = own
        return self._zone_acts[zone.start]
