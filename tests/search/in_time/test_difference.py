"""Differences between two wordings, word by word."""

import random

from search.in_time.difference import difference


def test_the_spans_of_long_paragraphs_are_both_texts_too() -> None:
    chosen = random.Random(1)
    words = [chosen.choice("le la loi four pain peut doit".split()) for _ in range(1000)]
    before, after = " ".join(words), " ".join(word for n, word in enumerate(words) if n != 500) + " cuit"
    spans = difference(before, after)
    assert "".join(span.text for span in spans if span.change != "inserted") == before
    assert "".join(span.text for span in spans if span.change != "deleted") == after
    assert sum(len(span.text) for span in spans if span.change != "same") < 20
