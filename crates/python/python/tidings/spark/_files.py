"""Files of any storage: listed on the driver, opened inside tasks."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

#: Bytes that are copied at a time.
COPY_BYTES = 4 << 20


def is_remote(path: str) -> bool:
    """Whether a path is a URI of other storage, such as ``s3://bucket/key``."""
    return "://" in path and not path.startswith("file://")


def local(path: str) -> str:
    """The path without the scheme of local files."""
    return path.removeprefix("file://")


def file_system(uri: str) -> tuple[Any, str]:
    """The file system of a URI and the path in it: of pyarrow, else of fsspec."""
    import pyarrow
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(uri)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        try:
            import fsspec
        except ModuleNotFoundError:
            scheme = uri.partition("://")[0]
            message = f"pyarrow cannot open {scheme}:// ({error}); install fsspec and its package for {scheme}"
            raise ValueError(message) from None
        plain, path = fsspec.core.url_to_fs(uri)
        system = fs.PyFileSystem(fs.FSSpecHandler(plain))
    return system, path


def expand(paths: str | os.PathLike[str] | list[str | os.PathLike[str]]) -> list[str]:
    """The files of paths, patterns and folders, each in the order of names."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files: list[str] = []
    for path in map(os.fspath, given):
        found = _remote_files(path) if is_remote(path) else _local_files(local(path))
        if not found:
            raise FileNotFoundError(f"no files at {shown(path)}")
        files.extend(found)
    return files


def _local_files(path: str) -> list[str]:
    if os.path.isfile(path):
        return [os.path.abspath(path)]
    if os.path.isdir(path):
        found = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        return sorted(os.path.abspath(file) for file in found if not os.path.basename(file).startswith("."))
    return sorted(os.path.abspath(file) for file in glob.glob(path, recursive=True) if os.path.isfile(file))


def _remote_files(uri: str) -> list[str]:
    from pyarrow import fs

    address, mark, options = uri.partition("?")
    pattern = None
    if "*" in address:
        # What stands before the first wildcard is a folder.
        pattern = address
        address = address[: address.index("*")].rpartition("/")[0]
    system, path = file_system(address + mark + options)
    path = path.rstrip("/")
    (info,) = system.get_file_info([path])
    if info.type == fs.FileType.File:
        return [uri]
    # Credentials before the name of a bucket and options behind its path are those of each file.
    address = address.rstrip("/")
    prefix = address[: len(address) - len(path)] if address.endswith(path) else address.partition("://")[0] + "://"
    selector = fs.FileSelector(path, recursive=True, allow_not_found=True)
    names = (prefix + found.path for found in system.get_file_info(selector) if found.type == fs.FileType.File)
    return sorted(name + mark + options for name in names if pattern is None or _matches(name, pattern))


def _matches(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern as of ``glob``: ``*`` within a folder, ``**`` for any number of folders."""
    parts = ("(?:.*/)?" if part == "**/" else "[^/]*" if part == "*" else re.escape(part)
             for part in re.split(r"(\*\*/|\*)", pattern))  # fmt: skip
    return re.fullmatch("".join(parts), name) is not None


def shown(path: str) -> str:
    """The path for messages: without options and credentials."""
    return re.sub(r"://[^/]*@", "://", without_options(path))


def without_options(path: str) -> str:
    """The path of a file without the options of its URI."""
    return path.partition("?")[0] if is_remote(path) else path


@contextlib.contextmanager
def opened(path: str) -> Iterator[str]:
    """A local path of a file, which is copied to the disk of the task if it is elsewhere.

    The copy keeps its name, from which formats are detected, and is deleted at the end.
    """
    if not is_remote(path):
        yield local(path)
        return
    system, inside = file_system(path)
    with tempfile.TemporaryDirectory(prefix="tidings-") as folder:
        copy = os.path.join(folder, os.path.basename(inside))
        with system.open_input_stream(inside, compression=None) as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target, COPY_BYTES)
        yield copy
