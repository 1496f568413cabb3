"""Object code kept between processes: what is kept comes back, and nothing else does."""

import itertools
import os
import secrets
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from poinsot.kernels.native import _cache
from poinsot.kernels.native._cache import CodeCache, digest

CODE = b"\x7fELF\x00 some code \xff\n\r\n"
KEY = digest("a kernel", b"its options")

posix = pytest.mark.skipif(os.name != "posix", reason="owners and permissions of POSIX")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def entry(folder):
    """The file of an entry that is returned, so that a refusal has its cause in what a test changes."""
    CodeCache(folder).put(KEY, CODE)
    assert CodeCache(folder).get(KEY) == CODE
    return folder / f"{KEY}.o"


def names(folder):
    return sorted(os.listdir(folder))


def test_code_comes_back_in_another_cache_of_the_same_folder(folder):
    codes = {digest(str(i)): bytes(range(256)) * i for i in range(4)}
    writer = CodeCache(folder)
    for key, code in codes.items():
        writer.put(key, b"replaced")
        writer.put(key, code)
    reader = CodeCache(folder)
    assert {key: reader.get(key) for key in codes} == codes
    assert reader.get(digest("not kept")) is None
    assert names(folder) == sorted(f"{key}.o" for key in codes)


def test_missing_folder_has_no_entry_and_is_not_made_by_asking(folder):
    assert CodeCache(folder).get(KEY) is None
    assert not folder.exists()


def test_no_altered_byte_is_accepted(folder, entry):
    whole = entry.read_bytes()
    assert whole.endswith(CODE) and KEY.encode() in whole
    for i in range(len(whole)):
        for flip in (0x01, 0x80, 0xFF):
            entry.write_bytes(whole[:i] + bytes([whole[i] ^ flip]) + whole[i + 1 :])
            assert CodeCache(folder).get(KEY) is None, i
    entry.write_bytes(whole)
    assert CodeCache(folder).get(KEY) == CODE


def test_no_other_length_is_accepted(folder, entry):
    whole = entry.read_bytes()
    for length in range(len(whole)):
        entry.write_bytes(whole[:length])
        assert CodeCache(folder).get(KEY) is None, length
    entry.write_bytes(whole + b"\0")
    assert CodeCache(folder).get(KEY) is None


def test_entry_of_another_key_is_refused(folder, entry):
    entry.rename(folder / f"{digest('other')}.o")
    assert CodeCache(folder).get(digest("other")) is None


def test_entry_of_another_version_is_refused(folder, entry, monkeypatch):
    monkeypatch.setattr(_cache, "_VERSION", _cache._VERSION + 1)
    assert CodeCache(folder).get(KEY) is None
    CodeCache(folder).put(KEY, CODE)
    assert CodeCache(folder).get(KEY) == CODE


@pytest.mark.parametrize("key", ["", ".", "..", "../up", "a/b", "a\\b", "a\0b", "a.b", "é", "x\n", "x" * 201])
def test_key_that_is_no_name_keeps_nothing(folder, tmp_path, key):
    cache = CodeCache(folder)
    cache.put("good", CODE)
    cache.put(key, CODE)
    assert cache.get(key) is None
    assert names(tmp_path) == ["cache"]
    assert names(folder) == ["good.o"]


@posix
@pytest.mark.parametrize("flags", [_cache._CAREFUL, os.O_RDONLY])
def test_symbolic_link_to_an_entry_is_refused_and_replaced(folder, entry, tmp_path, monkeypatch, flags):
    monkeypatch.setattr(_cache, "_CAREFUL", flags)  # not every system can refuse a link on opening
    real = tmp_path / "elsewhere.o"
    entry.rename(real)
    entry.symlink_to(real)
    assert CodeCache(folder).get(KEY) is None
    CodeCache(folder).put(KEY, b"new")
    assert CodeCache(folder).get(KEY) == b"new"
    assert real.read_bytes().endswith(CODE)


@posix
def test_symbolic_link_to_the_folder_is_refused(folder, entry, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(folder, target_is_directory=True)
    assert CodeCache(link).get(KEY) is None
    CodeCache(link).put("new", CODE)
    assert names(folder) == [entry.name]


@posix
@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFBLK])
def test_only_folders_and_regular_files_are_private(kind):
    def status(mode):
        return os.stat_result((mode, 0, 0, 1, os.getuid(), 0, 0, 0, 0, 0))

    assert _cache._private(status(stat.S_IFDIR | 0o700), stat.S_ISDIR)
    assert _cache._private(status(stat.S_IFREG | 0o700), stat.S_ISREG)
    assert not _cache._private(status(kind | 0o700), stat.S_ISDIR)
    assert not _cache._private(status(kind | 0o700), stat.S_ISREG)


def test_folder_in_the_place_of_an_entry_is_refused(folder, entry):
    entry.unlink()
    entry.mkdir()
    assert CodeCache(folder).get(KEY) is None
    CodeCache(folder).put(KEY, CODE)
    assert names(folder) == [entry.name]


@posix
def test_pipe_in_the_place_of_an_entry_is_refused_without_waiting(folder, entry, monkeypatch):
    CodeCache(folder).put("other", CODE)
    before = os.lstat(folder / "other.o")
    entry.unlink()
    os.mkfifo(entry)
    assert CodeCache(folder).get(KEY) is None
    # Also when it takes that place after the first look. A daemon, since nothing else would end its waiting.
    real = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path: before if Path(path) == entry else real(path))
    found = []
    reader = threading.Thread(target=lambda: found.append(CodeCache(folder).get(KEY)), daemon=True)
    reader.start()
    reader.join(10)
    assert found == [None]


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o622, 0o666])
def test_entry_that_others_can_write_is_refused(folder, entry, mode):
    entry.chmod(mode)
    assert CodeCache(folder).get(KEY) is None
    entry.chmod(0o644)
    assert CodeCache(folder).get(KEY) == CODE


@posix
def test_entry_that_changes_after_the_first_look_is_refused(folder, entry, tmp_path, monkeypatch):
    before, real = os.lstat(entry), os.lstat
    monkeypatch.setattr(os, "lstat", lambda path: before if Path(path) == entry else real(path))
    assert CodeCache(folder).get(KEY) == CODE
    entry.chmod(0o666)
    assert CodeCache(folder).get(KEY) is None
    entry.chmod(0o600)
    entry.rename(tmp_path / "elsewhere.o")
    entry.symlink_to(tmp_path / "elsewhere.o")
    assert CodeCache(folder).get(KEY) is None


@posix
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_folder_that_others_can_write_is_neither_read_nor_written(folder, entry, mode):
    folder.chmod(mode)
    assert CodeCache(folder).get(KEY) is None
    CodeCache(folder).put("new", CODE)
    assert names(folder) == [entry.name]
    folder.chmod(0o755)
    assert CodeCache(folder).get(KEY) == CODE


@posix
def test_files_of_another_user_are_neither_read_nor_written(folder, entry, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: os.stat(entry).st_uid + 1)
    assert CodeCache(folder).get(KEY) is None
    CodeCache(folder).put("new", CODE)
    assert names(folder) == [entry.name]


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_owner_of_folder_and_of_entry_both_count(folder, entry):
    os.chown(entry, 12345, -1)
    assert CodeCache(folder).get(KEY) is None
    os.chown(entry, 0, -1)
    assert CodeCache(folder).get(KEY) == CODE
    os.chown(folder, 12345, -1)
    assert CodeCache(folder).get(KEY) is None


@posix
def test_folder_and_entry_are_private_whatever_the_umask(folder):
    before = os.umask(0)
    try:
        CodeCache(folder).put(KEY, CODE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / f"{KEY}.o").stat().st_mode) == 0o600


@pytest.mark.parametrize("below", ["", "cache", "cache/native", "a\0b"])
def test_folder_that_cannot_be_made_keeps_nothing(tmp_path, below):
    file = tmp_path / "file"
    file.write_bytes(b"here")
    cache = CodeCache(file / below)
    cache.put(KEY, CODE)
    assert cache.get(KEY) is None
    assert file.read_bytes() == b"here"


@pytest.mark.parametrize("call", ["open", "write", "replace", "scandir"])
def test_failing_put_leaves_what_was_there(folder, entry, monkeypatch, call):
    called = []

    def full(*args, **kwargs):
        called.append(call)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        CodeCache(folder).put(KEY, b"new")
    assert called
    assert names(folder) == [entry.name]
    # Only the look for what to evict comes after the entry is in its place.
    assert CodeCache(folder).get(KEY) == (b"new" if call == "scandir" else CODE)


def test_interrupted_put_leaves_no_temporary_file(folder, entry, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        CodeCache(folder).put(KEY, b"new")
    assert names(folder) == [entry.name]


def test_temporary_file_is_never_one_that_exists(folder, entry, monkeypatch):
    taken = folder / f".poinsot-{1:016x}.tmp"
    taken.write_bytes(b"of another process")
    monkeypatch.setattr(secrets, "token_hex", lambda count: f"{1:016x}")
    CodeCache(folder).put(KEY, b"new")
    assert taken.read_bytes() == b"of another process"
    assert CodeCache(folder).get(KEY) == CODE


def test_short_writes_are_continued(folder, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    CodeCache(folder).put(KEY, CODE)
    assert CodeCache(folder).get(KEY) == CODE


def test_failing_get_has_no_entry(folder, entry, monkeypatch):
    def fail(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    for call in ("lstat", "open", "fstat"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, fail)
            assert CodeCache(folder).get(KEY) is None
    # The time of use cannot be written in a read-only folder, and that alone is no reason to compile again.
    monkeypatch.setattr(os, "utime", fail)
    assert CodeCache(folder).get(KEY) == CODE


def age(folder, key, seconds):
    then = time.time() - seconds
    os.utime(folder / f"{key}.o", (then, then))


def test_eviction_removes_the_least_recently_used_to_half(folder, monkeypatch):
    cache = CodeCache(folder)
    for i in range(10):
        cache.put(f"key-{i}", CODE)
        age(folder, f"key-{i}", 1000 - i)
    monkeypatch.setattr(_cache, "LIMIT", 11 * (folder / "key-0.o").stat().st_size)
    cache.put("key-x", CODE)
    assert len(names(folder)) == 11, "the limit itself is allowed"
    assert cache.get("key-0") == CODE  # from now on the most recently used
    cache.put("key-y", CODE)
    assert names(folder) == [f"key-{i}.o" for i in ("0", "8", "9", "x", "y")]


def test_entry_just_written_stays_though_it_seems_the_oldest(folder, monkeypatch):
    cache = CodeCache(folder)
    cache.put("old", CODE)
    age(folder, "old", -1e6)  # as where the clock of a file server was ahead
    monkeypatch.setattr(_cache, "LIMIT", (folder / "old.o").stat().st_size)
    cache.put("new", CODE)
    assert names(folder) == ["new.o"]


def test_entry_above_the_limit_is_neither_kept_nor_read(folder, entry, monkeypatch):
    monkeypatch.setattr(_cache, "LIMIT", entry.stat().st_size)
    CodeCache(folder).put(KEY, CODE + b"x")
    assert CodeCache(folder).get(KEY) == CODE
    monkeypatch.setattr(_cache, "LIMIT", entry.stat().st_size - 1)
    assert CodeCache(folder).get(KEY) is None


def test_eviction_leaves_files_of_other_origin(folder, monkeypatch):
    cache = CodeCache(folder)
    cache.put("key-1", CODE)
    (folder / "main.o").write_bytes(b"\x7fELF" + bytes(500))
    (folder / "notes.txt").write_bytes(bytes(10_000))
    for name in ("main", "key-1"):
        age(folder, name, 1000)
    monkeypatch.setattr(_cache, "LIMIT", 2 * (folder / "key-1.o").stat().st_size)
    cache.put("key-2", CODE)
    assert names(folder) == ["key-1.o", "key-2.o", "main.o", "notes.txt"]
    cache.put("key-3", CODE)
    assert names(folder) == ["key-3.o", "main.o", "notes.txt"]


def test_files_that_vanish_during_eviction_are_ignored(folder, monkeypatch):
    cache = CodeCache(folder)
    for i in range(4):
        cache.put(f"key-{i}", CODE)
        age(folder, f"key-{i}", 1000 - i)
    monkeypatch.setattr(_cache, "LIMIT", 4 * (folder / "key-0.o").stat().st_size)
    abandoned = folder / f".poinsot-{1:016x}.tmp"
    abandoned.write_bytes(b"part")
    os.utime(abandoned, (0, 0))
    unlink = os.unlink

    def twice(path, **kwargs):
        unlink(path)  # as by another process a moment before
        unlink(path, **kwargs)

    monkeypatch.setattr(os, "unlink", twice)
    cache.put("key-4", CODE)
    assert names(folder) == ["key-3.o", "key-4.o"]


def test_temporary_files_go_when_their_process_is_long_gone(folder, entry):
    old, fresh, foreign = f".poinsot-{1:016x}.tmp", f".poinsot-{2:016x}.tmp", ".tmp"
    for name in (old, fresh, foreign):
        (folder / name).write_bytes(b"part")
    for name in (old, foreign):
        os.utime(folder / name, (0, 0))
    CodeCache(folder).put(KEY, CODE)
    assert names(folder) == sorted([entry.name, fresh, foreign])


RACER = """
import sys
from pathlib import Path
from poinsot.kernels.native import _cache

folder, seed, count, limit, may_miss = Path(sys.argv[1]), *map(int, sys.argv[2:])
_cache.LIMIT = limit
cache = _cache.CodeCache(folder)
(folder.parent / f"ready-{seed}").touch()
while len(list(folder.parent.glob("ready-*"))) < 3:
    pass
found = 0
for i in range(count):
    n = (i * 7 + seed) % 8
    key = f"key-{n}"
    cache.put(key, bytes([16 * seed + n]) * (20_000 + 1000 * seed))
    for other in range(8):
        code = cache.get(f"key-{other}")
        if code is None:
            assert may_miss, "an entry was not there, or not whole"
        else:
            found += 1
            by = code[0] // 16
            assert code == bytes([16 * by + other]) * (20_000 + 1000 * by), "a wrong entry"
print(found)
"""


def race(folder, count, limit, may_miss):
    """Return how many entries each of three processes found while all of them put and get."""
    command = [sys.executable, "-c", RACER, str(folder)]
    options = [str(count), str(limit), str(int(may_miss))]
    racers = [
        subprocess.Popen([*command, str(seed), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for seed in range(3)
    ]
    try:
        outcomes = [racer.communicate(timeout=60) for racer in racers]
    finally:
        for racer in racers:
            racer.kill()
    assert [err for _, err in outcomes] == [b""] * 3
    return [int(out) for out, _ in outcomes]


@posix  # Elsewhere a file that is open cannot be replaced, and one that is being replaced not be opened.
def test_processes_that_race_always_find_whole_entries(folder):
    cache = CodeCache(folder)
    for n in range(8):
        cache.put(f"key-{n}", bytes([n]) * 20_000)
    assert race(folder, 300, _cache.LIMIT, may_miss=False) == [8 * 300] * 3
    assert names(folder) == [f"key-{n}.o" for n in range(8)]


@pytest.mark.slow
def test_processes_that_race_with_eviction_never_find_a_wrong_entry(folder):
    found = race(folder, 300, 100_000, may_miss=True)
    assert all(0 < count < 8 * 300 for count in found)
    assert set(names(folder)) <= {f"key-{n}.o" for n in range(8)}


def test_environment_chooses_the_folder(tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    monkeypatch.delenv("POINSOT_CACHE_DIR", raising=False)

    def chosen(platform):
        monkeypatch.setattr(sys, "platform", platform)
        return CodeCache().folder

    assert chosen("linux") == tmp_path / "xdg" / "poinsot" / "native"
    assert chosen("darwin") == home / "Library" / "Caches" / "poinsot" / "native"
    assert chosen("win32") == tmp_path / "local" / "poinsot" / "native"
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert chosen("linux") == home / ".cache" / "poinsot" / "native"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert chosen("linux") == home / ".cache" / "poinsot" / "native"
    monkeypatch.delenv("LOCALAPPDATA")
    assert chosen("win32") == home / "AppData" / "Local" / "poinsot" / "native"
    for platform in ("linux", "darwin", "win32"):
        monkeypatch.setenv("POINSOT_CACHE_DIR", str(tmp_path / "own"))
        assert chosen(platform) == tmp_path / "own"
        monkeypatch.setenv("POINSOT_CACHE_DIR", "")
        assert chosen(platform) is None
    assert CodeCache(tmp_path / "given").folder == tmp_path / "given", "a folder that is given comes first"


def test_empty_choice_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("POINSOT_CACHE_DIR", "")
    CodeCache().put(KEY, CODE)
    assert CodeCache().get(KEY) is None
    assert names(tmp_path) == []


def test_chosen_folder_is_used_with_its_parents_made(tmp_path, monkeypatch):
    monkeypatch.setenv("POINSOT_CACHE_DIR", str(tmp_path / "a" / "b"))
    CodeCache().put(KEY, CODE)
    assert CodeCache().get(KEY) == CODE
    assert names(tmp_path / "a" / "b") == [f"{KEY}.o"]


def test_relative_folder_stays_when_the_working_directory_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cache = CodeCache(Path("cache"))
    cache.put(KEY, CODE)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert cache.get(KEY) == CODE


def test_user_without_a_home_keeps_nothing(monkeypatch):
    def lost():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", lost)
    for name in ("POINSOT_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert CodeCache().folder is None


def test_digest_differs_where_parts_differ():
    atoms = ["", "a", "b", "ab", "a\0", "\0" * 8, "\1" + "\0" * 7, "ä"]
    parts = [choice for n in range(4) for choice in itertools.product(atoms, repeat=n)]
    assert len({digest(*choice) for choice in parts}) == len(parts)


def test_digest_is_the_hash_of_parts_after_their_lengths():
    # From `printf '\2\0\0\0\0\0\0\0ab\1\0\0\0\0\0\0\0c' | sha256sum`.
    assert digest("ab", b"c") == "43ee655579de01ca739b3f95c1c2d3f46d353b2c0df818064ea594506cdb2617"
    assert digest("ä") == digest("ä".encode())
