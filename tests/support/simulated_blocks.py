"""Blocks of Numba's CUDA simulator whose threads take turns.

The simulator starts a Python thread for each thread of a block and keeps asking all of them whether
they wait at a barrier: most of the time goes to switching between them. Here one thread runs at a
time, to its next barrier or its end. A barrier that a kernel lacks shows each time, because each
thread runs ahead of all others as far as it can.
"""

import collections
import itertools
import threading
from types import SimpleNamespace

import numpy as np
from numba.cuda.simulator import kernel, kernelapi


class Worker(kernel.BlockThread):
    """A Python thread that runs threads of a block one after the other, until one has to wait."""

    def __init__(self, block, grid_point):
        super().__init__(None, block, grid_point, (0, 0, 0), debug=False)
        self.turn = threading.Semaphore(0)

    def run(self):
        block = self._manager
        try:
            for self.thread_id, (z, y, x) in block.threads:
                self.threadIdx = kernelapi.Dim3(x, y, z)
                block.run_thread()
        except Exception as error:
            error.add_note(f"in thread {self.threadIdx} of block {self.blockIdx}")
            block.error = block.error or error
        block.pass_turn()

    def syncthreads(self):
        self._manager.waiting.append(self)
        self._manager.pass_turn()
        self.turn.acquire()
        if self._manager.error:
            raise RuntimeError("another thread of the block has failed")


class Block(kernel.BlockManager):
    """A block with a queue of threads that wait: the first one goes on when all have come."""

    def run(self, grid_point, *arguments):
        self.threads = enumerate(np.ndindex(*self._block_dim[::-1]))
        self.run_thread = lambda: self._f(*arguments)
        self.start_worker = lambda: Worker(self, grid_point).start()
        self.waiting, self.error, self.end = collections.deque(), None, threading.Semaphore(0)
        self.start_worker()
        self.end.acquire()
        if self.error:
            raise self.error

    def pass_turn(self):
        """Let a thread begin, or if all have begun, let the one go on that has waited longest."""
        upcoming = None if self.error else next(self.threads, None)
        if upcoming is not None:
            self.threads = itertools.chain([upcoming], self.threads)
            self.start_worker()
        elif self.waiting:
            self.waiting.popleft().turn.release()
        else:
            self.end.release()


def _caller(frame):
    """Return what `traceback.extract_stack` tells of a caller, without reading source files."""
    return [(frame.f_back.f_code.co_filename, frame.f_back.f_lineno), None]


def install() -> None:
    """Let the simulator use these blocks, and find shared arrays by a cheap look at the caller."""
    kernel.BlockManager = Block
    kernelapi.traceback = SimpleNamespace(extract_stack=_caller)
