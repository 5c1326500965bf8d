"""Folders of tests in memory, where the machine lends some: loading law is mostly waiting for a disk to sync."""

import os
import shutil
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
ENOUGH = 8 << 30
"""Bytes: room for real law and the files of several servers at a time; with less, as in a container, folders are on disk."""
TEMPROOT = "PYTEST_DEBUG_TEMPROOT"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Have pytest make its folders in memory unless the caller has said where, memory is short or nothing there may run."""
    chosen = config.getoption("basetemp") or TEMPROOT in os.environ
    if not chosen and _serves():
        os.environ[TEMPROOT] = str(MEMORY)


def _serves() -> bool:
    """Programs too must run from there: Elasticsearch unpacks libraries of its own into its temporary folder."""
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & getattr(os, "ST_NOEXEC", 0):
        return False
    return shutil.disk_usage(MEMORY).free >= ENOUGH
