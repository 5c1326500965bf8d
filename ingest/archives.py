"""Archives of source files: what is unpacked stays inside the folder that it is unpacked into."""

import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path

from schema.errors import BadSource, StorageFull

_SUFFIXES = (".tar", ".tar.xz", ".tar.gz", ".tar.bz2", ".tar.zst", ".tgz", ".zip")
MOST_BYTES = 64 << 30
"""An archive that unpacks to more than this is taken for a bomb."""


def is_archive(path: Path) -> bool:
    """Whether a file is an archive, by its name."""
    return path.is_file() and path.name.lower().endswith(_SUFFIXES)


def unpacked(archive: Path, folder: Path) -> None:
    """Unpack the files of an archive into a folder; links, devices and names that lead out of it are left out.

    Raises:
        BadSource: not an archive that can be read to its end.
        StorageFull: the disk is full.
    """
    try:
        if archive.name.lower().endswith(".zip"):
            with zipfile.ZipFile(archive) as packed:
                _check_size(archive, sum(member.file_size for member in packed.infolist()))
                packed.extractall(folder)
        else:
            with tarfile.open(archive) as packed:
                unpack_tar(packed, folder, archive)
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, ValueError) as error:
        raise BadSource(archive, "", f"not an archive that can be unpacked: {error}") from None
    except OSError as error:
        if error.errno is None:  # gzip and bzip2 say so of data that is none
            raise BadSource(archive, "", f"not an archive that can be unpacked: {error}") from None
        raise StorageFull(f"{folder}: {error.strerror}; nothing was changed") from None


def unpack_tar(packed: tarfile.TarFile, folder: Path, archive: Path) -> None:
    """Unpack files and folders that stay below ``folder``; nothing else of an archive is wanted."""
    total = 0
    root = folder.resolve()
    for member in packed:
        if not (member.isfile() or member.isdir()) or not (folder / member.name).resolve().is_relative_to(root):
            continue
        total += member.size
        _check_size(archive, total)
        # The first releases of Python 3.11 know no filter; what it would refuse is left out above.
        if hasattr(tarfile, "data_filter"):
            packed.extract(member, folder, filter="data")
        else:
            packed.extract(member, folder)


def _check_size(archive: Path, size: int) -> None:
    if size > MOST_BYTES:
        raise BadSource(archive, "", f"unpacks to more than {MOST_BYTES >> 30} GiB")
