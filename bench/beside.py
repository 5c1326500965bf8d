"""Two checkouts side by side: the same pages asked of the service of each, in turns, by 32 clients on kept connections.

Each has a home of its own, made by its own `make demo`. Rounds alternate, so that what else the machine does falls on both; what
counts is their ratio, and the processor time of a page, which bounds the pages a second of one process.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

import numpy as np

from bench.api import serving, titles
from bench.load import Load, Service, load
from bench.reporting import Figures

EXPLAINED = {
    "rps_32": "requests a second of this checkout, 32 clients, one process, median of the rounds",
    "rps_32_before": "the same of the other checkout",
    "ratio": "median over the rounds of the one over the other",
    "ratio_least": "the least of them",
    "processor_ms": "processor time of the server a page, median of the rounds",
    "processor_ms_before": "the same of the other checkout",
    "errors": "answers of both that were no page of ten hits",
}


def measure(other: Path, *, seconds: float, rounds: int) -> Figures:
    """Measure, ``seconds`` a round and side; the other checkout has its own environment and home.

    Raises:
        NotReady: a server did not start.
    """
    asked = titles()
    with ExitStack() as stack:
        own, before = stack.enter_context(serving()), stack.enter_context(serving(root=other))
        questions = cycle(asked)
        for service in (own, before):
            load(service, questions, min(seconds, 2))  # what is made at the first question is made
        results: dict[Service, list[Load]] = {own: [], before: []}
        for number in range(rounds):
            for service in (own, before) if number % 2 else (before, own):
                results[service].append(load(service, questions, seconds))
    return Figures("Beside another checkout", _figures(results[own], results[before]), EXPLAINED)


def _figures(own: Sequence[Load], before: Sequence[Load]) -> dict[str, float]:
    ratios = [one.pages / max(other.pages, 1e-9) for one, other in zip(own, before, strict=True)]
    return {
        "rps_32": float(np.median([one.pages for one in own])),
        "rps_32_before": float(np.median([one.pages for one in before])),
        "ratio": float(np.median(ratios)),
        "ratio_least": min(ratios),
        "processor_ms": float(np.median([one.processor_ms for one in own])),
        "processor_ms_before": float(np.median([one.processor_ms for one in before])),
        "errors": sum(one.errors for one in (*own, *before)),
    }
