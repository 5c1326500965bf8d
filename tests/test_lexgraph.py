"""The command line on the tiny law: what a user sees, and the exit code of every mistake."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from schema.errors import BadQuery, LexgraphError, MissingFile, TooMuchGone
from tests.support.tiny_acts import SUBJECTS, write_acts
from tests.support.tiny_law import BAKERS, article, bakers, code, section, statute, write_law

ROOT = Path(__file__).parents[1]


def run(home: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(ROOT / "lexgraph.py"), *arguments],
        env=os.environ | {"LEXGRAPH_HOME": str(home)} | environment,
        capture_output=True,
        text=True,
        cwd=home if home.is_dir() else ROOT,
        check=False,
    )


@pytest.mark.slow
def test_ingest_then_index_then_search_finds_the_article(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = run(home, "ingest", str(write_law(tmp_path / "law")))
    assert done.returncode == 0, done.stderr
    assert "10 articles created" in done.stdout
    assert "10 articles" in run(home, "index").stdout
    shown = run(home, "search", "licenciement du boulanger malade", "--first", "1").stdout
    assert "L121-2" in shown
    assert "Code de la boulangerie" in shown
    assert "licenciement" in shown
    again = run(home, "ingest", str(tmp_path / "law"))
    assert "nothing changed" in again.stdout or "unchanged" in again.stdout
    assert "nothing changed" in run(home, "index").stdout


@pytest.mark.slow
def test_a_retry_tells_what_it_loaded_and_every_file_that_is_missing(tmp_path: Path) -> None:
    paths = [statute(tmp_path / "acts", n, "Les fours.") for n in (1, 2, 3)]
    good = paths[0].read_text("utf-8")
    for path in paths:
        path.write_text(path.read_text("utf-8").replace("country", "no country"), "utf-8")
    assert run(tmp_path / "home", "ingest", str(tmp_path / "acts")).returncode
    paths[0].write_text(good, "utf-8")
    for path in paths[1:]:
        path.unlink()
    done = run(tmp_path / "home", "ingest", "--retry")
    assert "quarantine: 1 act created" in done.stdout
    told = [line.split(": ")[1] for line in done.stderr.splitlines() if "no such file any more" in line]
    assert told == list(map(str, paths[1:]))
    assert done.returncode == MissingFile.exit_code


@pytest.mark.slow
def test_a_release_that_stops_tells_what_was_loaded_before(tmp_path: Path) -> None:
    folder = tmp_path / "law"
    statute(folder, 1, "Les fours.")
    lines = [{"type": "act", "id": "be/pain", "title": "Loi"}, *({"type": "article", "text": f"Pain {n}."} for n in range(40))]
    (folder / "law.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert run(tmp_path / "home", "ingest", str(folder)).returncode == 0
    statute(folder, 1, "Les moulins.")
    (folder / "law.jsonl").write_text("\n".join(map(json.dumps, lines[:2])), "utf-8")
    stopped = run(tmp_path / "home", "ingest", str(folder))
    assert "39 of 40 articles would disappear" in stopped.stderr
    assert "nothing of jsonl/law was changed" in stopped.stderr
    assert "1 article changed" in stopped.stdout
    assert stopped.returncode == TooMuchGone.exit_code


def test_search_as_json_says_why_each_hit_is_there(tiny_home: Path) -> None:
    hits = json.loads(run(tiny_home, "search", "farine du pain", "--json", "--first", "3").stdout)
    assert len(hits) == 3
    assert {"id", "number", "path", "snippet", "matched", "places", "score"} <= hits[0].keys()
    assert hits[0]["places"]["bm25"]["rank"] >= 1
    assert set(hits[0]["matched"]) & {"farine", "pain"}


def test_filters_narrow_the_search(tiny_home: Path) -> None:
    hits = json.loads(run(tiny_home, "search", "farine", "--act", "fr/LEGITEXT000000000002", "--json").stdout)
    assert {hit["id"].rsplit("/", 1)[0] for hit in hits} == {"fr/LEGITEXT000000000002"}
    early = json.loads(run(tiny_home, "search", "boulanger", "--in-force-on", "1980-01-01", "--json").stdout)
    assert "fr/LEGITEXT000000000001/L121-1" not in {hit["id"] for hit in early}


def test_cypher_reads_with_parameters_and_does_not_write(tiny_home: Path) -> None:
    found = run(tiny_home, "cypher", "MATCH (a:Article {number: $n}) RETURN a.id AS id", "--param", "n=L121-1", "--json")
    assert json.loads(found.stdout) == {"id": "fr/LEGITEXT000000000001/L121-1"}
    written = run(tiny_home, "cypher", "CREATE (:Act {id: 'x'})")
    assert written.returncode == 64
    assert "'CREATE' does not begin a statement that reads" in written.stderr


def test_a_long_answer_is_cut_and_says_so(tiny_home: Path) -> None:
    done = run(tiny_home, "cypher", "MATCH (a:Article) RETURN a.id AS id", "--json", LEXGRAPH_CYPHER_MAX_ROWS="3")
    assert len(done.stdout.splitlines()) == 3
    assert "first 3 rows" in done.stderr


def test_citations_are_counted_and_those_outside_listed(tiny_home: Path) -> None:
    counted = run(tiny_home, "citations").stdout
    assert "to articles of the graph" in counted
    listed = run(tiny_home, "citations", "--outside").stdout.splitlines()
    assert listed == ["fr/LEGITEXT000000000001/L121-2\tarticle\tLEGIARTI000000000999\tarticle L. 9\tact not loaded"]


@pytest.mark.slow
def test_what_acts_do_to_acts_outside_is_listed_with_the_reason(tmp_path: Path) -> None:
    home = tmp_path / "home"
    title = "Loi du 1 février 2001 transposant la directive (UE) 2016/680"
    assert run(home, "ingest", str(statute(tmp_path / "acts", 1, "Les fours.", title=title))).returncode == 0
    assert "acts outside: TRANSPOSES" in run(home, "citations").stdout
    (line,) = run(home, "citations", "--outside").stdout.splitlines()
    place, kind, target, words, reason = line.split("\t")
    assert (place, kind, target) == ("lu/leg-loi-2001-02-01-n1", "TRANSPOSES", "eu/32016L0680")
    assert "2016/680" in words
    assert reason == "act not loaded"


def test_retry_takes_no_path_and_no_format_beside_it(tmp_path: Path) -> None:
    for more in (["law"], ["--format", "legi"], ["--force"]):
        refused = run(tmp_path, "ingest", "--retry", *more)
        assert refused.returncode == BadQuery.exit_code
        assert "--retry loads the files in quarantine" in refused.stderr


@pytest.mark.slow
def test_search_filters_by_kind_and_jurisdiction(tiny_home: Path) -> None:
    found = [json.loads(run(tiny_home, "search", "farine", "--json", *only).stdout) for only in (["--kind", "Code"], [])]
    assert found[0] == found[1]
    refused = run(tiny_home, "search", "farine", "--jurisdiction", "lu")
    assert refused.returncode == BadQuery.exit_code
    assert refused.stderr.strip() == "lexgraph: no such jurisdiction: lu; nearest: fr"
    nothing = run(tiny_home, "search", "asdfgh", "--kind", "code")
    assert nothing.stdout.strip() == "No article matches (kind code)."


def test_the_canonical_dump_goes_to_a_file_or_the_terminal(tiny_home: Path, tmp_path: Path) -> None:
    assert run(tiny_home, "export", str(tmp_path / "dump.jsonl")).returncode == 0
    assert (tmp_path / "dump.jsonl").read_text() == run(tiny_home, "export", "-").stdout


def test_doctor_names_every_setting_and_what_is_missing(tiny_home: Path) -> None:
    done = run(tiny_home, "doctor", LEXGRAPH_PORT="8123")
    assert "environment LEXGRAPH_PORT" in done.stdout
    assert "FAIL  model: no model is active" in done.stdout
    assert done.returncode == 1


@pytest.mark.slow
def test_quiet_shows_no_progress(tmp_path: Path) -> None:
    law = write_law(tmp_path / "law")
    assert run(tmp_path / "loud", "ingest", str(law)).stderr
    assert not run(tmp_path / "quiet", "--quiet", "ingest", str(law)).stderr


_MISTAKES = [
    (("search", ""), 64, "empty"),
    (("search", "x" * 100_000), 64, "100,000 characters"),
    (("search", "pain", "--in-force-on", "hier"), 64, "not a date"),
    (("search", "pain", "--act", "fr/none"), 68, "no such act"),
    (("search", "pain", "--mode", "vector"), 69, "lexgraph train"),
    (("ingest", "no-such-file.json"), 66, "no-such-file.json"),
    (("evaluate", "--questions", "no-such-file.jsonl"), 66, "no-such-file.jsonl"),
    (("evaluate", "--split", "tset"), 64, "tset"),
    (("cypher", "MATCH (a:Articl) RETURN a"), 64, "Articl"),
    (("cypher", "RETURN 1", "--param", "n"), 64, "name=value"),
    (("train", "--recipe", "none"), 78, "none"),
    (("search",), 2, "Missing argument"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "exit_code", "told"), _MISTAKES, ids=lambda value: str(value)[:40])
def test_a_mistake_is_one_clear_line_and_an_exit_code(
    tiny_home: Path, arguments: tuple[str, ...], exit_code: int, told: str
) -> None:
    done = run(tiny_home, *arguments)
    assert done.returncode == exit_code, done.stderr
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_without_a_graph_every_verb_says_what_to_do(tmp_path: Path) -> None:
    for verb in (("index",), ("train",), ("evaluate",), ("search", "pain"), ("status",), ("cypher", "RETURN 1"), ("citations",)):
        done = run(tmp_path / "none", *verb)
        assert done.returncode == 69
        assert "lexgraph ingest" in done.stderr
        assert "Traceback" not in done.stderr


def test_rejected_records_are_named_and_the_exit_code_tells(tmp_path: Path) -> None:
    good, nameless = article(1, "L1", "<p>Un.</p>"), article(2, None, "<p>Deux.</p>")
    law = write_law(tmp_path / "law", code(BAKERS, "Code", section(1, "Livre Ier", good, nameless)))
    done = run(tmp_path / "home", "ingest", str(law))
    assert done.returncode == 3
    assert "without a number" in done.stderr
    assert "1 article created" in done.stdout
    assert (tmp_path / "home" / "quarantine" / "legi.jsonl").exists()


def test_a_truncated_file_is_named_with_its_place_and_the_others_are_loaded(tmp_path: Path) -> None:
    law = write_law(tmp_path / "law")
    broken = law / f"{BAKERS}.json"
    broken.write_text(json.dumps(bakers())[:500])
    done = run(tmp_path / "home", "ingest", str(law))
    assert done.returncode == 65
    assert f"{BAKERS}.json" in done.stderr
    assert "line 1, column" in done.stderr
    assert "2 articles created" in done.stdout


def test_a_bad_setting_is_named(tiny_home: Path) -> None:
    done = run(tiny_home, "status", LEXGRAPH_PORT="ninety")
    assert done.returncode == 78
    assert "LEXGRAPH_PORT" in done.stderr


def test_exit_codes_and_http_statuses_are_told_for_every_error() -> None:
    def below(error: type[LexgraphError]) -> set[type[LexgraphError]]:
        return {error}.union(*(below(kind) for kind in error.__subclasses__()))

    for error in below(LexgraphError):
        assert 0 < error.exit_code < 126
        assert 400 <= error.http_status < 600


def test_the_server_answers_without_torch_and_says_how_to_ask(tiny_home: Path, tmp_path: Path) -> None:
    banned = tmp_path / "banned"
    for name in ("torch", "torch_geometric", "sklearn", "transformers"):
        (banned / name).mkdir(parents=True)
        (banned / name / "__init__.py").write_text("raise RuntimeError('the server must not import this')\n")
    command = [sys.executable, str(ROOT / "lexgraph.py"), "serve", "--port", "0"]
    environment = os.environ | {"LEXGRAPH_HOME": str(tiny_home), "PYTHONPATH": str(banned)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            told = next(line for line in server.stderr if line.startswith("Serving on "))
            body = json.dumps({"query": '{ search(query: "farine", first: 1) { edges { node { number } } } }'}).encode()
            request = urllib.request.Request(told.split()[2], body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request) as response:
                answer = json.load(response)
            assert server.stderr.readline().startswith("curl -s http://")
        finally:
            server.terminate()
    assert answer["data"]["search"]["edges"]


def test_jax_where_it_is_installed_is_kept_off_the_gpu(tiny_home: Path, tmp_path: Path) -> None:
    # bm25s imports it to pick the highest scores; on a machine with a GPU it reserves most of its memory, or fails there.
    (tmp_path / "jax").mkdir()
    told = "print('jax on', os.environ.get('JAX_PLATFORMS'), file=sys.stderr)"
    (tmp_path / "jax" / "__init__.py").write_text(f"import os, sys\n{told}\n")
    (tmp_path / "jax" / "lax.py").write_text("raise ImportError\n")
    assert "jax on cpu" in run(tiny_home, "search", "farine", PYTHONPATH=str(tmp_path)).stderr
    assert "jax on cuda" in run(tiny_home, "search", "farine", PYTHONPATH=str(tmp_path), JAX_PLATFORMS="cuda").stderr


def test_a_port_in_use_is_a_clear_error(tiny_home: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run(tiny_home, "serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 78
    assert "cannot listen" in done.stderr


@pytest.mark.slow
def test_similar_acts_are_found_and_measured_from_the_command_line(tmp_path: Path) -> None:
    home, law = tmp_path / "home", write_acts(tmp_path / "law")
    run(home, "ingest", str(law / "eu_acts.jsonl"), str(law / "lu"))
    run(home, "index")
    found = json.loads(run(home, "similar", "eu/32000L0001", "--jurisdiction", "lu", "-k", "2", "--json").stdout)
    assert found[0]["id"] == "lu/leg-pain"
    assert len(found) == 2
    assert found[0]["places"]["bm25"]["rank"] == 1
    assert "lu/leg-pain" in run(home, "similar", "eu/32000L0001", "-k", "1").stdout
    by_title = json.loads(run(home, "similar", *found[0]["title"].split(), "-k", "1", "--json").stdout)
    assert by_title == json.loads(run(home, "similar", "lu/leg-pain", "-k", "1", "--json").stdout)
    pairs = tmp_path / "pairs.csv"
    lines = [f"leg-{name},3200{n}L0001,title,yes" for n, name in enumerate(SUBJECTS)]
    pairs.write_text("\n".join(["act,celex,basis,directive_text", *lines]))
    table = json.loads(run(home, "evaluate", "--benchmark", "eu-lu", "--transpositions", str(pairs), "--json").stdout)
    assert table["ensemble"]["down"]["R@20"] == table["ensemble"]["up"]["R@20"] == 100
    refused = run(home, "evaluate", "--benchmark", "eu-lu")
    assert refused.returncode == BadQuery.exit_code
    assert "--transpositions" in refused.stderr
    written = run(home, "export", "--beir", str(tmp_path / "beir"), "--transpositions", str(pairs)).stdout
    assert f"act-to-directive/qrels/test.tsv: {len(SUBJECTS)}" in written
    assert run(home, "export", "-", "--transpositions", str(pairs)).returncode == BadQuery.exit_code
    run(tmp_path / "asked", "ingest", str(tmp_path / "beir" / "directive-to-act"))
    run(tmp_path / "asked", "index")
    compared = run(tmp_path / "asked", "compare", "bm25", "--questions", "beir-directive-to-act", "--only", "random", "--json")
    assert json.loads(compared.stdout)


@pytest.mark.slow
def test_every_verb_that_prints_a_table_prints_json_in_utf_8_whatever_the_locale(tiny_home: Path) -> None:
    objects = [
        json.loads(run(tiny_home, *verb, "--json", PYTHONIOENCODING="ascii").stdout.splitlines()[0])
        for verb in (["status"], ["doctor"], ["models"], ["citations"], ["contents"], ["search", "congé"], ["show", "L111-1"])
    ]
    status, doctor, models, citations, acts, hits, page = objects
    assert status["graph"]["Article"] == 10
    checks = {check["check"]: check["ok"] for check in doctor["checks"]}
    assert checks == {"graph": True, "text index": True, "model": False, "sources": True}
    assert models == []
    assert citations == {"where": "to articles of the graph", "n": 3}
    assert [act["title"] for act in acts] == ["Code de la boulangerie", "Code de la meunerie"]
    assert hits == []
    assert page["text"].endswith("Il est cuit au four.")
    shown = subprocess.run(
        [sys.executable, str(ROOT / "lexgraph.py"), "show", "L111-2", "--json"],
        env=os.environ | {"LEXGRAPH_HOME": str(tiny_home), "PYTHONIOENCODING": "latin-1"}, capture_output=True, check=False,
    )  # fmt: skip
    assert "pèse deux cent cinquante" in shown.stdout.decode("utf-8")


def test_the_help_is_plain_and_no_verb_is_cut_short(tmp_path: Path) -> None:
    shown = run(tmp_path, "--help", COLUMNS="80").stdout
    assert "  search     Find the articles of law that govern a question." in shown
    for listed in (shown, run(tmp_path, "models", "--help", COLUMNS="80").stdout):
        assert "..." not in listed.partition("Commands:")[2]
    assert "[default: the setting" in run(tmp_path, "serve", "--help", COLUMNS="120").stdout


def test_the_version_is_told(tmp_path: Path) -> None:
    assert run(tmp_path / "none", "--version").stdout.split()[0] == "lexgraph"


def test_help_loads_nothing_that_only_the_work_needs() -> None:
    heavy = ("numpy", "scipy", "bm25s", "ladybug", "pydantic_settings", "starlette", "torch")
    script = f"import sys, lexgraph; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT).stdout == "[]\n"
