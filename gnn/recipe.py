"""Recipes: one TOML file a model, with every hyperparameter of it."""

import hashlib
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from gnn.options import (
    GRAPH_FORMAT,
    AdaptationOptions,
    BiEncoderOptions,
    CurriculumOptions,
    DocumentOptions,
    EncoderOptions,
    FineTuningOptions,
    GraphRerankOptions,
    Options,
    QueryOptions,
    ReadingOptions,
    RerankOptions,
    SyntheticOptions,
    TrainingOptions,
)
from schema.errors import BadSetting

FOLDER = Path(__file__).parent / "recipes"
FORMAT = 6
"""Raised when the code, or a default, trains the same recipe to another model, so that models are trained anew."""
SENTENCES_FORMAT = 2
"""The same of recipes by which sentences are asked: trees and confidence are learnt from what they find."""
TRANSFORMER_FORMAT = 4
"""The same of what is trained for hours and kept apart: transformers, and the questions that they first learn from."""
VOTES = 16.0
"""Weight of the votes of training questions, unless a recipe has another."""

Split = Literal["random", "by-dossier"]
LEXICAL = ("bm25", "bm25-tuned", "bm25-expanded", "learned-sparse")
"""Methods that rank by words."""
READERS = ("cross-encoder", "drmm", "pacrr")
"""Methods that rerank the first answers of another recipe by reading them (`gnn.reading`)."""


class Recipe(Options):
    """A recipe; ``name`` is that of its file."""

    name: str
    description: str = ""
    method: Literal[
        "towers",
        "bm25",
        "bm25-tuned",
        "bm25-expanded",
        "learned-sparse",
        "graph-reranker",
        "bi-encoder",
        "cross-encoder",
        "drmm",
        "pacrr",
    ] = Field(
        "towers",
        description="What is trained: two towers; nothing (bm25); k1 and b of BM25; nothing, over articles with synthetic "
        "questions behind them; weights of the words of BM25; towers, and a network that reranks what they find; a transformer "
        "that embeds questions and articles; a network that reads what another recipe finds. Only towers can serve.",
    )
    system: str = Field("gatv2", description="Name of its row in the table of the evaluation.")
    questions: str = Field("service-public", description="Source of the questions to train on, to choose by, to be measured on.")
    more_questions: tuple[str, ...] = Field(
        (), description="Further sources whose training questions are learnt from too, less those near what the first chooses by."
    )
    splits: tuple[Split, ...] = ("random", "by-dossier")
    compare: tuple[str, ...] = Field((), description="Recipes that are trained beside it, for the table.")
    encoder: EncoderOptions = EncoderOptions()  # pyright: ignore[reportCallIssue]
    document: DocumentOptions = DocumentOptions()  # pyright: ignore[reportCallIssue]
    query: QueryOptions = QueryOptions()  # pyright: ignore[reportCallIssue]
    training: TrainingOptions = TrainingOptions()  # pyright: ignore[reportCallIssue]
    curriculum: CurriculumOptions = CurriculumOptions()  # pyright: ignore[reportCallIssue]
    rerank: RerankOptions = RerankOptions()  # pyright: ignore[reportCallIssue]
    graph_rerank: GraphRerankOptions = GraphRerankOptions()  # pyright: ignore[reportCallIssue]
    fine_tuning: FineTuningOptions = FineTuningOptions()  # pyright: ignore[reportCallIssue]
    bi_encoder: BiEncoderOptions = BiEncoderOptions()  # pyright: ignore[reportCallIssue]
    adaptation: AdaptationOptions = AdaptationOptions()  # pyright: ignore[reportCallIssue]
    synthetic: SyntheticOptions = SyntheticOptions()  # pyright: ignore[reportCallIssue]
    reading: ReadingOptions = ReadingOptions()  # pyright: ignore[reportCallIssue]
    tune_fusion: bool = Field(
        False,
        description="Tune the weights of the fusion and of the pools on development questions, from those that were measured to "
        "be best on French law: for other law, where there are hundreds of such questions.",
    )
    votes: float = Field(
        VOTES,
        ge=0,
        description="Weight of the votes of training questions that are like a query for what answers them (people ask the same "
        "again), beside the other lists; 0: they have none.",
    )
    sentences: float = Field(
        0.0,
        ge=0,
        description="Weight of the sentences of a query beside the whole: of what they find by their words, and of the mean of "
        "their embeddings in what is searched by; 0: they are not asked.",
    )
    diversity: float = Field(
        0.0,
        ge=0,
        description="What an article among the first answers loses for each article of its section before it; 0: nothing.",
    )
    folder: Path = Field(FOLDER, exclude=True, description="Folder of the recipes that this one names.")
    reseeded: int = Field(0, exclude=True, description="What was added to its seeds, and to those of the recipes that it names.")
    once: frozenset[str] = Field(
        frozenset(), exclude=True, description="Recipes that it names, or these, which keep their seeds where it has others."
    )
    borrowed: EncoderOptions | None = Field(
        None, exclude=True, description="Encoder in place of its own, and of those of the recipes that it names."
    )

    @field_validator("votes", mode="before")
    @classmethod
    def _yes_or_no(cls, votes: object) -> object:
        """Return the weight that models of before mean, whose recipes say yes or no."""
        return (VOTES if votes else 0.0) if isinstance(votes, bool) else votes

    @model_validator(mode="after")
    def _tuned_by_a_recipe(self) -> "Recipe":
        own = self.method == "bi-encoder"
        if own and (self.encoder.name != "tuned" or self.encoder.tuned):
            raise ValueError('the encoder of a bi-encoder is name = "tuned", and no other recipe tunes it')
        if self.encoder.is_tuned and not own and not self.encoder.tuned:
            raise ValueError('the encoder "tuned" needs the recipe of a bi-encoder: tuned = "dsr"')
        if self.encoder.is_tuned and not self.encoder.headings:
            raise ValueError('the encoder "tuned" reads headings: headings = false is for others')
        if self.diversity and self.method != "towers":
            raise ValueError("only a recipe of towers has several sections among its first answers: diversity is for no other")
        if self.rerank.rounds and (self.method == "bi-encoder" or (self.method == "towers" and not self.training.epochs)):
            raise ValueError("trees rerank what trained towers find: rerank.rounds needs them, and training.epochs above 0")
        if self.rerank.tuned and (not self.rerank.rounds or self.method != "towers"):
            raise ValueError("only the trees of a recipe of towers read by a bi-encoder: rerank.tuned needs rerank.rounds")
        return self

    @model_validator(mode="after")
    def _draws_for_what_learns(self) -> "Recipe":
        drawn, nodes = bool(self.curriculum.drawn), self.document.question_nodes
        if drawn and nodes:
            raise ValueError("question nodes learn against all articles: document.question_nodes leaves curriculum.drawn no say")
        towers = self.method in ("towers", "graph-reranker") and self.training.epochs > 0
        if nodes and not towers:
            raise ValueError(
                "only towers that are trained learn so: document.question_nodes needs them, and training.epochs above 0"
            )
        if drawn and not towers and self.method != "bi-encoder":
            raise ValueError(
                "only bi-encoders and towers that are trained learn so: curriculum.drawn needs them, and training.epochs above 0"
            )
        if drawn and self.synthetic.per_article:
            raise ValueError("curriculum.drawn is for real questions: synthetic.per_article makes too many to order for each")
        return self

    @model_validator(mode="after")
    def _refit(self) -> "Recipe":
        if self.training.refit and (self.method != "towers" or not self.training.epochs):
            raise ValueError("only towers that are trained can be refit")
        if self.training.refit and self.tune_fusion:
            raise ValueError("tune_fusion = true chooses by the development questions, which refit learns from")
        return self

    def seeded(self, more: int) -> "Recipe":
        """Return this recipe with other seeds: ``more`` is added to each, and to those of recipes that it names, but `once`."""
        if not more:
            return self
        training = self.training.model_copy(update={"seed": self.training.seed + more})
        rerank = self.rerank.model_copy(update={"seed": self.rerank.seed + more})
        tuning = self.fine_tuning.model_copy(update={"seed": self.fine_tuning.seed + more})
        return self.model_copy(
            update={"training": training, "rerank": rerank, "fine_tuning": tuning, "reseeded": self.reseeded + more}
        )

    def over_encoder_of(self, other: "Recipe") -> "Recipe":
        """Return this recipe over the encoder of another one, and so the recipes that it names; a bi-encoder keeps its own.

        Raises:
            BadSetting: the other one has none, or one that learns from development questions, which recipes choose by.
        """
        if other.method in LEXICAL:
            raise BadSetting(f"recipe {other.name} has no encoder to borrow: it ranks by words")
        if other.bi_encoder.refit:
            raise BadSetting(f"recipe {other.name} learns from development questions, by which others choose: none borrows it")
        tunes = other.method == "bi-encoder"
        encoder = EncoderOptions(name="tuned", tuned=other.name) if tunes else other.encoder  # pyright: ignore[reportCallIssue]
        return self._over(encoder)

    def _over(self, encoder: EncoderOptions | None) -> "Recipe":
        if encoder is None:
            return self
        own = {} if self.method == "bi-encoder" else {"encoder": encoder}
        return self.model_copy(update={"borrowed": encoder, **own})

    @property
    def chooser(self) -> "Recipe":
        """Return the recipe whose versions have not learnt from development questions: itself, unless it is refit.

        Raises:
            BadSetting: there is no such recipe, or it is refit itself.
        """
        if not self.training.refit:
            return self
        chooser = self.other(self.training.refit)
        if chooser.training.refit or chooser.method != "towers" or not chooser.training.epochs:
            raise BadSetting(f"recipe {self.name}: {chooser.name} chooses no epoch by development questions")
        return chooser

    @property
    def reranks(self) -> bool:
        """Return whether it puts the first answers into another order that it has learnt."""
        return bool(self.rerank.rounds) or self.method in ("graph-reranker", *READERS)

    @property
    def made_from(self) -> tuple["Recipe", ...]:
        """Recipes that it is made from, and those that these are made from, each once, the nearest first.

        Raises:
            BadSetting: there is no such recipe.
        """
        met: dict[str, Recipe] = {self.name: self}
        waiting: list[Recipe] = [self]
        for one in waiting:
            read = (one.reading.first_stage, one.reading.over) if one.method in READERS else ()
            over = one.rerank.over if one.rerank.rounds else ""
            for name in (one.training.start, one.training.refit, one.encoder.tuned, *read, over, one.rerank.tuned):
                if name and name not in met:
                    met[name] = one.other(name)
                    waiting.append(met[name])
        return tuple(waiting[1:])

    @property
    def further_sources(self) -> tuple[str, ...]:
        """Further sources of questions that are learnt from, by itself or by the recipes that it names, and those by theirs."""
        whole = (self, *map(self.other, self.compare))
        every = (one for above in whole for one in (above, *above.made_from))
        return tuple(dict.fromkeys(source for one in every for source in one.more_questions))

    def other(self, name: str) -> "Recipe":
        """Return another recipe that this one names: beside it, else under ``gnn/recipes``; with its seeds and borrowed encoder.

        Raises:
            BadSetting: no recipe has that name.
        """
        if name == self.name:
            return self
        beside = self.folder / f"{name}.toml"
        other = load_recipe(str(beside) if beside.exists() else name).model_copy(update={"once": self.once})
        return other.seeded(0 if name in self.once else self.reseeded)._over(self.borrowed)

    def unlearnt(self, name: str) -> "Recipe":
        """Return another recipe, to build on: this one chooses by development questions, that one must not have learnt from them.

        Raises:
            BadSetting: no recipe has that name, or it learns from development questions, or from further sources that this
                one does not name.
        """
        other = self.other(name)
        if other.training.refit:
            raise BadSetting(
                f"recipe {self.name}: {name} has learnt from the development questions that this one chooses by; "
                f"name {other.training.refit}"
            )
        if further := set(other.more_questions).difference(self.more_questions):
            raise BadSetting(
                f"recipe {self.name}: {name} learns from {', '.join(sorted(further))} too, which is not among this one's "
                "more_questions"
            )
        return other

    def key(self, *made_from: str) -> str:
        """Return a digest of the recipe and of what it is applied to; the same key means the same model.

        Options count where they are not the default: one that is younger than a stored model leaves its name valid. Whoever
        changes a default raises `FORMAT`.
        """
        options = self.model_dump_json(exclude={"compare", "splits", "description"}, exclude_defaults=True)
        made_from = (*made_from, f"sentences {SENTENCES_FORMAT}") if self.sentences else made_from
        exported = self.method == "bi-encoder" or self.encoder.is_exported
        made_from = (*made_from, f"graphs {GRAPH_FORMAT}") if exported else made_from
        return hashlib.sha256("\n".join([str(FORMAT), options, *made_from]).encode()).hexdigest()[:12]


def load_recipe(name: str) -> Recipe:
    """Return the recipe of a name under ``gnn/recipes``, or of a TOML file.

    A recipe may name another as its ``base`` and list only what differs.

    Raises:
        BadSetting: there is no such recipe, or a value does not fit; the message names both.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    try:
        return Recipe.model_validate(_table(path, ()) | {"name": path.stem, "folder": path.parent})
    except FileNotFoundError as error:
        if name.endswith(".toml") and Path(error.filename) == path:
            raise BadSetting(f"{path}: no such file") from None
        wanted, names = Path(error.filename).stem, sorted(p.stem for p in FOLDER.glob("*.toml"))
        near = get_close_matches(wanted, names, n=3, cutoff=0.75)
        told = f"nearest: {', '.join(near)}" if near else f"there are: {', '.join(names)}"
        raise BadSetting(f"no recipe {wanted!r}; {told}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(f"{path}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = [str(path), *([".".join(map(str, first["loc"]))] if first["loc"] else [])]  # some faults are of the whole
        raise BadSetting(": ".join([*place, first["msg"].removeprefix("Value error, ")])) from None


def _table(path: Path, above: tuple[Path, ...]) -> dict[str, Any]:
    if path in above:
        raise BadSetting(f"{path}: a recipe cannot be its own base")
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    base = table.pop("base", None)
    if base is None:
        return table
    beside = path.with_name(f"{base}.toml")
    merged = _table(beside if beside.exists() else FOLDER / f"{base}.toml", (*above, path))
    for name, value in table.items():
        merged[name] = {**merged.get(name, {}), **value} if isinstance(value, dict) else value
    return merged
