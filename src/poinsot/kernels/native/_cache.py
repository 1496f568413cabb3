"""Object code kept between processes.

What is read here is run as machine code. So an entry counts only if nobody but its owner can have written it
and if it is whole; anything else is the same as no entry, and the caller compiles again.
"""

import hashlib
import os
import re
import secrets
import stat
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LIMIT = 512 * 2**20
"""Bytes that the entries of a folder may take together."""

_MAGIC = b"POINSOT\n"
_VERSION = 1
_ABANDONED = 3600.0
"""Seconds after which a temporary file has no process that still writes it."""

# A key becomes the name of a file: no separators, no leading dot, short enough for every file system.
_KEY = re.compile(r"[0-9A-Za-z_-]{1,200}")
_TEMPORARY = re.compile(r"\.poinsot-[0-9a-f]{16}\.tmp")

# Flags that only some systems have. A pipe in the place of an entry must not make `open` wait for a writer.
_BINARY = getattr(os, "O_BINARY", 0)
_CAREFUL = _BINARY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def digest(*parts: str | bytes) -> str:
    """Return the SHA-256 of parts, in hexadecimal digits.

    Each part, a string as UTF-8, follows its length: parts divided in another way have another digest.
    """
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(struct.pack("<Q", len(data)))
        total.update(data)
    return total.hexdigest()


class CodeCache:
    """Object code kept between processes, in a folder private to the user.

    A cache never raises: where it cannot read it has no entry, and where it cannot write it keeps nothing.

    Args:
        folder: Where the entries are. By default the value of `POINSOT_CACHE_DIR`, and nothing is kept if
            that is empty; if it is not set, `poinsot/native` in the user's folder for caches.
    """

    def __init__(self, folder: Path | None = None):
        # Absolute, since the program may change its working directory between a put and a get.
        place = _default_folder() if folder is None else folder
        self.folder = None if place is None else place.absolute()

    def get(self, key: str) -> bytes | None:
        """Return the code kept under a key, or None if there is none that can be trusted."""
        if self.folder is None or not _KEY.fullmatch(key):
            return None
        path = self.folder / f"{key}.o"
        try:
            code = _read(path, key) if _private(os.lstat(self.folder), stat.S_ISDIR) else None
        except (OSError, ValueError):
            return None
        if code is not None:
            # The time of the last use, for the eviction; an entry in a read-only folder is as good.
            with suppress(OSError):
                os.utime(path)
        return code

    def put(self, key: str, code: bytes) -> None:
        """Keep code under a key, in the place of what was there.

        Args:
            key: At most 200 letters, digits, `-` and `_`, as of `digest`; under any other nothing is kept.
            code: What `get` will return.
        """
        if self.folder is None or not _KEY.fullmatch(key):
            return
        header = _header(key, code)
        if len(header) + len(code) > LIMIT:
            return
        with suppress(OSError, ValueError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _private(os.lstat(self.folder), stat.S_ISDIR):
                _write(self.folder, f"{key}.o", header, code)
                _evict(self.folder, f"{key}.o")


def _default_folder() -> Path | None:
    """Return the folder that the environment chooses, or None if nothing is to be kept."""
    chosen = os.environ.get("POINSOT_CACHE_DIR")
    if chosen is not None:
        return Path(chosen) if chosen else None
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            # The specification of these folders has a relative one ignored.
            base = os.environ.get("XDG_CACHE_HOME", "")
            base = base if os.path.isabs(base) else Path.home() / ".cache"
    except RuntimeError:  # A user without a home.
        return None
    return Path(base) / "poinsot" / "native"


def _private(status: os.stat_result, kind: Callable[[int], bool]) -> bool:
    """Tell whether a file is of a kind and only the current user, its owner, can write to it."""
    # Without POSIX the bits say nothing; the user's folder for caches is then private by its access list.
    own = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
    return own and kind(status.st_mode)


def _header(key: str, code: bytes) -> bytes:
    """Return what stands before the code: magic, version, key, SHA-256 of the code, and its length."""
    name = key.encode()
    check = hashlib.sha256(code).digest()
    return _MAGIC + struct.pack("<II", _VERSION, len(name)) + name + check + struct.pack("<Q", len(code))


def _read(path: Path, key: str) -> bytes | None:
    """Return the code of an entry, or None if it is not private or not what `put` wrote under the key."""
    # Not every system can refuse a link on opening. What is open is looked at again: it may be another file.
    if not _private(os.lstat(path), stat.S_ISREG):
        return None
    descriptor = os.open(path, os.O_RDONLY | _CAREFUL)
    try:
        status = os.fstat(descriptor)
        if not _private(status, stat.S_ISREG) or status.st_size > LIMIT:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read()
    finally:
        os.close(descriptor)
    size = len(_header(key, b""))
    code = content[size:]
    # The header made anew from the code has every field in it, so one comparison checks them all.
    return code if content[:size] == _header(key, code) else None


def _write(folder: Path, name: str, *parts: bytes) -> None:
    """Write a file that appears whole or not at all."""
    temporary = folder / f".poinsot-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
    try:
        try:
            for part in parts:
                rest = memoryview(part)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)
        os.replace(temporary, folder / name)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _evict(folder: Path, kept: str) -> None:
    """Remove the entries used least recently, but for one, to half the limit if they pass the limit."""
    entries = []
    with os.scandir(folder) as files:
        for file in files:
            with suppress(OSError):  # Another process may have removed it since.
                status = file.stat(follow_symlinks=False)
                if file.name.endswith(".o") and stat.S_ISREG(status.st_mode):
                    entries.append((status.st_mtime_ns, status.st_size, file.name))
                elif _TEMPORARY.fullmatch(file.name) and time.time() - status.st_mtime > _ABANDONED:
                    os.unlink(file)
    if sum(size for _, size, _ in entries) > LIMIT:
        # The user may have chosen a folder that has other object files. They neither count nor go.
        entries = [entry for entry in entries if _is_entry(folder / entry[2])]
    total = sum(size for _, size, _ in entries)
    goal = total if total <= LIMIT else LIMIT // 2
    for _, size, name in sorted(entries):
        if total > goal and name != kept:
            with suppress(OSError):
                (folder / name).unlink(missing_ok=True)
                total -= size


def _is_entry(path: Path) -> bool:
    """Tell whether a file begins as entries of any version do."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False
