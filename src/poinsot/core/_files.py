"""Files that people give: read whole, never waited for."""

import errno
import os
import stat
from pathlib import Path

LARGEST = 16 * 1024 * 1024
"""Bytes of a file that is read."""


def read_regular(path: str | Path, largest: int = LARGEST) -> bytes:
    """All bytes of a file.

    A pipe or a device is not read: it may never end, or never begin.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger than `largest`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from None
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if about.st_size > largest:
            raise OSError(errno.EFBIG, f"it has {about.st_size} bytes; at most {largest} are read")
        return file.read(largest + 1)
