"""Memory that a training of towers does not fit: said by recipe, with the options that need less of it."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import torch

from gnn.recipe import Recipe
from schema.errors import BadSetting


@contextmanager
def within_memory(recipe: Recipe, articles: int, device: torch.device) -> Generator[None]:
    """Say which options to lower where memory runs out while the block runs.

    Raises:
        BadSetting: it ran out.
    """
    try:
        yield
    except torch.OutOfMemoryError:
        ways = ", ".join(_less(recipe, articles))
        raise BadSetting(
            f"recipe {recipe.name}: the memory of {device} does not hold its training; to take less: {ways}"
        ) from None


def _less(recipe: Recipe, articles: int) -> Iterator[str]:
    """Yield options by which a training takes less memory, with what they are now."""
    options, document = recipe.training, recipe.document
    yield f"training.batch below {options.batch}"
    if recipe.curriculum.drawn:
        yield f"curriculum.drawn below {recipe.curriculum.drawn}"
    elif document.neighbours or (articles > options.full_softmax_limit and not document.question_nodes):
        yield f"training.negatives below {min(options.negatives, articles)}"
    elif not document.question_nodes:
        yield f"training.full_softmax_limit below {articles} (articles), so that training.negatives are drawn"
    if not document.layers:
        return
    yield f"document.hidden below {document.hidden}"
    if document.neighbours:
        yield f"fewer document.neighbours than {list(document.neighbours)} (-1: all)"
    elif not document.question_nodes:  # which stand in no neighbourhood that is drawn
        yield f"document.neighbours, one number for each of {document.layers} layers, in place of the whole graph"
    if options.precision == "float32":
        yield 'training.precision = "bf16"'
