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
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from typing import Literal

from ingest.citations.act_names import ActName, act_names_at, back_noun, likeness, names_of, title_words, without_words
from ingest.citations.section_paths import SectionPaths, part
from schema.identifiers import normal_number
from schema.records import ActTree, Article

Form = Literal["article", "range", "section", "act"]

_SUFFIX = r"bis|ter|quater|quinquies|sexies|septies|octies|nonies|decies|undecies|duodecies|terdecies|quaterdecies|quindecies"
# Not I, V, X: those are parts of an article. "A" before a small word is no preposition, which would have its accent.
_CAPITAL = r"(?:[\s-](?![IVX]{1,2}\b)[A-Z]{1,2}(?=\s?[,;.:)\n]|$|\s[a-zà-ÿ(]))"
_NUMBER = re.compile(
    rf"""
    (?P<lettered>(?:L\.?\s?O|[LRDA])\s?\.?\s?(?:\*{{1,2}}\s?)?\.?\s?\d{{1,4}}(?:\s?[-‑–]\s?\d{{1,4}}(?!\d|\s?°))*+{_CAPITAL}?
        (?:\s(?:{_SUFFIX})\b)?+(?:-\d+)?+(?!\d|-\w))
    |(?P<plain>(?:(?P<arabic>\d{{1,4}})(?:\s?er\b|ère\b|[a-d]\b)?(?:\s?[-‑]\d{{1,3}}(?!\d))*|premier|[Ii]er\b|[IVXLC]{{1,6}}\b(?!\.\d))
        (?:\s?(?:{_SUFFIX})\b)?(?:[-‑]\d{{1,3}}(?!\d)){{0,3}}{_CAPITAL}?(?:\s(?:{_SUFFIX})\b)?)(?![\w°/%]|[.,]\d)
    """,
    re.VERBOSE,
)
_LETTER = re.compile(r"[A-Z]")
# Behind the comma or "et" of a list a bare number must not be the beginning of something else ("et 6 mois").
_LIST_GOES_ON = re.compile(
    r"\s?(?:[,;.:)\]»”\n(]|$)|\s(?:et|ou|à|and|or|to|du|de|des|d['’]|dudit|of|ainsi|ci-|nouveau|précité|susvisé|est|sont|ne|ni)"
)
_UNIT = r"(?:\d{1,3}(?:er|ère|°|[a-z])?\)?|\([a-z0-9]{1,4}\)|[a-zA-Z]\)|[ivxIVX]{1,5}\b\)?|[a-z]\b|premi[eè]re?)(?!\w)"
_ORDINAL = (
    r"premi[eè]re?s?|deuxième|seconde?|troisième|quatrième|cinquième|sixième|septième|huitième|neuvième|dixième|dernier|dernière"
    r"|avant-dernier|\d{1,2}(?:e|er|ème)|first|second|third|fourth|fifth|last"
)
_QUALIFIER = re.compile(
    rf"""
    \s?,?\s?(?:
      (?:aux?\s|les?\s)?(?:§{{1,2}}|(?:paragraphes|alinéas|points|lettres|tirets|phrases|numéros|paragraphs
        |points|subparagraphs)\b)\s?
        {_UNIT}(?:(?:,\s?|\s(?:et|ou|à|and|or|to)\s){_UNIT}){{0,12}}
      |(?:au\s|à\sl['’]|le\s|l['’])?(?:paragraphe|par\.|alinéa|al\.|point|lettre|sous|tiret|phrase|numéro|littera|lit\.|sub|paragraph|subparagraph|indent)
        \s?(?:lettre\s|n°\s)?(?:{_UNIT}(?:\s?\([a-z0-9]{{1,4}}\)){{0,3}}|premi[eè]re?)
      |(?:aux?\s|les?\s|la\s|the\s|et\s)?(?:{_ORDINAL})(?:\set\s(?:{_ORDINAL}))?
        \s(?:alinéas?|paragraphes?|phrases?|tirets?|subparagraph|paragraph|indent|sentence)
      |\(\d{{1,2}}[a-z]?\)\.?(?:\([a-z]{{1,4}}\)){{0,2}}|\([a-z]\)
      |(?:[IVX]{{1,5}}|\d{{1,2}}°)(?=\s?[,;)]|\s(?:du|de\sla|de\sl['’]|des)\s)
      |[a-z]\)
    )
    """,
    re.VERBOSE,
)
_AFTERWARDS = re.compile(
    r"\s(?:et\ssuivants?|et\ss\.|(?:précité|susvisé|susmentionné|modifié|visé)e?s?|ci-dessus|ci-après|nouveaux?|anciens?)\b|\s\([^()\n]{1,40}\)"
)
_TO = re.compile(r"\s?(?:à|to|jusqu['’]à)\s(?:l['’]articles?\s|l['’]art\.\s)?")
_AND = re.compile(
    r"\s?[,;]?\s?(?:-\s?)?(?:(?:et|ou|and|or|ainsi\sque|et/ou)\s)?(?:(?:à|aux|au|de|des|du|les|par|l['’])\s?)?"
    r"(?:(?:\d{1,2}°|[IVX]{1,5})\sde\sl['’]\s?)?"
)
_ENDS_LIST = re.compile(r"[;\n]|-\s")
_JOIN = re.compile(r",|;|\bet\b|\bou\b|\band\b|\bor\b|\bque\b|-|\bà\b|\bpar\b")
_OF = re.compile(
    r"\s?,?\s(?:(?P<said>dudit|de\sladite|desdits|desdites|de\scette|de\sce|of\sthat|of\sthe\ssaid)|du|de\sla|de\sl['’]|des|d['’]un[e]?|d['’]"
    r"|of\sthe|of|(?:prévue?s?|figurant)\s(?:par|dans)\s(?:la|le|l['’]))\s?"
)
_ACT_NOUN = (
    r"code|loi|décret-loi|décret|ordonnance|arrêté|règlement|directive|décision|regulation|decision|law|constitution|convention"
    r"|statuts?"
)
_OWN = re.compile(
    rf"(?:présente?s?|this)\s(?:(?P<act>{_ACT_NOUN})\b|(?P<section>sous-section|section|chapitre|titre|livre|partie|chapter|title|part"
    r"|sous-paragraphe|paragraphe)\b|(?P<article>article|annexe|accord|arrangement)\b)",
    re.IGNORECASE,
)
_SAME = re.compile(rf"(?:mêmes?|said|same)\s(?P<noun>{_ACT_NOUN})\b", re.IGNORECASE)
_BACK = re.compile(rf"(?P<noun>{_ACT_NOUN})\b", re.IGNORECASE)
_BACK_SAID = re.compile(
    r"(?:\s(?:grand-ducal|ministériel))?\s(?:précité|susvisé|susmentionné|susdit|mentionné\sci-dessus)e?\b", re.IGNORECASE
)
_INSTRUMENT = re.compile(
    r"(?:(?:ancien|nouveau|nouvelle|ancienne|même|dit|dite|premier|second|troisième)\s)?(?:conventions?|traités?|accords?|protocoles?|chartes?|pactes?|statuts?"
    r"|règlements?|décrets?|lois?|ordonnances?|arrêtés?|directives?|décisions?|codes?|actes?|annexes?|appendices?|contrats?|avenants?|concordat"
    r"|instructions?|cahiers?|tarifs?|déclarations?|constitution|livre\sblanc|TFUE|TUE|TCE|TFEU|TEU|treaty|treaties|convention|charter|protocol"
    r"|agreement|regulations?|directives?|annex(?:es)?|acts?|laws?|RGPD|GDPR|arrangement|règles|rules|normes?|CGI|tableau|décision-cadre"
    r"|dahir|modèles?|formulaires?|délibérations?|circulaires?|recommandations?|communications?)\b",
    re.IGNORECASE,
)
_SECTION_KIND = (
    r"sous-section|sous-paragraphe|section|chapitre|titre|livre|partie|chapter|title|part|subsection|Sous-section|Section|Chapitre|Titre"
    r"|Livre|Partie|Chapter|Title|Part"
)
_SECTION_NUMBER = (
    rf"(?:[IVXLC]{{1,7}}(?:er)?|\d{{1,3}}(?:er|re)?|premier|première|unique|préliminaire|1er)(?:\s?(?:{_SUFFIX}))?"
    r"(?![\w°'’]|-\w|\.\w)(?!\s[%€])"
)
_SECTION = re.compile(rf"(?P<kind>{_SECTION_KIND}|paragraphe)s?\s(?P<number>{_SECTION_NUMBER})|(?P<nth>{_ORDINAL})\s[Pp]artie\b")
_SECTION_MORE = re.compile(
    rf"(?:,|\s(?:et|ou|à|and|or|to))\s(?:(?:du|de\sla|la|le|les|aux?)\s)?(?P<number>{_SECTION_NUMBER})(?!\s(?:alinéa|\w{{4,}}))"
)
_WITHIN = re.compile(r"\s(?:du|de\sla|of)\s")
_SIDE = re.compile(r"partie\s(législative|réglementaire)\b")
_SIDE_BEHIND = re.compile(r"\s\([Pp]artie\s(législative|réglementaire)")
_NEIGHBOUR = re.compile(r"(?P<before>précédent|qui\sprécède)\b|(?P<after>suivant|qui\ssuit)\b")
# A heading "Art. 5. - …" or "Article 5" alone in its line is no citation.
_LABEL = re.compile(r"(?:er)?\s?(?:\.?\s?[-–—]\s?|\.\s?(?=[A-ZÀÉÈ«(\d]|\n|$)|\s?(?:\n|$)|\.\s{0,4}\n)")
_SECTION_LABEL = re.compile(r"\s?(?:[-–—:/]|\.(?:\s?[-–—A-ZÀÉ]|\s{0,4}(?:\n|$))|\n|$)")
_OPENING = re.compile(r"(?:^|[\n«“„\":#])\s?$")
_NEW = re.compile(r"\snouveaux?$")
_CREATED = re.compile(r"\b(?:un|un\snouvel|d['’]un|deux|trois|an|new)\s$", re.IGNORECASE)
_PREPOSED = re.compile(r"\s?(?:[:(]|,)?\s?(?:en\s(?:son|ses)\s|notamment\s(?:en\s|à\s)?(?:son\s|ses\s|l['’])?)?(?=articles?\s)")
_ANCHOR = re.compile(
    r"""
    (?<![\w.])(?:
      (?P<article>(?:[Aa]rticles?|ARTICLES?|[Aa]rts?\.)\s?)
      |(?P<bare>[LRD])(?=\.\s?(?:\*{1,2}\s?)?\d{1,4}-\d)
      |(?P<act>(?:[Cc]ode|[Ll]ois?|[Oo]rdonnances?|[Aa]rrêtés?|[Rr]èglements?|[Dd]irectives?|[Rr]egulations?|[Rr]ecomm[ae]ndations?|Framework)\s
        |[Dd](?:écrets?|[ée]cisions?)[\s-]|Constitution\b|[Ll]ivre\sdes\sp|L\.\s(?=\d\d?(?:er)?\s[a-zéû]{3,9}\s\d{4}))
      |(?P<section>(?:[Ss]ous-section|[Ss]ection|[Cc]hapitre|[Tt]itre|[Ll]ivre|[Pp]artie|Chapter|Title|Part|chapter|title)s?\s)
      |(?P<own>[Pp]résente?s?\s|[Tt]his\s)
      |(?P<same>[Mm]êmes?\s|[Ss]aid\s)
      |(?P<ledit>[Ll][ae]dite?\s|[Dd]udit\s)
      |(?P<neighbour>(?:preceding|following)\sArticle\b)
    )
    """,
    re.VERBOSE,
)
# Where an anchor may stand is found by plain search for these, which is several times faster than the pattern itself;
# each begins so many characters behind the beginning of the word.
_ACT_TRIGGERS = (
    *(
        (needle, 1)
        for needle in ("ode", "oi ", "oi\xa0", "ois ", "rdonnance", "rrêté", "èglement", "irective", "egulation", "écret")
    ),
    *((needle, 1) for needle in ("ecomm", "ramework", "onstitution", "ivre des p")),
    ("cision", 2),
)
_TRIGGERS = (
    *_ACT_TRIGGERS,
    *(
        (needle, 1)
        for needle in ("rticle", "RTICLE", "rt.", "rts.", "ivre", "ous-section", "ection", "hapit", "hapter", "itre", "itle")
    ),
    *(
        (needle, 1)
        for needle in ("artie", "résent", "his ", "ême", "aid ", "adit", "edit", "udit", "receding Article", "ollowing Article")
    ),
    *((needle, 0) for needle in ("L.", "R.", "D.", "Part ")),
)
_ARTICLE_WORD = re.compile(r"^art(?:icle)?\.?\s+", re.IGNORECASE)
_AMENDS = re.compile(
    r"(?:ainsi\s(?:rédigé|conçu|libellé|modifié|complété)|remplacé|inséré|ajouté|complété|modifié|amendé|abrogé|supprimé|les\smots|le\smot"
    r"|(?:de|aura|prend|avec)\sla\steneur|termes\ssuivants|la\sréférence|les\sréférences|rédigé|libellé|conçu|replaced|inserted|added)"
)
_QUOTE_AFTER = re.compile(r"[^«“„\n]{0,160}(?:\n\s?)?[«“„]")
_COLON_AFTER = re.compile(r"[^«“„.;:\n]{0,40}:(?!\s{0,9}[«“„])")
_TEXT_FOLLOWS = re.compile(
    r"(?:(?:modifié|remplacé|complété|libellé|rédigé|conçu|inséré|amendé|ajouté)e?s?(?:\s(?:et\s\w{1,20}|ainsi))?\s(?:comme\ssuit"
    r"|par\sl\w{1,2}\s\w{1,20}\ssuivante?s?|dans\sles\stermes\ssuivants)|(?:aura|prend|auront|avec|de)\sla\steneur\ssuivante"
    r"|ainsi\s(?:rédigé|conçu|libellé)e?s?)"
)
_AMENDED = re.compile(
    r"\b(?:est|sont|prend|prennent|aura|auront)\s(?:(?:ainsi|donc|également)\s)?(?:modifié|remplacé|abrogé|complété|supprimé|inséré|ajouté|libellé"
    r"|rédigé|rétabli|apporté|la\steneur)"
)
# An article of the amending act itself, behind new words that no quotation marks close.
_NEXT_CHANGE = re.compile(
    r"\nArt\.\s\d{1,3}[a-z]{0,10}\.?\s?\n"
    r"(?=(?:[LÀA][ '’]|Les|La|Le|Après|Avant|Au|Aux|Dans|Il)[^\n]{0,120}\b(?:même|loi|règlement|code|Code)\b)"
)
_BREAK = re.compile(r"[.;:«\n]")
_DEFINED = re.compile(
    r"ci-après\s?(?:,\s?)?(?:\w{4,12}\s){0,2}[:«“„\"\s]{0,4}(?:la\s|le\s)?[«“„\"\s]{0,3}(?P<noun>loi|règlement|directive|décret|arrêté)\b",
    re.IGNORECASE,
)
_RECENT = 100
"""What a text refers back to is looked for among so many citations before it, no more."""
_SENTENCE = 2000
"""A sentence is looked for no further back than this, in characters."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of the place of a text: its act, and its own article with those before and after it.

    ``names`` are what its act is called, without the words of the title, and with them as the value. ``noun`` is the one
    by which it may speak of itself ("code", "loi"). ``numbers`` holds the normalised numbers of its articles where they
    are known. Of acts named by their date alone, ``told`` has the full names that the rest of the act gives; ``spoken``
    has the act last named before this text, by its noun and by "" for any; ``defined`` the acts that "la loi" stands for
    ("ci-après la loi").
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
    told: Mapping[str, str] = field(default_factory=dict[str, str])
    spoken: Mapping[str, str] = field(default_factory=dict[str, str])
    defined: Mapping[str, str] = field(default_factory=dict[str, str])


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


@dataclass(frozen=True, slots=True)
class _Zone:
    """A stretch of text that is to stand in another place of the law."""

    start: int
    end: int


def contexts(tree: ActTree) -> Iterator[tuple[Article, Context]]:
    """The articles of an act, each with its context."""
    act = tree.act
    above = {section.id: section.parent_id for section in tree.sections}
    sections = SectionPaths(above)
    numbers = frozenset(_normal(_ARTICLE_WORD.sub("", article.number)) for article in tree.articles)
    lettered = sum(1 for number in numbers if _is_lettered(number)) * 2 > len(numbers)
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
                told=spoken.told,
                spoken=spoken.before[place + 1] if spoken.before else {},
                defined=spoken.defined,
            ),
        )


@dataclass(slots=True)
class _Spoken:
    """What an act says of others, as it is read from its title on."""

    told: dict[str, str] = field(default_factory=dict[str, str])
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
        zones: list[_Zone] | None = None
        at = 0
        heard: set[str] = set()
        is_amending = _AMENDED.search(text) is not None
        defines = "ci-après" in text
        for place in _places(text, _ACT_TRIGGERS):
            if place < at or not (anchor := _ANCHOR.match(text, place)) or anchor.lastgroup != "act":
                continue
            for name in act_names_at(text, place, tree.act.jurisdiction):
                at = name.end
                if name.name.count(":") == 3:
                    spoken.told.setdefault(without_words(name.name), name.name)
                if zones is None:
                    zones = _amended_zones(text, plain)
                # What is amended is named first; what is named behind it belongs to the new words.
                is_free = not (is_amending and name.noun in heard) and _zone_at(zones, place) is None
                if name.certain and is_free and without_words(name.name) not in own:
                    heard.add(name.noun)
                    last = {**last, name.noun: name.name, "": name.name}
                    defined = _DEFINED.search(text, at, at + 400) if defines else None
                    if defined and back_noun(defined["noun"]) == name.noun:
                        spoken.defined.setdefault(name.noun, name.name)
    return spoken


def _around(section: str, above: dict[str, str], known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    way: list[str] = []
    while section not in known and section in above:
        way.append(section)
        section = above[section]
    found = known.get(section, ())
    for step in reversed(way):
        found = known[step] = (*found, step)
    return found


def _is_lettered(number: str) -> bool:
    return number[:1] in "LRDA" and any(c.isdigit() for c in number[1:4])


def find_references(text: str, context: Context) -> list[Reference]:
    """The citations in a text, in the order of their places.

    >>> here = Context("fr", "fr/LEGITEXT000006072050", is_lettered=True)
    >>> [found.target for found in find_references("aux articles L. 1234-1 et R. 12 du code de commerce", here)]
    ['fr:code:code de commerce#L1234-1', 'fr:code:code de commerce#R12']
    """
    places = _places(text)
    return _Scan(text, context).references(places) if places else []


def _places(text: str, triggers: tuple[tuple[str, int], ...] = _TRIGGERS) -> list[int]:
    """Where an anchor may stand, in order."""
    places: list[int] = []
    for needle, back in triggers:
        at = text.find(needle)
        while at >= 0:
            places.append(at - back)
            at = text.find(needle, at + 2)
    places.sort()
    return places


@dataclass(slots=True)
class _Scan:
    text: str
    context: Context
    found: list[_Found] = field(default_factory=list[_Found])
    named: list[ActName] = field(default_factory=list[ActName])
    told: dict[str, str] = field(default_factory=dict[str, str])
    zones: list[_Zone] = field(default_factory=list[_Zone])
    zone_acts: dict[int, str] = field(default_factory=dict[int, str])
    may_amend: bool = False
    verbs: list[int] | None = None
    preposed: tuple[int, str] = (-1, "")
    open_from: int = -1
    open_end: int = -1

    def references(self, places: list[int]) -> list[Reference]:
        text = self.text
        self.may_amend = _AMENDS.search(text) is not None
        if self.may_amend:
            self.zones = _amended_zones(text, self.context)
        at = 0
        for place in places:
            if place >= at and (anchor := _ANCHOR.match(text, place)):
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
            number = _NUMBER.match(self.text, start)
            if number and self.text.endswith("Art. ", 0, start) and _LABEL.match(self.text, number.end()):
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
        noun = _BACK.match(self.text, end)
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
        neighbour = _NEIGHBOUR.match(text, at)
        if neighbour:
            self._neighbour(start, neighbour.end(), neighbour["before"] is not None)
            return neighbour.end()
        number = _NUMBER.match(text, at)
        if not number:
            return at
        if noun and _OPENING.search(text[max(0, start - 3) : start]) and _LABEL.match(text, number.end()):
            return number.end()
        if noun and _CREATED.search(text, max(0, start - 12), start):
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
            is_new = _NEW.search(text, max(at, end - 10), end) is not None
            for found in rest:
                found.act = "" if is_new else preposed or self._default_act(found.place.split("..")[0], found.start, end)
            if not (group == first and self.open_from >= 0 and self._is_joined(start)):
                self.open_from = group
            self.open_end = end
        else:
            self.open_from = -1
        return end

    def _article_or_range(self, number: re.Match[str]) -> tuple[int, str, Form]:
        first = _normal(number[0])
        to = _TO.match(self.text, number.end())
        last = _NUMBER.match(self.text, to.end()) if to else None
        if last and bool(last["lettered"]) == bool(number["lettered"]) and (last["lettered"] or self._goes_on(last.end())):
            return last.end(), f"{first}..{_normal(last[0])}", "range"
        return number.end(), first, "article"

    def _qualifiers(self, at: int) -> tuple[int, bool]:
        """Past paragraphs, points and the like behind an article's number."""
        begin = at
        for _ in range(12):
            more = _QUALIFIER.match(self.text, at) or _AFTERWARDS.match(self.text, at)
            if not more:
                break
            at = more.end()
        return at, at > begin

    def _next_number(self, at: int, is_plural: bool) -> re.Match[str] | None:
        separator = _AND.match(self.text, at)
        if not separator:
            return None
        number = _NUMBER.match(self.text, separator.end())
        if number and number["plain"] and _ENDS_LIST.search(separator[0]):
            return None
        if not _JOIN.search(separator[0]):
            is_apart = number and number["lettered"] and self.text[at - 1] == ")"
            return number if is_apart else None
        if number and (number["lettered"] or (is_plural and number["arabic"] and self._goes_on(number.end()))):
            return number
        return None

    def _goes_on(self, at: int) -> bool:
        return _LIST_GOES_ON.match(self.text, at) is not None

    def _default_act(self, number: str, start: int, end: int) -> str:
        context = self.context
        zone = self._zone(start)
        lettered = _is_lettered(number)
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
            return act if act != context.act or context.numbers is None or _has(context.numbers, number) else ""
        if context.numbers is not None and not _has(context.numbers, number):
            return self._earlier_in_sentence(start, "")
        return context.act

    def _is_amended(self, start: int, end: int) -> bool:
        """Whether the sentence speaks of words that are replaced or inserted, so that its articles are of another act."""
        if self.verbs is None:
            self.verbs = [verb.start() for verb in _AMENDED.finditer(self.text)]
        verbs = self.verbs
        following = bisect_left(verbs, start)
        if following < len(verbs) and verbs[following] - end < 160:
            return _BREAK.search(self.text, end, verbs[following]) is None
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
            if is_open and not _has(numbers, found.place.split("..")[0]):
                found.act, found.act_words = governor.act, governor.words

    def _is_joined(self, start: int) -> bool:
        """Whether nothing but "et à", "du deuxième alinéa de" stands between the last group without an act and here."""
        return start - self.open_end <= 90 and _CHAIN.fullmatch(self.text, self.open_end, start) is not None

    # The act behind "du", "de la"

    def _governor(self, at: int, is_inserted: bool = False, may_be_section: bool = True) -> _Governor | None:
        """The act that the words from here on name as the one that an article belongs to; None where they name none."""
        of = _OF.match(self.text, at)
        if not of:
            return None
        text, begin = self.text, of.end()
        is_apart = "," in of[0] and not is_inserted
        if of["said"]:
            noun = _BACK.match(text, begin)
            if not noun:
                return None
            named = self._named(begin)
            return named or _Governor(self._earlier(back_noun(noun["noun"]), begin), noun.end(), (begin, noun.end()))
        own = _OWN.match(text, begin)
        if own:
            if own["section"]:
                return _Governor(self.context.act, own.end())
            if own["act"] and self._is_own_noun(own["act"]):
                return _Governor(self._own_act(begin, own["act"]), own.end())
            if (own["article"] or "").lower() == "article":
                return None
            return _Governor("", own.end())
        same = _SAME.match(text, begin)
        if same:
            return _Governor(self._earlier(back_noun(same["noun"]), begin), same.end(), (begin, same.end()))
        named = self._named(begin)
        if named:
            return named
        section = _SECTION.match(text, begin) if may_be_section else None
        if section:
            end = self._chain(section)[-1][1]
            return self._governor(end, may_be_section=False) or _Governor(self.context.act, end)
        instrument = _INSTRUMENT.match(text, begin)
        # Behind a comma it may as well be the next thing of a list ("l'article 5, de l'arrêté …").
        if not instrument or is_apart or of[0].strip().startswith("d'un"):
            return None
        if instrument[0] == "code" and self.context.noun == "code":
            return _Governor(self._own_act(begin, "code"), instrument.end())
        noun = _BACK.match(text, begin)
        said = _BACK_SAID.match(text, instrument.end())
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
        before = _PREPOSED.match(self.text, end)
        if before and len(names) == 1:
            self.preposed = (before.end(), self._act(names[0].name))
        return end

    def _chain(self, section: re.Match[str]) -> list[tuple[str, int]]:
        """A section and those that it stands in, as the text names them from the inside out, each with its end."""
        chain: list[tuple[str, int]] = []
        match: re.Match[str] | None = section
        while match and len(chain) < 9:
            chain.append((_section_part(match), match.end()))
            within = _WITHIN.match(self.text, match.end())
            side = _SIDE.match(self.text, within.end()) if within else None
            if side:
                chain.append((f"partie-{'legislative' if side[1].startswith('l') else 'reglementaire'}", side.end()))
                break
            match = _SECTION.match(self.text, within.end()) if within else None
        return chain

    def _sections(self, start: int) -> int:
        section = _SECTION.match(self.text, start)
        if not section or section["kind"] is None:
            return self._acts(start) if self.text[start] in "lL" else start + 1
        if _OPENING.search(self.text[max(0, start - 3) : start]) and _SECTION_LABEL.match(self.text, section.end()):
            return section.end()
        begins, numbers, kind = [start], [section["number"]], section["kind"]
        last = section
        if self.text[start + len(kind)] == "s":
            while (more := _SECTION_MORE.match(self.text, last.end())) and len(numbers) < 30:
                begins.append(more.start("number"))
                numbers.append(more["number"])
                last = more
        within = _WITHIN.match(self.text, last.end())
        above = _SECTION.match(self.text, within.end()) if within else None
        chain = self._chain(above) if above else []
        if not chain and within and (side := _SIDE.match(self.text, within.end())):
            chain = [(f"partie-{'legislative' if side[1].startswith('l') else 'reglementaire'}", side.end())]
        end = chain[-1][1] if chain else last.end()
        governor = self._governor(end)
        elsewhere = self._zone(start) is not None or (
            not self.context.is_lettered and self.may_amend and self._is_amended(start, end)
        )
        act = governor.act if governor else "" if elsewhere else self.context.act
        outer = [name for name, _ in reversed(chain)]
        side = _SIDE_BEHIND.match(self.text, governor.end) if governor else None
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
        own = _OWN.match(self.text, start)
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

    def _zone(self, at: int) -> _Zone | None:
        return _zone_at(self.zones, at) if self.zones else None

    def _zone_act(self, zone: _Zone) -> str:
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


_zone_start = attrgetter("start")


def _zone_at(zones: list[_Zone], at: int) -> _Zone | None:
    before = bisect_right(zones, at, key=_zone_start) - 1
    return zones[before] if before >= 0 and at < zones[before].end else None


_CHAIN = re.compile(
    r"(?:[\s,;]|l['’]|(?:et|ou|ainsi|que|qu|and|or|à|de|du|aux?|des|par|les?|la|the|of|to|dispositions|alinéas?|phrases?|paragraphes?"
    rf"|[IVX]{{1,5}}|\d{{1,2}}°|[a-z]|{_ORDINAL})(?![\w])['’]?){{0,40}}"
)


def _amended_zones(text: str, context: Context) -> list[_Zone]:
    """The stretches that are new words for another place: quoted behind a verb of amendment, or behind its colon."""
    zones: list[_Zone] = []
    at = 0
    while intro := _AMENDS.search(text, at):
        at = intro.end()
        quote = _QUOTE_AFTER.match(text, at)
        if quote:
            end = _quote_end(text, quote.end())
            zones.append(_Zone(quote.end() - 1, end))
            at = end
        elif not context.is_lettered:
            follows = _TEXT_FOLLOWS.match(text, intro.start())
            if follows and _COLON_AFTER.match(text, follows.end()):
                ending = _NEXT_CHANGE.search(text, follows.end())
                at = ending.start() if ending else len(text)
                zones.append(_Zone(follows.end(), at))
    return zones


def _quote_end(text: str, at: int) -> int:
    """Past the words quoted from here on, with the quoted paragraphs that follow them at once."""
    while True:
        closing = _CLOSING.search(text, at)
        if not closing:
            return len(text)
        again = _QUOTED_AGAIN.match(text, closing.end())
        if not again:
            return closing.end()
        at = again.end()


_CLOSING = re.compile("[»”]")
_QUOTED_AGAIN = re.compile(r"\s?[.;,]?\s?[«“]")


def _section_part(section: re.Match[str]) -> str:
    if section["kind"]:
        return part(section["kind"], section["number"])
    return part("partie", section["nth"])


def _normal(number: str) -> str:
    """The number as keys have it; "L.O. 1" and other ways to write the letter are made one."""
    number = re.sub(r"^L\.?\s?O\.?\s?", "LO ", number.replace("‑", "-").replace("–", "-"))
    number = re.sub(r"\s?-\s?", "-", number)
    if number.lower() in ("premier", "ier"):
        return "1er"
    return normal_number(re.sub(r"(?<=\d)\s(?=er\b)", "", number))


def _has(numbers: Container[str], number: str) -> bool:
    """Whether an act has an article; the first may be written with or without its ordinal ending."""
    return number in numbers or (number in ("1", "1er") and ("1" in numbers or "1er" in numbers)) or f"{number}." in numbers
