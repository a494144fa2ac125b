"""Small calls of the main functions, which compile what those need: `python -m hetero warm`."""

from __future__ import annotations

from collections.abc import Callable


def search(device: str) -> None:
    """Search a short interval for hard-to-round cases of the exponential function."""
    import tmd

    tmd.search("exp", (1.0, 1.0 + 2.0**-20), bits=24, device=device)


def models(_device: str) -> None:
    """Make Taylor models as a search of a binade does; its device is not used for that."""
    from tmd._search import make_batch
    from tmd._search.blocks import split_into_blocks
    from tmd._search.planning import make_plan
    from tmd._search.taylor_models import Scale
    from tmd.formats import Format, to_fraction
    from tmd.functions import load_function

    exp, ends = load_function("exp"), (to_fraction("lo", 1.0), to_fraction("hi", 1.25))
    blocks, _ = split_into_blocks(exp, *ends, Format.create(53))
    make_batch(exp, make_plan(exp, blocks[0], 32, Scale(), "auto", "reciprocal"), 0, 4)


CALLS: dict[str, Callable[[str], None]] = {"search": search, "models": models}
"""A call of each main function, which takes the name of a device."""
