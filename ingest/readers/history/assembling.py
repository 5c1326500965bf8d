"""The states of an act as one tree: articles with their wordings, sections of all times, and their places from day to day."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from ingest.readers.history.placing import Place, Placed
from ingest.readers.history.timeline import Run, Timeline, merged, own_run
from ingest.readers.support.dialects import Block
from schema.identifiers import section_number
from schema.records import Act, Article, Section, Wording
from schema.wordings import Stay


@dataclass(frozen=True, slots=True)
class DatedState:
    """A commit whose state stands at the end of its day."""

    day: date
    commit: str
    instrument: str


@dataclass(slots=True)
class Assembly:
    """An act that grows state by state, in the order of the days.

    Attributes:
        blocks: what was read last of each wording.
        numbers: of each article, as the file has it.
        children: what ever stood in each section or act, in reading order.
        format_changes: articles whose bytes changed and whose words did not.
    """

    act: str
    blocks: dict[str, Block] = field(default_factory=dict[str, Block])
    numbers: dict[str, str] = field(default_factory=dict[str, str])
    children: dict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))
    format_changes: int = 0
    _articles: Timeline[Place] = field(default_factory=Timeline[Place])
    _sections: Timeline[str] = field(default_factory=Timeline[str])
    _parents: dict[str, str] = field(default_factory=dict[str, str])
    _placed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _states: dict[date, DatedState] = field(default_factory=dict[date, DatedState])
    _raw: dict[str, bytes] = field(default_factory=dict[str, bytes])

    @property
    def states(self) -> list[DatedState]:
        """The states, oldest first."""
        return list(self._states.values())

    def add(self, state: DatedState, placed: Placed) -> None:
        """Add the state of a day."""
        self._states[state.day] = state
        before = self._articles.now
        changed = self._articles.tell(state.day, placed.articles)
        for id in changed:
            block = placed.blocks[id]
            self.blocks[block.key] = block
            self.numbers[id] = block.number
        reworded = sum(before[id][0] != placed.articles[id][0] for id in changed if id in before)
        rewritten = sum(1 for id, raw in placed.raw.items() if self._raw.get(id, raw) != raw and id in before)
        self.format_changes += rewritten - reworded
        self._raw = placed.raw
        self._sections.tell(state.day, {id: heading for id, (_, heading) in placed.sections.items()})
        self._parents |= {id: parent for id, (parent, _) in placed.sections.items()}
        new = {pair for pair in placed.order if pair not in self._placed}
        if new:
            self._merge(placed.order, new)

    def _merge(self, order: Iterable[tuple[str, str]], new: set[tuple[str, str]]) -> None:
        """Put what is new beside what stands before it."""
        before: dict[str, str] = {}
        for parent, child in order:
            if (parent, child) in new:
                children = self.children[parent]
                children.insert(children.index(before[parent]) + 1 if parent in before else 0, child)
                new.discard((parent, child))
                self._placed.add((parent, child))
            before[parent] = child

    def wordings(self) -> dict[str, list[Run[str]]]:
        """Return the wordings of each article, by their keys in ``blocks``."""
        return {id: merged(Run(run.start, run.end, run.value[0]) for run in runs) for id, runs in self._articles.runs()}

    def settle(self, today: Placed) -> None:
        """Let the state of today decide the order of all that stands in it, and the format of its articles."""
        below: dict[str, list[str]] = defaultdict(list)
        for parent, child in today.order:
            below[parent].append(child)
        for parent, wanted in below.items():
            own, following = set(wanted), iter(wanted)
            self.children[parent] = [next(following) if child in own else child for child in self.children[parent]]
        self.blocks |= {block.key: block for block in today.blocks.values()}
        self.numbers |= {id: block.number for id, block in today.blocks.items()}

    def sections(self, today: date) -> Iterator[Section]:
        """Yield the sections of all times in reading order, each with the heading of today, or its last."""
        runs = dict(self._sections.runs())
        places = self._positions()
        levels = {self.act: 0}
        for parent, id in self._walk():
            if id not in runs:
                continue
            own = own_run(runs[id], today)
            levels[id] = levels[parent] + 1
            yield Section(
                id=id,
                act_id=self.act,
                parent_id=parent,
                position=places[parent, id],
                number=section_number(own.value)[:200],
                heading=own.value,
                level=levels[id],
                valid_from=own.start,
                valid_to=own.end,
                stays=tuple(str(Stay(run.start, run.end, run.value)) for run in runs[id]),
            )

    def articles(self, act: Act, today: date) -> Iterator[tuple[Article, list[Wording]]]:
        """Yield the articles of all times in reading order, each with its other wordings."""
        runs = dict(self._articles.runs())
        own = {id: own_run(found, today) for id, found in runs.items()}
        places = self._positions()
        for parent, id in self._walk():
            if id in own and own[id].value[1] == parent:
                yield self._article(act, id, runs[id], own[id], places)

    def _article(
        self, act: Act, id: str, runs: list[Run[Place]], own: Run[Place], places: Mapping[tuple[str, str], int]
    ) -> tuple[Article, list[Wording]]:
        wordings = merged(Run(run.start, run.end, run.value[0]) for run in runs)
        stood = merged(Run(run.start, run.end, run.value[1]) for run in runs)
        shown = next(run for run in wordings if run.holds(own.start))
        block = self.blocks[shown.value]
        stays = (str(Stay(run.start, run.end, f"{places[run.value, id]} {run.value}")) for run in stood)
        article = Article(
            id=id,
            act_id=act.id,
            parent_id=own.value[1],
            position=places[own.value[1], id],
            number=self.numbers[id] or "sans numéro",
            heading="",
            text=block.text,
            language=act.language,
            status=act.status if shown.end is None else "",
            valid_from=shown.start,
            valid_to=shown.end,
            stays=tuple(stays) if len(stood) > 1 else (),
            instrument=self._states[shown.start].instrument,
        )
        return article, [self._wording(id, run) for run in wordings if run is not shown]

    def _wording(self, article: str, run: Run[str]) -> Wording:
        state = self._states[run.start]
        return Wording(article, state.commit, "", run.start, run.end, self.blocks[run.value].text, state.instrument)

    def _positions(self) -> dict[tuple[str, str], int]:
        return {(parent, child): n for parent, children in self.children.items() for n, child in enumerate(children)}

    def _walk(self) -> Iterator[tuple[str, str]]:
        """Yield parent and child of all that ever stood in the act, in reading order."""
        stack = [(self.act, child) for child in reversed(self.children[self.act])]
        while stack:
            parent, id = stack.pop()
            yield parent, id
            if id in self._parents:
                stack += [(id, child) for child in reversed(self.children.get(id, ()))]
