"""Machine code that is made once, and does not depend on what else a process has compiled.

Numba links copies of all functions that a loop calls into the loop's module, as weak symbols. The
dynamic linker binds a weak symbol to whatever copy the process has met first: one that was compiled
alone, one out of another loop, or, if the code comes from disk, its own. The optimizer may have
arranged the sums of each copy differently, so last bits would change from the process that compiles
to the next one. Here the copies are made internal to their module before machine code is made.

Numba also optimizes each function, and makes machine code of it, on every level of calls: for a
parallel loop it does so for each function that the loop calls, for the loop's body, for two
wrappers of the body, and for the function around the loop, each with everything below it. Only the
last is ever run. Here the others are linked as they are, and machine code is made of a
function when its address is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import ParforPreLoweringPass
from numba.parfors.parfor import Parfor

_BODY = "__numba_parfor_gufunc"
"""How the name of the library begins that Numba makes of the body of a parallel loop."""

_WRAPPERS = "<numba.np.ufunc.wrappers._GufuncWrapper", "parallelgufuncwrapper"
"""How the names of the libraries of its two wrappers begin; one of a user's ufunc can be cached."""


class SelfContainedLibrary(JITCodeLibrary):  # type: ignore[misc]  # its base has no types
    """A library whose machine code is made when needed, and calls its own copies of functions.

    Attributes
    ----------
    is_internal : whether only compiled code calls its function
    """

    _final_module: Any
    _has_machine_code = False
    is_internal = False

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._is_body = name.startswith(_BODY)
        self._is_wrapper = name.startswith(_WRAPPERS)

    @property
    def _is_linked_as_it_is(self) -> bool:
        is_wrapper = self._is_wrapper and not self._object_caching_enabled
        return self._is_body or is_wrapper or self.is_internal

    def _optimize_final_module(self) -> None:
        """Optimize a module, unless modules that link it are mostly run: they optimize its copy."""
        if not self._is_linked_as_it_is:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        """Check a module that is whole; machine code may be made of it later.

        Functions that call each other do so through addresses: they have to be somewhere.
        """
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
        variables = self._final_module.global_variables
        if any(variable.name.startswith(RuntimeLinker.PREFIX) for variable in variables):
            self._make_machine_code()

    def _make_machine_code(self) -> None:
        """Make machine code from a copy of the module, in which linked functions are internal.

        The module itself stays as it is for those who link it.
        """
        module = self._final_module
        self._final_module = module.clone()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        try:
            if self._is_linked_as_it_is:
                super()._optimize_final_module()
            super()._finalize_final_module()
        finally:
            self._final_module = module
        self._has_machine_code = True
        for variable in module.global_variables:
            constants = lookup_environment(variable.name)
            if constants is not None:
                self._codegen.set_env(variable.name, constants)

    @global_compiler_lock
    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, or 0 if the library has none of this name."""
        self._ensure_finalized()
        if not self._has_machine_code:
            if self._is_body or not any(
                function.name == name for function in self.get_defined_functions()
            ):
                return 0
            self._make_machine_code()
        return int(super().get_pointer_to_function(name))

    @property
    def codegen(self) -> Any:
        """This library, which sets the addresses of constants of functions itself."""
        return self

    def set_env(self, name: str, constants: Any) -> None:
        """Set the address of the constants of a function, if there is machine code to hold it."""
        if self._has_machine_code:
            self._codegen.set_env(name, constants)

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple) -> Any:
        """Return a library from what was serialized; if it is machine code, one as Numba's own."""
        if state[1] == "object":
            with _libraries_of(codegen, JITCodeLibrary):
                return JITCodeLibrary._unserialize(codegen, state)
        return super()._unserialize(codegen, state)

    def serialize_using_object_code(self) -> tuple:
        """Return what `unserialize` needs: machine code, or the module if there is none."""
        if self._has_machine_code:
            return tuple(super().serialize_using_object_code())
        return tuple(self.serialize_using_bitcode())


@contextmanager
def _libraries_of(codegen: Any, kind: type) -> Iterator[None]:
    """Let Numba put what it compiles or loads now into libraries of this class.

    The class is that of all threads: the lock keeps others from compiling and from changing it.
    """
    with global_compiler_lock:
        before, codegen._library_class = codegen._library_class, kind
        try:
            yield
        finally:
            codegen._library_class = before


def self_contained(codegen: Any) -> AbstractContextManager[None]:
    """Let Numba put what it compiles or loads now into a `SelfContainedLibrary`."""
    return _libraries_of(codegen, SelfContainedLibrary)


@register_pass(mutates_CFG=False, analysis_only=True)
class LeaveWrappersOut(FunctionPass):  # type: ignore[misc]  # its base has no types
    """Compile bodies of parallel loops without wrappers for Python and C, which none calls."""

    _name = "leave_wrappers_out"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Change the flags of all parallel loops of a function; its code stays as it is."""
        for block in state.func_ir.blocks.values():
            for loop in block.find_insts(Parfor):
                loop.flags = loop.flags.copy()
                loop.flags.no_cpython_wrapper = loop.flags.no_cfunc_wrapper = True
        return False


class SelfContainedCompiler(Compiler):  # type: ignore[misc]  # its base has no types
    """Numba's compiler, which puts what it compiles into a `SelfContainedLibrary`."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        state = self.state
        codegen = state.targetctx.codegen()
        library = SelfContainedLibrary(codegen, function.__qualname__)
        library.is_internal = state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper
        library.enable_object_caching()
        state.library = library
        with self_contained(codegen):
            return super().compile_extra(function)

    def define_pipelines(self) -> list:
        """Return Numba's passes, with one more for parallel loops."""
        pipelines: list = super().define_pipelines()
        if self.state.flags.auto_parallel.enabled:
            pipelines[0].add_pass_after(LeaveWrappersOut, ParforPreLoweringPass)
            pipelines[0].finalize()
        return pipelines
