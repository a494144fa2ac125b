"""Whatever registers types, operators or overloads with Numba is found by the text of its file."""

import subprocess
import sys

FIND_UNSEEN = """
import importlib, pkgutil
import hetero, lbm, rode, sbth, stablegpu, tmd
from numba.core import datamodel, imputils
from numba.core.typing.templates import builtin_registry as typing
from numba.core.typing.typeof import typeof_impl
from hetero.compile_cache import source_digests

packages = {p.__name__: p for p in (hetero, lbm, rode, sbth, stablegpu, tmd)}
for name, package in packages.items():
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
lowering = imputils.builtin_registry
registered = [*typing.functions, *typing.attributes, *datamodel.default_manager._handlers,
              *datamodel.default_manager._handlers.values(), *typeof_impl.registry.values()]
for entries in (lowering.functions, lowering.getattrs, lowering.setattrs, lowering.casts,
                lowering.constants):
    registered += [entry[0] for entry in entries]
registered += [getattr(entry, "_overload_func", None) for entry in list(registered)]
modules = {getattr(entry, "__module__", None) or "" for entry in registered}
ours = {module for module in modules if module.partition(".")[0] in packages}
found = {m for name in packages for m in source_digests._extensions(name)}
print(*sorted(ours), "unseen:", *sorted(ours - found))
"""


def test_every_extension_is_seen():
    command = [sys.executable, "-c", FIND_UNSEEN]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    registered, unseen = done.stdout.split("unseen:")
    assert "lbm._kernels.intrinsics.vectors" in registered
    assert unseen.split() == []
