"""Export a bi-encoder for serving: ONNX graphs for texts, their weights in 8 bits, and one for the passages of an article."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import torch
from torch import Tensor, nn

from gnn.encoders.onnx import EMBEDDING, MODEL_FILE, STATES, TOKENIZER_FILE
from gnn.encoders.onnx_export import export_graph, export_text_graph, spread
from gnn.encoders.tuned import ARTICLE_FILE, PASSAGE_FILE, write_marks
from gnn.fine_tuning.bi_encoder import BiEncoder, TextEncoder
from gnn.fine_tuning.embedding import pieces_of_articles


class _WithStates(nn.Module):
    """The vector of a text that is the mean of its word pieces, and their states: parts of it are pooled from these."""

    def __init__(self, text: TextEncoder) -> None:
        super().__init__()
        self.text = text

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        states = self.text.states(input_ids, attention_mask)
        return self.text.pooled(states, attention_mask), states


class _Passages(nn.Module):
    def __init__(self, model: BiEncoder) -> None:
        super().__init__()
        self.article = model.article

    def forward(self, passages: Tensor, mask: Tensor) -> Tensor:
        return self.article(passages, mask)


def export_bi_encoder(model: BiEncoder, folder: Path, queries: Sequence[str], articles: Sequence[str]) -> None:
    """Write a bi-encoder into a folder that is there, for `gnn.encoders.tuned.TunedEncoder` to open.

    Where a text is the mean of its word pieces, the graph of queries gives their states too.

    Args:
        queries, articles: texts that it will read, some of which are its examples.
    """
    model = model.cpu().eval()
    limit = model.marks.query_tokens
    asked = [model.marks.query_pieces(pieces) for pieces in model.body.pieces(spread(queries), "", limit)]
    passages = [*chain.from_iterable(pieces_of_articles(model, spread(articles)))]
    shared = model.passage is model.text
    examples = [*asked, *passages] if shared else asked
    if model.text.pooling == "mean":
        export_text_graph(_WithStates(model.text).eval(), folder / MODEL_FILE, examples, (EMBEDDING, STATES))
    else:
        export_text_graph(model.text, folder / MODEL_FILE, examples)
    if not shared:
        export_text_graph(model.passage, folder / PASSAGE_FILE, passages)
    if model.options.passages > 1 or model.options.passage_layers:
        example = torch.randn(2, min(2, model.options.passages), model.body.hidden)
        mask = torch.ones(example.shape[:2], dtype=torch.long)
        axes = {"passages": {0: "articles", 1: "passages"}, "mask": {0: "articles", 1: "passages"}, EMBEDDING: {0: "articles"}}
        export_graph(_Passages(model), {"passages": example, "mask": mask}, axes, folder / ARTICLE_FILE)
    model.body.tokenizer.no_padding()
    model.body.tokenizer.no_truncation()
    model.body.tokenizer.save(str(folder / TOKENIZER_FILE))
    write_marks(folder, model.marks)
