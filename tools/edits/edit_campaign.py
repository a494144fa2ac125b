"""Random edits of random modules: what the cache returns must be what Numba returns without it."""

import math
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fork_server import ForkServer
from random_modules import GO, World, edit, make_calls, make_changes, make_world


class StaleCodeError(AssertionError):
    """A process with the cache has printed something else than a process without it."""


def run_campaign(
    server: ForkServer, folder: Path, edits: int, seed: int, until: float = math.inf
) -> Counter:
    """Edit modules at random, and compare what processes with and without the cache print.

    One edit in four returns to an earlier state, whose code is on disk, and one world in a hundred
    edits is new. Half of the processes let Python keep its own bytecode, and edits may leave the
    size of a file and follow within a second. One process in four changes values between two
    calls; then two later processes are compared, with and without the change. Raises
    StaleCodeError with the seed and the number of the edit. No edit begins after the time `until`
    (of `time.monotonic`).

    Returns how many edits there were; processes that changed a value ("changes"); edits after which
    Numba cannot compile the modules ("errors"); processes that loaded something ("hits"); and
    functions that they loaded ("functions").
    """
    rng = random.Random(seed)
    counts = Counter(edits=0, changes=0, errors=0, hits=0, functions=0)
    states: list[World] = []
    for number in range(edits):
        if time.monotonic() > until:
            break
        if number % 100 == 0:
            states = [make_world(rng)]
        elif rng.random() < 0.25:
            states.append(rng.choice(states))
        else:
            states.append(edit(states[-1], rng))
        world = states[-1]
        settings: dict[str, Any] = {"path": folder, "bytecode": rng.random() < 0.5}
        write_modules(folder, world.files())
        if rng.random() < 0.75:
            answers = [_compare(server, make_calls(world, rng), settings)]
        else:
            code, changed = make_changes(world, rng)
            server.run(code, may_fail=True, **settings)
            answers = []
            for later in (changed, world):  # whose code must not be that of the process before
                write_modules(folder, later.files())
                answers.append(_compare(server, GO, settings))
            counts.update(changes=1)
        for expected, found, code in answers:
            if found != expected:
                raise StaleCodeError(
                    f"seed {seed}, edit {number}: {found} instead of {expected}\n{code}\n"
                    + "\n".join(f"# {name}\n{text}" for name, text in world.files().items())
                )
        is_error = expected[-1].endswith("Error")  # Numba cannot compile this combination
        counts.update(edits=1, errors=is_error, hits=server.hits > 0, functions=server.hits)
    return counts


def write_modules(folder: Path, files: dict[str, str]) -> None:
    """Write those modules that differ from what is there."""
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _compare(server: ForkServer, code: str, settings: dict) -> tuple[list[str], list[str], str]:
    """Return what a process prints without and with the cache, and what it did."""
    expected = server.run(code, cached=False, may_fail=True, **settings)
    return expected, server.run(code, may_fail=True, **settings), code
