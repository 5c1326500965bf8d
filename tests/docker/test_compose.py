"""The compose file and the images: checked by the program that reads them, and by the lock that they install from."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from schema.settings import Settings
from tests.support.disturbance import ROOT

DOCKER = ROOT / "docker"
PASSWORDS = {"NEO4J_PASSWORD": "graph-password", "ELASTIC_PASSWORD": "text-password"}
IMAGES = {"api.Dockerfile": ["onnx", "servers"], "trainer.Dockerfile": ["train", "servers", "npm"]}


def _compose(*files: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    program = shutil.which("docker-compose")
    if program is None:
        message = "docker-compose is not installed: apt-get install docker-compose"
        if os.environ.get("CI") == "true":
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    command = [program, *(part for file in files for part in ("-f", str(DOCKER / file))), "config"]
    clean = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(command, cwd=ROOT, env=clean | environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    done = _compose("compose.yaml", **PASSWORDS)
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)["services"]


def test_all_services_are_there_and_tell_their_health(services: dict[str, Any]) -> None:
    assert sorted(services) == ["api", "elasticsearch", "neo4j", "trainer"]
    for name, service in services.items():
        assert service["restart"] == "unless-stopped", name
        assert service["healthcheck"]["test"], name
        assert service["mem_limit"], name
    for name in ("api", "trainer"):
        waits = services[name]["depends_on"]
        assert {other: wait["condition"] for other, wait in waits.items()} == {
            "neo4j": "service_healthy",
            "elasticsearch": "service_healthy",
        }


def test_the_recipe_that_is_trained_is_the_default_of_the_settings(services: dict[str, Any]) -> None:
    assert services["trainer"]["environment"]["LEXGRAPH_RECIPE"] == Settings.model_fields["recipe"].default


def _host(port: "str | dict[str, Any]") -> str:
    return port["host_ip"] if isinstance(port, dict) else port.split(":")[0]


def test_no_port_is_open_beyond_this_machine(services: dict[str, Any]) -> None:
    ports = {name: [_host(port) for port in service.get("ports", [])] for name, service in services.items()}
    assert ports == {"neo4j": ["127.0.0.1"] * 2, "elasticsearch": ["127.0.0.1"], "api": ["127.0.0.1"], "trainer": []}
    networks = yaml.safe_load((DOCKER / "compose.yaml").read_text())["networks"]
    assert networks["inside"]["internal"] is True
    assert list(services["trainer"]["networks"]) == ["inside"]


@pytest.mark.parametrize("name", sorted(PASSWORDS))
def test_a_password_must_be_given(name: str) -> None:
    done = _compose("compose.yaml", **{other: value for other, value in PASSWORDS.items() if other != name})
    assert done.returncode != 0
    assert "a password for" in done.stderr


def test_passwords_come_from_the_environment_alone(services: dict[str, Any]) -> None:
    for name in ("api", "trainer"):
        environment = services[name]["environment"]
        assert environment["LEXGRAPH_GRAPH_PASSWORD"] == "graph-password"
        assert environment["LEXGRAPH_TEXT_PASSWORD"] == "text-password"
    written = (DOCKER / "compose.yaml").read_text()
    for line in written.splitlines():
        if re.search(r"_PASSWORD: |_AUTH: ", line):
            assert re.search(r"\$\{\w+_PASSWORD:\?", line), line


def test_data_are_in_named_volumes(services: dict[str, Any]) -> None:
    def volumes(name: str) -> dict[str, str]:
        mounted = services[name]["volumes"]
        pairs = [(v["target"], v["source"]) if isinstance(v, dict) else tuple(v.split(":")[1::-1]) for v in mounted]
        return dict(pairs)

    assert volumes("neo4j")["/data"] == "neo4j-data"
    assert volumes("elasticsearch")["/usr/share/elasticsearch/data"] == "elasticsearch-data"
    assert volumes("api")["/data"] == volumes("trainer")["/data"] == "lexgraph"


def test_training_can_be_given_the_gpu() -> None:
    done = _compose("compose.yaml", "compose.gpu.yaml", **PASSWORDS)
    assert done.returncode == 0, done.stderr
    deploy = yaml.safe_load(done.stdout)["services"]["trainer"]["deploy"]
    assert deploy["resources"]["reservations"]["devices"][0]["capabilities"] == ["gpu"]


@pytest.mark.parametrize("file", sorted(IMAGES))
def test_an_image_copies_what_is_there(file: str) -> None:
    text = (DOCKER / file).read_text()
    sources = [words[:-1] for words in (line.split()[1:] for line in text.splitlines() if line.startswith("COPY "))]
    local = [source for group in sources if not group[0].startswith("--from") for source in group]
    assert {
        "lexgraph.py",
        "schema",
        "citations",
        "cypher",
        "ingest",
        "search",
        "gnn",
        "api",
        "cli",
        "runtime",
        "requirements.lock",
    } <= set(local)
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for source in local:
        assert (ROOT / source).exists(), source
        assert source in allowed, f"{source} does not reach the build: .dockerignore"
    assert re.search(r"^USER lexgraph$", text, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(IMAGES))
def test_an_image_installs_from_the_lock(file: str, tmp_path: Path) -> None:
    """Every package that the image's extras need stands in the lock with hashes, which uv verifies as it installs."""
    text = (DOCKER / file).read_text()
    assert re.findall(r"--extra (\w+)", text) == IMAGES[file]
    assert "--constraint requirements.lock" in text
    uv = Path(sys.executable).with_name("uv")
    command = [uv, "pip", "compile", "--quiet", "--constraint", "requirements.lock", "--no-header", "--no-annotate"]
    command += ["--python-version", "3.11", "--python-platform", "x86_64-manylinux_2_28", "pyproject.toml"]
    command += [part for extra in IMAGES[file] for part in ("--extra", extra)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    needed = {line.split()[0] for line in done.stdout.splitlines()}
    lock = (ROOT / "requirements.lock").read_text()
    locked = set(re.findall(r"^([\w.-]+==[\w.+-]+)(?: ;[^\n]*)? \\\n    --hash=", lock, re.MULTILINE))
    assert needed <= locked, needed - locked
    names = {package.split("==")[0] for package in needed}
    assert {"onnxruntime", "neo4j", "elasticsearch", "starlette"} <= names
    assert ("torch" in names) == (file == "trainer.Dockerfile")
