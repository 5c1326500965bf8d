"""Parts of the training questions, and what a bi-encoder learns from when one of them is left out."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnn.encoders.features import Tuned
from gnn.fine_tuning.tuned import tuned_encoder
from gnn.recipe import Recipe
from gnn.training.cross_fitting import fold_of
from gnn.workspace import Workspace
from schema.identifiers import slug
from schema.records import Question
from search.questions import of_split


@dataclass(frozen=True, eq=False)
class Parts:
    """Questions that are cross-fitted: each part is asked of models that learnt from the others.

    Attributes:
        asked: the questions, those of all parts.
    """

    workspace: Workspace
    split: str
    asked: Sequence[Question]

    def of(self, question: Question) -> int:
        """Return the part of a question."""
        return fold_of(self.workspace.corpus, question, self.split)

    def without(self, part: int, bi_encoder: Recipe) -> list[Question]:
        """Return what a bi-encoder learns from that has not seen a part: those of development too, where it is refit.

        Of further sources those are left out that have the part's titles, or its topics where the split keeps these apart.
        """
        development = of_split(self.workspace.questions, self.split, "development") if bi_encoder.bi_encoder.refit else []
        own = [*self.asked, *development]
        every = of_split(self.workspace.of_recipe(bi_encoder).questions, self.split, "train")
        held = {(one.source, one.id) for one in self.workspace.questions}
        titles = {slug(one.text) for one in own if self.of(one) == part}
        further = [one for one in every if (one.source, one.id) not in held and slug(one.text) not in titles]
        return [one for one in (*own, *further) if self.of(one) != part]

    def encoder(self, part: int, bi_encoder: Recipe, passages: Sequence[str]) -> Tuned:
        """Return a bi-encoder that has not seen a part, trained unless it was before; it is to embed all articles.

        Args:
            passages: texts of all articles below their headings.

        Raises:
            BadSetting, StorageFull: as `tuned_encoder`.
        """
        learnt = self.without(part, bi_encoder)
        return tuned_encoder(self.workspace.of_recipe(bi_encoder), bi_encoder, self.split, passages, learnt)
