"""Numbers with their nouns, as messages tell them."""


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "act"), counted(1200, "act")
    ('1 act', '1,200 acts')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
