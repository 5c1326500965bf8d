"""Counts of what a load did."""

from dataclasses import dataclass, field

from ingest.loading.difference import Counts
from schema.records import Rejected, Remark

_COUNTED = ("unchanged_files", "read_files", "broken_files", "gone_files", "unchanged_acts", "passed_over", "waiting_files")


@dataclass(slots=True)
class LoadReport(Counts):
    """What a load did: nodes by label, files, and what was rejected.

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
        """Report what another load did as well."""
        self.add(other)
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rejected += other.rejected
        self.remarks += other.remarks
        self.unrecognised += other.unrecognised
        self.missing += other.missing
        self.files |= other.files
