"""Citations in running text, in French and English: the words, where they stand, and a key for what they cite.

The key of a citation is the act, and behind a number sign the place in it:

- ``fr/LEGITEXT000006072050#L1234-9``: an article, by its normalised number; whether the act has it is not claimed;
- ``fr:code:code du travail#L1221-1..L1221-5``: a range of articles, both ends included;
- ``eu/32016L0680#/chapitre-2/section-1``: a section, by the numbered parts of its headings, outermost first;
- ``lu:loi:1915-08-10:concernant-les-societes-commerciales``: a whole act.

The act is an identifier of the graph where the text stays in its own act and for acts of the EU, else a name as
`ingest.citations.act_names` makes it. What is certain from the place of the text alone ("le présent article", "l'article
précédent", "le présent chapitre", a section that the act's own tree has) is the identifier in the graph, as it is.

Every pattern is bounded or free of overlapping repeats, so that the time grows with the length of the text only.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import islice

from ingest.citations.act_names import ActName, act_names_at, back_noun, likeness, title_words, without_words
from ingest.citations.amended_text import Zone, amended_zones, zone_at
from ingest.citations.numbers import has_number, is_lettered, normal, trigger_places
from ingest.citations.patterns import (
    AFTERWARDS,
    AMENDED,
    AMENDS,
    ANCHOR,
    AND,
    BACK,
    BACK_SAID,
    BREAK,
    CHAIN,
    CREATED,
    ENDS_LIST,
    INSTRUMENT,
    JOIN,
    LABEL,
    LIST_GOES_ON,
    NEIGHBOUR,
    NEW,
    NUMBER,
    OF,
    OPENING,
    OWN,
    PREPOSED,
    QUALIFIER,
    SAME,
    SECTION,
    SECTION_LABEL,
    SECTION_MORE,
    SIDE,
    SIDE_BEHIND,
    TO,
    WITHIN,
)
from ingest.citations.reference import Context, Form, Reference
from ingest.citations.section_paths import part

_LETTER = re.compile(r"[A-Z]")
_RECENT = 100
"""What a text refers back to is looked for among so many citations before it, no more."""
_SENTENCE = 2000
"""A sentence is looked for no further back than this, in characters."""


@dataclass(slots=True)
class _Found:
    """A reference while its act may still be found out: an empty ``act`` is not known."""

    start: int
    end: int
    form: Form
    act: str
    place: str = ""
    whole: str = ""
    is_relative: bool = False
    act_words: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Governor:
    """The act behind "du", "de la": its name ("" where it is not known), and where its words end."""

    act: str
    end: int
    words: tuple[int, int] | None = None


def find_references(text: str, context: Context) -> list[Reference]:
    """The citations in a text, in the order of their places.

    >>> here = Context("fr", "fr/LEGITEXT000006072050", is_lettered=True)
    >>> [found.target for found in find_references("aux articles L. 1234-1 et R. 12 du code de commerce", here)]
    ['fr:code:code de commerce#L1234-1', 'fr:code:code de commerce#R12']
    """
    places = trigger_places(text)
    return _Scan(text, context).references(places) if places else []


@dataclass(slots=True)
class _Scan:
    text: str
    context: Context
    found: list[_Found] = field(default_factory=list[_Found])
    named: list[ActName] = field(default_factory=list[ActName])
    told: dict[str, str] = field(default_factory=dict[str, str])
    zones: list[Zone] = field(default_factory=list[Zone])
    zone_acts: dict[int, str] = field(default_factory=dict[int, str])
    may_amend: bool = False
    verbs: list[int] | None = None
    preposed: tuple[int, str] = (-1, "")
    open_from: int = -1
    open_end: int = -1

    def references(self, places: list[int]) -> list[Reference]:
        text = self.text
        self.may_amend = AMENDS.search(text) is not None
        if self.may_amend:
            self.zones = amended_zones(text, self.context)
        at = 0
        for place in places:
            if place >= at and (anchor := ANCHOR.match(text, place)):
                at = max(anchor.end(), self._handle(anchor))
        made: list[Reference] = []
        for found in self.found:
            target = found.whole or (f"{found.act}#{found.place}" if found.act and found.place else found.act)
            if target:
                words = text[found.start : found.end]
                made.append(Reference(words, found.start, found.end, target, found.form, found.is_relative, found.act_words))
        return made

    def _handle(self, anchor: re.Match[str]) -> int:
        kind, start, end = anchor.lastgroup, anchor.start(), anchor.end()
        if kind == "article":
            return self._articles(start, end, anchor[0])
        if kind == "bare":
            number = NUMBER.match(self.text, start)
            if number and self.text.endswith("Art. ", 0, start) and LABEL.match(self.text, number.end()):
                return number.end()
            return self._articles(start, start, "")
        if kind == "act":
            return self._acts(start)
        if kind == "section":
            return self._sections(start)
        if kind == "own":
            return self._own(start)
        if kind == "neighbour":
            self._neighbour(start, end, anchor[0].startswith("preceding"))
            return end
        noun = BACK.match(self.text, end)
        if noun:
            earlier = self._earlier(back_noun(noun["noun"]), start)
            # "ladite loi du 3 mai" names its act itself.
            if earlier and not act_names_at(self.text, end, self.context.jurisdiction):
                self.found.append(_Found(start, noun.end(), "act", earlier, is_relative=True))
                return noun.end()
        return end

    # Articles

    def _articles(self, start: int, at: int, noun: str) -> int:
        """A group of article numbers behind one noun, with the acts that govern them."""
        text = self.text
        neighbour = NEIGHBOUR.match(text, at)
        if neighbour:
            self._neighbour(start, neighbour.end(), neighbour["before"] is not None)
            return neighbour.end()
        number = NUMBER.match(text, at)
        if not number:
            return at
        if noun and OPENING.search(text[max(0, start - 3) : start]) and LABEL.match(text, number.end()):
            return number.end()
        if noun and CREATED.search(text, max(0, start - 12), start):
            return number.end()
        is_plural = noun.rstrip(" .").endswith(("s", "S")) or not noun
        first, group = len(self.found), len(self.found)
        is_qualified = False
        end = at
        while number:
            begin = number.start()
            if len(self.found) == first and number["plain"] and not is_plural:
                begin = start
            end, place, form = self._article_or_range(number)
            self.found.append(_Found(begin, end, form, "", place))
            end, qualified = self._qualifiers(end)
            is_qualified = is_qualified or qualified
            governor = self._governor(end, qualified)
            if governor and not governor.act and number["lettered"] and self.context.is_lettered:
                governor = None  # conventions and the like have no such numbers: the words say something else
            if governor:
                for found in self.found[group:]:
                    found.act, found.act_words = governor.act, governor.words
                    found.is_relative = False
                if group == first:
                    self._govern_earlier(start, governor)
                group, end = len(self.found), governor.end
            number = self._next_number(end, is_plural and not (is_qualified and not number["lettered"] and not is_plural))
            if number and not number["lettered"] and is_qualified and not is_plural:
                number = None
        rest = self.found[group:]
        if rest:
            preposed = self.preposed[1] if self.preposed[0] == start else ""
            is_new = NEW.search(text, max(at, end - 10), end) is not None
            for found in rest:
                found.act = "" if is_new else preposed or self._default_act(found.place.split("..")[0], found.start, end)
            if not (group == first and self.open_from >= 0 and self._is_joined(start)):
                self.open_from = group
            self.open_end = end
        else:
            self.open_from = -1
        return end

    def _article_or_range(self, number: re.Match[str]) -> tuple[int, str, Form]:
        first = normal(number[0])
        to = TO.match(self.text, number.end())
        last = NUMBER.match(self.text, to.end()) if to else None
        if last and bool(last["lettered"]) == bool(number["lettered"]) and (last["lettered"] or self._goes_on(last.end())):
            return last.end(), f"{first}..{normal(last[0])}", "range"
        return number.end(), first, "article"

    def _qualifiers(self, at: int) -> tuple[int, bool]:
        """Past paragraphs, points and the like behind an article's number."""
        begin = at
        for _ in range(12):
            more = QUALIFIER.match(self.text, at) or AFTERWARDS.match(self.text, at)
            if not more:
                break
            at = more.end()
        return at, at > begin

    def _next_number(self, at: int, is_plural: bool) -> re.Match[str] | None:
        separator = AND.match(self.text, at)
        if not separator:
            return None
        number = NUMBER.match(self.text, separator.end())
        if number and number["plain"] and ENDS_LIST.search(separator[0]):
            return None
        if not JOIN.search(separator[0]):
            is_apart = number and number["lettered"] and self.text[at - 1] == ")"
            return number if is_apart else None
        if number and (number["lettered"] or (is_plural and number["arabic"] and self._goes_on(number.end()))):
            return number
        return None

    def _goes_on(self, at: int) -> bool:
        return LIST_GOES_ON.match(self.text, at) is not None

    def _default_act(self, number: str, start: int, end: int) -> str:
        context = self.context
        zone = self._zone(start)
        lettered = is_lettered(number)
        if zone is not None:
            act = self._zone_act(zone)
            return context.act if lettered and context.is_lettered and ":code:" not in act else act
        if context.is_lettered:
            if lettered and (context.numbers is None or number in context.numbers):
                return context.act
            earlier = self._earlier_in_sentence(start, "code" if lettered else "")
            return earlier or (context.act if lettered else "")
        if lettered:
            return self._earlier_in_sentence(start, "code")
        if self.may_amend and self._is_amended(start, end):
            act = self._act(self.named[-1].name if self.named else context.spoken.get("", ""))
            return act if act != context.act or context.numbers is None or has_number(context.numbers, number) else ""
        if context.numbers is not None and not has_number(context.numbers, number):
            return self._earlier_in_sentence(start, "")
        return context.act

    def _is_amended(self, start: int, end: int) -> bool:
        """Whether the sentence speaks of words that are replaced or inserted, so that its articles are of another act."""
        if self.verbs is None:
            self.verbs = [verb.start() for verb in AMENDED.finditer(self.text)]
        verbs = self.verbs
        following = bisect_left(verbs, start)
        if following < len(verbs) and verbs[following] - end < 160:
            return BREAK.search(self.text, end, verbs[following]) is None
        return following > 0 and verbs[following - 1] > max(self._sentence_start(start), start - 300)

    def _govern_earlier(self, start: int, governor: _Governor) -> None:
        """Let an act that is named behind a later group govern the group before it too, where that is joined to it.

        "aux articles L. 1 et L. 2 et à l'article L. 3 du code de commerce": L. 1 may be of either act; it is of the
        other where its own act has no such article.
        """
        numbers = self.context.numbers
        if self.open_from < 0 or not governor.act or numbers is None or not self._is_joined(start):
            return
        for found in self.found[self.open_from :]:
            is_open = found.form in ("article", "range") and not found.act_words and not found.whole
            if is_open and not has_number(numbers, found.place.split("..")[0]):
                found.act, found.act_words = governor.act, governor.words

    def _is_joined(self, start: int) -> bool:
        """Whether nothing but "et à", "du deuxième alinéa de" stands between the last group without an act and here."""
        return start - self.open_end <= 90 and CHAIN.fullmatch(self.text, self.open_end, start) is not None

    # The act behind "du", "de la"

    def _governor(self, at: int, is_inserted: bool = False, may_be_section: bool = True) -> _Governor | None:
        """The act that the words from here on name as the one that an article belongs to; None where they name none."""
        of = OF.match(self.text, at)
        if not of:
            return None
        text, begin = self.text, of.end()
        is_apart = "," in of[0] and not is_inserted
        if of["said"]:
            noun = BACK.match(text, begin)
            if not noun:
                return None
            named = self._named(begin)
            return named or _Governor(self._earlier(back_noun(noun["noun"]), begin), noun.end(), (begin, noun.end()))
        own = OWN.match(text, begin)
        if own:
            if own["section"]:
                return _Governor(self.context.act, own.end())
            if own["act"] and self._is_own_noun(own["act"]):
                return _Governor(self._own_act(begin, own["act"]), own.end())
            if (own["article"] or "").lower() == "article":
                return None
            return _Governor("", own.end())
        same = SAME.match(text, begin)
        if same:
            return _Governor(self._earlier(back_noun(same["noun"]), begin), same.end(), (begin, same.end()))
        named = self._named(begin)
        if named:
            return named
        section = SECTION.match(text, begin) if may_be_section else None
        if section:
            end = self._chain(section)[-1][1]
            return self._governor(end, may_be_section=False) or _Governor(self.context.act, end)
        instrument = INSTRUMENT.match(text, begin)
        # Behind a comma it may as well be the next thing of a list ("l'article 5, de l'arrêté …").
        if not instrument or is_apart or of[0].strip().startswith("d'un"):
            return None
        if instrument[0] == "code" and self.context.noun == "code":
            return _Governor(self._own_act(begin, "code"), instrument.end())
        noun = BACK.match(text, begin)
        said = BACK_SAID.match(text, instrument.end())
        if noun and said:
            return _Governor(self._earlier(back_noun(noun["noun"]), begin), said.end(), (begin, said.end()))
        return _Governor(self.context.defined.get(back_noun(instrument[0]), ""), instrument.end(), (begin, instrument.end()))

    def _named(self, begin: int) -> _Governor | None:
        names = act_names_at(self.text, begin, self.context.jurisdiction)
        if not names:
            return None
        self._remember(names)
        for name in names[1:]:
            self.found.append(_Found(name.start, name.end, "act", self._act(name.name)))
        first = names[0]
        return _Governor(self._act(first.name), first.end, (first.start, first.end))

    def _remember(self, names: list[ActName]) -> None:
        self.named += names
        for name in names:
            if name.name.count(":") == 3:
                self.told.setdefault(without_words(name.name), name.name)

    def _act(self, name: str) -> str:
        own = self.context.names.get(without_words(name))
        words = title_words(name)
        if own is not None and (not words or not own or likeness(words, own) >= 0.5):
            return self.context.act
        if not words and name.count(":") == 2:
            return self.told.get(name) or self.context.told.get(name, name)
        return name

    def _is_own_noun(self, noun: str) -> bool:
        return not self.context.noun or back_noun(noun) == self.context.noun

    def _own_act(self, at: int, noun: str) -> str:
        zone = self._zone(at)
        act = self.context.act if zone is None else self._zone_act(zone)
        self.named.append(ActName(act, at, at, back_noun(noun)))
        return act

    def _earlier(self, noun: str, at: int) -> str:
        """The act last named by a noun before this place; what new words name counts only among themselves."""
        zone = self._zone(at)
        recent = islice(reversed(self.named), _RECENT)
        named = (name for name in recent if name.noun == noun and self._zone(name.start) in (None, zone))
        here = next((self._act(name.name) for name in named), "")
        return here or self._act(self.context.spoken.get(noun, ""))

    def _earlier_in_sentence(self, start: int, noun: str) -> str:
        if not self.named:
            return ""
        begin = self._sentence_start(start)
        for name in reversed(self.named):
            if name.start < begin:
                break
            if (not noun or name.noun == noun) and name.start < start:
                return self._act(name.name)
        return ""

    def _sentence_start(self, start: int) -> int:
        lowest, at = max(0, start - _SENTENCE), start
        lowest = max(lowest, self.text.rfind(".\n", lowest, start))
        while (at := self.text.rfind(". ", lowest, at)) >= 0:
            if not (self.text[at - 1 : at].isupper() or self.text[max(0, at - 3) : at].lower() == "art"):
                return at
        return lowest

    # Acts, sections, and what stands around

    def _acts(self, start: int) -> int:
        names = act_names_at(self.text, start, self.context.jurisdiction)
        if not names:
            return start + 1
        if not (self.text[start - 1 : start] == "(" and self.text[names[-1].end : names[-1].end + 1] == ")"):
            self._remember(names)  # a note of what changed the text, "(Loi du 2 avril 2014)", is no act spoken of
        for name in names:
            if name.certain:
                self.found.append(_Found(name.start, name.end, "act", self._act(name.name)))
        end = names[-1].end
        before = PREPOSED.match(self.text, end)
        if before and len(names) == 1:
            self.preposed = (before.end(), self._act(names[0].name))
        return end

    def _chain(self, section: re.Match[str]) -> list[tuple[str, int]]:
        """A section and those that it stands in, as the text names them from the inside out, each with its end."""
        chain: list[tuple[str, int]] = []
        match: re.Match[str] | None = section
        while match and len(chain) < 9:
            chain.append((_section_part(match), match.end()))
            within = WITHIN.match(self.text, match.end())
            side = SIDE.match(self.text, within.end()) if within else None
            if side:
                chain.append((f"partie-{'legislative' if side[1].startswith('l') else 'reglementaire'}", side.end()))
                break
            match = SECTION.match(self.text, within.end()) if within else None
        return chain

    def _sections(self, start: int) -> int:
        section = SECTION.match(self.text, start)
        if not section or section["kind"] is None:
            return self._acts(start) if self.text[start] in "lL" else start + 1
        if OPENING.search(self.text[max(0, start - 3) : start]) and SECTION_LABEL.match(self.text, section.end()):
            return section.end()
        begins, numbers, kind = [start], [section["number"]], section["kind"]
        last = section
        if self.text[start + len(kind)] == "s":
            while (more := SECTION_MORE.match(self.text, last.end())) and len(numbers) < 30:
                begins.append(more.start("number"))
                numbers.append(more["number"])
                last = more
        within = WITHIN.match(self.text, last.end())
        above = SECTION.match(self.text, within.end()) if within else None
        chain = self._chain(above) if above else []
        if not chain and within and (side := SIDE.match(self.text, within.end())):
            chain = [(f"partie-{'legislative' if side[1].startswith('l') else 'reglementaire'}", side.end())]
        end = chain[-1][1] if chain else last.end()
        governor = self._governor(end)
        elsewhere = self._zone(start) is not None or (
            not self.context.is_lettered and self.may_amend and self._is_amended(start, end)
        )
        act = governor.act if governor else "" if elsewhere else self.context.act
        outer = [name for name, _ in reversed(chain)]
        side = SIDE_BEHIND.match(self.text, governor.end) if governor else None
        if side and (not outer or not outer[0].startswith("partie-")):
            outer = [f"partie-{'legislative' if side[1].startswith('l') else 'reglementaire'}", *outer]
        stop = end if len(numbers) == 1 else begins[0] + len(kind) + 2 + len(numbers[0])
        for begin, number in zip(begins, numbers, strict=True):
            parts = (*outer, part(kind, number))
            found = _Found(begin, stop, "section", act, "/" + "/".join(parts), act_words=governor.words if governor else None)
            if act == self.context.act and act and self.context.sections:
                ids = self.context.sections.find(parts, self.context.around[-1] if self.context.around else "")
                found.whole = ids[0] if len(ids) == 1 else ""
                if not ids or len(ids) > 1:
                    found.act = ""
            self.found.append(found)
            following = begins.index(begin) + 1
            if following < len(begins):
                stop = begins[following] + len(numbers[following])
        return max(end, governor.end if governor else end)

    def _own(self, start: int) -> int:
        own = OWN.match(self.text, start)
        if not own:
            return start + 1
        context, is_quoted, whole = self.context, self._zone(start) is not None, ""
        form: Form = "section"
        if own["act"]:
            whole = self._own_act(start, own["act"]) if self._is_own_noun(own["act"]) else ""
            form = "act"
        elif own["article"] and own["article"].lower() == "article" and not is_quoted:
            whole, form = context.article, "article"
        elif own["section"] and context.sections and not is_quoted:
            whole = context.sections.enclosing(own["section"], context.around)
        if whole:
            self.found.append(_Found(start, own.end(), form, "", whole=whole, is_relative=True))
        return own.end()

    def _neighbour(self, start: int, end: int, is_before: bool) -> None:
        whole = self.context.before if is_before else self.context.after
        if whole and self._zone(start) is None:
            self.found.append(_Found(start, end, "article", "", whole=whole, is_relative=True))

    def _zone(self, at: int) -> Zone | None:
        return zone_at(self.zones, at) if self.zones else None

    def _zone_act(self, zone: Zone) -> str:
        """The act that quoted words are to stand in: the one that is spoken of before them."""
        if zone.start not in self.zone_acts:
            own = self.context.act if self.context.is_lettered else self.context.spoken.get("", "")
            before = zone.start
            named = next((name for name in islice(reversed(self.named), _RECENT) if name.end <= before), None)
            recent = islice(reversed(self.found), _RECENT)
            cited = next((found for found in recent if found.end <= before and self._zone(found.start) is None), None)
            if cited and (not named or cited.start > named.start or cited.act_words):
                own = cited.act or (self.context.act if self.context.is_lettered else "")
            elif named:
                own = self._act(named.name)
            self.zone_acts[zone.start] = own
        return self.zone_acts[zone.start]


def _section_part(section: re.Match[str]) -> str:
    if section["kind"]:
        return part(section["kind"], section["number"])
    return part("partie", section["nth"])
