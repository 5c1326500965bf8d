"""Folders of tests in memory, where the machine lends some: loading law is mostly waiting for a disk to sync."""

import os
import shutil
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
ENOUGH = 8 << 30
"""Bytes: several times what the folders of a whole run take while their tests run; less, as in a container, stays on disk."""
TEMPROOT = "PYTEST_DEBUG_TEMPROOT"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Have pytest make its folders in memory unless the caller has said where, memory is short or nothing there may run."""
    chosen = config.getoption("basetemp") or TEMPROOT in os.environ or "PYTEST_XDIST_WORKER" in os.environ
    if not chosen and _serves():
        os.environ[TEMPROOT] = str(MEMORY)


def _serves() -> bool:
    """Programs too must run from there: Elasticsearch unpacks libraries of its own into its temporary folder."""
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & getattr(os, "ST_NOEXEC", 0):
        return False
    return shutil.disk_usage(MEMORY).free >= ENOUGH
