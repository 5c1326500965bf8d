"""Broken and malicious files for every reader: none may crash, hang or grow, and no identifier that comes out leads astray.

Small texts of each format are mutated (cut off, bytes flipped, bombs of YAML and XML, enormous lines, wrong encodings, path
tricks, values of other types) and read in a process with limits on time and memory; what it reads is fingerprinted and
quarantined as a load would.
"""

import json
import pickle
import random
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from bench.reporting import Figures
from ingest.loading.quarantine import write_quarantine
from ingest.loading.spool import law_sha256, tree_sha256
from ingest.sources import FORMATS, Format
from schema.errors import BadQuery, BadSource, LexgraphError, MissingFile
from schema.identifiers import MAX_LENGTH
from schema.records import Question, Rejected, Remark
from tests.support.small_texts import WRITTEN, write_format

MUTATED = tuple(format for format in FORMATS if format.name in WRITTEN)
"""Formats of text files; a history of law is git objects, and its states are mutated in the tests of its reader."""
LIMIT_S = 10
"""A file that takes longer to read hangs: each is at most a few megabytes."""
LIMIT_BYTES = 2 << 30
_ASTRAY = re.compile(r"\.\.|[\s?#\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")

TRICKS = (
    "../../etc/passwd",
    "..\\..\\x",
    "/etc/passwd",
    "a/../b",
    "....//",
    "x\0y",
    "x\ny",
    "x\r\ny",
    "x?y=1",
    "x#y",
    "%2e%2e%2f",
    "x y",
    "\u2028",
    "\u202ex",
    "\ufeff",
    "é" * 300,
    "x" * 5000,
    "",
    "-",
    ".",
    "$(id)",
    "'; DROP",
    "\ud800",
)
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 10**400, 1e308, [], {}, [[]], [None], ["x", 5], {"a": {"b": []}}, "9999-99-99"),
    *TRICKS,
)
TOKENS = (
    *(b"\0", b"\n", b"\r", b"\t", b'"', b"'", b"<", b">", b"&", b"{", b"}", b"[", b"]", b"---\n", b"# ", b",", b":", b"\\"),
    *(b"\\ud800", b"]]>", b"<![CDATA[", b"<!--", b"&#0;", b"&lt;", b"\xef\xbb\xbf", b"\xc3", b"\xff", b"Article 1 ", b"*"),
    *(b"**", b"](", b"?", b"../"),
)
LONG = (b"x", b"[", b"<a>", b"(", b" ", b"*", b"**a", b"[a](", b"../", b"a: {", b'"', b"\\", b"Art. 1 ", b"1.", b"#", b"- ")
_STEPS = tuple(pairwise("abcdefghi"))
_YAML_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in _STEPS)
_YAML_MERGE = "a: &a {x: 1, y: 2}\n" + "".join(f"{b}: &{b} {{<<: [{','.join([f'*{a}'] * 9)}]}}\n" for a, b in _STEPS)
_XML_ENTITIES = '<!ENTITY a "xxxxxxxxxx">' + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in _STEPS)


def mutated(seed: bytes, rng: random.Random) -> bytes:
    """A text with one to three mutations."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        seed = rng.choice(MUTATIONS)(seed, rng)
    return seed


def _cut(seed: bytes, rng: random.Random) -> bytes:
    return seed[: rng.randrange(len(seed) + 1)]


def _flip(seed: bytes, rng: random.Random) -> bytes:
    changed = bytearray(seed)
    for _ in range(rng.randint(1, 20) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _insert(seed: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(seed) + 1)
    return seed[:at] + rng.choice(TOKENS) * rng.choice((1, 1, 1, 2, 50)) + seed[at:]


def _repeat(seed: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(seed) + 1)
    end = min(len(seed), start + rng.choice((1, 5, 50, 500)))
    times = rng.choice((0, 2, 100, 1000))
    return seed[:start] + seed[start:end] * times + seed[end:]


def _enormous(seed: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(seed) + 1)
    piece = rng.choice(LONG)
    size = rng.choice((10_000, 100_000, 100_000, 1_000_000)) if rng.random() < 0.3 else 5000
    return seed[:at] + piece * (size // len(piece)) + seed[at:]


def _recoded(seed: bytes, rng: random.Random) -> bytes:
    text = seed.decode("utf-8", "replace")
    return text.encode(rng.choice(("latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-7", "shift-jis")), "replace")


def _bomb(seed: bytes, rng: random.Random) -> bytes:
    text = seed.decode("utf-8", "replace")
    if "<" in text and text.lstrip().startswith("<"):
        start = text.find("?>") + 2 if "?>" in text else 0
        text = text[:start] + f"<!DOCTYPE x [{_XML_ENTITIES}]>" + re.sub(r">([^<]+)</", r">\1&i;</", text[start:])
    elif text.startswith("---"):
        text = "---\n" + rng.choice((_YAML_BOMB, _YAML_MERGE, "a: &a [*a]\n", "? " * 3000 + "\n", "[" * 3000 + "\n")) + text[4:]
    else:
        deep = rng.choice((500, 900, 5000, 100_000))
        text = re.sub(r"(: ?)\"", lambda found: f'{found[1]}{"[" * deep}{"]" * deep}, "x": "', text, count=1)
    return text.encode("utf-8", "replace")


def _trick(seed: bytes, rng: random.Random) -> bytes:
    """A value becomes a trick: what stands between quotes, tabs, commas, or behind a colon, as the text has them."""
    text = seed.decode("utf-8", "replace")
    values = list(re.finditer(r'(?<=")[^"\n]+(?=")|(?<=: )[^\n]+|(?<=[\t,])[^\t,\n]+|(?<=Article )\S+|(?<=Art\. )\S+', text))
    for _ in range(rng.randint(1, 3) if values else 0):
        trick = rng.choice(TRICKS)
        if rng.random() < 0.5:
            trick = json.dumps(trick)[1:-1]
        found = rng.choice(values)
        text = text[: found.start()] + trick + text[found.end() :]
    return text.encode("utf-8", "replace")


def _retyped(seed: bytes, rng: random.Random) -> bytes:
    """A value of a line of JSON becomes one of another type; of front matter, any YAML."""
    lines = seed.decode("utf-8", "replace").split("\n")
    at = rng.randrange(len(lines))
    try:
        record = json.loads(lines[at])
    except (ValueError, RecursionError):
        lines[at] = re.sub(r": .*", lambda _: f": {json.dumps(rng.choice(VALUES))}", lines[at])
    else:
        lines[at] = json.dumps(_with_another(record, rng))
    return "\n".join(lines).encode("utf-8", "replace")


def _with_another(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict) and value and rng.random() < 0.9:
        fields = cast(dict[str, Any], value)
        name = rng.choice(list(fields))
        return fields | {name: _with_another(fields[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        items = cast(list[Any], value)
        at = rng.randrange(len(items))
        return [*items[:at], _with_another(items[at], rng), *items[at + 1 :]]
    return rng.choice(VALUES)


MUTATIONS: Sequence[Callable[[bytes, random.Random], bytes]] = (
    _cut,
    _flip,
    _insert,
    _repeat,
    _enormous,
    _recoded,
    _bomb,
    _trick,
    _trick,
    _retyped,
    _retyped,
)


def outcome_of(format: Format, paths: Sequence[Path], home: Path) -> str:
    """Return what a reader makes of files, as a load would see it: read, partly (some records rejected), refused, or astray.

    Whatever else it raises goes through: that is a crash.
    """
    rejected: list[Rejected] = []
    ids: list[str] = []
    outcome = "read"
    doubled = False
    for path in paths:
        try:
            for item in format.read_whole(path):
                if isinstance(item, Rejected):
                    rejected.append(item)
                elif isinstance(item, Question):
                    ids.append(item.id)
                    json.dumps([item.text, item.relevant], ensure_ascii=False).encode()
                elif not isinstance(item, Remark):
                    pickle.dumps((item, law_sha256(item), tree_sha256(item)))
                    rejected += item.rejected
                    own = [item.act.id, *(s.id for s in item.sections), *(a.id for a in item.articles)]
                    doubled |= len(set(own)) < len(own)
                    ids += own
        except (BadSource, MissingFile) as error:
            str(error).encode()
            outcome = "refused"
    write_quarantine(home, format.name, rejected)
    if doubled or any(_ASTRAY.search(id) or len(id) > MAX_LENGTH + 20 for id in ids):
        return "astray"
    return "partly" if rejected and outcome == "read" else outcome


def one_mutation(format: Format, folder: Path, seed: int) -> str:
    """Return what a reader makes of its small texts with one file of them mutated, and why where it crashes.

    Args:
        folder: holds the small texts of the format; one of them is mutated and put back.
    """
    rng = random.Random(f"{format.name} {seed}")
    name = rng.choice(list(WRITTEN[format.name]))
    path = folder / name
    whole = WRITTEN[format.name][name].encode()
    path.write_bytes(mutated(whole, rng))
    # The judgements of a collection are read with its queries.
    paths = [folder / other for other in WRITTEN[format.name]] if format.name == "beir" else [path]
    try:
        return outcome_of(format, paths, folder / "home")
    except MemoryError:
        return "grown"
    except Exception as error:
        return f"crashed: {type(error).__name__}: {str(error)[:100]}"
    finally:
        path.write_bytes(whole)


def _work(name: str, folder: str, orders: "Connection[tuple[str, float, int], int]") -> None:
    format = next(f for f in MUTATED if f.name == name)
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    orders.send(("started", 0, 0))
    while True:
        try:
            seed = orders.recv()
        except (EOFError, OSError):
            return
        began = time.perf_counter()
        outcome = one_mutation(format, Path(folder), seed)
        orders.send((outcome, time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))


@dataclass(slots=True)
class Tally:
    """Outcomes of the mutated files of one reader.

    Attributes:
        examples: seeds of what went wrong, with why.
    """

    outcomes: Counter[str] = field(default_factory=Counter[str])
    slowest_s: float = 0
    peak_mib: float = 0
    examples: list[str] = field(default_factory=list[str])


def tally_of(format: Format, count: int) -> Tally:
    """Read mutated files of one format in a process of its own, which is ended and begun anew where it hangs or dies."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = write_format(Path(name), format.name)
        for seed, (outcome, seconds, peak) in zip(range(count), _answers(format.name, folder), strict=False):
            kind = outcome.split(":")[0]
            tally.outcomes[kind] += 1
            tally.slowest_s, tally.peak_mib = max(tally.slowest_s, seconds), max(tally.peak_mib, peak / 1024)
            if kind not in ("read", "partly", "refused"):
                tally.examples.append(f"{format.name} {seed}: {outcome}")
    return tally


def _answers(name: str, folder: Path) -> Iterator[tuple[str, float, int]]:
    """Yield what becomes of one mutated file after another."""
    seed = 0
    while True:
        with _reader_process(name, folder) as orders:
            while True:
                orders.send(seed)
                seed += 1
                try:
                    if orders.poll(LIMIT_S):
                        yield orders.recv()
                        continue
                    outcome = "hung"
                except (EOFError, OSError):
                    outcome = "crashed: the process died"
                yield outcome, LIMIT_S, 0
                break


@contextmanager
def _reader_process(name: str, folder: Path) -> "Generator[Connection[int, tuple[str, float, int]]]":
    context = get_context("spawn")
    orders, theirs = context.Pipe()
    process = context.Process(target=_work, args=(name, str(folder), theirs), daemon=True)
    process.start()
    theirs.close()
    orders.recv()  # it has started
    try:
        yield orders
    finally:
        process.kill()
        process.join()


def measure(count: int, reader: str | None) -> Figures:
    """Mutate and read ``count`` files for a reader, or for each.

    Raises:
        BadQuery: there is no such reader.
        LexgraphError: some were neither read nor refused.
    """
    chosen = [format for format in MUTATED if reader in (None, format.name)]
    if not chosen:
        raise BadQuery(f"Unknown reader {reader}; there are: {', '.join(f.name for f in MUTATED)}")
    figures: dict[str, float] = {}
    wrong = 0
    for format in chosen:
        began = time.perf_counter()
        tally = tally_of(format, count)
        row = {kind: tally.outcomes[kind] for kind in _KINDS} | {"slowest_s": tally.slowest_s, "peak_mib": tally.peak_mib}
        row["per_minute"] = 60 * count / (time.perf_counter() - began)
        figures |= {f"{format.name}_{kind}": value for kind, value in row.items()}
        wrong += len(tally.examples)
        for example in tally.examples[:20]:
            print(f"bench: {example}", file=sys.stderr)
    if wrong:
        raise LexgraphError(f"{wrong} files were neither read nor refused")
    explained = {name: next((text for kind, text in _KINDS.items() if name.endswith(kind)), "") for name in figures}
    return Figures(f"{count:,} mutated files a reader", figures, explained)


_KINDS = {
    "read": "files read whole",
    "partly": "files read, some of their records rejected",
    "refused": "files refused with place and reason",
    "astray": "files that gave an identifier twice, or one which leads astray",
    "crashed": "files that crashed the reader",
    "hung": f"files that took more than {LIMIT_S} seconds",
    "grown": f"files that took more than {LIMIT_BYTES >> 30} GiB",
}
