"""Good calls of `hetero`."""

import numpy as np

import hetero
from faults.judge import Call
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
    Call("hetero.Device", hetero.Device, lambda: {"kind": "cpu", "index": 0}),
    Call("hetero.Device.parse", hetero.Device.parse, lambda: {"spec": "cpu"},
         known_as={"spec": ("device",)}),
    Call("hetero.benchmark", hetero.benchmark,
         lambda: {"function": int, "repeats": 5, "min_time": 1e-6, "clock": "wall",
                  "device": "cpu"},
         takes_functions=("function",), takes_long=True),
    Call("hetero.progress", lambda items, description: list(hetero.progress(
        items, description, enabled=False)),
         lambda: {"items": [1, 2], "description": "numbers"},
         nonsense={"items": ("all",)}, untold=("description",)),
    Call("hetero.region", _enter(hetero.region), lambda: {"name": "a"}, untold=("name",)),
    Call("hetero.profile", _enter(hetero.profile), lambda: {"name": "a"}, untold=("name",)),
    Call("hetero.resolve", hetero.resolve, lambda: {"spec": "cpu", "work": 1.0, "break_even": 2.0},
         known_as={"spec": ("device",)}, untold=("work", "break_even")),
    Call("hetero.set_threads", _set_threads, lambda: {"count": 1},
         known_as={"count": ("threads",)}),
    Call("hetero.use_threads", _enter(hetero.use_threads), lambda: {"count": 1},
         known_as={"count": ("threads",)}),
    Call("hetero.use_device", _enter(hetero.use_device), lambda: {"spec": "cpu"},
         known_as={"spec": ("device",)}),
    Call("hetero.arrays.as_real", as_real, lambda: {"name": "values", "values": [1.0]},
         untold=("name",)),
    Call("hetero.philox.words", philox.words,
         lambda: {"size": 4, "rng": 1, "path": 0, "stream": 0, "rounds": 10,
                  "out": np.empty(4, np.uint32), "device": "cpu"}),
    Call("hetero.philox.uniform", philox.uniform,
         lambda: {"size": 4, "dtype": "float64", "rng": 1, "path": 0, "stream": 0, "rounds": 10,
                  "out": np.empty(4), "device": "cpu"},
         nonsense={"dtype": ("type",)}),
    Call("hetero.limits", hetero.limits, lambda: {"device": "cpu"}),
]  # fmt: skip

NOT_CALLED = {
    "CheckpointError", "CompilerDisabledError", "DeviceMemoryError", "DeviceUnavailableError",
    "ForkedProcessError", "Limits", "Profile", "Profile.child", "Profile.walk",
    "Region", "Region.child", "Region.walk", "Timing", "Timing.rate", "Workspace.input",
    "Workspace.output", "Workspace.result", "Workspace", "available", "facts", "threads",
}  # fmt: skip
"""Public names that users do not call, or with no argument: results, errors, and questions."""
