"""Archives of source files: what is unpacked stays inside the folder that it is unpacked into."""

import errno
import lzma
import shutil
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from schema.errors import BadSource, StorageFull

_SUFFIXES = (".tar", ".tar.xz", ".tar.gz", ".tar.bz2", ".tgz", ".zip")
MOST_BYTES = 64 << 30
"""An archive that unpacks to more than this is taken for a bomb."""


def is_archive(path: Path) -> bool:
    """Return whether a file is an archive, by its name."""
    return path.is_file() and path.name.lower().endswith(_SUFFIXES)


def unpacked(archive: Path, folder: Path) -> None:
    """Unpack the files of an archive into a folder; links, devices, hidden files and names that lead out of it are left out.

    Raises:
        BadSource: not an archive that can be read to its end.
        StorageFull: the disk is full.
    """
    try:
        if archive.name.lower().endswith(".zip"):
            with zipfile.ZipFile(archive) as packed:
                _check_size(archive, sum(member.file_size for member in packed.infolist()))
                packed.extractall(folder, [name for name in packed.namelist() if not _is_hidden(PurePosixPath(name))])
        else:
            with tarfile.open(archive) as packed:
                unpack_tar(packed, folder, archive)
    # RuntimeError: what zipfile says of encryption and of compressions that it lacks.
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, ValueError, RuntimeError) as error:
        raise BadSource(archive, "", f"not an archive that can be unpacked: {error}") from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise BadSource(archive, "", f"not an archive that can be unpacked: {error.strerror or error}") from None
        raise StorageFull(f"{folder}: {error.strerror}; nothing was changed") from None


def unpack_tar(packed: tarfile.TarFile, folder: Path, archive: Path) -> None:
    """Unpack the files that stay below ``folder``; nothing else of an archive is wanted."""
    total = 0
    made: set[Path] = set()
    for member in packed:
        name = PurePosixPath(member.name)
        # Nothing but files is unpacked, so that no link on the way can lead a plain name out of the folder.
        if not member.isfile() or name.is_absolute() or _is_hidden(name):
            continue
        total += member.size
        _check_size(archive, total)
        path = folder / name
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        content = packed.extractfile(member)
        assert content is not None, "a file has content"
        with content, path.open("wb") as stream:
            shutil.copyfileobj(content, stream)


def _is_hidden(name: PurePosixPath) -> bool:
    """True of what no reader reads: a name with a part that begins with a point, as ``..`` does."""
    return any(part.startswith(".") for part in name.parts)


def _check_size(archive: Path, size: int) -> None:
    if size > MOST_BYTES:
        raise BadSource(archive, "", f"unpacks to more than {MOST_BYTES >> 30} GiB")
