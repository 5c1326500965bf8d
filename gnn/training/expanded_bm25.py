"""BM25 over articles with the questions that they may answer behind them.

Nogueira and Lin, "From doc2query to docTTTTTquery", 2019, after Nogueira et al., "Document Expansion by Query Prediction", 2019.
"""

from dataclasses import replace

from gnn.recipe import Recipe
from gnn.synthetic.questions import synthetic_questions
from gnn.training.learned_sparse import embedded_lexical
from gnn.workspace import Workspace
from schema.errors import BadSetting
from search.text.analysis import analyzer
from search.text.bm25 import Bm25Index
from search.text.index import TextIndex
from search.text.options import Bm25Options
from search.text.words import tokenised


def expanded_lexical(workspace: Workspace, recipe: Recipe) -> TextIndex:
    """Return the text index with the synthetic questions of a recipe behind the articles; sections are as they were.

    Raises:
        BadSetting, StorageFull: as `synthetic_questions`; or the recipe makes no questions.
    """
    if not recipe.synthetic.per_article:
        raise BadSetting(f"recipe {recipe.name}: synthetic.per_article = 0: there is nothing to put behind the articles")
    index, corpus, text = workspace.index, workspace.corpus, workspace.text
    questions = synthetic_questions(workspace, recipe)
    words, _ = tokenised(corpus, text, workspace.progress)
    for question in questions:
        for position in question.articles:
            words[position] += analyzer(text.languages[corpus.article_act[position]]).tokens(question.text)
    usual = Bm25Options()
    articles = Bm25Index.build(words, k1=usual.k1, b=usual.b)
    return replace(index, lexical=replace(embedded_lexical(workspace), articles=articles))
