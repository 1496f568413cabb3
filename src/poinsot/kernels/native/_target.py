"""From the text of a module to a function in memory: LLVM, through llvmlite."""

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from typing import Any

from poinsot.kernels.native._cache import CodeCache, digest

ENTRY = "poinsot_entry"
"""Name of the function that is called from outside."""


@dataclass(frozen=True)
class Target:
    """A processor that code is made for.

    Attributes:
        cpu: as LLVM calls it: the name of a processor, or "x86-64", "x86-64-v3", "x86-64-v4".
        features: what it can do beside that, as LLVM writes it.
    """

    cpu: str
    features: str

    @property
    def vector_bytes(self) -> int:
        """Bytes of a vector register."""
        if "x86-64-v4" in self.cpu or "+avx512f" in self.features:
            return 64
        if "x86-64-v3" in self.cpu or "+avx2" in self.features or "+avx," in self.features:
            return 32
        return 16

    def machine(self, effort: int) -> Any:
        """LLVM's compiler for it, with some effort from 0 to 3."""
        llvm = binding()
        return llvm.Target.from_default_triple().create_target_machine(
            cpu=self.cpu, features=self.features, opt=effort, jit=True
        )


def target() -> Target:
    """The processor of this machine, or the one that POINSOT_NATIVE_CPU names."""
    named = os.environ.get("POINSOT_NATIVE_CPU")
    return Target(named, "") if named else _host()


@cache
def _host() -> Target:
    llvm = binding()
    return Target(llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


@cache
def binding() -> Any:
    """The package llvmlite, initialised; an ImportError where it is missing."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def _session() -> Any:
    """What links object code into this process."""
    return binding().create_lljit_compiler()


def lanes_of(straight: bool) -> int:
    """Runs side by side: two vectors of them keep a CPU busy, but a step that iterates waits for the last."""
    return target().vector_bytes // 8 * (2 if straight else 1)


class Linked:
    """A module in memory, ready to be called. It stays there for the life of the process."""

    _count = 0

    def __init__(self, code: bytes):
        llvm = binding()
        Linked._count += 1
        builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol(ENTRY)
        self._library = builder.link(_session(), f"poinsot{Linked._count}")
        self.address: int = self._library[ENTRY]

    def function(self) -> Any:
        """The entry: a function of the address of a table of pointers and of two integers.

        It runs without the interpreter's lock.
        """
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(self.address)


def object_code(text: str, target: Target, effort: int) -> tuple[str, bytes]:
    """The name of a module in the cache, and its machine code, of an earlier process where it is there."""
    llvm, cache = binding(), CodeCache()
    version = ".".join(map(str, llvm.llvm_version_info))
    key = digest(text, target.cpu, target.features, str(effort), version, llvm.get_default_triple())
    code = cache.get(key)
    if code is None:
        code = _compiled(text, target, effort)
        cache.put(key, code)
    return key, code


def _compiled(text: str, target: Target, effort: int) -> bytes:
    llvm = binding()
    module = llvm.parse_assembly(text)
    machine = target.machine(effort)
    module.triple = llvm.get_default_triple()
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=min(effort, 2))
    # Vectors are written as such; looking for more of them takes time and finds little.
    options.slp_vectorization = False
    options.loop_vectorization = False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)
