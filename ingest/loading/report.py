"""Counts of a load."""

from dataclasses import dataclass, field, replace

from ingest.loading.difference import Counts
from runtime.counted import counted
from schema.records import Rejected, Remark, SourceFile

_COUNTED = ("unchanged_files", "read_files", "broken_files", "gone_files", "unchanged_acts", "passed_over", "waiting_files")


@dataclass(slots=True)
class LoadReport(Counts):
    """Counts of a load: nodes by label, files, and what was rejected.

    Attributes:
        passed_over: acts that the graph has from a better source.
        files: names of the files that were read or could not be: all that ``rejected`` speaks of.
        unrecognised: files of no known format.
        waiting_files: files with questions that name what the graph lacks.
        missing: paths that were to be read again and are not there.
    """

    unchanged_files: int = 0
    read_files: int = 0
    broken_files: int = 0
    gone_files: int = 0
    unchanged_acts: int = 0
    passed_over: int = 0
    waiting_files: int = 0
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    files: set[str] = field(default_factory=set[str])
    unrecognised: list[str] = field(default_factory=list[str])
    remarks: list[Remark] = field(default_factory=list[Remark])
    missing: list[str] = field(default_factory=list[str])

    def include(self, other: "LoadReport") -> None:
        """Add what another load did."""
        self.add(other)
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rejected += other.rejected
        self.remarks += other.remarks
        self.unrecognised += other.unrecognised
        self.missing += other.missing
        self.files |= other.files

    def note_broken(self, source: SourceFile, why: Rejected) -> None:
        """Count a file that as a whole cannot be read."""
        self.broken_files += 1
        self.files.add(source.name)
        self.rejected.append(placed(why, source))


def placed(record: Rejected, source: SourceFile) -> Rejected:
    """Return a rejected record with the file that it was read from."""
    return replace(record, path=str(source.path.absolute()), source=source.name)


def summary(report: LoadReport) -> str:
    """Return one line of all that a load did."""
    nodes = {verb: getattr(report, verb) for verb in ("created", "changed", "moved", "removed")}
    parts = (
        *((n, label.lower(), verb) for verb, labels in nodes.items() for label, n in labels.items()),
        (report.unchanged_files, "file", "unchanged"),
        (report.gone_files, "file", "gone"),
        (report.unchanged_acts, "act", "unchanged"),
        (len(report.unrecognised), "file", "of unknown format"),
        (report.passed_over, "act", "passed over for a better source"),
        (len(report.rejected), "record", "rejected"),
    )
    return ", ".join(f"{counted(n, noun)} {rest}" for n, noun, rest in parts if n) or "nothing changed"
