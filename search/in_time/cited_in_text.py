"""Citations of a wording that is not the present one: read from its text when it is asked for, and led to the law at hand.

The graph keeps the citations of present texts as edges; of other wordings, of which there are many more, it keeps the text alone.
"""

from dataclasses import dataclass

from citations.find import find_references
from citations.reference import Context
from schema.identifiers import act_of
from search.query.understanding import Understanding


@dataclass(frozen=True, slots=True)
class CitedInText:
    """A citation found in a text.

    Attributes:
        words: of the citation.
        start: place where they begin, in code points; end: where they end, exclusive.
        target: key of what is cited (`citations.find`).
        ids: identifiers of the articles, the section or the act that it names; none where the law at hand lacks them.
    """

    words: str
    start: int
    end: int
    target: str
    ids: tuple[str, ...]


def cited_in_text(understanding: Understanding, article: str, text: str) -> list[CitedInText]:
    """Return the citations of a wording of an article, in the order of its text."""
    act = act_of(article)
    found = find_references(text, Context(act.partition("/")[0], act, article=article))
    return [CitedInText(one.text, one.start, one.end, one.target, understanding.meant(one.target)) for one in found]
