"""Everyday words of French in the words of its law: where the law knows them, and unless they are meant as the law means them."""

import pytest

from search.query.everyday_words import in_law


def known(word: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("mon patron ne me paie pas", "mon employeur ne me paie pas"),
        ("il m'a virée", "il m'a licencié"),
        ("le patron m'a viré sous prétexte de retard", "l'employeur m'a licencié sous prétexte de retard"),
        ("mon patron m'a viré sans payer mon salaire", "mon employeur m'a licencié sans payer mon salaire"),
        ("un patron bordelais", "un employeur bordelais"),
        ("conges maladie", "arrêt de travail pour maladie"),
        ("les patrons et les heures  sup", "les employeurs et les heures supplémentaires"),
        ("accident en allant au boulot", "accident de trajet"),
        ("accident sur le chemin du travail", "accident de trajet"),
        ("virer un salarié", "licencier un salarié"),
        ("licencié en congé maladie", "licencié en arrêt de travail pour maladie"),
        ("travail au noir", "travail dissimulé"),
        ("travailler au noir", "travail dissimulé"),
        ("être payé au noir", "être employé en travail dissimulé"),
        ("cmu", "protection universelle maladie"),
        ("CMU-C", "protection complémentaire en matière de santé"),
        ("cmu complementaire", "protection complémentaire en matière de santé"),
        ("sécu", "sécurité sociale"),
        ("remboursement de la sécu", "remboursement de la sécurité sociale"),
    ],
)
def test_an_everyday_word_is_that_of_the_law(said: str, meant: str) -> None:
    assert in_law(said, ("fr",), known) == meant


@pytest.mark.parametrize(
    "asked",
    [
        "brevet de patron de navire",
        "peindre au noir",
        "patron pêcheur malade",
        "virer le salaire sur un compte",
        "mon salaire n'est pas viré",
        "congé de maladie des fonctionnaires",
        "patron",
        "patronage laïque",
        "heures supplémentaires",
        "",
    ],
)
def test_what_is_or_may_be_meant_as_the_law_means_it_stays(asked: str) -> None:
    assert in_law(asked, ("fr",), known) == asked


def test_what_the_law_does_not_call_so_stays() -> None:
    assert in_law("mon patron", ("fr",), lambda word: word != "employeur") == "mon patron"
    assert in_law("my boss, un patron", ("en",), known) == "my boss, un patron"
