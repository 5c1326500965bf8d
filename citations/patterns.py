"""Patterns of the words that citations are made of, in French and English."""

import re

_SUFFIX = r"bis|ter|quater|quinquies|sexies|septies|octies|nonies|decies|undecies|duodecies|terdecies|quaterdecies|quindecies"
# Not I, V, X: those are parts of an article. "A" before a small word is no preposition, which would have its accent.
_CAPITAL = r"(?:[\s-](?![IVX]{1,2}\b)[A-Z]{1,2}(?=\s?[,;.:)\n]|$|\s[a-zà-ÿ(]))"
NUMBER = re.compile(
    rf"""
    (?P<lettered>(?:L\.?\s?O|[LRDA])\s?\.?\s?(?:\*{{1,2}}\s?)?\.?\s?\d{{1,4}}(?:\s?[-‑–]\s?\d{{1,4}}(?!\d|\s?°))*+{_CAPITAL}?
        (?:\s(?:{_SUFFIX})\b)?+(?:-\d+)?+(?!\d|-\w))
    |(?P<plain>(?:(?P<arabic>\d{{1,4}})(?:\s?er\b|ère\b|[a-d]\b)?(?:\s?[-‑]\d{{1,3}}(?!\d))*|premier|[Ii]er\b|[IVXLC]{{1,6}}\b(?!\.\d))
        (?:\s?(?:{_SUFFIX})\b)?(?:[-‑]\d{{1,3}}(?!\d)){{0,3}}{_CAPITAL}?(?:\s(?:{_SUFFIX})\b)?)(?![\w°/%]|[.,]\d)
    """,
    re.VERBOSE,
)
# Behind the comma or "et" of a list a bare number must not be the beginning of something else ("et 6 mois").
LIST_GOES_ON = re.compile(
    r"\s?(?:[,;.:)\]»”\n(]|$)|\s(?:et|ou|à|and|or|to|du|de|des|d['’]|dudit|of|ainsi|ci-|nouveau|précité|susvisé|est|sont|ne|ni)"
)
_UNIT = r"(?:\d{1,3}(?:er|ère|°|[a-z])?\)?|\([a-z0-9]{1,4}\)|[a-zA-Z]\)|[ivxIVX]{1,5}\b\)?|[a-z]\b|premi[eè]re?)(?!\w)"
_ORDINAL = (
    r"premi[eè]re?s?|deuxième|seconde?|troisième|quatrième|cinquième|sixième|septième|huitième|neuvième|dixième|dernier|dernière"
    r"|avant-dernier|\d{1,2}(?:e|er|ème)|first|second|third|fourth|fifth|last"
)
QUALIFIER = re.compile(
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
AFTERWARDS = re.compile(
    r"\s(?:et\ssuivants?|et\ss\.|(?:précité|susvisé|susmentionné|modifié|visé)e?s?|ci-dessus|ci-après|nouveaux?|anciens?)\b|\s\([^()\n]{1,40}\)"
)
TO = re.compile(r"\s?(?:à|to|jusqu['’]à)\s(?:l['’]articles?\s|l['’]art\.\s)?")
AND = re.compile(
    r"\s?[,;]?\s?(?:-\s?)?(?:(?:et|ou|and|or|ainsi\sque|et/ou)\s)?(?:(?:à|aux|au|de|des|du|les|par|l['’])\s?)?"
    r"(?:(?:\d{1,2}°|[IVX]{1,5})\sde\sl['’]\s?)?"
)
ENDS_LIST = re.compile(r"[;\n]|-\s")
JOIN = re.compile(r",|;|\bet\b|\bou\b|\band\b|\bor\b|\bque\b|-|\bà\b|\bpar\b")
OF = re.compile(
    r"\s?,?\s(?:(?P<said>dudit|de\sladite|desdits|desdites|de\scette|de\sce|of\sthat|of\sthe\ssaid)|du|de\sla|de\sl['’]|des|d['’]un[e]?|d['’]"
    r"|of\sthe|of|(?:prévue?s?|figurant)\s(?:par|dans)\s(?:la|le|l['’]))\s?"
)
_ACT_NOUN = (
    r"code|loi|décret-loi|décret|ordonnance|arrêté|règlement|directive|décision|regulation|decision|law|constitution|convention"
    r"|statuts?"
)
OWN = re.compile(
    rf"(?:présente?s?|this)\s(?:(?P<act>{_ACT_NOUN})\b|(?P<section>sous-section|section|chapitre|titre|livre|partie|chapter|title|part"
    r"|sous-paragraphe|paragraphe)\b|(?P<article>article|annexe|accord|arrangement)\b)",
    re.IGNORECASE,
)
SAME = re.compile(rf"(?:mêmes?|said|same)\s(?P<noun>{_ACT_NOUN})\b", re.IGNORECASE)
BACK = re.compile(rf"(?P<noun>{_ACT_NOUN})\b", re.IGNORECASE)
BACK_SAID = re.compile(
    r"(?:\s(?:grand-ducal|ministériel))?\s(?:précité|susvisé|susmentionné|susdit|mentionné\sci-dessus)e?\b", re.IGNORECASE
)
INSTRUMENT = re.compile(
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
SECTION = re.compile(rf"(?P<kind>{_SECTION_KIND}|paragraphe)s?\s(?P<number>{_SECTION_NUMBER})|(?P<nth>{_ORDINAL})\s[Pp]artie\b")
SECTION_MORE = re.compile(
    rf"(?:,|\s(?:et|ou|à|and|or|to))\s(?:(?:du|de\sla|la|le|les|aux?)\s)?(?P<number>{_SECTION_NUMBER})(?!\s(?:alinéa|\w{{4,}}))"
)
WITHIN = re.compile(r"\s(?:du|de\sla|of)\s")
SIDE = re.compile(r"partie\s(législative|réglementaire)\b")
SIDE_BEHIND = re.compile(r"\s\([Pp]artie\s(législative|réglementaire)")
NEIGHBOUR = re.compile(r"(?P<before>précédent|qui\sprécède)\b|(?P<after>suivant|qui\ssuit)\b")
# A heading "Art. 5. - …" or "Article 5" alone in its line is no citation.
LABEL = re.compile(r"(?:er)?\s?(?:\.?\s?[-–—]\s?|\.\s?(?=[A-ZÀÉÈ«(\d]|\n|$)|\s?(?:\n|$)|\.\s{0,4}\n)")
SECTION_LABEL = re.compile(r"\s?(?:[-–—:/]|\.(?:\s?[-–—A-ZÀÉ]|\s{0,4}(?:\n|$))|\n|$)")
OPENING = re.compile(r"(?:^|[\n«“„\":#])\s?$")
NEW = re.compile(r"\snouveaux?$")
CREATED = re.compile(r"\b(?:un|un\snouvel|d['’]un|deux|trois|an|new)\s$", re.IGNORECASE)
PREPOSED = re.compile(r"\s?(?:[:(]|,)?\s?(?:en\s(?:son|ses)\s|notamment\s(?:en\s|à\s)?(?:son\s|ses\s|l['’])?)?(?=articles?\s)")
ANCHOR = re.compile(
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
ACT_TRIGGERS = (
    *(
        (needle, 1)
        for needle in ("ode", "oi ", "oi\xa0", "ois ", "rdonnance", "rrêté", "èglement", "irective", "egulation", "écret")
    ),
    *((needle, 1) for needle in ("ecomm", "ramework", "onstitution", "ivre des p")),
    ("cision", 2),
)
TRIGGERS = (
    *ACT_TRIGGERS,
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
AMENDS = re.compile(
    r"(?:ainsi\s(?:rédigé|conçu|libellé|modifié|complété)|remplacé|inséré|ajouté|complété|modifié|amendé|abrogé|supprimé|les\smots|le\smot"
    r"|(?:de|aura|prend|avec)\sla\steneur|termes\ssuivants|la\sréférence|les\sréférences|rédigé|libellé|conçu|replaced|inserted|added)"
)
QUOTE_AFTER = re.compile(r"[^«“„\n]{0,160}(?:\n\s?)?[«“„]")
COLON_AFTER = re.compile(r"[^«“„.;:\n]{0,40}:(?!\s{0,9}[«“„])")
TEXT_FOLLOWS = re.compile(
    r"(?:(?:modifié|remplacé|complété|libellé|rédigé|conçu|inséré|amendé|ajouté)e?s?(?:\s(?:et\s\w{1,20}|ainsi))?\s(?:comme\ssuit"
    r"|par\sl\w{1,2}\s\w{1,20}\ssuivante?s?|dans\sles\stermes\ssuivants)|(?:aura|prend|auront|avec|de)\sla\steneur\ssuivante"
    r"|ainsi\s(?:rédigé|conçu|libellé)e?s?)"
)
AMENDED = re.compile(
    r"\b(?:est|sont|prend|prennent|aura|auront)\s(?:(?:ainsi|donc|également)\s)?(?:modifié|remplacé|abrogé|complété|supprimé|inséré|ajouté|libellé"
    r"|rédigé|rétabli|apporté|la\steneur)"
)
# An article of the amending act itself, behind new words that no quotation marks close.
NEXT_CHANGE = re.compile(
    r"\nArt\.\s\d{1,3}[a-z]{0,10}\.?\s?\n"
    r"(?=(?:[LÀA][ '’]|Les|La|Le|Après|Avant|Au|Aux|Dans|Il)[^\n]{0,120}\b(?:même|loi|règlement|code|Code)\b)"
)
BREAK = re.compile(r"[.;:«\n]")
DEFINED = re.compile(
    r"ci-après\s?(?:,\s?)?(?:\w{4,12}\s){0,2}[:«“„\"\s]{0,4}(?:la\s|le\s)?[«“„\"\s]{0,3}(?P<noun>loi|règlement|directive|décret|arrêté)\b",
    re.IGNORECASE,
)
CHAIN = re.compile(
    r"(?:[\s,;]|l['’]|(?:et|ou|ainsi|que|qu|and|or|à|de|du|aux?|des|par|les?|la|the|of|to|dispositions|alinéas?|phrases?|paragraphes?"
    rf"|[IVX]{{1,5}}|\d{{1,2}}°|[a-z]|{_ORDINAL})(?![\w])['’]?){{0,40}}"
)
CLOSING = re.compile("[»”]")
QUOTED_AGAIN = re.compile(r"\s?[.;,]?\s?[«“]")
