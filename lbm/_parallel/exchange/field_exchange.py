"""The exchange of a field that kernels in the default stream of GPUs compute and read."""

from __future__ import annotations

from lbm._parallel.exchange.exchange import Exchange


class FieldExchange:
    """Copies and messages of a field between neighbouring parts, across all axes at once.

    Between `begin` and `finish` loops may compute what needs no halo, while messages between ranks
    travel. (Copies between the GPUs of a process come before their kernels.) Halos at the edges and
    corners of a block have no meaning: copies across two axes may write there at once.

    In both functions t chooses, by its parity, the arrays and the buffers of messages. One parity
    may come several times in a row, but between two exchanges the ranks must exchange something
    else or wait for each other: a neighbour packs into a buffer that has been unpacked before.

    Parameters
    ----------
    exchange : the copies and messages; None if there is only one part
    """

    def __init__(self, exchange: Exchange | None):
        self._exchange = exchange

    def begin(self, t: int) -> None:
        """Start on the exchange: the fields of all parts have been computed."""
        if self._exchange is None:
            return
        self._exchange.join()  # no part is still computing what the copies of others replace
        for axis in self._exchange.axes:
            self._exchange.pack(t, axis)

    def finish(self, t: int) -> None:
        """Let all that follows on the devices wait for the halos."""
        if self._exchange is None:
            return
        for axis in self._exchange.axes:
            self._exchange.post(t, axis)
        for axis in self._exchange.axes:
            self._exchange.unpack(t, axis)
        self._exchange.join()
