"""Sentences of a query: who tells a case asks several things at once, and each finds articles of its own."""

import re

MOST = 6
"""Sentences of one query; all further ones are of the last."""
_ENDS = re.compile(r"(?<=\w{4}\.)\s+|(?<=[?!…;])\s+|\n")
"""Behind a full stop at least four letters or digits stand: "art. 3" and "L. 1234-9" go on."""


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text, at most `MOST`, none of them empty.

    >>> sentences("Mon contrat est rompu. Que dit l'art. L. 1234-9 ? Et le préavis")
    ['Mon contrat est rompu.', "Que dit l'art. L. 1234-9 ?", 'Et le préavis']
    """
    found = [sentence.strip() for sentence in _ENDS.split(text) if sentence.strip()]
    return [*found[: MOST - 1], " ".join(found[MOST - 1 :])] if len(found) > MOST else found
