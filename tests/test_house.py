"""The house stands as its plan says: no circle, no arrow up, small files and functions, and every name in the plan exists."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.support.disturbance import ROOT

ROOMS = ("runtime", "schema", "citations", "cypher", "ingest", "search", "gnn", "api", "cli")
BELOW = {
    "schema": set[str](),
    "runtime": {"schema"},
    "cypher": {"schema", "runtime"},
    "citations": {"schema"},
    "ingest": {"schema", "runtime", "citations", "cypher"},
    "search": {"schema", "runtime", "citations", "cypher"},
    "gnn": {"schema", "runtime", "citations", "cypher", "search"},
    "api": {"schema", "runtime", "citations", "cypher", "search", "gnn"},
    "cli": {"schema", "runtime", "citations", "cypher", "ingest", "search", "gnn", "api"},
}
"""The rooms that each room may import from."""
LONGEST_FILE, LONGEST_FUNCTION, LONGEST_VERB = 450, 50, 8
pytestmark = pytest.mark.xdist_group("house")  # on one worker, which parses every file once
PLAN = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@cache
def trees() -> dict[str, ast.Module]:
    """Every file of the rooms, of bench and of docker by its path, parsed."""
    folders = [ROOT / name for name in (*ROOMS, "bench", "docker")]
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))] + [ROOT / "lexgraph.py"]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def imports(tree: ast.Module) -> Iterator[str]:
    """Modules that a file imports anywhere, for type checking too; of ``from a import b`` also ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def arrows(files: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Files that each file imports."""
    module_of = {file.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for file in files}
    return {
        file: {module_of[name] for name in imports(tree) if name in module_of and module_of[name] != file}
        for file, tree in files.items()
    }


@cache
def arrows_here() -> dict[str, set[str]]:
    """Files that each file of the house imports."""
    return arrows(trees())


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """A circle of a graph, in order; empty where there is none."""
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        for other in sorted(graph.get(node, ())):
            if found := visit(other, [*path, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := visit(node, []))), [])


def test_no_files_import_each_other_in_a_circle() -> None:
    graph = {file: {other for other in others if not other.endswith("__init__.py")} for file, others in arrows_here().items()}
    assert circle(graph) == []


def test_a_circle_would_be_seen() -> None:
    sources = {
        "schema/a.py": "from schema.b import x",
        "schema/b.py": "import typing\nif typing.TYPE_CHECKING:\n    from schema.c import y",
        "schema/c.py": "def f():\n    import schema.a",
    }
    assert circle(arrows({file: ast.parse(text) for file, text in sources.items()})) == [
        "schema/a.py", "schema/b.py", "schema/c.py", "schema/a.py",
    ]  # fmt: skip


def test_no_arrow_points_up() -> None:
    for file, others in arrows_here().items():
        room = file.split("/")[0]
        if room in BELOW:
            above = {other for other in others if other.split("/")[0] not in {room, *BELOW[room]}}
            assert not above, f"{file} imports upwards: {sorted(above)}"


def test_files_and_functions_are_small() -> None:
    for file, tree in trees().items():
        lines = (ROOT / file).read_text(encoding="utf-8").count("\n")
        assert lines <= (80 if file == "lexgraph.py" else LONGEST_FILE), f"{file} has {lines} lines"
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                verb = any("command" in ast.unparse(decorator) for decorator in node.decorator_list)
                # A verb's signature is its options: ten of them fill a page, and are documented there.
                assert length <= LONGEST_FUNCTION or verb, f"{file}:{node.lineno} {node.name} has {length} lines"


def test_verbs_are_a_few_lines() -> None:
    verbs = 0
    for file in (file for file in trees() if file.startswith("cli/")):
        for node in trees()[file].body:
            if isinstance(node, ast.FunctionDef) and any(".command(" in ast.unparse(d) for d in node.decorator_list):
                verbs += 1
                statements = [s for s in node.body if not isinstance(s, ast.ImportFrom | ast.Import)][1:]
                lines = sum((s.end_lineno or 0) - s.lineno + 1 for s in statements)
                assert lines <= LONGEST_VERB, f"{file}:{node.lineno} {node.name} has {lines} lines"
    assert verbs >= 18


def test_public_docstrings_say_what_is_there_and_do_not_ask() -> None:
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
                name = getattr(node, "name", "")
                first = (ast.get_docstring(node) or "").split(" ")[0]
                assert name.startswith("_") or first not in ("What", "Whether", "Where", "How"), f"{file}: {name}"


def names_of(file: str) -> set[str]:
    """Functions, classes, methods and constants of a file."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[file].add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[file].add(node.id)
    return found[file]


@pytest.mark.parametrize("page", [PLAN, GUIDE], ids=["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_files_and_functions_that_a_page_names_exist(page: str) -> None:
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|md|toml|cypher))(?:: ?([\w, ]+))?`", page)
    assert len(named) >= 10
    for file, names in named:
        if "NAME" in file:  # of the reader's own
            continue
        path = ROOT / file
        assert path.exists() or list(ROOT.glob(file)), f"{file} is named and does not exist"
        for name in filter(None, (names or "").split(", ")):
            assert name in names_of(file), f"{file} has no {name}"


def file_of(dotted: str) -> tuple[str, list[str]]:
    """The file or folder of a dotted name, empty where there is none, and the names inside it."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        place = "/".join(parts[:cut])
        if (ROOT / f"{place}.py").exists():
            return f"{place}.py", parts[cut:]
    folder = "/".join(parts)
    return (folder if (ROOT / folder).is_dir() else ""), []


def test_what_docstrings_and_pages_point_to_exists() -> None:
    rooms = "|".join((*ROOMS, "bench", "docker"))
    pointer = re.compile(rf"`((?:{rooms})(?:\.\w+)+|(?:{rooms})/[\w/]+\.py)(?:: (\w+))?`")
    pages = [*(ROOT / file for file in trees()), *ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    pointed = {(page.name, *named) for page in pages for named in pointer.findall(page.read_text(encoding="utf-8"))}
    assert len(pointed) > 100
    for page, name, inside in sorted(pointed):
        if "NAME" in name:  # of the reader's own
            continue
        file, names = (name, [inside] if inside else []) if name.endswith(".py") else file_of(name)
        assert file, f"{page}: `{name}` does not exist"
        assert (ROOT / file).exists(), f"{page}: {file} does not exist"
        for own in names:
            assert own in names_of(file), f"{page}: {file} has no {own}"


def test_every_room_stands_in_the_plan() -> None:
    for room in (*ROOMS, "bench", "docker"):
        assert f"`{room}/`" in PLAN
        for folder in sorted(path for path in (ROOT / room).iterdir() if (path / "__init__.py").exists()):
            assert folder.name in PLAN, f"{room}/{folder.name} is not in the plan"


def test_every_way_of_the_plan_has_a_diagram() -> None:
    assert PLAN.count("```mermaid") == 3


def test_what_is_described_as_short_is_short() -> None:
    sections = re.split(r"^## ", GUIDE, flags=re.MULTILINE)[1:]
    assert {"A reader", "A statement", "A ranking list", "A recipe", "A GraphQL field", "A setting"} <= {
        section.partition("\n")[0] for section in sections
    }
    for section in sections:
        lines = [line for line in section.splitlines()[1:] if line.strip()]
        assert len(lines) <= 10, section.partition("\n")[0]


def test_the_changes_have_a_page() -> None:
    assert re.search(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert Path(ROOT / "CHANGELOG.md").stat().st_size > 500
