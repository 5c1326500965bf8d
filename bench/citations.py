"""Citations found in running text against the links that the publishers themselves set, link by link.

A fixed sample of articles of the four codes: their links are taken away, and found again in the plain text; the same for
the ELI links of Luxembourg's acts, which name whole acts. The package `metslesliens` is measured beside where it is installed.
"""

import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.reporting import Figures
from citations.act_names import act_names_at
from citations.context import contexts
from citations.find import find_references
from citations.reference import Context, Reference
from citations.resolve import LawIndex
from ingest.fetching.npm import LEGI_DATA, fetch
from ingest.readers.legi import FILE_PATTERN, read_act
from schema.identifiers import normal_number
from schema.records import Act, ActTree, Article
from schema.settings import load_settings

SEED, ARTICLES, ACTS, EXAMPLES, MISSES = 20260, 3000, 900, 100, 20
EXPLAINED = {
    "articles": "articles of the sample",
    "links": "the publisher's links in it to what is loaded",
    "found": "of these links found again, share",
    "same": "of those found, with the publisher's own target, share",
    "more": "citations found where the publisher has no link",
    "ms": "milliseconds an article",
    "metslesliens_found": "links that metslesliens finds, share",
    "metslesliens_same": "of those, with the publisher's own target, share",
    "metslesliens_more": "what metslesliens finds where the publisher has no link",
    "metslesliens_ms": "milliseconds an article of metslesliens",
    "lu_articles": "articles of the sample of Luxembourg's acts",
    "lu_links": "ELI links in them to acts loaded, to acts of the EU and to codes",
    "lu_found": "of these links found again, share",
    "lu_same": "of those found, with the same act, share",
    "lu_ambiguous": "of those found, with several acts of that date and no clear choice, share",
    "lu_more": "citations found where the publisher has no link",
    "lu_ms": "milliseconds an article",
}


@dataclass(frozen=True, slots=True)
class Link:
    """A publisher's link: where it stands, and what it names."""

    start: int
    end: int
    target: str


@dataclass(slots=True)
class Tally:
    """Counts of the links that were read again, and of what was read besides."""

    links: int = 0
    found: int = 0
    same: int = 0
    ambiguous: int = 0
    articles: int = 0
    seconds: float = 0.0
    more: list[str] = field(default_factory=list[str])
    relative: int = 0
    missed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    other: list[str] = field(default_factory=list[str])

    def figures(self, prefix: str = "") -> dict[str, float]:
        """The figures of this tally by name."""
        return {
            f"{prefix}articles": self.articles,
            f"{prefix}links": self.links,
            f"{prefix}found": self.found / max(1, self.links),
            f"{prefix}same": self.same / max(1, self.found),
            f"{prefix}more": len(self.more) + self.relative,
            f"{prefix}ms": 1000 * self.seconds / max(1, self.articles),
        }


def measure(luxembourg: Path | None, *, examples: bool) -> Figures:
    """Measure; ``luxembourg`` is the folder of legalize-lu, ``examples`` prints what is to be read."""
    folder = fetch(LEGI_DATA, load_settings().home / "sources")
    trees = [read_act(path) for path in sorted(folder.glob(FILE_PATTERN))]
    index = LawIndex.of(trees)
    sample = _sample(trees)
    codes = _measured(sample, index)
    figures = codes.figures()
    tallies = {"Codes": codes}
    try:
        candidates = import_module("metslesliens").donnelescandidats
    except ImportError:
        print("metslesliens is not installed: its figures are left out", file=sys.stderr)
    else:
        beside = _metslesliens(sample, index, candidates)
        figures |= {
            f"metslesliens_{name}": value for name, value in beside.figures().items() if name in ("found", "same", "more", "ms")
        }
    if luxembourg is not None:
        tally = tallies["Luxembourg"] = _luxembourg(luxembourg)
        figures |= tally.figures("lu_") | {"lu_ambiguous": tally.ambiguous / max(1, tally.found)}
    for title, tally in tallies.items() if examples else ():
        _print_examples(title, tally)
    return Figures("Citations in running text", figures, EXPLAINED)


Placed = tuple[Article, Context, list[Link]]


def _sample(trees: Sequence[ActTree]) -> list[Placed]:
    """The articles of the sample with their contexts and those of their links whose targets are loaded."""
    loaded = {
        id: record.id
        for tree in trees
        for record in (*tree.articles, *tree.sections)
        for id in (*record.source_ids, record.source_id)
    }
    loaded |= {tree.act.source_id: tree.act.id for tree in trees}
    links: dict[str, list[Link]] = defaultdict(list)
    for tree in trees:
        for citation in tree.citations:
            if citation.start < citation.end:
                links[citation.article_id].append(Link(citation.start, citation.end, loaded.get(citation.target, "")))
    placed = [(article, context, links[article.id]) for tree in trees for article, context in contexts(tree)]
    chosen = set(random.Random(SEED).sample(range(len(placed)), ARTICLES))
    return [article for place, article in enumerate(placed) if place in chosen]


def _measured(sample: Sequence[Placed], index: LawIndex) -> Tally:
    tally = Tally(articles=len(sample))
    for article, context, links in sample:
        began = time.process_time()
        references = find_references(article.text, context)
        tally.seconds += time.process_time() - began
        spans = [(r.start, r.end, [id for _, id in index.targets(r.target)]) for r in references]
        free = _compare(tally, article, links, spans)
        for reference in (references[place] for place in free):
            if reference.is_relative:
                tally.relative += 1
            else:
                tally.more.append(_line(article, reference, index))
    return tally


def _compare(tally: Tally, article: Article, links: Sequence[Link], spans: Sequence[tuple[int, int, list[str]]]) -> list[int]:
    """Count the links; the places of the spans that no link of the publisher touches."""
    touched: set[int] = set()
    for link in links:
        over = [place for place, (start, end, _) in enumerate(spans) if start < link.end and end > link.start]
        touched.update(over)
        if not link.target:
            continue
        tally.links += 1
        words = _around(article.text, link.start, link.end)
        if not over:
            tally.missed.append((re.sub(r"\d+(?:-\d+)*", "N", article.text[link.start : link.end]), f"{article.id}: {words}"))
            continue
        tally.found += 1
        if any(link.target in spans[place][2] for place in over):
            tally.same += 1
        else:
            tally.other.append(f"{article.id}: {words} -> {link.target}, not {[spans[place][2][:3] for place in over]}")
    return [place for place in range(len(spans)) if place not in touched]


def _around(text: str, start: int, end: int) -> str:
    return f"{text[max(0, start - 90) : start]}[[{text[start:end]}]]{text[end : end + 90]}".replace("\n", " / ")


def _line(article: Article, reference: Reference, index: LawIndex) -> str:
    found = index.resolve(reference.target)
    outcome = found if isinstance(found, str) else f"{len(found)} {found[0][0].lower()}"
    return f"{article.id}: {_around(article.text, reference.start, reference.end)} -> {reference.target} ({outcome})"


def _metslesliens(sample: Sequence[Placed], index: LawIndex, candidates: Any) -> Tally:
    tally = Tally(articles=len(sample))
    for article, context, links in sample:
        began = time.process_time()
        found = candidates(article.text, "structuré")
        tally.seconds += time.process_time() - began
        spans = [(*one["index"], [id for key in _keys(one, context) for _, id in index.targets(key)]) for one in found]
        tally.relative += len(_compare(tally, article, links, spans))
    return tally


def _keys(candidate: dict[str, Any], context: Context) -> Iterator[str]:
    """Yield what metslesliens says of a candidate, as keys."""
    name = str((candidate.get("texte") or {}).get("nom") or "")
    named = act_names_at(name, 0, context.jurisdiction) if name.startswith("code ") else []
    act = named[0].name if named else context.act if not name or "présent" in name else ""
    numbers = candidate.get("article") or []
    for number in [numbers] if isinstance(numbers, str) else numbers:
        if isinstance(number, str):
            yield f"{act}#{normal_number(number)}"
        else:
            yield f"{act}#{normal_number(number[0])}..{normal_number(number[1])}"
    if not numbers and named:
        yield act


# Luxembourg's acts: Markdown with front matter, their links as ELI.

_FIELD = re.compile(r'^(\w+): "(.*)"$', re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} (?=Art)", re.MULTILINE)
_NUMBER = re.compile(r"Art(?:icle)?\.?\s*(\S+(?:\s(?:bis|ter))?)")
_ELI_LINK = re.compile(r"\[([^\]\n]{1,400})\]\(([^)\s]+)\)")
_EU_ELI = re.compile(r"/eli/(dir_ue|reg_ue|dec_ue)/(\d{4})/(\d+)$")
_CODE_ELI = re.compile(r"/eli/etat/leg/code/([a-z]+)")
_LETTERS = {"dir_ue": "L", "reg_ue": "R", "dec_ue": "D"}


def _luxembourg(folder: Path) -> Tally:
    read = [_markdown_act(path) for path in sorted(folder.rglob("*.md")) if path.name.startswith(("leg-", "adm-"))]
    index = LawIndex()
    by_eli: dict[str, str] = {}
    for act, eli, parts in read:
        index.add(act, ((f"{act.id}/{place}", number) for place, (number, _) in enumerate(parts)), ())
        by_eli[eli] = act.id
    linked = [one for one in read if any("](" in text for _, text in one[2])]
    tally = Tally()
    for act, _, parts in random.Random(SEED).sample(linked, min(ACTS, len(linked))):
        plain = [_without_links(text) for _, text in parts]
        articles = tuple(
            Article(f"{act.id}/{place}", act.id, act.id, place, number, "", text, "fr")
            for place, ((number, _), (text, _)) in enumerate(zip(parts, plain, strict=True))
        )
        began = time.process_time()
        placed = list(contexts(ActTree(act, (), articles)))
        tally.seconds += time.process_time() - began
        for (article, context), (_, links) in zip(placed, plain, strict=True):
            tally.articles += 1
            began = time.process_time()
            references = find_references(article.text, context)
            tally.seconds += time.process_time() - began
            _compare_acts(tally, article, links, references, index, by_eli)
    return tally


def _compare_acts(
    tally: Tally,
    article: Article,
    links: Sequence[Link],
    references: Sequence[Reference],
    index: LawIndex,
    by_eli: dict[str, str],
) -> None:
    touched: set[int] = set()
    for link in links:
        over = [
            place
            for place, r in enumerate(references)
            if any(start < link.end and end > link.start for start, end in ((r.start, r.end), r.act_words or (0, 0)))
        ]
        touched.update(over)
        european, code = _EU_ELI.match(link.target), _CODE_ELI.match(link.target)
        wanted = f"eu/3{european[2]}{_LETTERS[european[1]]}{int(european[3]):04d}" if european else by_eli.get(link.target, "")
        if not wanted and not code:
            continue
        tally.links += 1
        words = f"{article.id}: {_around(article.text, link.start, link.end)}"
        if not over:
            tally.missed.append((re.sub(r"\d+", "N", article.text[link.start : link.end]), words))
            continue
        tally.found += 1
        names = {references[place].target.split("#")[0] for place in over}
        ids = {id for name in names for _, id in index.targets(name)}
        if wanted in names | ids or (code and any(":code:" in name and code[1] in name for name in names)):
            tally.same += 1
        else:
            tally.ambiguous += any(index.resolve(name) == "ambiguous" for name in names)
            tally.other.append(f"{words} -> {wanted or link.target}, not {sorted(names)}")
    for place, reference in enumerate(references):
        if reference.is_relative:
            tally.relative += place not in touched
        elif place not in touched:
            tally.more.append(_line(article, reference, index))


def _markdown_act(path: Path) -> tuple[Act, str, list[tuple[str, str]]]:
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(_FIELD.findall(front))
    act = Act(
        f"lu/{fields['identifier']}",
        "lu",
        fields["rank"],
        fields["title"].replace('\\"', '"'),
        "fr",
        source_id=fields["identifier"],
    )
    parts: list[tuple[str, str]] = []
    for part in _HEADING.split(body)[1:]:
        heading, _, text = part.partition("\n")
        number = _NUMBER.match(re.sub(r"</?sup>|\*", "", heading))
        parts.append((number[1].strip(".") if number else heading, text))
    return act, _folded_eli(fields.get("eli") or fields.get("source", "")), parts


def _without_links(markdown: str) -> tuple[str, list[Link]]:
    """The plain text, and where its links stood."""
    markdown = re.sub(r"</?su[pb]>|\*", "", markdown).replace("´", "'")
    markdown = re.sub(r"^#{1,6} ", "", markdown, flags=re.MULTILINE)
    markdown = re.sub(r"[ \t\xa0]+", " ", re.sub(r"[ \t\xa0]*\n\s*", "\n", markdown)).strip()
    parts: list[str] = []
    links: list[Link] = []
    at = length = 0
    for link in _ELI_LINK.finditer(markdown):
        parts += (markdown[at : link.start()], link[1])
        length += link.start() - at
        links.append(Link(length, length + len(link[1]), _folded_eli(link[2])))
        length += len(link[1])
        at = link.end()
    return "".join((*parts, markdown[at:])), links


def _folded_eli(address: str) -> str:
    address = re.sub(r"^https?://[^/]+", "", address)
    return re.sub(r"(?:/art_[^/]*|/jo|/oj)*/?$", "", address)


def _print_examples(title: str, tally: Tally) -> None:
    print(f"\n{title}: the {MISSES} commonest misses of {len(tally.missed)}")
    examples = dict(tally.missed)
    for words, count in Counter(words for words, _ in tally.missed).most_common(MISSES):
        print(f"  {count}  {examples[words]}")
    print(f"\n{title}: {len(tally.other)} with another target, {MISSES} of them")
    for line in random.Random(SEED).sample(tally.other, min(MISSES, len(tally.other))):
        print(f"  {line}")
    print(f"\n{title}: {len(tally.more)} without a link (and {tally.relative} relative ones), {EXAMPLES} of them")
    for place, line in enumerate(random.Random(SEED).sample(tally.more, min(EXAMPLES, len(tally.more))), start=1):
        print(f"  {place}. {line}")
