"""Articles that state a rule lead those that apply it."""

from pathlib import Path

import numpy as np

from cypher.engines.ladybug import open_graph
from search.corpus.read import read_corpus
from search.ranking.leading import leading
from tests.support.tiny_law import BAKERS_ID


def test_statute_leads_decree_the_first_leads_the_last_and_the_cited_the_uncited(tiny_home: Path) -> None:
    with open_graph(tiny_home) as graph:
        corpus, _ = read_corpus(graph)
    scores = leading(corpus)
    assert scores.shape == (len(corpus.articles),)
    at = {id.removeprefix(f"{BAKERS_ID}/"): float(scores[position]) for id, position in corpus.article_position.items()}
    assert at["L111-3"] > at["R111-1"], "both uncited; the decree begins its section"
    assert at["L111-1"] > at["L111-2"] > at["L111-3"]
    cited = np.bincount(corpus.cites[:, 1], minlength=len(scores))[corpus.article_position[f"{BAKERS_ID}/L111-1"]]
    assert at["L111-1"] == np.float32(0.8 + 0.4 + 0.4 * np.log1p(cited))
