"""Machine code that does not depend on what else a process has compiled or loaded.

Numba links copies of all functions that a loop calls into the loop's module, as weak symbols. The
dynamic linker binds a weak symbol to whatever copy the process has met first: one that was compiled
alone, one out of another loop, or, if the code comes from disk, its own. The optimizer may have
arranged the sums of each copy differently, so last bits would change from the process that compiles
to the next one. Here the copies are made internal to their module before machine code is made.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class SelfContainedLibrary(JITCodeLibrary):  # type: ignore[misc]  # its base has no types
    """A library whose machine code calls its own copies of the functions that it links."""

    _final_module: Any

    def _finalize_final_module(self) -> None:
        """Make machine code from a copy of the module, in which linked functions are internal.

        The module itself stays as it is for those who link it.
        """
        module = self._final_module
        self._final_module = module.clone()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        try:
            super()._finalize_final_module()
        finally:
            self._final_module = module


class SelfContainedCompiler(Compiler):  # type: ignore[misc]  # its base has no types
    """Numba's compiler, which puts what it compiles into a `SelfContainedLibrary`."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        library = SelfContainedLibrary(self.state.targetctx.codegen(), function.__qualname__)
        library.enable_object_caching()
        self.state.library = library
        return super().compile_extra(function)
