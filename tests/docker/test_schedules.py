"""The files for schedulers index, then retrain, and say the same of both: 10, 11, 75 are no failures, jobs do not overlap."""

import configparser
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from schema.errors import GraphBusy, NotReady, ServerUnavailable
from tests.support.disturbance import ROOT

DOCKER = ROOT / "docker"


def _unit(name: str) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # pyright: ignore  # systemd's options have capitals
    unit.read_string((DOCKER / name).read_text())
    return unit


def test_systemd_units() -> None:
    service, timer = _unit("lexgraph-retrain.service")["Service"], _unit("lexgraph-retrain.timer")
    assert service["Type"] == "oneshot"  # systemd starts no second one beside it
    assert service["SuccessExitStatus"].split() == ["10", "11", "75"]
    lines = (DOCKER / "lexgraph-retrain.service").read_text().splitlines()
    assert [line.rpartition("/")[2] for line in lines if line.startswith("ExecStart=")] == ["lexgraph index", "lexgraph retrain"]
    assert service["User"] == "lexgraph"
    assert timer["Timer"]["Persistent"] == "true"
    assert timer["Install"]["WantedBy"] == "timers.target"


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """Where systemd is installed; with a program that is there, since it looks for that too."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed: apt-get install systemd")
    for name in ("lexgraph-retrain.service", "lexgraph-retrain.timer"):
        text = (DOCKER / name).read_text().replace("ExecStart=/opt/lexgraph/.venv/bin/lexgraph", "ExecStart=/bin/true")
        (tmp_path / name).write_text(text)
    units = [str(tmp_path / name) for name in ("lexgraph-retrain.service", "lexgraph-retrain.timer")]
    done = subprocess.run([program, "verify", "--man=no", *units], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "lexgraph-retrain" not in done.stderr


@pytest.fixture
def job() -> dict[str, Any]:
    return yaml.safe_load((DOCKER / "retrain-cronjob.yaml").read_text())


def test_cronjob(job: dict[str, Any]) -> None:
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    assert pod["securityContext"]["runAsNonRoot"] is True
    (container,) = pod["containers"]
    assert container["resources"]["limits"]["memory"]
    secret = {entry["name"]: entry for entry in container["env"] if "PASSWORD" in entry["name"]}
    assert sorted(secret) == ["LEXGRAPH_GRAPH_PASSWORD", "LEXGRAPH_TEXT_PASSWORD"]
    for entry in secret.values():
        assert "value" not in entry
        assert entry["valueFrom"]["secretKeyRef"]["name"] == "lexgraph"
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}


def _lexgraph_that_exits(folder: Path, verb: str, code: int) -> None:
    """A stand-in for the program that writes down what it is asked, to run the shell of the schedules with."""
    for name in (".venv/bin/lexgraph", "bin/python"):
        program = folder / name
        program.parent.mkdir(parents=True)
        script = f"""[ "$LEXGRAPH_HOME" = here ] || exit 99
for verb; do :; done
echo $verb >> {folder}/asked
[ $verb = {verb} ] || exit 0
echo it says why
exit {code}
"""
        program.write_text(f"#!/bin/sh\n{script}")
        program.chmod(0o755)


def _asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().split()


INDEX, RETRAIN = ["index"], ["index", "retrain"]
CODES = [
    ("retrain", 0, 0, RETRAIN),
    ("retrain", 10, 0, RETRAIN),
    ("retrain", 11, 0, RETRAIN),
    ("retrain", GraphBusy.exit_code, 0, RETRAIN),
    ("retrain", 1, 1, RETRAIN),
    ("retrain", NotReady.exit_code, 69, RETRAIN),
    ("retrain", ServerUnavailable.exit_code, 71, RETRAIN),
    ("index", GraphBusy.exit_code, 0, INDEX),
    ("index", ServerUnavailable.exit_code, 71, INDEX),
]


@pytest.mark.parametrize(("verb", "code", "seen", "asked"), CODES)
def test_cronjob_tells_failures_only(
    verb: str, code: int, seen: int, asked: list[str], job: dict[str, Any], tmp_path: Path
) -> None:
    _lexgraph_that_exits(tmp_path, verb, code)
    container = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "LEXGRAPH_HOME": "here"}
    done = subprocess.run([*container["command"], *container["args"]], env=environment, check=False)
    assert done.returncode == seen
    assert _asked(tmp_path) == asked


@pytest.mark.parametrize(("verb", "code", "seen", "asked"), CODES)
def test_cron_mails_failures_only(verb: str, code: int, seen: int, asked: list[str], tmp_path: Path) -> None:
    _lexgraph_that_exits(tmp_path, verb, code)
    (tmp_path / "lexgraph.env").write_text("LEXGRAPH_HOME=here\n")
    (line,) = [line for line in (DOCKER / "lexgraph-retrain.cron").read_text().splitlines() if line.startswith("0 3 ")]
    minute, hour, day, month, weekday, user, command = line.split(maxsplit=6)
    assert [minute, hour, day, month, weekday, user] == ["0", "3", "*", "*", "*", "lexgraph"]
    assert "%" not in command  # cron would end the line there
    command = command.replace("/opt/lexgraph", str(tmp_path)).replace("/etc/lexgraph.env", str(tmp_path / "lexgraph.env"))
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == seen
    assert done.stdout == ("" if seen == 0 else f"lexgraph retrain: exit {code}\nit says why\n")
    assert _asked(tmp_path) == asked
