"""Programs of XLA kept between processes, as native ones are.

JAX can keep them itself, but another process may read its files half written, their total size has no bound,
and they have no checksums. So entries go to a folder beside native code: they are written atomically, only
their owner can write them, and they are checked. If `jax_compilation_cache_dir` is set, JAX uses that folder.
"""

from typing import Any

import jax

OPTIONS = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}
"""What takes little to compile is kept too: there is much of it."""


class XlaCache:
    """What JAX takes for its folder of programs.

    Args:
        jax_cache: JAX's module of that, which has no public way to give it other than a folder.
    """

    _path = "poinsot"

    def __init__(self, jax_cache: Any):
        self._jax_cache = jax_cache
        self._before = {name: getattr(jax.config, name) for name in OPTIONS}
        for name, value in OPTIONS.items():
            jax.config.update(name, value)

    def get(self, key: str) -> bytes | None:
        """The program under JAX's key, or None."""
        if chosen():
            self._leave()
            return None
        cache, key = _place(key)
        return None if cache is None else cache.get(key)

    def put(self, key: str, value: bytes) -> None:
        """Keep a program under JAX's key."""
        cache, key = _place(key)
        if cache is not None:
            cache.put(key, value)

    def _leave(self) -> None:
        """Have JAX go on with the folder that it has been given since."""
        for name, value in OPTIONS.items():
            if getattr(jax.config, name) == value:
                jax.config.update(name, self._before[name])
        self._jax_cache.reset_cache()


def _place(key: str) -> tuple[Any, str]:
    """Where a program is kept, None for nowhere, and its key there: JAX's does not tell processors apart."""
    from poinsot.kernels.native._cache import CodeCache, digest
    from poinsot.kernels.native._target import target

    folder = CodeCache().folder
    try:
        processor = target()
    except ImportError:
        return None, key
    if folder is None:
        return None, key
    return CodeCache(folder / "xla"), digest(key, processor.cpu, processor.features)


def chosen() -> str | None:
    """The folder that people have chosen for JAX."""
    return getattr(jax.config, "jax_compilation_cache_dir", None)


def install() -> None:
    """Keep what XLA compiles from now on, unless a folder is chosen for that or JAX has begun without one."""
    try:
        from jax._src import compilation_cache as jax_cache

        free = jax_cache._cache is None and not jax_cache._cache_initialized
    except (ImportError, AttributeError):  # Another version of JAX: nothing is kept.
        return
    if free and not chosen():
        jax_cache._cache, jax_cache._cache_initialized = XlaCache(jax_cache), True
