"""The error of a record that cannot be read."""

from schema.records import Rejected


class Unreadable(Exception):
    """A record, or a part of one, that cannot be read: its place and the reason."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place, self.reason = place, reason

    def rejected(self, file: str, record: object, line: str = "") -> Rejected:
        """Return the record for the quarantine; ``line`` is where it stands in its file, if ``place`` begins within it."""
        return Rejected(file, ", ".join(filter(None, (line, self.place))), self.reason, record)


class Identifiers:
    """The identifiers in a file, each with the line that gives it first."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def take(self, id: str, line: str, place: str, shown: str = "") -> None:
        """Note an identifier.

        Raises:
            Unreadable: an earlier line has it.
        """
        if self._lines.setdefault(id, line) != line:
            raise Unreadable(place, f"repeated identifier: {shown or id} is on {self._lines[id]}")
