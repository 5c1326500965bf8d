"""Vectors of whole acts, to be compared with the lists of `search.acts.similar`.

`lsa` is latent semantic analysis of whole acts; `words` are centroids of word vectors, weighted by tf·idf (Chalkidis et al.,
"Regulatory Compliance through Doc2Doc Information Retrieval", EACL 2021, section 4.1, W2V-CENT), the word vectors by SVD of
positive pointwise mutual information between words and acts (Levy and Goldberg, NIPS 2014, section 3.2); `departments` is
the hidden layer of a perceptron that tells an act's department, as C-BERT's is of one that tells EUROVOC concepts
(section 4.1). None has seen a transposition.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import normalize

from runtime.progress import Progress, silent
from search.acts.views import ActTexts
from search.arrays import Matrix, unit

DIMENSIONS = 300
HIDDEN = 200
EPOCHS = 12
_SEED = 0


def act_vectors(texts: ActTexts, subjects: Sequence[Sequence[str]], progress: Progress = silent) -> Mapping[str, Matrix]:
    """By name, float32[a, d]: vectors of unit length, centred within each jurisdiction.

    Args:
        subjects: of each act; where it has several, its first is learned; acts without one are not learned from.
    """
    with progress("act vectors", 3) as advance:
        counts = texts.counts["whole"]
        documents, columns = cast(tuple[int, int], counts.shape)
        frequency = np.bincount(counts.indices, minlength=columns)
        idf = np.log((documents + 1) / (frequency + 1)).astype(np.float32)
        weights = counts.copy()
        weights.data = (1 + np.log(weights.data)) * idf[weights.indices]
        weights = sparse.csr_matrix(normalize(weights))
        dimensions = min(DIMENSIONS, documents - 1, columns - 1)
        lsa = unit(_svd(dimensions).fit_transform(weights).astype(np.float32))
        advance(1)
        word_svd = _svd(dimensions).fit(_positive_pmi(texts.counts["lead"]))
        vectors = np.asarray(word_svd.components_).T * np.sqrt(np.asarray(word_svd.singular_values_))
        words = np.asarray(weights @ unit(vectors.astype(np.float32)), np.float32)
        advance(1)
        found = {"lsa": lsa, "words": words}
        learned = _by_department(lsa, subjects)
        if learned is not None:
            found["departments"] = learned
        advance(1)
    return {name: centred(vectors, texts.jurisdictions) for name, vectors in found.items()}


def centred(vectors: Matrix, jurisdictions: Sequence[str]) -> Matrix:
    """float32[a, d]: vectors of unit length around the mean of their jurisdiction: its style says nothing of the matter."""
    result = unit(vectors)
    where = np.array(jurisdictions)
    for jurisdiction in sorted(set(jurisdictions)):
        result[where == jurisdiction] -= result[where == jurisdiction].mean(0)
    return unit(result)


def _svd(dimensions: int) -> TruncatedSVD:
    return TruncatedSVD(dimensions, n_iter=3, random_state=_SEED)


def _positive_pmi(counts: sparse.csr_array) -> sparse.csr_matrix:
    """float32[a, v]: max(0, ln(p(act, word) / p(act) p(word)))."""
    of_act, of_word = np.asarray(counts.sum(1)), np.asarray(counts.sum(0))
    rows = np.repeat(np.arange(len(of_act)), np.diff(counts.indptr))
    data = np.log(counts.data * counts.sum() / (of_act[rows] * of_word[counts.indices]))
    result = sparse.csr_matrix((np.maximum(data, 0).astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)
    result.eliminate_zeros()
    return result


def _by_department(vectors: Matrix, subjects: Sequence[Sequence[str]]) -> Matrix | None:
    """float32[a, HIDDEN]: the hidden layer of a perceptron over vectors; None where fewer than two departments are known."""
    known = np.array([bool(names) for names in subjects])
    names = [subject[0] for subject in subjects if subject]
    if len(set(names)) < 2:
        return None
    network = MLPClassifier((HIDDEN,), activation="relu", max_iter=EPOCHS, random_state=_SEED)
    scale = np.sqrt(vectors.shape[1])  # inputs of about unit variance
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is stopped after a few epochs on purpose
        network.fit(vectors[known] * scale, names)
    hidden: npt.NDArray[np.float32] = np.maximum(vectors * scale @ network.coefs_[0] + network.intercepts_[0], 0)
    return hidden.astype(np.float32)
