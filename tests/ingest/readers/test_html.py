"""Articles lose their markup and nothing else: paragraphs stay, links are known by their place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.support.html import plain_text
from ingest.readers.support.text_builder import Link

CASES = {
    "paragraphs": ("<p>Un.</p><p>Deux.</p>", "Un.\nDeux."),
    "a line break": ("Un.<br/>Deux.<br><br>Trois.", "Un.\nDeux.\nTrois."),
    "white space": (" <p> Un \n\t mot\xa0 ici </p> \n ", "Un mot ici"),
    "words in bold": ("<p>Le <b>pain</b>, <i>le</i> <u>vin</u></p>", "Le pain, le vin"),
    "glued": ("<p>l'<b>eau</b>x</p>", "l'eaux"),
    "a list": ("<ul><li>1° Un ;</li><li>2° Deux.</li></ul>", "1° Un ;\n2° Deux."),
    "a table": ("<table><tr><th>A</th><th>B</th></tr>\n<tr><td>1</td>\n<td>2</td></tr></table>", "A | B\n1 | 2"),
    "entities": ("<p>&eacute;t&#233; &lt;b&gt; &amp;</p>", "été <b> &"),
    "what is not seen": ("<p>Un<script>x()</script><style>p{}</style><!-- c --> mot</p>", "Un mot"),
    "plain text": ("Un mot.", "Un mot."),
    "nothing": ("", ""),
    "blanks": ("<p> \n </p><br/>", ""),
    "a tag left open": ("<p>Un <b>mot", "Un mot"),
    "no tag": ("1 < 2", "1 < 2"),
}


@pytest.mark.parametrize(("html", "text"), CASES.values(), ids=CASES)
def test_the_text_of(html: str, text: str) -> None:
    assert plain_text(html) == (text, [])


def test_links_are_known_by_their_place_in_the_text() -> None:
    text, links = plain_text(
        '<p>Voir <a href="/a"> l\'article\n 2 </a>, <a href="/b"></a><a name="c">ou</a> <a href="/d">la <b>loi</b></a>.</p>'
    )
    assert text == "Voir l'article 2 , ou la loi."
    assert [(link.href, text[link.start : link.end]) for link in links] == [("/a", "l'article 2"), ("/b", ""), ("/d", "la loi")]


def test_a_link_over_two_paragraphs_holds_both() -> None:
    text, links = plain_text('<a href="/a"><p>Un.</p><p>Deux.</p></a>')
    assert text == "Un.\nDeux."
    assert [text[link.start : link.end] for link in links if link.href == "/a"] == ["Un.\nDeux."]


def test_places_count_code_points() -> None:
    text, links = plain_text('<p>𝔄é <a href="/a">œuvre</a></p>')
    assert links == [Link("/a", 3, 8)]
    assert text[3:8] == "œuvre"


@pytest.mark.parametrize("tag", ["b", "div", "a href='/x'", "ul><li", "table><tr><td"])
@pytest.mark.slow
def test_ten_thousand_nested_tags_are_read(tag: str) -> None:
    text, links = plain_text(f"<{tag}>" * 10_000 + "mot")
    assert text.endswith("mot")
    assert all(0 <= link.start <= link.end <= len(text) for link in links)


TAGS = "p /p br b /b a /a table tr td /td /table li div /div svg frameset textarea template !--".split()  # noqa: SIM905
PIECES = st.sampled_from(
    [*(f"<{tag}>" for tag in TAGS), "<a href='/x'>", "-->", "&nbsp;", "&", "<", " ", "\n", "mot", "é", "\x00", "\x85", "\u2028"]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=40).map("".join))
def test_any_markup_gives_clean_lines_and_links_within_them(html: str) -> None:
    text, links = plain_text(html)
    assert "  " not in text
    assert "\n\n" not in text
    assert text == text.strip()
    assert all(line == " ".join(line.split()) for line in text.split("\n"))
    assert all(0 <= link.start <= link.end <= len(text) for link in links)
    for link in links:
        words = text[link.start : link.end]
        assert words == words.strip()
