"""Verbs that search: articles for a question, acts like another."""

from typing import Annotated

import typer

from cli.days import InForceOn
from cli.group import Group
from cli.language import localised, translated
from cli.output import say_json, warn
from cli.workspace import Home, law_of
from schema.filter import Filter
from search.modes import Mode

app = typer.Typer()
Jurisdiction = Annotated[str | None, typer.Option(help="Only this jurisdiction, as fr or eu.")]
Kind = Annotated[str | None, typer.Option(help="Only acts of this kind, as code or directive.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON array.")]


@app.command()
def search(  # noqa: PLR0913 (options)
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="A legal question in your own words; quotes are not needed.")],
    mode: Annotated[Mode, typer.Option(help="Search method.")] = Mode.HYBRID,
    act: Annotated[str | None, typer.Option(help="Only articles of this act: identifier, title or abbreviation.")] = None,
    section: Annotated[
        str | None, typer.Option(help='Only articles below this section: identifier, or "livre IV du code rural".')
    ] = None,
    in_force_on: InForceOn = None,
    across_time: Annotated[bool, typer.Option("--across-time", help="Search every wording the law ever had.")] = False,
    kind: Kind = None,
    jurisdiction: Jurisdiction = None,
    first: Annotated[int, typer.Option("--first", "-k", min=1, max=1000, help="Number of articles to show.")] = 10,
    pooling: Annotated[bool, typer.Option(help="Boost articles whose section also matches.")] = True,
    group: Annotated[Group | None, typer.Option(help="Gather hits under their section or act.")] = None,
    ids: Annotated[bool, typer.Option("--ids", help="Print the identifiers too.")] = False,
    json_: Json = False,
) -> None:
    """Find the articles of law that govern a question.

    Articles that the query cites come first; misspelt words are searched as the law writes them.
    """
    from cli.hit_lines import show_hits
    from cli.hits import described_search

    only = Filter(act, section, in_force_on, kind, jurisdiction, across_time)
    hits, lost, notes = described_search(Home.of(context), " ".join(query), mode, only, first=first, pooled=pooling)
    for name in lost:
        warn(localised("lexgraph: {name} did not answer; the other lists rank alone", name=translated(name)))
    for note in notes:
        warn(translated(note))
    say_json(hits) if json_ else show_hits(hits, only, group=group, ids=ids)


@app.command()
def similar(  # noqa: PLR0913 (options)
    context: typer.Context,
    act: Annotated[list[str], typer.Argument(help="An act: identifier (eu/32016L0680), title or abbreviation.")],
    jurisdiction: Jurisdiction = None,
    kind: Kind = None,
    first: Annotated[int, typer.Option("--first", "-k", help="Number of acts to show, at most 1000.")] = 20,
    years_before: Annotated[float | None, typer.Option(help="Only acts at most this many years older.")] = None,
    years_after: Annotated[float | None, typer.Option(help="Only acts at most this many years younger.")] = None,
    json_: Json = False,
) -> None:
    """Find the acts most like another.

    It finds acts that may transpose a directive, and the directives that an act may transpose.
    """
    from cli.hit_lines import show_acts_like
    from cli.hits import described_acts
    from cli.named import act_named

    only = {"jurisdiction": jurisdiction, "kind": kind, "first": first, "years_before": years_before, "years_after": years_after}
    with Home.of(context).graph() as graph:
        id = act_named(Home.of(context).index(graph), " ".join(act))
        acts = described_acts(Home.of(context).path, graph, law_of(graph), id, **only)
    say_json(acts) if json_ else show_acts_like(acts)
