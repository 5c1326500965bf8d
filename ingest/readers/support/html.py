"""Article HTML to plain text with its paragraphs, and where its links stand in that text."""

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingest.readers.support.text_builder import Link, TextBuilder

_BLOCK_NAMES = """
    address article aside blockquote br caption center dd div dl dt fieldset figcaption figure footer h1 h2 h3 h4 h5 h6
    header hr li main nav ol p pre section table tbody tfoot thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_UNSEEN = frozenset({"script", "style", "template", "-comment"})
CELL_MARK = "|"
"""Stands between the cells of one row of a table."""


def plain_text(html: str) -> tuple[str, list[Link]]:
    r"""Return the text of an HTML fragment, one paragraph a line, and its links in order of their ends.

    >>> plain_text("<p>Voir <a href=/x>l'article  2</a>.</p><p>Fin</p>")
    ("Voir l'article 2.\nFin", [Link(href='/x', start=5, end=16)])
    """
    root = LexborHTMLParser(html).body
    text = TextBuilder()
    # An explicit stack: markup can nest deeper than Python recurses. True: close this tag.
    stack: list[tuple[LexborNode, bool]] = [(root, False)] if root else []
    while stack:
        node, closing = stack.pop()
        tag = node.tag or ""
        if tag == "-text":
            text.add(node.text_content or "")
            continue
        if tag in _UNSEEN:
            continue
        if tag in _BLOCKS:
            text.line_break()
        if closing:
            if tag == "a":
                text.close_link()
            continue
        if tag == "a":
            href = node.attributes.get("href")
            if href:
                text.open_link(href)
                stack.append((node, True))
        elif tag in _BLOCKS:
            stack.append((node, True))
        elif tag in ("td", "th") and node.prev is not None:
            text.add(f" {CELL_MARK} ")
        children: list[tuple[LexborNode, bool]] = []
        child = node.last_child
        while child is not None:
            children.append((child, False))
            child = child.prev
        stack += children
    return text.text, text.links
