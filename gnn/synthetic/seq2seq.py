"""Questions that a T5-like model writes for an article, drawn piece by piece.

Nogueira and Lin, "From doc2query to docTTTTTquery", 2019: each next word piece is drawn from the likeliest ones. Louis et al.,
"Finding the Law", EACL 2023, section 3.1: five questions an article.
"""

from collections.abc import Sequence
from typing import Any

import torch

from gnn.device import device_of_training
from gnn.encoders.passages import passage
from gnn.recipe import Recipe
from gnn.synthetic.made import Made
from schema.errors import BadSetting
from search.corpus.corpus import Corpus, CorpusText


class Seq2SeqAsker:
    """Makes questions of articles by a model (`gnn.synthetic.made.Asker`).

    Raises:
        BadSetting: there is no such model on this machine or its hub, or it writes nothing.
    """

    def __init__(self, recipe: Recipe, corpus: Corpus, text: CorpusText, threads: int) -> None:
        """Open the model that a recipe names."""
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        self._options, self._corpus, self._text = recipe.synthetic, corpus, text
        self._device = device_of_training()
        torch.set_num_threads(threads)
        name = self._options.generator
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name)
            self._model: Any = AutoModelForSeq2SeqLM.from_pretrained(name).eval().to(self._device)
        except (OSError, ValueError, ImportError, KeyError) as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            told = f"recipe {recipe.name}: synthetic.generator = {name!r}"
            raise BadSetting(f"{told} is not on this machine, nor to be had from a hub, or writes nothing: {reason}") from None

    @torch.inference_mode()
    def made(self, positions: Sequence[int]) -> list[list[Made]]:
        """Return the questions of each article; what is drawn depends on the seed and the articles alone."""
        options = self._options
        texts = [options.prompt + passage(self._corpus, self._text, position) for position in positions]
        read = self._tokenizer(texts, truncation=True, max_length=options.pieces, padding=True, return_tensors="pt")
        torch.manual_seed(options.seed + positions[0])
        written = self._model.generate(
            input_ids=read["input_ids"].to(self._device),
            attention_mask=read["attention_mask"].to(self._device),
            do_sample=True,
            top_k=options.top_k,
            num_return_sequences=options.per_article,
            max_new_tokens=options.question_pieces,
        )
        questions = [" ".join(text.split()) for text in self._tokenizer.batch_decode(written, skip_special_tokens=True)]
        each = (questions[start : start + options.per_article] for start in range(0, len(questions), options.per_article))
        return [[Made(text) for text in dict.fromkeys(own) if text] for own in each]
