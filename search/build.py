"""The indexes of one law: BM25 in a folder or on a server, and the texts of whole acts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cypher.graph import Row
from runtime.counted import counted
from runtime.progress import Progress, silent
from search.acts.views import act_texts_folder, build_act_texts
from search.corpus.corpus import Corpus, CorpusText
from search.text.index import build_text_index, index_is_built, remove_other_indexes
from search.text.options import Bm25Options

if TYPE_CHECKING:
    from search.text.elasticsearch import ElasticText


def indexes_are_built(home: Path, law: str, options: Bm25Options) -> bool:
    """Return whether the folders of the embedded indexes of a law are complete."""
    return index_is_built(home, law, options) and act_texts_folder(home, law).is_dir()


def build_indexes(
    home: Path,
    law: tuple[Corpus, CorpusText],
    acts: Sequence[Row],
    options: Bm25Options,
    *,
    server: "ElasticText | None" = None,
    progress: Progress = silent,
) -> list[str]:
    """Build the indexes of a law unless they exist, and remove those of other laws; one line for each.

    Raises:
        StorageFull: the disk is full; no index was touched.
        ServerUnavailable: the text server does not answer; a second run goes on where this one stopped.
    """
    corpus, text = law
    done: list[str] = []
    if server is not None:  # before the folder, which says that the server has it all
        from search.text.elasticsearch_build import load_law  # its client is an extra

        done.append(f"{server.address}: {load_law(server, corpus, text, options, progress=progress)}")
    folder = build_text_index(home, corpus, text, options, server=server, progress=progress)
    build_act_texts(home, corpus, text, acts, progress=progress)
    remove_other_indexes(home, folder.name)
    return [*done, f"index {folder.name}: {counted(len(corpus.articles), 'article')}"]
