"""Citations in running text, in French and English: the words, where they stand, and a key for what they cite.

The key of a citation is the act, and behind a number sign the place in it:

- ``fr/LEGITEXT000006072050#L1234-9``: an article, by its normalised number; whether the act has it is not claimed;
- ``fr:code:code du travail#L1221-1..L1221-5``: a range of articles, both ends included;
- ``eu/32016L0680#/chapitre-2/section-1``: a section, by the numbered parts of its headings, outermost first;
- ``lu:loi:1915-08-10:concernant-les-societes-commerciales``: a whole act.

The act is an identifier of the graph where the text stays in its own act and for acts of the EU, else a name as
`citations.act_names` makes it. What is certain from the place of the text alone ("le présent article", "l'article
précédent", "le présent chapitre", a section that the act's own tree has) is the identifier in the graph, as it is.

The way of a text: its zones of amendment (`Passage.of`), the places where a citation may begin (`trigger_places`), and at
each of them the words of one kind of citation. Every pattern is bounded or free of overlapping repeats, so that the time
grows with the length of the text only.
"""

import re

from citations.act_names import back_noun
from citations.article_lists import ArticleLists
from citations.numbers import trigger_places
from citations.passage import Draft, Passage
from citations.patterns import ANCHOR, BACK, LABEL, NEIGHBOUR, NUMBER, OWN, PREPOSED, SECTION
from citations.reference import Context, Form, Reference
from citations.section_references import read_sections


def find_references(text: str, context: Context) -> list[Reference]:
    """Return the citations in a text, in the order of their places.

    >>> here = Context("fr", "fr/LEGITEXT000006072050", is_lettered=True)
    >>> [found.target for found in find_references("aux articles L. 1234-1 et R. 12 du code de commerce", here)]
    ['fr:code:code de commerce#L1234-1', 'fr:code:code de commerce#R12']
    """
    places = trigger_places(text)
    if not places:
        return []
    passage = Passage.of(text, context)
    articles = ArticleLists(passage)
    at = 0
    for place in places:
        if place >= at and (anchor := ANCHOR.match(text, place)):
            at = max(anchor.end(), _read(passage, articles, anchor))
    return passage.references()


def _read(passage: Passage, articles: ArticleLists, anchor: re.Match[str]) -> int:
    """Read the citations that begin with an anchor; return where their words end."""
    start, end = anchor.span()
    match anchor.lastgroup:
        case "article":
            return _neighbour(passage, start, end) or articles.read(start, end, anchor[0])
        case "bare":
            return _label_end(passage.text, start) or articles.read(start, start, "")
        case "act":
            return _acts(passage, start)
        case "section":
            section = SECTION.match(passage.text, start)
            if section and section["kind"] is not None:
                return read_sections(passage, section)
            return _acts(passage, start) if passage.text[start] in "lL" else start + 1  # "livre des procédures fiscales"
        case "own":
            return _own(passage, start)
        case "neighbour":
            return _next_to(passage, start, end, is_before=anchor[0].startswith("preceding"))
        case _:
            return _back(passage, start, end)


def _label_end(text: str, start: int) -> int:
    """The end of a number that heads an article of its own ("Art. L. 1. - …"), else 0."""
    number = NUMBER.match(text, start)
    return number.end() if number and text.endswith("Art. ", 0, start) and LABEL.match(text, number.end()) else 0


def _acts(passage: Passage, start: int) -> int:
    """Acts that are cited whole, or whose articles follow ("code de commerce : articles L. 1 et L. 2")."""
    names = passage.names_at(start)
    if not names:
        return start + 1
    text, end = passage.text, names[-1].end
    if not (text[start - 1 : start] == "(" and text[end : end + 1] == ")"):
        passage.remember(names)  # a note of what changed the text, "(Loi du 2 avril 2014)", is no act spoken of
    passage.drafts += [Draft(name.start, name.end, "act", passage.act_of(name.name)) for name in names if name.certain]
    before = PREPOSED.match(text, end)
    if before and len(names) == 1:
        passage.preposed = (before.end(), passage.act_of(names[0].name))
    return end


def _own(passage: Passage, start: int) -> int:
    """The text's own act, article or section: "la présente loi", "le présent chapitre"."""
    own = OWN.match(passage.text, start)
    if not own:
        return start + 1
    context, is_quoted, whole = passage.context, passage.zone(start) is not None, ""
    form: Form = "section"
    if own["act"]:
        whole = passage.own_act(start, own["act"]) if passage.is_own_noun(own["act"]) else ""
        form = "act"
    elif own["article"] and own["article"].lower() == "article" and not is_quoted:
        whole, form = context.article, "article"
    elif own["section"] and context.sections and not is_quoted:
        whole = context.sections.enclosing(own["section"], context.around)
    if whole:
        passage.drafts.append(Draft(start, own.end(), form, "", whole=whole, is_relative=True))
    return own.end()


def _neighbour(passage: Passage, start: int, at: int) -> int:
    """The article before or behind this one, named behind the noun ("l'article précédent"); where it ends, else 0."""
    neighbour = NEIGHBOUR.match(passage.text, at)
    return _next_to(passage, start, neighbour.end(), is_before=neighbour["before"] is not None) if neighbour else 0


def _next_to(passage: Passage, start: int, end: int, *, is_before: bool) -> int:
    whole = passage.context.before if is_before else passage.context.after
    if whole and passage.zone(start) is None:
        passage.drafts.append(Draft(start, end, "article", "", whole=whole, is_relative=True))
    return end


def _back(passage: Passage, start: int, end: int) -> int:
    """An act named before: "la même loi", "ledit règlement"; "ladite loi du 3 mai" names its act itself."""
    noun = BACK.match(passage.text, end)
    earlier = passage.earlier(back_noun(noun["noun"]), start) if noun else ""
    if noun and earlier and not passage.names_at(end):
        passage.drafts.append(Draft(start, noun.end(), "act", earlier, is_relative=True))
        return noun.end()
    return end
