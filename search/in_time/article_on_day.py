"""An article as it stood on a day: how its text of that day is known, the wording, its days, and what it stood in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from cypher.graph import Row
from schema.wordings import Days, TextOfDay, text_of_day, value_on
from search.corpus.corpus import Corpus


@dataclass(frozen=True, slots=True)
class ArticleOnDay:
    """An article on a day.

    Attributes:
        article: its row, with the present wording.
        others: rows of its other wordings.
        day: the day.
        state: how the present text stands to that of the day.
        place: of the wording in force among the others; None where it is the present one, or none is known to have been.
    """

    article: Row
    others: Sequence[Row]
    day: date
    state: TextOfDay
    place: int | None

    @classmethod
    def of(cls, article: Row, others: Sequence[Row], day: date, known: Days = (None, None)) -> "ArticleOnDay":
        """Return an article on a day.

        Args:
            article: its row.
            others: rows of its other wordings.
            day: the day that is asked about.
            known: first and last day whose law the source of its act has; without them, it has one law alone.
        """
        dated = [(_days(row), row["text"] or "") for row in others]
        return cls(article, others, day, *text_of_day(day, _days(article), dated, known))

    @property
    def wording(self) -> Row | None:
        """The wording in force, whose text may not be known; None where none is known to have been."""
        if self.state is TextOfDay.SAME:
            return self.article
        return None if self.place is None else self.others[self.place]

    @property
    def text(self) -> str | None:
        """The text of the day; None where it is not known, or there was none."""
        return self.shown["text"] if self.state in (TextOfDay.SAME, TextOfDay.OTHER) else None

    @property
    def shown(self) -> Row:
        """The wording that stands for the article: that of the day where its text is known, else the present one."""
        found = self.wording if self.state is TextOfDay.OTHER else None
        return self.article if found is None else found

    @property
    def before(self) -> Row | None:
        """The last wording that had ended by the day."""
        return next((row for row in reversed(self._in_order()) if row["valid_to"] and row["valid_to"] <= self.day), None)

    @property
    def after(self) -> Row | None:
        """The first wording that was still to come."""
        return next((row for row in self._in_order() if row["valid_from"] and row["valid_from"] > self.day), None)

    def _in_order(self) -> list[Row]:
        """Return all wordings by their days."""
        return sorted([self.article, *self.others], key=lambda row: (row["valid_from"] or date.min, row["valid_to"] or date.max))


def path_on_day(corpus: Corpus, article: int, day: date | None) -> list[str]:
    """Return the identifiers of what an article stood in on a day, from the act down; without a day, of the present law."""
    return corpus.path_ids(corpus.parent_on(article, day))


def heading_on_day(section: Row, day: date | None) -> str:
    """Return the heading that a section bore on a day, or bears where that is not known; without a day, the present one."""
    return (value_on(day, section["stays"] or ()) if day else None) or section["heading"]


def _days(row: Row) -> Days:
    return row["valid_from"], row["valid_to"]
