"""The plan of a load: of the acts that files give and those that the graph has, which are written, which stay, which go.

Nothing here reads the graph or writes to it.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from cypher.graph import Row
from ingest.loading.known_sources import StoredSources
from ingest.loading.report import LoadReport, placed
from ingest.loading.spool import ReadAct, ReadSource
from schema.records import Question, Rejected, SourceFile


@dataclass(frozen=True, slots=True)
class Delivery:
    """The files of a load.

    Attributes:
        collection: what they belong to.
        whole: they are all the files of the collection.
        sources: those that are to be read.
        sha256: their fingerprints, by name.
        gone: names of files that the graph was made from and that are not there any more.
    """

    collection: str
    whole: bool
    sources: tuple[SourceFile, ...] = ()
    sha256: Mapping[str, str] = field(default_factory=dict[str, str])
    gone: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Precedence:
    """The rule by which one of several files that give the same law is believed."""

    stored: StoredSources
    delivery: Delivery

    def is_kept(self, file: str) -> bool:
        """Return whether the graph was made from a file that is not gone."""
        return file in self.stored.rows and file not in self.delivery.gone

    def is_of_other_load(self, file: str) -> bool:
        """Return whether the graph was made from a file that is not gone and that this load does not read."""
        return self.is_kept(file) and file not in self.delivery.sha256

    def collection_of(self, file: str) -> str:
        """Return the collection of a file of this load; a file alone stays in the one that it was read with."""
        delivery = self.delivery
        return delivery.collection if delivery.whole else self.stored.collection_of(file) or delivery.collection

    def keeps(self, file: str, source: SourceFile) -> bool:
        """Return whether a file of another load keeps what a file of this one and of its rank gives, too.

        It gives way to one of another collection: the law was moved to another place.
        """
        return self.is_of_other_load(file) and self.stored.collection_of(file) == self.collection_of(source.name)


@dataclass(frozen=True, slots=True)
class Plan:
    """The writes of a load.

    Attributes:
        stored_acts: rows of the acts of the graph, by identifier.
        taken: acts to write, each with the file that gives it.
        gone_acts: acts that nobody gives any more.
        source_rows: what the graph will know of the files that were read, by name.
        taken_over: by file of another load, the acts that it gives as well.
        passed_over: acts that the graph has from a better source.
        report: counts of the files, and what was rejected.
    """

    precedence: Precedence
    stored_acts: Mapping[str, Row]
    taken: Mapping[str, tuple[SourceFile, ReadAct]]
    gone_acts: frozenset[str]
    source_rows: Mapping[str, Row]
    taken_over: Mapping[str, set[str]]
    passed_over: tuple[ReadAct, ...]
    questions: tuple[tuple[SourceFile, Question], ...]
    report: LoadReport

    @property
    def changed_acts(self) -> set[str]:
        """Identifiers of the acts that are written or go."""
        return {*self.taken, *self.gone_acts}

    @property
    def whole_files(self) -> set[str]:
        """Names of the files that were read to their end."""
        return {name for name, row in self.source_rows.items() if row["sha256"]}


class Planner:
    """A plan in the making, file by file."""

    def __init__(self, precedence: Precedence, stored_acts: Mapping[str, Row]) -> None:
        self.precedence = precedence
        self.stored_acts = stored_acts
        self._rank = {source.name: source.rank for source in precedence.delivery.sources}
        self._taken: dict[str, tuple[SourceFile, ReadAct]] = {}
        self._unchanged: dict[str, str] = {}
        self._given: dict[str, set[str]] = {}
        self._source_rows: dict[str, Row] = {}
        self._taken_over: dict[str, set[str]] = defaultdict(set)
        self._passed_over: list[ReadAct] = []
        self._questions: list[tuple[SourceFile, Question]] = []
        self._report = LoadReport(gone_files=len(precedence.delivery.gone))

    @property
    def may_remove(self) -> bool:
        """True where the graph has acts that these files, or those that are gone, gave."""
        delivery = self.precedence.delivery
        return bool(delivery.gone) or any(row["file"] in delivery.sha256 for row in self.stored_acts.values())

    def take(self, reading: ReadSource) -> list[ReadAct]:
        """Sort the acts of a file; return those to write that the graph lacks."""
        source, error, report = reading.source, reading.error, self._report
        self._given[source.name] = {act.id for act in reading.acts}
        rejected = list(reading.rejected)
        kept: list[ReadAct] = []
        passed_over: list[str] = []
        repeated: list[str] = []
        for act in _each_once(reading, rejected):
            holder = self._holder(act.id, source)
            if holder is None or self._rank_of(holder) > source.rank:
                kept.append(act)
                rejected += act.rejected
            elif self._rank_of(holder) < source.rank:
                passed_over.append(act.id)
                self._passed_over.append(act)
            else:
                repeated.append(act.id)
                why = f"repeated identifier: act {act.id} was read from {holder} already"
                rejected.append(Rejected(source.path.name, act.id, why))
        if error is None and repeated and not kept and not passed_over:
            error = rejected.pop()  # nothing but the law of another file: this one is that by mistake
            reading = ReadSource(source, questions=reading.questions, rejected=reading.rejected, remarks=reading.remarks)
        else:
            self._questions += ((source, question) for question in reading.questions)
        report.remarks += reading.remarks
        report.rejected += (placed(record, source) for record in rejected)
        if error is None:
            report.read_files += 1
            report.files.add(source.name)
        else:
            report.note_broken(source, error)
        if error is None or reading.acts or reading.questions:
            report.passed_over += len(passed_over)
            # Wanted when who gives them does no more.
            self._source_rows[source.name] = self._source_row(reading, [*passed_over, *repeated], broken=error is not None)
        return [act for act in kept if self._keep(act, source) and act.id not in self.stored_acts]

    def _rank_of(self, file: str) -> int:
        return self._rank[file] if file in self._rank else int(self.precedence.stored.rows[file]["rank"] or 0)

    def _holder(self, act: str, source: SourceFile) -> str | None:
        """The file that gives an act already, where it is another that is still there."""
        file = self._taken[act][0].name if act in self._taken else self._unchanged.get(act)
        if file is None and act in self.stored_acts:
            file = self.stored_acts[act]["file"]
            if not self.precedence.is_of_other_load(file):
                return None
            if self._rank_of(file) == source.rank and not self.precedence.keeps(file, source):
                return None
        return None if file == source.name else file

    def _keep(self, act: ReadAct, source: SourceFile) -> bool:
        """Note an act that its file keeps; return whether it is to be written."""
        row = self.stored_acts.get(act.id)
        if row and row["file"] != source.name and self.precedence.is_kept(row["file"]):
            self._taken_over[row["file"]].add(act.id)
        if row and (row["tree_sha256"], row["file"]) == (act.tree_sha256, source.name):
            self._unchanged[act.id] = source.name
            return False
        self._taken[act.id] = source, act
        return True

    def _source_row(self, reading: ReadSource, passed_over: list[str], *, broken: bool) -> Row:
        source = reading.source
        return {
            "id": source.name,
            "collection": self.precedence.collection_of(source.name),
            "reader": source.reader,
            "rank": source.rank,
            # A file that broke off is read again the next time.
            "sha256": "" if broken else self.precedence.delivery.sha256[source.name],
            "records": sum(act.sections + len(act.articles) for act in reading.acts),
            "rejected": len(reading.rejected) + sum(len(act.rejected) for act in reading.acts),
            "passed_over": passed_over,
            "waits_since": "",
        }

    def plan(self) -> Plan:
        """Return the plan, once every file was taken."""
        self._report.unchanged_acts = len(self._unchanged)
        gone = self.precedence.delivery.gone
        whole = {name for name, row in self._source_rows.items() if row["sha256"]}
        gone_acts: set[str] = set()
        for id in self.stored_acts.keys() - self._taken.keys() - self._unchanged.keys():
            file = self.stored_acts[id]["file"]
            if not file or file in gone or (file in whole and id not in self._given[file]):
                gone_acts.add(id)  # without a file: a load that was cut off began it, and nobody gives it now
        return Plan(
            self.precedence,
            self.stored_acts,
            self._taken,
            frozenset(gone_acts),
            self._source_rows,
            self._taken_over,
            tuple(act for act in self._passed_over if act.id in self.stored_acts and act.id not in self._taken),
            tuple(self._questions),
            self._report,
        )


def _each_once(reading: ReadSource, rejected: list[Rejected]) -> list[ReadAct]:
    """The acts of a file; where it gives one twice, the first counts."""
    acts: dict[str, ReadAct] = {}
    for act in reading.acts:
        if acts.setdefault(act.id, act) is not act:
            rejected.append(Rejected(reading.source.path.name, act.id, f"repeated identifier: act {act.id} is there twice"))
    return list(acts.values())
