"""Synthetic questions of a law: made, asked of BM25, and kept where they find their article; on disk from run to run.

Louis et al., "Finding the Law", EACL 2023, section 3.1; the round trip after Alberti et al., "Synthetic QA Corpora Generation
with Roundtrip Consistency", ACL 2019. No real question is looked at.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gnn.encoders.features import FOLDER
from gnn.options import SyntheticOptions
from gnn.recipe import TRANSFORMER_FORMAT, Recipe
from gnn.synthetic.from_law import FromTheLaw
from gnn.synthetic.made import Asker, Made
from gnn.synthetic.seq2seq import Seq2SeqAsker
from gnn.workspace import Workspace
from schema.errors import BadSetting, StorageFull
from schema.filter import Filter
from schema.records import Question
from search.arrays import Positions
from search.ranking.fusion import top

_AT_ONCE = 32
"""Articles whose questions are made together, and are on disk before the next ones."""


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """A question that was made from the law, and the positions of the articles that answer it, in order."""

    text: str
    articles: tuple[int, ...]

    def as_question(self, number: int, articles: Sequence[str]) -> Question:
        """Return it as one to train on, whatever the split; ``articles`` are the identifiers of all."""
        relevant = tuple(articles[position] for position in self.articles)
        return Question(f"synthetic-{number}", self.text, "", "synthetic", relevant, "train", "train")


def synthetic_questions(workspace: Workspace, recipe: Recipe) -> list[SyntheticQuestion]:
    """Return the synthetic questions of a recipe, made unless they were before; a making that was stopped goes on.

    Raises:
        BadSetting: no article of the law has text, there is no such generator, or no question finds its article.
        StorageFull: the disk is full; what was made before stays.
    """
    options = recipe.synthetic
    made_from = [TRANSFORMER_FORMAT, workspace.index.key, options.model_dump(mode="json", exclude={"epochs", "mixed"})]
    key = hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:12]
    file = workspace.home / FOLDER / f"questions-{key}.jsonl"
    if not file.exists():
        positions = _asked_about(workspace, options)
        if not positions:
            raise BadSetting(
                f"recipe {recipe.name}: synthetic.per_article = {options.per_article}: no article has text to ask about"
            )
        begun, part = file.with_suffix(".begun.jsonl"), file.with_suffix(f".{os.getpid()}.jsonl")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            made = _made(workspace, recipe, positions, begun)
            kept = list(_that_find_back(workspace, made, options.depth))
            if not kept:
                found = f"none of {sum(len(own) for _, own in made)} questions finds its article among the first {options.depth}"
                raise BadSetting(f"recipe {recipe.name}: synthetic.depth: {found}")
            part.write_text("".join(json.dumps([one.text, one.articles]) + "\n" for one in kept), "utf-8")
            os.replace(part, file)
            begun.unlink(missing_ok=True)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise StorageFull(f"{file}: {error.strerror}; what was made before stays") from None
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return [SyntheticQuestion(text, tuple(articles)) for text, articles in rows]


def _asked_about(workspace: Workspace, options: SyntheticOptions) -> list[int]:
    """Return the articles of the law in force that have text, all or as many as are drawn, in order."""
    present = workspace.corpus.present
    positions = np.array([p for p, own in enumerate(workspace.text.texts) if own.strip() and present[p]], np.intp)
    if options.articles:
        positions = np.random.default_rng(options.seed).permutation(positions)[: options.articles]
    return sorted(positions.tolist())


def _made(workspace: Workspace, recipe: Recipe, positions: Sequence[int], begun: Path) -> list[tuple[int, list[Made]]]:
    """Return the questions of articles as they are made; the file has those that were made before, some articles a line."""
    made: dict[int, list[Made]] = {}
    if begun.exists():
        before = begun.read_bytes()
        whole = before[: before.rfind(b"\n") + 1]  # behind the last break a line was cut off
        os.truncate(begun, len(whole))
        made = {position: [Made(*one) for one in own] for line in whole.splitlines() for position, own in json.loads(line)}
    portions = [positions[start : start + _AT_ONCE] for start in range(0, len(positions), _AT_ONCE)]
    asker: Asker | None = None
    label = f"questions of {recipe.name}"
    with workspace.progress(label, len(positions)) as advance, begun.open("a", encoding="utf-8") as opened:
        for portion in portions:
            if portion[0] not in made:
                asker = asker or _asker(workspace, recipe)
                some = list(zip(portion, asker.made(portion), strict=True))
                opened.write(json.dumps(some) + "\n")
                opened.flush()
                made.update(some)
            advance(len(portion))
    return [(position, made[position]) for position in positions]


def _asker(workspace: Workspace, recipe: Recipe) -> Asker:
    if recipe.synthetic.generator:
        return Seq2SeqAsker(recipe, workspace.corpus, workspace.text, workspace.threads)
    return FromTheLaw(workspace.corpus, workspace.text, recipe.synthetic.per_article, workspace.progress)


@dataclass(slots=True)
class _Asked:
    """The articles that a question was made from, and the parents of those whose whole section answers it."""

    articles: list[int] = field(default_factory=list[int])
    parents: set[int] = field(default_factory=set[int])


def _that_find_back(workspace: Workspace, made: Iterable[tuple[int, Sequence[Made]]], depth: int) -> Iterator[SyntheticQuestion]:
    """Yield each question once, with the articles that it finds; one of a section with all of it, where it finds any."""
    corpus = workspace.corpus
    asked: dict[str, _Asked] = {}
    for position, own in made:
        for text, of_section in own:
            one = asked.setdefault(text, _Asked())
            if of_section:
                one.parents.add(int(corpus.article_parent[position]))
            else:
                one.articles.append(position)
    with workspace.progress("synthetic questions asked of BM25", len(asked)) as advance:
        for text, one in asked.items():
            found = set(_first(workspace, text, depth).tolist())
            articles = found.intersection(one.articles)
            for members in map(corpus.present_members, sorted(one.parents)):
                articles.update(members if found.intersection(members) else ())
            if articles:
                yield SyntheticQuestion(text, tuple(sorted(articles)))
            advance(1)


def _first(workspace: Workspace, text: str, depth: int) -> Positions:
    """Return the first articles of the law in force by BM25, those alone that share a word with a text."""
    scores = workspace.index.lexical.lists(text, Filter(), sections=False)["bm25"]
    scores = np.where(workspace.corpus.present & (scores > 0), scores, -np.inf)
    return top(scores, depth)
