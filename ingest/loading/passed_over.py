"""Use of law that was passed over for a better source: the texts of wordings of which that knows the days alone."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from cypher.batches import batches
from cypher.graph import Graph, Statements
from cypher.rows import row_of
from ingest.loading.difference import StoredActs, revisions
from ingest.loading.filling import filled, texts_in_time
from ingest.loading.plan import Plan
from schema.records import Wording


def fill_wordings(graph: Graph, plan: Plan, begin: Callable[[], object]) -> int:
    """Fill wordings of acts in the graph from histories that were read and passed over for a better source; their number.

    An act that gets texts is other law than before: its fingerprint changes.

    Args:
        graph: the law.
        plan: of the load that has read them.
        begin: called before the graph is written to.
    """
    count = 0
    for act in plan.passed_over:
        tree = act.tree()
        if not tree.wordings_whole:
            continue
        stored = StoredActs.of(graph, [act.id])
        found = filled(stored.wordings.values(), texts_in_time(tree.articles, tree.wordings))
        if found:
            begin()
            sha256 = plan.stored_acts[act.id]["law_sha256"]
            graph.atomically(partial(_write, stored=stored, act=act.id, sha256=sha256, found=found))
            count += len(found)
    return count


def _write(graph: Statements, *, stored: StoredActs, act: str, sha256: str, found: list[Wording]) -> None:
    for batch in batches(found):
        graph.write("update_wordings", rows=[row_of(wording) for wording in batch])
    if stored.recorded:
        new = replace(stored, wordings={**stored.wordings, **{wording.id: wording for wording in found}})
        for batch in batches([row_of(revision) for revision in revisions(stored, new, datetime.now(UTC))]):
            graph.write("create_revisions", rows=batch)
    digest = hashlib.sha256("\n".join([sha256, *sorted(f"{w.id} {w.text_sha256}" for w in found)]).encode())
    graph.write("set_law_sha256", id=act, sha256=digest.hexdigest())
