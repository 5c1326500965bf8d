"""The act that the words behind a citation name: "du code de commerce", "de la même loi", "du titre II du présent code"."""

import re
from dataclasses import dataclass

from citations.act_names import back_noun
from citations.passage import Draft, Passage
from citations.patterns import BACK, BACK_SAID, INSTRUMENT, OF, OWN, SAME, SECTION
from citations.section_paths import chain_of


@dataclass(frozen=True, slots=True)
class Governor:
    """An act that the words before it belong to: its name, "" where it is not known, and where its own words end."""

    act: str
    end: int
    words: tuple[int, int] | None = None


def governor_at(passage: Passage, at: int, *, is_inserted: bool = False, may_be_section: bool = True) -> Governor | None:
    """Return the act that "du", "de la" from a place on leads to; None where the words name none.

    Args:
        is_inserted: paragraphs or points stand before the place, so that a comma begins nothing new.
        may_be_section: "du titre II" may stand between.
    """
    of = OF.match(passage.text, at)
    if not of:
        return None
    text, begin = passage.text, of.end()
    if of["said"]:
        noun = BACK.match(text, begin)
        return (_named_at(passage, begin) or _earlier(passage, noun, begin, noun.end())) if noun else None
    own = OWN.match(text, begin)
    if own:
        return _own(passage, own)
    same = SAME.match(text, begin)
    if same:
        return _earlier(passage, same, begin, same.end())
    named = _named_at(passage, begin)
    if named:
        return named
    section = SECTION.match(text, begin) if may_be_section else None
    if section:
        end = chain_of(text, section)[-1][1]
        return governor_at(passage, end, may_be_section=False) or Governor(passage.context.act, end)
    # Behind a comma it may as well be the next thing of a list ("l'article 5, de l'arrêté …").
    is_apart = "," in of[0] and not is_inserted
    return None if is_apart or of[0].strip().startswith("d'un") else _instrument(passage, begin)


def _named_at(passage: Passage, begin: int) -> Governor | None:
    """The act that is named here; of a list the others are citations by themselves."""
    names = passage.names_at(begin)
    if not names:
        return None
    passage.remember(names)
    for name in names[1:]:
        passage.drafts.append(Draft(name.start, name.end, "act", passage.act_of(name.name)))
    first = names[0]
    return Governor(passage.act_of(first.name), first.end, (first.start, first.end))


def _earlier(passage: Passage, noun: re.Match[str], begin: int, end: int) -> Governor:
    return Governor(passage.earlier(back_noun(noun["noun"]), begin), end, (begin, end))


def _own(passage: Passage, own: re.Match[str]) -> Governor | None:
    if own["section"]:
        return Governor(passage.context.act, own.end())
    if own["act"] and passage.is_own_noun(own["act"]):
        return Governor(passage.own_act(own.start(), own["act"]), own.end())
    if (own["article"] or "").lower() == "article":
        return None
    return Governor("", own.end())


def _instrument(passage: Passage, begin: int) -> Governor | None:
    """An act by its noun alone: "du code", "de la loi précitée", "de la convention"."""
    context, text = passage.context, passage.text
    instrument = INSTRUMENT.match(text, begin)
    if not instrument:
        return None
    if instrument[0] == "code" and context.noun == "code":
        return Governor(passage.own_act(begin, "code"), instrument.end())
    noun, said = BACK.match(text, begin), BACK_SAID.match(text, instrument.end())
    if noun and said:
        return _earlier(passage, noun, begin, said.end())
    return Governor(context.defined.get(back_noun(instrument[0]), ""), instrument.end(), (begin, instrument.end()))
