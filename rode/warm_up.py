"""Small calls of the main functions, which compile what those need: `python -m hetero warm`."""

from __future__ import annotations

from collections.abc import Callable


def normal(device: str) -> None:
    """Draw normal numbers."""
    import rode

    rode.normal(1000, rng=1, device=device)


def ornstein_uhlenbeck(device: str) -> None:
    """Draw paths of the process."""
    import rode

    rode.ornstein_uhlenbeck(1024, 0.01, rng=1, device=device)


def solve(device: str) -> None:
    """Solve the Kanai-Tajimi model of an earthquake by both kinds of sampling."""
    import rode

    for sampling in ("exact", "path"):
        rode.solve(
            rode.kanai_tajimi(),
            "3-rode-taylor",
            t_span=(0, 2),
            h=2**-5,
            paths=64,
            sampling=sampling,
            reduction=("moments", "peaks"),
            rng=1,
            device=device,
        )


CALLS: dict[str, Callable[[str], None]] = {
    f.__name__: f for f in (normal, ornstein_uhlenbeck, solve)
}
"""A call of each main function, which takes the name of a device."""
