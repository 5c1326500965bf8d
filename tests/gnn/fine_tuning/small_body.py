"""A transformer of a few parameters over the words of the tiny law, as a folder that recipes can name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from transformers import BertConfig, BertModel

from gnn.fine_tuning.body import Body
from gnn.recipe import Recipe

MARKS = ("[CLS]", "[SEP]", "[PAD]", "[UNK]")


def write_small_body(folder: Path, texts: Sequence[str], hidden: int = 8, positions: int = 64, *, masks: bool = False) -> Path:
    """Write it, its parameters drawn from a fixed seed; its last piece is a mask, if so asked."""
    torch.manual_seed(3)
    split = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    words = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text.lower())})
    vocabulary = {
        word: place for place, word in enumerate([*MARKS, "query", "passage", ":", *words, *(["[MASK]"] if masks else [])])
    }
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), split
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=hidden,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=positions,
        pad_token_id=2,
        initializer_range=0.3,
    )
    model = BertModel(config, add_pooling_layer=False)
    mask = len(vocabulary) - 1 if masks else -1
    Body(model.eval(), tokenizer, 0, 1, 2, {"query": "query: ", "passage": "passage: "}, mask).save(folder)
    return folder


def bi_encoder_recipe(body: Path, *, tuning: Any = None, **options: Any) -> Recipe:
    """A bi-encoder over it, trained for an epoch or two."""
    return Recipe.model_validate(
        {
            "name": "small-dsr",
            "method": "bi-encoder",
            "encoder": {"name": "tuned"},
            "fine_tuning": {"body": str(body), "epochs": 2, "batch": 4, "learning_rate": 1e-3, **(tuning or {})},
            "bi_encoder": {
                "pooling": "mean",
                "query_tokens": 24,
                "passage_tokens": 16,
                "passages": 3,
                "passage_heads": 2,
                "bm25_depth": 5,
                "development_articles": 5,
                **options,
            },
        }
    )


def write_bi_encoder(folder: Path, name: str, body: Path) -> Path:
    """Write the recipe of a bi-encoder over it, which recipes beside it can name."""
    file = folder / f"{name}.toml"
    file.write_text(
        f"""method = "bi-encoder"
[encoder]
name = "tuned"
[fine_tuning]
body = "{body}"
epochs = 1
[bi_encoder]
query_tokens = 24
passage_tokens = 16
passages = 2
passage_heads = 2
"""
    )
    return file
