"""The verbs for reading speak French where the locale is French, with no message left out."""

import ast
import os
import re
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from cli.french import FROM_BELOW, MESSAGES
from cli.language import is_french, localised, translated
from tests.support.commands import Lexgraph
from tests.support.disturbance import ROOT
from tests.support.tiny_law import BAKERS_ID

ON_THE_WAY = [
    "search/retrieval.py", "search/corpus/corpus.py", "search/corpus/read.py", "search/text/index.py", "search/acts/similar.py",
    "search/acts/views.py", "cypher/engines/ladybug.py", "gnn/versions/files.py", "gnn/versions/shared_folder.py", "cli/hits.py",
    "cli/named.py", "cli/reading.py",
]  # fmt: skip
"""Files that a search and a page run through, on this machine alone."""
ERRORS = {"BadQuery", "NotFound", "NotReady", "GraphTooNew", "PoolFull"}
OTHER_VERBS = {"cypher: 7", "cypher: 7, or ask for less"}


def messages(node: ast.AST) -> Iterator[str]:
    """The messages that an expression may be: constants, also in a choice between two or in a mapping."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def localised_messages() -> dict[str, str]:
    """Every message of the command line, with the file that has it: what `localised` and `number_of` are called with."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "cli").glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        tables = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("localised", "number_of"):
                words = node.args[-1] if node.func.id == "number_of" else node.args[0]
                if isinstance(words, ast.Name) and words.id in tables:
                    words = tables[words.id]
                found |= dict.fromkeys(messages(words), path.name) if isinstance(words, ast.Constant | ast.Dict) else {}
        for name in ("_LISTS", "_VIEWS", "_RELATIONS", "_BESIDE", "_KINDS", "NUMBERED"):
            table = tables.get(name)
            for value in table.values if isinstance(table, ast.Dict) else ():
                found |= dict.fromkeys(messages(value), path.name)
    return found


def raised_messages() -> dict[str, str]:
    """Every error on the way of a search, with 7 for each value."""
    found: dict[str, str] = {}
    for file in ON_THE_WAY:
        for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))):
            call = node.exc if isinstance(node, ast.Raise) else None
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ERRORS and call.args):
                continue
            words = call.args[0]
            if isinstance(words, ast.Constant):
                found[str(words.value)] = file
            elif isinstance(words, ast.JoinedStr):
                found["".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in words.values)] = file
    return {message: file for message, file in found.items() if message not in OTHER_VERBS}


def test_every_message_has_its_french() -> None:
    found = localised_messages()
    assert len(found) > 50
    assert {message: file for message, file in found.items() if message not in MESSAGES} == {}
    assert set(MESSAGES) - set(found) == set(), "said nowhere"


def test_every_error_on_the_way_of_a_search_has_its_french() -> None:
    found = raised_messages()
    assert len(found) > 12
    with patch.dict(os.environ, {"LC_ALL": "fr_FR.UTF-8"}):
        assert {message: file for message, file in found.items() if translated(message) == message} == {}


@pytest.mark.parametrize("catalogue", [MESSAGES, FROM_BELOW], ids=["messages", "from below"])
def test_the_french_has_no_value_that_the_english_lacks(catalogue: dict[str, str]) -> None:
    for english, french in catalogue.items():
        assert set(re.findall(r"\{(\w+)\}", french)) <= set(re.findall(r"\{(\w+)\}", english)), english


def test_the_locale_decides() -> None:
    for environment, french in (
        ({"LC_ALL": "fr_FR.UTF-8"}, True),
        ({"LC_MESSAGES": "fr_BE"}, True),
        ({"LANG": "fr"}, True),
        ({"LC_ALL": "en_GB.UTF-8", "LANG": "fr_FR.UTF-8"}, False),
        ({}, False),
    ):
        with patch.dict(os.environ, environment, clear=True):
            assert is_french() is french
            assert localised("Cites") == ("Cite" if french else "Cites")


def test_reading_is_french_from_beginning_to_end(ask_in_french: Lexgraph) -> None:
    shown = ask_in_french.do("show", "L111-1")
    assert f"{BAKERS_ID}/L111-1 · en vigueur depuis le 01/01/1970 · VIGUEUR" in shown
    assert "Cité par (2)" in shown
    assert "mots : " in ask_in_french.do("search", "farine", "du", "pain")
    assert "juridiction inconnue : lu ; les plus proches : fr" in ask_in_french("search", "pain", "--jurisdiction", "lu").err
    assert "Aucun article ne répond (en vigueur le" in ask_in_french.do("search", "pain", "--in-force-on", "1800-01-01")
    assert "des articles du graphe" in ask_in_french.do("citations")
    assert "texte non chargé" in ask_in_french.do("citations", "--outside")
    assert "8 articles" in ask_in_french.do("contents", BAKERS_ID)


def test_an_article_of_another_act_is_told_in_french() -> None:
    with patch.dict(os.environ, {"LC_ALL": "fr_FR.UTF-8"}):
        said = translated("No article L1234-9 in Code rural, but in Code du travail.")
    assert said == "Pas d'article L1234-9 dans Code rural, mais dans Code du travail."


def test_errors_are_french_too(ask_in_french: Lexgraph) -> None:
    assert ask_in_french("search", "pain", "--act", "fr/none").err.startswith(
        "lexgraph: texte inconnu : fr/none ; les plus proches : "
    )
    assert "la requête est vide" in ask_in_french("search", "").err
    assert "les plus proches" in ask_in_french("show", "L111-9").err
    assert "pas une date : 'hier'" in ask_in_french("search", "pain", "--in-force-on", "hier").err
