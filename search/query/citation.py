"""Articles that a query names: its citations, written as people type them, made into what the citation parser reads.

A reader of running text may ask for "article" before a number and "du" before an act; a query has neither. So the query is
rewritten, each character knowing where it came from, and then read by `citations.find` as any text is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from citations.find import find_references
from citations.reference import Context, Reference
from search.query.act_names import ActNames, Mention

ANY_ACT = "?"
"""The act of a citation that names none."""
_LETTERED = r"(?:L\.?\s?O|[LRDA])\s?\.?\s?\*{0,2}\s?\.?\s?\d{1,4}(?:-\d{1,4})*"
_PLAIN = r"\d{1,4}(?:-\d{1,4})*(?:\s?er)?(?:\s(?:bis|ter|quater))?"
_MAY_CITE = re.compile(r"\d|\b(?:premier|chapitre|titre|livre|section|partie|chapter|title|part)\b", re.IGNORECASE)
_BEFORE = "voir "
_KINDS = r"directive|r[eè]glement|regulation|d[eé]cision|decision|loi|d[eé]cret|ordonnance|arr[eê]t[eé]"
_UNION = r"(?:\(?(?:UE|EU|CE|EC|CEE|EEC)\)?\s)?"
_ARTICLE = r"(?:l['’]\s?)?(?:articles\s)?(?=(?:LO|[LRDA])\s?[.*]?\s?\d)"
_NUMBER_BEHIND = r"(?=\*|\d|(?:lo|[lrda])\s?[.*]?\s?\*?\s?\d|premier|[ivx]+\b)"
_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), by)
    for pattern, by in {
        r"\s+": " ",
        r"(?<=\d)\s?[‐‑–—]\s?(?=\d)": "-",
        rf"\b(?:dir\.?|directive)\s(?={_UNION}\d+/\d)": "directive ",
        rf"\b(?:reg\.?|règl\.|regulation|r[eè]glement)\s(?={_UNION}(?:n[°o]\s?)?\d+/\d)": "règlement ",
        r"\b(loi|ordonnance)s?\s(?:n\.?\s|no\.?\s)?(?=\d{2,4}-\d{1,5}\b)": r"\1 n° ",
        r"\bd[eé]crets?\s(?:n\.?\s|no\.?\s)?(?=\d{2,4}-\d{1,5}\b)": "décret n° ",
        rf"\b(?:articles?|arts?)\b\.?\s?(?:n°\s?|n\.\s|no\.?\s)?{_NUMBER_BEHIND}": "articles ",
        rf"(?<=\d)\s?(?:\.\.+|…|->|→|\s-\s?|-\s)\s?{_ARTICLE}": " à ",
        r"(?<=\d)-(?=[LRDA]\.?\s?\d)": " à ",
        rf"(?<=\d)\s(?:through|until|jusqu['’]à|a|thru)\s{_ARTICLE}": " à ",
        rf"(?<=\d)\s?[&+/]\s?{_ARTICLE}": " et ",
    }.items()
)
"""What people type, and what the citation parser reads."""
_SMALL_LETTER = re.compile(
    r"(?<![\w.'’-])(?:(?:lo|[lrda])(?=\.?\s?\*{0,2}\s?\.?\s?\d{1,4}-\d)|(?:lo|[lrd])(?=\.?\s?\*{0,2}\d{2,4}\b|\.\s?\d))"
)
_SPACED = re.compile(
    r"(?<![\w.'’-])(?P<letter>LO|[LRD])(?:\s?\.?\s?|-)(?P<parts>\*{0,2}\d{3,4}(?:\s?[ .-]\s?\d{1,2}){1,2})(?![\w%€]|[.,-]\d)"
    r"(?!\s?(?:%|€|euros?|h|heures?|jours?|semaines?|mois|ans?|années?)(?!\w))",
    re.IGNORECASE,
)
"""A number whose parts stand apart ("L 1234 9", "L.1234.9", "L-1234-9"); "D 100 5 jours" may be no such number."""
_SHOUTED = re.compile(r"(?<=\d)\s(?:DU|DES|DE LA|DE L'|DE|D'|OF THE|OF|ET|OU|AND|TO|À)(?!\w)")
_FIRST_OF_LIST = re.compile(rf"(?<![\w.'’-])(?={_LETTERED})")
_IN_LIST = re.compile(
    r"(?:\barticles\s|\d(?:\s(?:bis|ter|quater))?\s?(?:,|;|\s(?:et|ou|à|and|or|to|ainsi que)\s)\s?(?:(?:de|à)\s)?(?:l['’]\s?)?)$"
)
_NEXT_TO = re.compile(rf"(?<=\d)\s(?={_LETTERED})")
_ALONE = re.compile(r"^\s*(?=\d{1,4}-\d{1,4}(?:-\d{1,4})*\s*$)")
_PLAIN_BEFORE = re.compile(
    rf"(?<![LRDAO*]\.\s)(?<![LRDAO*]\s)(?<![\w.°*-])(?<!°\s)({_PLAIN})\s?(?:,\s?)?(?:du\s|de\sla\s|of\s(?:the\s)?)?$"
)
_PLAIN_BEHIND = re.compile(rf"\s?[:,]?\s?(?={_PLAIN}\s?(?:$|[,;?]|\s(?:et|ou|à|and|or|to)\s))")
_LEADS_TO_ACT = re.compile(r"(?:\b(?:du|de\sla|de\sl['’]|des|of\sthe|of)|\bd['’]|\bde)\s?$", re.IGNORECASE)
_BEFORE_ACT = re.compile(
    r"(?:[\s,:;(–—-]|\b(?:in|in\sthe|from|from\sthe|under|under\sthe|dans|dans\sle|dans\sla|dans\sl['’]|au|à\sla|selon|le|la|the))*$",
    re.IGNORECASE,
)
_ACT_WORD = re.compile(rf"\b(?:{_KINDS})s?\s(?=\(?(?:n[°o]|\d|UE|EU|CE|EC|du\s\d))", re.IGNORECASE)
_NOUN_BEFORE = re.compile(r"(?:\b(?:de|à)\s)?(?:\bl['’])?articles\s$")
_OF = " du "
_BEFORE_LIST = re.compile(r"[\s,:;(–—-]+(?=articles\s)")
_NOUN = "code "
"""A noun by which the parser sees that an act is named."""
_HAS_NOUN = re.compile("[Cc]ode ")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text that was rewritten: each character with the place in the query that it stands for."""

    text: str
    origin: tuple[int, ...]

    @classmethod
    def of(cls, query: str) -> "Rewritten":
        """Return a query as it is."""
        return cls(query, tuple(range(len(query))))

    def replaced(self, start: int, end: int, by: str) -> "Rewritten":
        """Return the text with other words in a range."""
        place = self.origin[start] if start < len(self.origin) else (self.origin[-1] + 1 if self.origin else 0)
        return Rewritten(self.text[:start] + by + self.text[end:], self.origin[:start] + (place,) * len(by) + self.origin[end:])

    def sub(self, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str]) -> "Rewritten":
        """Return the text with every match of a pattern replaced, or left where its replacement is the same."""
        result = self
        for match in reversed(list(pattern.finditer(self.text))):
            words = by(match) if callable(by) else match.expand(by)
            if words != match[0]:
                result = result.replaced(*match.span(), words)
        return result

    def range_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the query that a range of the text stands for."""
        return self.origin[start], self.origin[end - 1] + 1


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation in a query.

    Attributes:
        target: its key (`citations.find`).
        start: where its words begin, with those of its act.
        end: behind their last.
        is_apart: it stands apart from the only act that the query names, and is taken to be of that.
    """

    target: str
    start: int
    end: int
    is_apart: bool = False

    def of_any_act(self) -> "Cited":
        """Return the citation as one that names no act."""
        return replace(self, target=f"{ANY_ACT}#{self.target.partition('#')[2]}", is_apart=False)


def cited_in(query: str, names: ActNames, jurisdiction: str) -> list[Cited]:
    """Return the articles and sections that a query cites, in its order; the act is `ANY_ACT` where the query names none."""
    if not _MAY_CITE.search(query):
        return []
    rewritten, given = _as_running_text(query, names)
    context = Context(jurisdiction, ANY_ACT, is_lettered=True, given={m.start: m.as_name for m in given})
    found = {one.start: one for one in find_references(rewritten.text, replace(context, is_lettered=False))}
    # Read as in a code, whose own articles have a letter; what that leaves without an act may be any act's.
    found |= {one.start: one for one in find_references(rewritten.text, context)}
    cited = [one for _, one in sorted(found.items()) if one.form != "act" and not one.is_relative and "#" in one.target]
    only = {mention.name for mention in given}
    return [_cited(one, rewritten, next(iter(only)) if len(only) == 1 else ANY_ACT) for one in cited]


def _cited(reference: Reference, rewritten: Rewritten, act: str) -> Cited:
    """Return a citation in places of the query; one without an act is of the only act that the query names."""
    noun = _NOUN_BEFORE.search(rewritten.text, 0, reference.start)
    start, end = noun.start() if noun else reference.start, reference.end
    if reference.act_words:
        start, end = min(start, reference.act_words[0]), max(end, reference.act_words[1])
    target = reference.target
    is_apart = act != ANY_ACT and target.startswith(f"{ANY_ACT}#")
    if is_apart:
        target = act + target[len(ANY_ACT) :]
    return Cited(target, *rewritten.range_of(start, end), is_apart)


def _as_running_text(query: str, names: ActNames) -> tuple[Rewritten, list[Mention]]:
    """Return a query as a sentence would have it, and the acts named in it, by their places there."""
    text = Rewritten.of(query.replace("\u00a0", " ").replace("’", "'").replace("´", "'"))
    for pattern, by in _REWRITES:
        text = text.sub(pattern, by)
    text = text.sub(_SPACED, lambda match: match["letter"] + "-".join(re.split(r"[\s.-]+", match["parts"])))
    text = text.sub(_SMALL_LETTER, lambda match: match[0].upper()).sub(_SHOUTED, lambda match: match[0].lower())
    text = text.sub(_NEXT_TO, ", ").sub(_ALONE, "articles ")
    text = text.sub(_FIRST_OF_LIST, lambda match: "" if _IN_LIST.search(text.text, 0, match.start()) else "articles ")
    return _with_acts(text.replaced(0, 0, _BEFORE), names)


def _with_acts(text: Rewritten, names: ActNames) -> tuple[Rewritten, list[Mention]]:
    """Return the text with its acts bound to the numbers beside them, and those acts that the parser would not know."""
    mentions = names.mentions(text.text)
    places = [(mention.start, mention.end, mention.name) for mention in mentions]
    for word in _ACT_WORD.finditer(text.text):
        if not any(mention.start <= word.start() < mention.end for mention in mentions):
            places.append((*word.span(), ""))
    given: list[Mention] = []
    shift = last = 0
    for start, end, name in sorted(places):
        size = len(text.text)
        is_known = not name or _HAS_NOUN.match(text.text, start + shift)
        text, begin, stop = _bound(text, (start + shift, end + shift), last, "" if is_known else _NOUN)
        shift += len(text.text) - size
        last = stop
        if name:
            given.append(Mention(name, begin, stop))
    return text, given


def _bound(text: Rewritten, act: tuple[int, int], last: int, noun: str) -> tuple[Rewritten, int, int]:
    """Return the text with an act bound to the numbers before or behind it, and the act's new range."""
    start, end = act
    behind = _PLAIN_BEHIND.match(text.text, end) if "articles " not in text.text[last:start] else None
    if behind:
        text = text.replaced(*behind.span(), " articles ")
    elif apart := _BEFORE_LIST.match(text.text, end):
        text = text.replaced(*apart.span(), " ")
    if noun:
        text, end = text.replaced(start, start, noun), end + len(noun)
    size = len(text.text)
    plain = _PLAIN_BEFORE.search(text.text, last, start)
    if plain and not _IN_LIST.search(text.text, last, plain.start(1)):
        text = text.replaced(plain.start(1), plain.start(1), "articles ")
    start, end = (place + len(text.text) - size for place in (start, end))
    if "articles " in text.text[last:start] and not _LEADS_TO_ACT.search(text.text, last, start):
        between = _BEFORE_ACT.search(text.text, last, start)
        assert between is not None, "it matches nothing too"
        text = text.replaced(between.start(), start, _OF)
        end += between.start() + len(_OF) - start
        start = between.start() + len(_OF)
    return text, start, end
