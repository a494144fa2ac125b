"""Messages between the parts of a split domain: in host memory."""

from __future__ import annotations

import numpy as np


def port(sends, receives, storage) -> HostPort:
    """Buffers for the messages of even and of odd steps."""
    return HostPort(sends, receives, storage)


class HostPort:
    """Buffers of messages in host memory."""

    def __init__(self, sends, receives, storage):
        self.sends, self.receives = sends, receives
        self.out = [np.zeros(m.free.shape, storage) for m in sends]

    def arrived(self, t: int) -> np.ndarray:
        """The planes sent after step t."""
        return self.out[t % 2]
