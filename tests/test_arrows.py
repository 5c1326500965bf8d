"""Nothing imports upwards, and there are no circles."""

import subprocess
import sys
from pathlib import Path

from tests.support.disturbance import ROOT


def test_imports_keep_to_the_contracts() -> None:
    """The contracts stand in pyproject.toml; ``lint-imports`` is the program of import-linter."""
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 kept, 0 broken" in done.stdout
