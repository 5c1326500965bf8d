"""A reference found in running text, and what it is read in."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Literal

from citations.act_names import ActName
from citations.section_paths import SectionPaths

Form = Literal["article", "range", "section", "act"]


@dataclass(frozen=True, slots=True)
class Context:
    """The place of a text: its act, and its own article with those before and after it.

    ``names`` are what its act is called, without the words of the title, and with them as the value. ``noun`` is the one
    by which it may speak of itself ("code", "loi"). ``numbers`` holds the normalised numbers of its articles where they
    are known. Of acts named by their date alone, ``full_names`` has those that the rest of the act gives in full; ``spoken``
    has the act last named before this text, by its noun and by "" for any; ``defined`` the acts that "la loi" stands for
    ("ci-après la loi"). ``given`` has acts that are known to be named at places of the text, whatever its words there.
    """

    jurisdiction: str
    act: str
    article: str = ""
    before: str = ""
    after: str = ""
    noun: str = ""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    numbers: Container[str] | None = None
    is_lettered: bool = False
    around: tuple[str, ...] = ()
    sections: SectionPaths | None = None
    full_names: Mapping[str, str] = field(default_factory=dict[str, str])
    spoken: Mapping[str, str] = field(default_factory=dict[str, str])
    defined: Mapping[str, str] = field(default_factory=dict[str, str])
    given: Mapping[int, ActName] = field(default_factory=dict[int, ActName])


@dataclass(frozen=True, slots=True)
class Reference:
    """A citation found in a text: the words, their half-open range in code points, and the key of what they cite.

    ``is_relative`` tells those that a reader follows from where they stand ("le présent article", "la même loi").
    ``act_words`` is where the words stand that name the act, where others than these do.
    """

    text: str
    start: int
    end: int
    target: str
    form: Form
    is_relative: bool = False
    act_words: tuple[int, int] | None = None
