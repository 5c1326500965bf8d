"""Citations in running text: every form that is read, what is not read, and what text cannot do to it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citations.context import contexts
from citations.find import find_references
from citations.reference import Context
from citations.section_paths import SectionPaths
from schema.records import Act, ActTree, Article, Section

CODE = Context(
    jurisdiction="fr",
    act="fr/T",
    article="fr/T/L2",
    before="fr/T/L1",
    after="fr/T/L3",
    noun="code",
    names={"fr:code:code du travail": ()},
    is_lettered=True,
)
LAW = Context("lu", "lu/X", article="lu/X/2", before="lu/X/1", after="lu/X/3", noun="loi")
DIRECTIVE = Context("eu", "eu/32016L0680", article="eu/32016L0680/4", before="eu/32016L0680/3", noun="directive")
SOCIETIES = "lu:loi:1915-08-10:concernant-les-societes-commerciales"
RURAL = "fr:code:code rural et de la peche maritime"
SOCIAL = "fr:code:code de la securite sociale"

CITED = [
    # One article, a list, a range, both
    (CODE, "prévue à l'article L. 1234-9.", ["fr/T#L1234-9"]),
    (CODE, "aux articles L. 1234-1, L. 1234-3 et R. 12", ["fr/T#L1234-1", "fr/T#L1234-3", "fr/T#R12"]),
    (CODE, "les articles L. 1234-1 à L. 1234-5", ["fr/T#L1234-1..L1234-5"]),
    (CODE, "aux articles R. 4 à R. 7, R. 9 et D. 10-1", ["fr/T#R4..R7", "fr/T#R9", "fr/T#D10-1"]),
    (CODE, "articles R.* 123-1, LO 123 et L. 243-7-1 A est", ["fr/T#R*123-1", "fr/T#LO123", "fr/T#L243-7-1-A"]),
    (CODE, "les articles L. 1009 et suivants", ["fr/T#L1009"]),
    (CODE, "en application du L. 162-5 et", ["fr/T#L162-5"]),
    (LAW, "à l'article 10, à l'article 12", ["lu/X#10", "lu/X#12"]),
    (LAW, "l'article 50 -1", ["lu/X#50-1"]),
    (LAW, "des articles 454 et 455 du Code pénal; 5. modification", ["lu:code:code penal#454", "lu:code:code penal#455"]),
    (LAW, "(Loi du 2 avril 2014) la même loi", ["lu:loi:2014-04-02"]),
    (CODE, "l'article L. 5 du code de la sécurité socialeet", [f"{SOCIAL}#L5"]),
    (LAW, "aux articles 3, 5 et 7bis", ["lu/X#3", "lu/X#5", "lu/X#7bis"]),
    (LAW, "l'article premier et l'art. 1er", ["lu/X#1er", "lu/X#1er"]),
    # Paragraphs and points before and behind
    (CODE, "au deuxième alinéa de l'article L. 123", ["fr/T#L123"]),
    (CODE, "au 3° du II de l'article L. 123 et au III de l'article L. 124", ["fr/T#L123", "fr/T#L124"]),
    (LAW, "article 5, paragraphe 1er, point b)", ["lu/X#5"]),
    (LAW, "l'article 3 (2), l'article 4, alinéa 2,", ["lu/X#3", "lu/X#4"]),
    (LAW, "aux articles 3, paragraphe 2, 4 et 5, paragraphe 1er", ["lu/X#3", "lu/X#4", "lu/X#5"]),
    (LAW, "à l'article 6, paragraphes 1er, 2 et 3, est", ["lu/X#6"]),
    (DIRECTIVE, "point (b) of Article 5(2) and Articles 6 to 8", ["eu/32016L0680#5", "eu/32016L0680#6..8"]),
    # Codes by name
    (CODE, "l'article L. 5 du code de la sécurité sociale", [f"{SOCIAL}#L5"]),
    (CODE, "les articles L. 5, L. 6 et L. 8 du Code de la sécurité sociale", [f"{SOCIAL}#L{n}" for n in (5, 6, 8)]),
    (CODE, "l'article 1240 du Code civil", ["fr:code:code civil#1240"]),
    (CODE, "articles L. 1 du présent code et L. 2 du code de commerce", ["fr/T#L1", "fr:code:code de commerce#L2"]),
    (
        CODE,
        "à l'article L. 1 du code civil et à l'article L. 2 du code pénal",
        ["fr:code:code civil#L1", "fr:code:code penal#L2"],
    ),
    (
        CODE,
        "code de commerce : articles L. 1 et L. 2",
        ["fr:code:code de commerce", *(f"fr:code:code de commerce#L{n}" for n in (1, 2))],
    ),
    (CODE, "l'article L. 1 du code du travail", ["fr/T#L1"]),
    (CODE, "prévues par le code rural", ["fr:code:code rural et de la peche maritime"]),
    # Acts by number, by date and title
    (CODE, "l'article 8 de la loi n° 78-17 du 6 janvier 1978", ["fr:loi:78-17#8"]),
    (CODE, "le décret n° 2010-123 du 5 mai 2010", ["fr:decret:2010-123"]),
    (CODE, "l'ordonnance n° 2005-1516 du 8 décembre 2005", ["fr:ordonnance:2005-1516"]),
    (CODE, "la loi du 29 juillet 1881 sur la liberté de la presse", ["fr:loi:1881-07-29:sur-la-liberte-de-la-presse"]),
    (LAW, "la loi modifiée du 10 août 1915 concernant les sociétés commerciales", [SOCIETIES]),
    (LAW, "l'article 5 de la loi modifiée du 10 août 1915 concernant les sociétés commerciales", [f"{SOCIETIES}#5"]),
    (LAW, "du règlement grand-ducal du 1er juin 2005.", ["lu:reglement-grand-ducal:2005-06-01"]),
    (LAW, "l'arrêté ministériel du 3 mai 2001", ["lu:arrete-ministeriel:2001-05-03"]),
    (LAW, "la loi communale modifiée du 13 décembre 1988.", ["lu:loi:1988-12-13:communale"]),
    (LAW, "les lois des 12 novembre 1848 et 27 janvier 1878", ["lu:loi:1848-11-12", "lu:loi:1878-01-27"]),
    (CODE, "l'article 34 de la Constitution", ["fr:constitution#34"]),
    # Acts of the EU
    (LAW, "l'article 4 de la directive 95/46/CE", ["eu/31995L0046#4"]),
    (LAW, "les directives 2003/90/CE et 2003/91/CE", ["eu/32003L0090", "eu/32003L0091"]),
    (DIRECTIVE, "Article 9 of Regulation (EU) 2016/679", ["eu/32016R0679#9"]),
    # Sections
    (
        CODE,
        "au chapitre III du titre II du livre Ier de la première partie",
        ["fr/T#/partie-1/livre-1/titre-2/chapitre-3"],
    ),
    (
        CODE,
        "aux chapitres II et III du titre IV du code de commerce",
        ["fr:code:code de commerce#/titre-4/chapitre-2", "fr:code:code de commerce#/titre-4/chapitre-3"],
    ),
    (CODE, "titre II du code rural (partie réglementaire)", [f"{RURAL}#/partie-reglementaire/titre-2"]),
    (LAW, "des chapitres IV à VI du règlement (UE) 2018/273", ["eu/32018R0273#/chapitre-4", "eu/32018R0273#/chapitre-6"]),
    (DIRECTIVE, "Chapter III of this Directive", ["eu/32016L0680#/chapitre-3"]),
    # What refers back, and to what stands around
    (CODE, "l'article précédent et l'article suivant", ["fr/T/L1", "fr/T/L3"]),
    (CODE, "au présent article et au présent code", ["fr/T/L2", "fr/T"]),
    (DIRECTIVE, "the preceding Article, paragraph 2", ["eu/32016L0680/3"]),
    (CODE, "l'article 1er du code civil et l'article 3 du même code", ["fr:code:code civil#1er", "fr:code:code civil#3"]),
    (LAW, "la loi du 3 mai 2001 précitée. L'article 4 de ladite loi", ["lu:loi:2001-05-03", "lu:loi:2001-05-03#4"]),
    (LAW, "l'article 2 de la loi du 3 mai 2001 et l'article 4 de la même loi", ["lu:loi:2001-05-03#2", "lu:loi:2001-05-03#4"]),
    (CODE, "l'article 4 de la loi n° 78-17 du 6 janvier 1978 et l'article 5", ["fr:loi:78-17#4", "fr:loi:78-17#5"]),
    # New words for another act belong to that act
    (
        LAW,
        "À la loi du 3 mai 2001 concernant l'eau est inséré un article 12 ainsi rédigé : « L'article 3 s'applique. »",
        ["lu:loi:2001-05-03:concernant-l-eau", "lu:loi:2001-05-03:concernant-l-eau#3"],
    ),
]

NOT_CITED = [
    (CODE, "l'article 5 de la Convention de Genève"),
    (CODE, "l'article 3 du traité sur l'Union européenne"),
    (LAW, "l'article 6 de l'annexe II"),
    (DIRECTIVE, "Article 8 of the Charter"),
    (CODE, "l'article premier du contrat"),
    (CODE, "l'article 5"),  # of what, a code with lettered articles does not say
    (LAW, "il est inséré un article 12-1 ainsi rédigé : « L'article 3 s'applique. »"),
    (LAW, "L'article 3 est remplacé par la disposition suivante"),
    (LAW, "Art. 5. - Les recours"),
    (LAW, "comprenant les articles 4quinquies et 4sexies nouveaux"),
    (LAW, "l'article de presse et les 12 articles"),
    (LAW, "ladite loi, la même directive"),
    (CODE, "le code de conduite et les lois de finances"),
    (LAW, "la loi allemande du 3 mai 2001"),
    (CODE, ""),
]


@pytest.mark.parametrize(("context", "text", "targets"), CITED)
def test_forms(context: Context, text: str, targets: list[str]) -> None:
    found = find_references(text, context)
    assert [reference.target for reference in found] == targets
    for reference in found:
        assert text[reference.start : reference.end] == reference.text


@pytest.mark.parametrize(("context", "text"), NOT_CITED)
def test_nothing_is_invented(context: Context, text: str) -> None:
    assert find_references(text, context) == []


def test_words_of_one_article() -> None:
    text = "aux articles L. 1234-1, L. 1234-3 à L. 1234-5 et à l'article 4 de la loi n° 78-17 du 6 janvier 1978"
    found = find_references(text, CODE)
    assert [reference.text for reference in found] == ["L. 1234-1", "L. 1234-3 à L. 1234-5", "article 4"]
    words = found[-1].act_words
    assert words is not None
    assert text[slice(*words)] == "loi n° 78-17 du 6 janvier 1978"


def _tree() -> ActTree:
    act = Act("fr/T", "fr", "code", "Code du travail", "fr")
    ids = ["fr/T/partie-legislative", "fr/T/partie-legislative/livre-ier", "fr/T/partie-legislative/livre-ier/titre-ii"]
    parents = ["fr/T", *ids]
    sections = [
        Section(id, act.id, parent, i, id.split("/")[-1], "", i + 1)
        for i, (id, parent) in enumerate(zip(ids, parents[:-1], strict=True))
    ]
    articles = [
        Article(f"fr/T/L{n}", act.id, ids[-1], n, f"L. {n}", "", "au présent titre, à l'article L. 2 ou L. 9 du code rural", "fr")
        for n in (1, 2, 3)
    ]
    return ActTree(act, tuple(sections), tuple(articles))


def test_context_of_an_act() -> None:
    placed = list(contexts(_tree()))
    article, context = placed[1]
    assert (context.article, context.before, context.after) == (article.id, "fr/T/L1", "fr/T/L3")
    assert context.around[-1] == "fr/T/partie-legislative/livre-ier/titre-ii"
    assert find_references("le présent titre", context)[0].target == "fr/T/partie-legislative/livre-ier/titre-ii"
    assert find_references("le titre II du livre Ier", context)[0].target == "fr/T/partie-legislative/livre-ier/titre-ii"
    assert find_references("le titre V du livre Ier", context) == []


def test_an_article_that_its_own_act_lacks_is_of_the_code_named_behind() -> None:
    context = next(iter(contexts(_tree())))[1]
    found = find_references("à l'article L. 7 et à l'article L. 8 du code rural", context)
    assert {reference.target.split("#")[0] for reference in found} == {"fr:code:code rural et de la peche maritime"}


def test_other_articles_tell_which_act_is_meant() -> None:
    act = Act("lu/X", "lu", "loi", "Loi du 1er mars 2020 relative aux forêts", "fr")
    texts = [
        "La loi modifiée du 10 août 1915 concernant les sociétés commerciales, ci-après « la loi », s'applique.",
        "L'article 5 de la loi et l'article 7 de la même loi.",
        "La loi précitée du 10 août 1915 ; la loi du 1er mars 2020 relative aux chemins.",
    ]
    articles = tuple(Article(f"lu/X/{n}", act.id, act.id, n, str(n), "", text, "fr") for n, text in enumerate(texts, start=1))
    found = [[r.target for r in find_references(a.text, c)] for a, c in contexts(ActTree(act, (), articles))]
    assert found[1] == [f"{SOCIETIES}#5", f"{SOCIETIES}#7"]
    assert found[2] == [SOCIETIES, "lu:loi:2020-03-01:relative-aux-chemins"]


def test_sections_of_an_act() -> None:
    ids = ["a/b/partie-legislative/titre-ii", "a/b/partie-reglementaire/titre-2", "a/b/premiere-partie/titre-ii-bis"]
    paths = SectionPaths(ids)
    assert paths.find(("titre-2",)) == [ids[0]]
    assert paths.find(("titre-2",), near="a/b/partie-reglementaire/titre-2") == [ids[1]]
    assert paths.find(("partie-1", "titre-2-bis")) == [ids[2]]
    assert paths.find(("titre-2", "partie-1")) == []
    assert SectionPaths(["a/b/partie-reglementaire-decrets-simples/titre-ii"]).find(("partie-reglementaire", "titre-2"))


HOSTILE = [
    "est modifié comme suit: loi du 3 mai 2001\nArt. 5.\nLa loi ",
    "ci-après code civil ",
    "article 1, ",
    "articles 1, 2 et ",
    "L. 1-",
    "R. 12-1 à ",
    "chapitre I du ",
    "ainsi rédigé : « article 1 » ",
    "code civil même loi ",
    "loi du 3 mai 2001 concernant a ",
    "directives 95/46/CE et ",
    "article 5, point 1, point 2, ",
    " ",
    "« ",
]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_line_of_a_million_characters_is_read_to_its_end(unit: str) -> None:
    text = unit * (1_000_000 // len(unit)) + " et la directive 95/46/CE"
    act = Act("lu/X", "lu", "loi", "Loi du 1er mars 2020", "fr")
    tree = ActTree(act, (), (Article("lu/X/1", act.id, act.id, 0, "1", "", text, "fr"),))
    ((_, context),) = contexts(tree)
    found = find_references(text, context)
    assert all(0 <= reference.start < reference.end <= len(text) for reference in found)


PIECES = """
    article articles l'article L. R. 1 12-3 1er et à ou , . ; : ( ) « » du de la code travail civil même présent loi n° 78-17 6
    janvier 1978 directive 95/46/CE chapitre II titre précédent ainsi rédigé est modifié alinéa premier 🙂 é
"""
WORDS = st.sampled_from([*PIECES.split(), "\n"])


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=60), st.sampled_from([CODE, LAW, DIRECTIVE]))
def test_any_text_gives_the_same_ordered_ranges_twice(words: list[str], context: Context) -> None:
    text = " ".join(words)
    found = find_references(text, context)
    assert found == find_references(text, context)
    for reference in found:
        assert 0 <= reference.start < reference.end <= len(text)
        assert reference.text == text[reference.start : reference.end]
        assert reference.target
    assert len(found) == len({(reference.start, reference.end) for reference in found})
