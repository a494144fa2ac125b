"""Good calls of `hetero`."""

import numpy as np

import hetero
from faults.judge import good
from hetero import philox
from hetero.arrays import as_real


def _enter(manager):
    """Return a function that enters and leaves the context that `manager` makes."""

    def enter(**arguments):
        with manager(**arguments):
            pass

    return enter


def _set_threads(count):
    before = hetero.threads()
    try:
        hetero.set_threads(count)
    finally:
        if hetero.threads() != before:
            hetero.set_threads(before)


CALLS = [
    good("hetero.Device", kind="cpu", index=0),
    good("hetero.Device.parse", spec="cpu", known_as={"spec": ("device",)}),
    good("hetero.benchmark", function=int, repeats=5, min_time=1e-6, clock="wall", device="cpu",
         takes_functions=("function",), takes_long=True),
    good("hetero.progress",
         lambda items, description: list(hetero.progress(items, description, enabled=False)),
         items=[1, 2], description="numbers", nonsense={"items": ("all",)},
         untold=("description",)),
    good("hetero.region", _enter(hetero.region), name="a", untold=("name",)),
    good("hetero.profile", _enter(hetero.profile), name="a", untold=("name",)),
    good("hetero.resolve", spec="cpu", work=1.0, break_even=2.0, known_as={"spec": ("device",)},
         untold=("work", "break_even")),
    good("hetero.set_threads", _set_threads, count=1, known_as={"count": ("threads",)}),
    good("hetero.use_threads", _enter(hetero.use_threads), count=1,
         known_as={"count": ("threads",)}),
    good("hetero.use_device", _enter(hetero.use_device), spec="cpu",
         known_as={"spec": ("device",)}),
    good("hetero.arrays.as_real", as_real, name="values", values=[1.0], untold=("name",)),
    good("hetero.philox.words", philox.words, size=4, rng=1, path=0, stream=0, rounds=10,
         out=np.empty(4, np.uint32), device="cpu"),
    good("hetero.philox.uniform", philox.uniform, size=4, dtype="float64", rng=1, path=0, stream=0,
         rounds=10, out=np.empty(4), device="cpu", nonsense={"dtype": ("type",)}),
    good("hetero.limits", device="cpu"),
]  # fmt: skip

NOT_CALLED = {
    "CheckpointError", "CompilerDisabledError", "DeviceMemoryError", "DeviceUnavailableError",
    "ForkedProcessError", "Limits", "Profile", "Profile.child", "Profile.walk",
    "Region", "Region.child", "Region.walk", "Timing", "Timing.rate", "Workspace.input",
    "Workspace.output", "Workspace.result", "Workspace", "available", "facts", "threads",
}  # fmt: skip
"""Public names that users do not call, or with no argument: results, errors, and questions."""
