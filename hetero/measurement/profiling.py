"""Profiles: named regions, their times on the host's and the GPU's clock, and the bytes moved.

with hetero.profile() as p:
    with hetero.region("assembly"):
        ...
print(p)
"""

from __future__ import annotations

import contextlib
import contextvars
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hetero import devices

_current: contextvars.ContextVar = contextvars.ContextVar("hetero_region", default=None)


@dataclass
class Region:
    """Node of a profile. Times are in seconds; times and bytes include those of the children."""

    name: str
    calls: int = 0
    wall: float = 0.0
    gpu: float = 0.0
    bytes_to_device: int = 0
    bytes_to_host: int = 0
    children: dict[str, Region] = field(default_factory=dict)
    _events: list = field(default_factory=list, repr=False)

    def child(self, name: str) -> Region:
        """Return the child with this name, created if it is new."""
        return self.children.setdefault(name, Region(name))

    def resolve_events(self) -> None:
        """Wait for recorded events, each on its own GPU, and turn them into seconds."""
        for start, stop in self._events:
            stop.synchronize()
            self.gpu += start.elapsed_time(stop) * 1e-3
        self._events.clear()
        for child in self.children.values():
            child.resolve_events()

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Region]]:
        """Yield (depth, region) for this region and all regions in it."""
        yield depth, self
        for child in self.children.values():
            yield from child.walk(depth + 1)

    def as_dict(self) -> dict:
        """Return the region and its children as plain numbers, for JSON."""
        return {
            "name": self.name,
            "calls": self.calls,
            "wall_s": self.wall,
            "gpu_s": self.gpu,
            "bytes_to_device": self.bytes_to_device,
            "bytes_to_host": self.bytes_to_host,
            "children": [c.as_dict() for c in self.children.values()],
        }


class Profile(Region):
    """The root of the regions that a `with profile()` block collected. Prints as a table."""

    def to_json(self) -> str:
        """Return the whole tree as JSON text."""
        return json.dumps(self.as_dict(), indent=1)

    def __str__(self) -> str:
        head = (
            f"{'region':<36}{'calls':>8}{'wall ms':>12}{'gpu ms':>12}{'to gpu':>14}{'to host':>14}"
        )
        rows = [
            f"{'  ' * depth + r.name:<36}{r.calls:>8}{r.wall * 1e3:>12.3f}{r.gpu * 1e3:>12.3f}"
            f"{r.bytes_to_device:>14,}{r.bytes_to_host:>14,}"
            for depth, r in self.walk()
        ]
        return "\n".join([head, *rows])

    def _repr_html_(self) -> str:
        from hetero.display.notebook import html_text

        return html_text(str(self))


@contextlib.contextmanager
def profile(name: str = "total") -> Iterator[Profile]:
    """Collect the regions entered in the block. Waits for the GPUs at the end."""
    root = Profile(name)
    with _entered(root):
        yield root
    root.resolve_events()


def region(name: str) -> contextlib.AbstractContextManager[None]:
    """Time the block under `name`; costs next to nothing outside `with profile()`."""
    parent = _current.get()
    return _NO_REGION if parent is None else _entered(parent.child(name))


_NO_REGION = contextlib.nullcontext()
"""The region of a block that no profile sees; one serves all, because it has no state."""


@contextlib.contextmanager
def _entered(node: Region) -> Iterator[None]:
    """Add the time and the bytes of the block to `node`, which is the current region in it."""
    parent = _current.get()
    before = node.bytes_to_device, node.bytes_to_host
    token = _current.set(node)
    start = _event()
    clock = time.perf_counter()
    try:
        yield
    finally:
        node.wall += time.perf_counter() - clock
        node.calls += 1
        if parent is not None:
            parent.bytes_to_device += node.bytes_to_device - before[0]
            parent.bytes_to_host += node.bytes_to_host - before[1]
        if start is not None and (stop := _event()) is not None:
            node._events.append((start, stop))
        _current.reset(token)


def count_transfer(*, to_device: int = 0, to_host: int = 0) -> None:
    """Count bytes that crossed between host and GPU in the current region and those around it."""
    node = _current.get()
    if node is not None:
        node.bytes_to_device += to_device
        node.bytes_to_host += to_host


def _event() -> Any:
    """Return an event recorded now, or None if no GPU is in use."""
    if not devices.has_used_gpu():
        return None
    from hetero.cuda.driver import cuda

    event = cuda.event(timing=True)
    event.record()
    return event
