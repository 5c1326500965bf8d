"""Terms of the law, by which a version is asked in other languages: embedded after its training."""

from gnn.versions.files import encoder_of
from gnn.versions.shared_folder import TERMS, model_folder
from gnn.versions.terms import write_terms
from gnn.workspace import Workspace
from search.arrays import unit
from search.query.terms import Terms, frequent_words, pairs_of_words


def complete_terms(workspace: Workspace, id: str) -> bool:
    """Embed the terms of a workspace's law for the version that serves, unless that was done; whether it was now.

    New law brings no terms of its own until a version is trained on it.

    Raises:
        GraphBusy: the lock has gone to another job.
        StorageFull: the disk is full; the version is as it was.
    """
    if (model_folder(workspace.home, id) / TERMS).is_dir():
        return False
    encoder = encoder_of(workspace.home, id, workspace.threads).multilingual
    if encoder is None:
        return False
    languages = workspace.index.languages
    words = frequent_words(workspace.index.vocabulary.words, languages)
    pairs = pairs_of_words(workspace.text.headings, languages)
    vectors = unit(encoder.raw([*words, *pairs], workspace.threads))
    workspace.check_lock()
    write_terms(workspace.home, id, Terms(words, pairs, vectors, encoder.raw))
    return True
