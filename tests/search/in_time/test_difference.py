"""Differences between two wordings, word by word."""

from search.in_time.difference import difference


def test_the_spans_of_long_paragraphs_are_both_texts_too() -> None:
    some = ["le", "la", "loi", "four", "pain", "peut", "doit"]
    words = [some[n * n % 997 % 7] for n in range(1000)]
    before, after = " ".join(words), " ".join([*words[:500], *words[501:], "cuit"])
    spans = difference(before, after)
    assert "".join(span.text for span in spans if span.change != "inserted") == before
    assert "".join(span.text for span in spans if span.change != "deleted") == after
    assert sum(len(span.text) for span in spans if span.change != "same") < 20
