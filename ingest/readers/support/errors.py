"""The error of a record that cannot be read."""

from schema.records import Rejected


class Unreadable(Exception):
    """A record, or a part of one, that cannot be read: its place and the reason."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place, self.reason = place, reason

    def rejected(self, file: str, record: object, line: str = "") -> Rejected:
        """Return the record for the quarantine; ``line`` is where it stands in its file, if ``place`` begins within it."""
        return Rejected(file, f"{line}, {self.place}" if line else self.place, self.reason, record)
