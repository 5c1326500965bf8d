"""Reader of law-as-git with its history: one act a list of states (`ingest.fetching.repositories`), Markdown in git objects.

Every commit is the state of an act from a day on; the last commit of a day stands for it. The article that the last commit
has is the present one; others are its wordings.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise
from pathlib import Path

from ingest.fetching.git_objects import ObjectReader
from ingest.fetching.repositories import STORE_FILE, SUFFIX, Listed, State, checkpoints_of, read_list, store_of
from ingest.readers.history.assembling import Assembly, DatedState
from ingest.readers.history.checkpoint import Checkpoint, checkpoint_file, read_checkpoint, write_checkpoint
from ingest.readers.history.placing import Placed, Placing
from ingest.readers.history.renumbering import renumberings
from ingest.readers.support.dialects import Block, Dialects, Headings
from ingest.readers.support.errors import Unreadable
from ingest.readers.support.front_matter import JURISDICTIONS, Jurisdiction, act_of, any_jurisdiction, front_matter, relations_of
from runtime.counted import counted
from schema.errors import BadSource
from schema.filter import is_present
from schema.identifiers import eli_target, normal_number
from schema.records import Act, ActTree, Article, Citation, OutsideKind, Read, Rejected, Relation, Remark, Renumbering, Wording

NAME = "law-as-git"
FILE_PATTERN = f"*{SUFFIX}"
_BYTES_OF_STATE, _BYTES_OF_LINE = 500_000, 300
_COLLECTED_REPEATS, _COLLECTED_SHARE = 20, 0.02
"""A first state that repeats more numbers than this, and a greater share of them, holds the wordings of all days at once."""


def recognises(path: Path) -> bool:
    """Return whether a file is the list of the states of an act, out of a repository that was opened here."""
    return path.suffix == SUFFIX and (path.parent / STORE_FILE).is_file()


def size(path: Path) -> int:
    """Return about how many bytes the states in a list have together."""
    return path.stat().st_size * _BYTES_OF_STATE // _BYTES_OF_LINE


def read(path: Path) -> Iterator[Read]:
    """Yield the act in a history.

    Raises:
        BadSource: its present state is no act.
    """
    listed = read_list(path)
    yield from (Remark(path.name, place, reason) for place, reason in listed.flaws.remarks)
    yield from (Rejected(path.name, place, reason) for place, reason in listed.flaws.rejected)
    if not listed.states:
        return
    with store_of(path).reading() as objects:
        history = _History(path, listed, objects)
        tree = history.tree()
    yield from history.rejected
    yield from history.remarks(tree)
    yield tree


@dataclass(slots=True)
class _History:
    """The history of one act while it is read."""

    path: Path
    listed: Listed
    objects: ObjectReader
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    superseded: int = 0
    collected: str = ""
    format_changes: int = 0

    def tree(self) -> ActTree:
        """Return the act with all that was ever in it.

        Raises:
            BadSource: no state of it names an act.
        """
        act, relations, jurisdiction = self._present_act()
        read = self._checkpoint(act, jurisdiction)
        present = self._read_on(read)
        if present is None:
            raise BadSource(self.path, "", "none of its states can be read")
        read.assembly.settle(present)
        self.collected, self.format_changes = read.collected, read.assembly.format_changes
        return self._tree(act, read.assembly, relations)

    def _present_act(self) -> tuple[Act, list[Relation], Jurisdiction]:
        """The act as its last commit that can be read has it."""
        for state in reversed(self.listed.states):
            content = self.objects.content(state.blob, "blob") if state.blob else None
            if content is None:
                continue
            try:
                matter, _ = front_matter(content.decode("utf-8", "replace").replace("\r\n", "\n").split("\n"))
                act = act_of(matter)
            except Unreadable as error:
                raise BadSource(self.path, f"commit {state.commit[:12]}, {error.place}", error.reason) from None
            act = replace(act, updated=self.listed.as_of)
            return act, relations_of(act, matter), JURISDICTIONS.get(act.jurisdiction) or any_jurisdiction(act.language)
        raise BadSource(self.path, "", "none of its states can be read")

    def _checkpoint(self, act: Act, jurisdiction: Jurisdiction) -> Checkpoint:
        """The checkpoint of this history, if it still holds; else an empty one."""
        kept = read_checkpoint(self._checkpoint_file)
        if kept is not None and kept.leads_to(self.listed.states):
            dialects = kept.dialects
            same = (kept.assembly.act, dialects.jurisdiction, dialects.title) == (act.id, jurisdiction, act.title)
            if same and self._learn(kept.dialects, self.listed.states[len(kept.listed) :]) and dialects.stand():
                return kept
        fresh = Checkpoint(Dialects(jurisdiction, act.title), Placing(act.id), Assembly(act.id))
        self._learn(fresh.dialects, self.listed.states)
        first = self.listed.states[:2]
        if len(first) > 1 and self._is_collected(first[0], first[1], fresh.dialects):
            fresh.collected = first[0].commit
        return fresh

    @property
    def _checkpoint_file(self) -> Path:
        return checkpoint_file(checkpoints_of(self.path), self.path)

    def _learn(self, dialects: Dialects, states: Sequence[State]) -> bool:
        """Learn the headings of the marked states at the end of the history, the last first; whether all are marked."""
        later, all_marked = Headings(), True
        for state in reversed(states):
            content = self.objects.content(state.blob, "blob") if state.blob else None
            if content is None:
                continue
            all_marked = dialects.is_marked(content)
            if not all_marked:
                break
            later.learn(heading for _, block in dialects.blocks(content) for heading in block.headings)
        dialects.known.take_over(later)
        return all_marked

    def _read_on(self, read: Checkpoint) -> Placed | None:
        """Read the states after a checkpoint, and keep another at the last of the past; return the present one."""
        today = self.listed.as_of
        unread = [state for state in self._by_day(read.collected) if state.day > read.last_day]
        to_come = sum(state.day > today.isoformat() for state in unread)
        blocks: list[tuple[bytes, Block]] = []
        present = read.present
        for n, state in enumerate(unread):
            if n == len(unread) - to_come:
                self._keep(read, blocks)
            content = self._content(state)
            if content is None:
                continue
            blocks = list(read.dialects.blocks(content))
            placed = read.placing.place(blocks)
            day = date.fromisoformat(state.day)
            read.assembly.add(DatedState(day, state.commit, state.instrument), placed)
            read.last_day = state.day
            if day <= today or present is None:
                read.present = present = placed
        if not to_come:
            self._keep(read, blocks)
        return present

    def _keep(self, read: Checkpoint, blocks: Sequence[tuple[bytes, Block]]) -> None:
        """Keep how far the history was read, unless parts of it are missing: those are looked for again."""
        if blocks and not self.rejected:
            kept = replace(read, listed=tuple(self.listed.states))
            write_checkpoint(self._checkpoint_file, kept, (raw for raw, _ in blocks))

    def _by_day(self, collected: str) -> list[State]:
        """The last state of each day, in the order of the days."""
        listed = [state for state in self.listed.states if state.commit != collected]
        by_day = {state.day: state for state in listed}
        self.superseded = len(listed) - len(by_day)
        return [by_day[day] for day in sorted(by_day)]

    def _is_collected(self, first: State, second: State, dialects: Dialects) -> bool:
        """Return whether the first state holds every wording that each article ever had, as the second does not."""
        repeats = [self._repeats(state, dialects) for state in (first, second)]
        (many, all_), (few, _) = repeats
        return many > max(_COLLECTED_REPEATS, 2 * few, _COLLECTED_SHARE * all_)

    def _repeats(self, state: State, dialects: Dialects) -> tuple[int, int]:
        content = self.objects.content(state.blob, "blob") or b""
        numbers = [block.normal for _, block in dialects.blocks(content) if block.is_article]
        return len(numbers) - len(set(numbers)), len(numbers)

    def _content(self, state: State) -> bytes | None:
        if not state.blob:
            return b""
        content = self.objects.content(state.blob, "blob")
        if content is None:
            reason = f"blob {state.blob[:12]} is missing: the state of {state.day} is not loaded"
            self.rejected.append(Rejected(self.path.name, f"commit {state.commit[:12]}", reason))
        return content

    def _tree(self, act: Act, assembly: Assembly, relations: Sequence[Relation]) -> ActTree:
        states = assembly.states
        today = self.listed.as_of
        act = replace(act, known_from=states[0].day, known_to=max(today, states[-1].day))
        sections = tuple(assembly.sections(today))
        found = list(assembly.articles(act, today))
        articles = tuple(article for article, _ in found)
        wordings = tuple(wording for _, others in found for wording in others)
        return ActTree(
            act,
            sections,
            articles,
            tuple(_citations(assembly, (a for a in articles if is_present(a.valid_from, a.valid_to, today)))),
            wordings=wordings,
            relations=tuple(relations),
            wordings_dated=True,
            wordings_whole=True,
            renumberings=tuple(_renumberings(assembly)),
        )

    def remarks(self, tree: ActTree) -> Iterator[Remark]:
        """Yield what the history made of its commits."""
        if self.collected:
            reason = "passed over: it holds the wordings of all days at once, and is the state of none"
            yield Remark(self.path.name, f"commit {self.collected[:12]}", reason, is_warning=False)
        gaps = _gaps(tree.articles, tree.wordings)
        yield Remark(
            self.path.name,
            tree.act.title,
            f"{counted(len(self.listed.states), 'commit')}, {self.superseded:,} overtaken on their own day; "
            f"{counted(len(tree.articles), 'article')}, {counted(len(tree.articles) + len(tree.wordings), 'wording')}, "
            f"{counted(gaps[0], 'repeal')}, {counted(gaps[1], 'return')}, "
            f"{counted(len(tree.renumberings), 'renumbering')}; "
            f"{counted(self.format_changes, 'change')} of format dropped",
            is_warning=False,
        )


def _renumberings(assembly: Assembly) -> Iterator[Renumbering]:
    texts = {key: block.text for key, block in assembly.blocks.items()}
    return renumberings(assembly.wordings(), texts, {id: normal_number(number) for id, number in assembly.numbers.items()})


def _gaps(articles: Sequence[Article], wordings: Sequence[Wording]) -> tuple[int, int]:
    """The number of times that an article was repealed, and that one came back."""
    days: dict[str, list[tuple[date, date]]] = {}
    for id, record in [*((a.id, a) for a in articles), *((w.article_id, w) for w in wordings)]:
        days.setdefault(id, []).append((record.valid_from or date.min, record.valid_to or date.max))
    returns = repeals = 0
    for runs in days.values():
        runs.sort()
        returns += sum(before[1] != after[0] for before, after in pairwise(runs))
        repeals += runs[-1][1] != date.max
    return repeals + returns, returns


def _citations(assembly: Assembly, articles: Iterable[Article]) -> Iterator[Citation]:
    """The links in the text of the articles."""
    for article in articles:
        for link in assembly.blocks["".join(article.text.split())].links:
            target = eli_target(link.href)
            kind: OutsideKind = "page" if not target else "article" if target.count("/") > 1 else "act"
            words = article.text[link.start : link.end]
            yield Citation(article.id, target or link.href[:500], kind, words, link.start, link.end)
