"""Acts that the words around a citation speak of."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from citations.act_names import act_names_at, back_noun, names_of, title_words, without_words
from citations.amended_text import Zone, amended_zones, zone_at
from citations.numbers import ARTICLE_WORD, is_lettered, normal, trigger_places
from citations.patterns import ACT_TRIGGERS, AMENDED, ANCHOR, DEFINED
from citations.reference import Context
from citations.section_paths import SectionPaths
from schema.records import ActTree, Article


def contexts(tree: ActTree) -> Iterator[tuple[Article, Context]]:
    """Yield the articles of an act, each with its context."""
    act = tree.act
    above = {section.id: section.parent_id for section in tree.sections}
    sections = SectionPaths(above)
    numbers = frozenset(normal(ARTICLE_WORD.sub("", article.number)) for article in tree.articles)
    lettered = sum(1 for number in numbers if is_lettered(number)) * 2 > len(numbers)
    around: dict[str, tuple[str, ...]] = {act.id: ()}
    ids = ["", *(article.id for article in tree.articles), ""]
    names: dict[str, tuple[str, ...]] = {}
    for name in names_of(act):
        names[without_words(name)] = max(names.get(without_words(name), ()), title_words(name), key=len)
    # A code says of each act what it is; other acts name it once and go on with "la même loi".
    spoken = _Spoken() if lettered else _named_throughout(tree)
    for place, article in enumerate(tree.articles):
        yield (
            article,
            Context(
                jurisdiction=act.jurisdiction,
                act=act.id,
                article=article.id,
                before=ids[place],
                after=ids[place + 2],
                noun=back_noun(act.title) if act.title else back_noun(act.kind),
                names=names,
                numbers=numbers,
                is_lettered=lettered,
                around=_around(article.parent_id, above, around),
                sections=sections,
                full_names=spoken.full_names,
                spoken=spoken.before[place + 1] if spoken.before else {},
                defined=spoken.defined,
            ),
        )


@dataclass(slots=True)
class _Spoken:
    """The names that an act gives to others, as it is read from its title on."""

    full_names: dict[str, str] = field(default_factory=dict[str, str])
    defined: dict[str, str] = field(default_factory=dict[str, str])
    before: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


def _named_throughout(tree: ActTree) -> _Spoken:
    """The full names that an act gives to others, and for each article the acts last named before it."""
    spoken = _Spoken()
    last: dict[str, str] = {}
    head = min(len(tree.act.title), 40)  # the title's own beginning names the act itself
    plain = Context(tree.act.jurisdiction, tree.act.id)
    own = names_of(tree.act)
    for text in (tree.act.title[head:], *(article.text for article in tree.articles)):
        if len(spoken.before) == 1 and len(set(last.values())) > 1:
            last = {}  # of several acts in the title none is the one that is meant
        spoken.before.append(last)
        zones: list[Zone] | None = None
        at = 0
        heard: set[str] = set()
        is_amending = AMENDED.search(text) is not None
        defines = "ci-après" in text
        for place in trigger_places(text, ACT_TRIGGERS):
            if place < at or not (anchor := ANCHOR.match(text, place)) or anchor.lastgroup != "act":
                continue
            for name in act_names_at(text, place, tree.act.jurisdiction):
                at = name.end
                if name.name.count(":") == 3:
                    spoken.full_names.setdefault(without_words(name.name), name.name)
                if zones is None:
                    zones = amended_zones(text, plain)
                # What is amended is named first; what is named behind it belongs to the new words.
                is_free = not (is_amending and name.noun in heard) and zone_at(zones, place) is None
                if name.certain and is_free and without_words(name.name) not in own:
                    heard.add(name.noun)
                    last = {**last, name.noun: name.name, "": name.name}
                    defined = DEFINED.search(text, at, at + 400) if defines else None
                    if defined and back_noun(defined["noun"]) == name.noun:
                        spoken.defined.setdefault(name.noun, name.name)
    return spoken


def _around(section: str, above: dict[str, str], paths: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    way: list[str] = []
    while section not in paths and section in above:
        way.append(section)
        section = above[section]
    path = paths.get(section, ())
    for step in reversed(way):
        path = paths[step] = (*path, step)
    return path
