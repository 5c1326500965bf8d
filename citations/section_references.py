"""Chapters, titles and books that a text cites: "les chapitres II et III du titre premier du code de commerce"."""

import re

from citations.governors import Governor, governor_at
from citations.passage import Draft, Passage
from citations.patterns import OPENING, SECTION, SECTION_LABEL, SECTION_MORE, SIDE, SIDE_BEHIND, WITHIN
from citations.section_paths import chain_of, part, side_part

_MOST = 30
"""Sections of one list."""


def read_sections(passage: Passage, section: re.Match[str]) -> int:
    """Note the section, or the list of them, that the words name; return where the words end."""
    text, start = passage.text, section.start()
    if OPENING.search(text[max(0, start - 3) : start]) and SECTION_LABEL.match(text, section.end()):
        return section.end()
    listed = _listed(text, section)
    outer, end = _outer_parts(text, listed[-1])
    governor = governor_at(passage, end)
    side = SIDE_BEHIND.match(text, governor.end) if governor else None
    if side and not (outer and outer[0].startswith("partie-")):
        outer = [side_part(side), *outer]
    act = governor.act if governor else "" if _is_elsewhere(passage, start, end) else passage.context.act
    words = governor.words if governor else None
    kind = section["kind"]
    # Of a list the first ends with its number, as does each of the others; one alone with all that it stands in.
    stop = end if len(listed) == 1 else start + len(kind) + 2 + len(section["number"])
    for number in listed:
        begin = start if number is section else number.start("number")
        if number is not section:
            stop = begin + len(number["number"])
        parts = (*outer, part(kind, number["number"]))
        draft = Draft(begin, stop, "section", act, "/" + "/".join(parts), act_words=words)
        if act == passage.context.act and act and passage.context.sections:
            _identify(passage, draft, parts)
        passage.drafts.append(draft)
    return _later(end, governor)


def _listed(text: str, section: re.Match[str]) -> list[re.Match[str]]:
    """The section, and those that its plural goes on with."""
    listed = [section]
    if text[section.start() + len(section["kind"])] == "s":
        while len(listed) < _MOST and (more := SECTION_MORE.match(text, listed[-1].end())):
            listed.append(more)
    return listed


def _outer_parts(text: str, last: re.Match[str]) -> tuple[list[str], int]:
    """The parts that the sections stand in, outermost first, and where the words that name them end."""
    within = WITHIN.match(text, last.end())
    above = SECTION.match(text, within.end()) if within else None
    side = SIDE.match(text, within.end()) if within and not above else None
    chain = chain_of(text, above) if above else [(side_part(side), side.end())] if side else []
    return [name for name, _ in reversed(chain)], chain[-1][1] if chain else last.end()


def _is_elsewhere(passage: Passage, start: int, end: int) -> bool:
    """True where the sections are those of an act that is amended."""
    return passage.zone(start) is not None or (not passage.context.is_lettered and passage.is_amended(start, end))


def _identify(passage: Passage, draft: Draft, parts: tuple[str, ...]) -> None:
    """Give a section of the text's own act its identifier; where several or none answer, nothing is cited."""
    context = passage.context
    ids = context.sections.find(parts, context.around[-1] if context.around else "") if context.sections else []
    if len(ids) == 1:
        draft.whole = ids[0]
    else:
        draft.act = ""


def _later(end: int, governor: Governor | None) -> int:
    return max(end, governor.end) if governor else end
