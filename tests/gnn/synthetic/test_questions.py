"""Synthetic questions: from the law itself and from a model, asked of BM25 before they are kept, and what learns from them."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from cypher.engines.ladybug import open_graph
from gnn.comparison.contenders import contender
from gnn.distributed import Process
from gnn.fine_tuning import bi_encoder_task
from gnn.fine_tuning.bi_encoder_task import BiEncoderTask
from gnn.fine_tuning.checkpoint import CHECKPOINT, CURVE
from gnn.fine_tuning.kept_run import RUNS
from gnn.fine_tuning.tuned import tuned_encoder
from gnn.recipe import Recipe, load_recipe
from gnn.synthetic import questions as making
from gnn.synthetic.from_law import FromTheLaw
from gnn.synthetic.made import Made
from gnn.synthetic.questions import SyntheticQuestion, synthetic_questions
from gnn.training.expanded_bm25 import expanded_lexical
from gnn.training.train import Trainer
from gnn.workspace import Workspace
from runtime.progress import Progress
from schema.errors import BadSetting
from schema.filter import Filter
from search.corpus.corpus import Corpus, CorpusText
from search.questions import of_split
from tests.gnn.conftest import workspace_on
from tests.gnn.fine_tuning.small_body import bi_encoder_recipe, write_small_body


@pytest.fixture(scope="module")
def small_body(tmp_path_factory: pytest.TempPathFactory, law: tuple[Corpus, CorpusText]) -> Path:
    """A small transformer over the words of the tiny law."""
    return write_small_body(tmp_path_factory.mktemp("body") / "small", law[1].texts)


class Killed(Exception):
    """Stands for the end of the process."""


def asking(**options: Any) -> Recipe:
    """A recipe that puts questions behind articles."""
    own = {"per_article": 3, **options}
    return Recipe.model_validate({"name": "asking", "method": "bm25-expanded", "training": {"epochs": 0}, "synthetic": own})


class Given:
    """Makes the questions that it is given, by position, and counts how often it is asked."""

    def __init__(self, questions: dict[int, list[Made]], dies_at: int = -1) -> None:
        self.questions, self.dies_at, self.calls = questions, dies_at, 0

    def made(self, positions: Sequence[int]) -> list[list[Made]]:
        self.calls += 1
        if self.calls == self.dies_at:
            raise Killed
        return [self.questions.get(position, []) for position in positions]


def given(monkeypatch: pytest.MonkeyPatch, questions: dict[int, list[Made]], dies_at: int = -1) -> Given:
    asker = Given(questions, dies_at)
    monkeypatch.setattr(making, "_asker", lambda *_: asker)
    return asker


def position_of(corpus: Corpus, number: str) -> int:
    return next(position for position, id in enumerate(corpus.articles) if id.endswith(number))


def test_the_law_asks_by_captions_headings_and_sentences_without_their_term(law: tuple[Corpus, CorpusText]) -> None:
    corpus, text = law
    bread, week, number = (position_of(corpus, end) for end in ("/L111-1", "/L121-1", "/R111-1"))
    captions = ["Composition du pain." if position == bread else "" for position in range(len(corpus.articles))]
    texts = list(text.texts)
    texts[bread] = (
        "Il est cuit au four à bois. On entend par levain une pâte de four qui lève. Un four (art. L. 9) est un four clos."
    )
    asker = FromTheLaw(corpus, replace(text, article_headings=captions, texts=texts), 5)
    assert asker.made([bread, week, number]) == [
        [
            Made("Composition du pain ?"),
            Made("Code de la boulangerie : Du pain ?", of_section=True),
            Made("On entend par levain une pâte de … qui lève ?"),
            Made("Un … (art. L. 9) est un … clos ?"),
        ],
        [Made("Code de la boulangerie : Du boulanger ?", of_section=True), Made("Le boulanger se … un jour par semaine ?")],
        [
            Made("Code de la boulangerie ?", of_section=True),
            Made("La farine du pain est de …, comme le dit l'article L. 111-1 ?"),
        ],
    ]
    assert [len(own) for own in FromTheLaw(corpus, text, 1).made([bread, week])] == [1, 1]


def test_an_article_of_numbers_alone_is_asked_by_its_headings(law: tuple[Corpus, CorpusText]) -> None:
    corpus, text = law
    asker = FromTheLaw(corpus, replace(text, texts=["1 250 ; 3 000 (2)."] * len(corpus.articles)), 5)
    assert all(made.of_section for own in asker.made(range(len(corpus.articles))) for made in own)


def test_a_question_that_does_not_find_its_article_is_dropped(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        corpus = workspace.corpus
        bread, loaf, mill = (position_of(corpus, end) for end in ("/L111-1", "/L111-2", "/L2"))
        right, astray, both = Made("Combien pèse la baguette ?"), Made("Qui contrôle le moulin ?"), Made("levain et sel ?")
        section, elsewhere = Made("grammes de la baguette ?", of_section=True), Made("un inspecteur ?", of_section=True)
        questions = {bread: [both, section, elsewhere], loaf: [right, astray, both], mill: [astray]}
        given(monkeypatch, questions)
        found = synthetic_questions(workspace, asking(depth=1))
    siblings = tuple(corpus.present_members(int(corpus.article_parent[bread])))
    assert {bread, loaf} < set(siblings)
    assert set(found) == {
        SyntheticQuestion("levain et sel ?", (bread,)),  # of the two articles it was made from, it finds one
        SyntheticQuestion("grammes de la baguette ?", siblings),
        SyntheticQuestion("Combien pèse la baguette ?", (loaf,)),
        SyntheticQuestion("Qui contrôle le moulin ?", (mill,)),
    }


def test_questions_are_made_once_and_without_a_look_at_the_real_ones(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        blind = Workspace(workspace.store, graph, workspace.index, ())
        first = synthetic_questions(blind, asking())
        (file,) = (own_home / "features").glob("questions-*")
        file.unlink()
        assert synthetic_questions(workspace, asking()) == first
        never = given(monkeypatch, {}, dies_at=1)
        assert synthetic_questions(workspace, asking(epochs=3)) == first
        few = {}
        with pytest.raises(Killed):
            few = synthetic_questions(workspace, asking(articles=2))
    assert not few
    assert never.calls == 1
    assert {one.as_question(0, ["a"] * 99).source for one in first} == {"synthetic"}


def test_articles_are_drawn_by_the_seed(own_home: Path) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        drawn = {seed: making._asked_about(workspace, asking(articles=3, seed=seed).synthetic) for seed in range(5)}  # pyright: ignore
        again = making._asked_about(workspace, asking(articles=3, seed=2).synthetic)  # pyright: ignore[reportPrivateUsage]
    assert {len(positions) for positions in drawn.values()} == {3}
    assert len(set(map(tuple, drawn.values()))) > 1
    assert again == drawn[2]


def test_a_making_that_was_stopped_goes_on(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "_AT_ONCE", 4)
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        count = len(workspace.corpus.articles)
        questions = {position: [Made("la farine du pain"), Made("le moulin")] for position in range(count)}
        killed = given(monkeypatch, questions, dies_at=3)
        with pytest.raises(Killed):
            synthetic_questions(workspace, asking())
        (begun,) = (own_home / "features").glob("questions-*.begun.jsonl")
        with begun.open("a") as opened:
            opened.write('[[8, [["cut o')  # the disk had room for no more
        gone_on = given(monkeypatch, questions)
        found = synthetic_questions(workspace, asking())
        (file,) = (own_home / "features").glob("questions-*")
        file.unlink()
        assert synthetic_questions(workspace, asking()) == found
    assert killed.calls == 3
    assert gone_on.calls == -(-count // 4) - 2 + -(-count // 4)


@pytest.fixture
def writer(tmp_path: Path, law: tuple[Corpus, CorpusText]) -> Path:
    """The folder of a T5 of a few parameters, drawn at random, over some words of the tiny law."""
    torch.manual_seed(1)
    words = ["<pad>", "</s>", "<unk>", "pain", "farine", "moulin", "boulanger", "baguette", "four", "inspecteur"]
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    tokenizer.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    folder = tmp_path / "writer"
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>").save_pretrained(
        folder
    )
    config = T5Config(
        vocab_size=len(words), d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, decoder_start_token_id=0, pad_token_id=0
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def test_a_model_writes_questions_the_same_for_the_same_seed(own_home: Path, writer: Path) -> None:
    found: dict[int, list[SyntheticQuestion]] = {}
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        for seed in (1, 2, 1):
            recipe = asking(generator=str(writer), question_pieces=6, seed=seed)
            again = synthetic_questions(workspace, recipe)
            assert found.setdefault(seed, again) == again
            for file in (own_home / "features").glob("questions-*"):
                file.unlink()
    assert found[1] != found[2]
    known = {"pain", "farine", "moulin", "boulanger", "baguette", "four", "inspecteur"}
    assert all(set(one.text.split()) <= known and len(one.text.split()) <= 6 for one in found[1])


def test_questions_that_cannot_be_made_are_a_clear_error(
    own_home: Path, small_body: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        for name in (str(tmp_path / "no-such-writer"), str(small_body)):
            with pytest.raises(BadSetting, match=r"recipe asking: synthetic\.generator = '.*' is not on this machine"):
                synthetic_questions(workspace, asking(generator=name))
        with pytest.raises(BadSetting, match=r"recipe asking: synthetic\.per_article = 0"):
            expanded_lexical(workspace, asking(per_article=0))
        count = len(workspace.corpus.articles)
        given(monkeypatch, {0: [Made("Qui contrôle le moulin ?")]})
        with pytest.raises(BadSetting, match=r"recipe asking: synthetic\.depth: none of 1 questions .* among the first 1$"):
            synthetic_questions(workspace, asking(depth=1))
        workspace.__dict__["text"] = replace(workspace.text, texts=[" "] * count)
        with pytest.raises(BadSetting, match=r"recipe asking: synthetic\.per_article = 3: no article has text"):
            synthetic_questions(workspace, asking(seed=9))


def test_an_article_is_found_by_a_word_that_only_its_question_has(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        loaf = position_of(workspace.corpus, "/L111-2")
        given(monkeypatch, {loaf: [Made("Combien de grammes pèse la ficelle ?")]})
        expanded = expanded_lexical(workspace, asking())
        plain, lists = (index.lexical.lists("ficelle", Filter()) for index in (workspace.index, expanded))
        ways = contender(Trainer(workspace), asking(), "random").ways
        assert ways["alone"]("ficelle").argmax() == loaf
        assert set(ways) == set(contender(Trainer(workspace), load_recipe("bm25"), "random").ways)
    assert not plain["bm25"].any()
    assert (lists["bm25"] > 0).nonzero()[0].tolist() == [loaf]
    assert not lists["section"].any(), "sections are as they were"


def test_a_bi_encoder_meets_mixed_synthetic_questions_in_every_epoch(
    own_home: Path, small_body: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuning = {"epochs": 3, "patience": 3, "precision": "float32", "batch": 16}
    plain = bi_encoder_recipe(small_body, tuning=tuning, pairs=1, development_articles=0)
    recipe = Recipe.model_validate({**plain.model_dump(), "synthetic": {"per_article": 2, "mixed": True}})
    met, loss, begin = list[list[str]](), BiEncoderTask.loss, BiEncoderTask.begin

    def begun(self: BiEncoderTask, epoch: int, process: Process, progress: Progress) -> None:
        met.append([])
        begin(self, epoch, process, progress)

    def watched(self: BiEncoderTask, examples: Sequence[int], process: Process) -> torch.Tensor:
        met[-1] += [self.pairs.training[self._drawn[i].question].id for i in examples]  # pyright: ignore[reportPrivateUsage]
        return loss(self, examples, process)

    monkeypatch.setattr(bi_encoder_task.BiEncoderTask, "begin", begun)
    monkeypatch.setattr(bi_encoder_task.BiEncoderTask, "loss", watched)
    with open_graph(own_home) as graph:
        workspace = replace(workspace_on(own_home, graph), threads=1)
        made = tuned_encoder(workspace, recipe, "random", [f"article {text}" for text in workspace.text.texts])
        synthetic = {f"synthetic-{n}" for n in range(len(synthetic_questions(workspace, recipe)))}
        real = {question.id for question in of_split(workspace.questions, "random", "train")}
        file = synthetic_questions(workspace, asking(per_article=2))
        assert file == synthetic_questions(workspace, recipe), "the questions are the same, however they are learnt from"
        assert len(list((own_home / "features").glob("questions-*.jsonl"))) == 1
    assert len(synthetic) > 1
    assert [set(epoch) for epoch in met] == [synthetic | real] * 3
    assert met[0] != met[1], "in another order"
    assert met[0] != sorted(met[0], key=lambda id: id in synthetic), "one among the other"
    place = own_home / RUNS / made.folder.name
    assert [str(file.relative_to(place)) for file in place.rglob(CURVE)] == [CURVE]


@pytest.mark.slow
def test_a_bi_encoder_learns_from_the_synthetic_questions_first_and_goes_on_when_killed(
    own_home: Path, small_body: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = bi_encoder_recipe(small_body, tuning={"epochs": 1, "checkpoint_steps": 1, "precision": "float32"}, pairs=1)
    recipe = Recipe.model_validate({**plain.model_dump(), "synthetic": {"per_article": 2}})
    sources, loss, stop = list[str](), BiEncoderTask.loss, [False]

    def watched(self: BiEncoderTask, examples: Sequence[int], process: Process) -> torch.Tensor:
        source = self.pairs.training[0].source
        if stop[0] and source == "service-public":
            raise Killed
        sources.append(source)
        return loss(self, examples, process)

    monkeypatch.setattr(bi_encoder_task.BiEncoderTask, "loss", watched)
    with open_graph(own_home) as graph:
        workspace = replace(workspace_on(own_home, graph), threads=1)
        texts = [f"article {text}" for text in workspace.text.texts]
        stop[0] = True
        with pytest.raises(Killed):
            tuned_encoder(workspace, recipe, "random", texts)
        steps, stop[0] = len(sources), False
        gone_on = tuned_encoder(workspace, recipe, "random", texts)
        assert sources[:steps] == ["synthetic"] * steps
        assert sources[steps:] == ["service-public"] * (len(sources) - steps), "what was learnt is not learnt again"
        place = own_home / RUNS / gone_on.folder.name
        assert {str(file.relative_to(place)) for file in place.rglob(CURVE)} == {CURVE, f"synthetic/{CURVE}"}
        assert not list(place.rglob(CHECKPOINT))
        first = gone_on.encoder.encode_passages(texts)
        gone_on.folder.rename(tmp_path / "first")
        for file in place.rglob(CURVE):
            file.unlink()
        whole = tuned_encoder(workspace, recipe, "random", texts).encoder.encode_passages(texts)
        without = tuned_encoder(workspace, plain, "random", texts).encoder.encode_passages(texts)
    assert (first == whole).all()
    assert (first != without).any()
