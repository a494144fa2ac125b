"""Checkpoints: the blocks that are done, in a text file that only grows.

The first line names the search. Each further line is a block: a checksum and JSON, in which arrays
are base85 of their compressed bytes. A line is written at once and flushed to the disk; the
beginning of a line at the end, as an interruption may leave it, is a block that was not done.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from pathlib import Path

import numpy as np

from tmd.decide import Found
from tmd.errors import CheckpointError

_HEAD = "tmd-checkpoint 1"
_ARRAYS = (("index", "<u8"), ("middle", "?"), ("value", "<i8"), ("error", "<i8"))


def _packed(array, dtype) -> str:
    return base64.b85encode(zlib.compress(np.ascontiguousarray(array, dtype).tobytes(), 1)).decode()


def _array(text: str, dtype) -> np.ndarray:
    flat = np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype)
    return flat.astype(np.dtype(dtype).newbyteorder("="))


def _line(record: dict) -> str:
    text = json.dumps(record, separators=(",", ":"))
    return f"{_sum(text)} {text}\n"


def _sum(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class Checkpoint:
    """The done blocks of one search, in a file.

    Parameters
    ----------
    path : path-like
    search : dict
        What names the search: a file of another one is refused.

    Attributes
    ----------
    done : dict of block numbers to Found
    """

    def __init__(self, path, search: dict):
        self.path = Path(path)
        self.done: dict[int, Found] = {}
        head = _line({"format": _HEAD, "search": search})
        if not self.path.exists():
            self.path.write_text(head)
            return
        text = self.path.read_text(errors="replace")
        whole, _, torn = text.rpartition("\n")
        lines = whole.split("\n") if whole else []
        if not lines:
            if not head.startswith(text):
                raise CheckpointError(f"{self.path} is no checkpoint of tmd")
            self.path.write_text(head)
            return
        self._check_head(self._record(1, lines[0]), search)
        for number, line in enumerate(lines[1:], 2):
            record = self._record(number, line)
            self.done[record["block"]] = _found(record)
        if torn:
            with self.path.open("r+") as file:
                file.truncate(len(whole.encode()) + 1)

    def _record(self, number: int, line: str) -> dict:
        checksum, _, text = line.partition(" ")
        if _sum(text) != checksum:
            raise CheckpointError(
                f"{self.path} is damaged in line {number}: its checksum does not fit. Remove that "
                "line to do its block again, or name another file"
            )
        return json.loads(text)

    def _check_head(self, record: dict, search: dict) -> None:
        if record.get("format") != _HEAD:
            raise CheckpointError(f"{self.path} is no checkpoint of tmd, version 1")
        for key, mine in search.items():
            theirs = record["search"].get(key)
            if theirs != json.loads(json.dumps(mine)):
                raise CheckpointError(
                    f"{self.path} belongs to a search with {key}={theirs!r}, this one has {mine!r}"
                )

    def add(self, number: int, found: Found) -> None:
        """Keep a block that is done."""
        record = {"block": number, "counts": found.counts, "undecided": found.undecided}
        record |= {name: _packed(getattr(found, name), dtype) for name, dtype in _ARRAYS}
        with self.path.open("a") as file:
            file.write(_line(record))
            file.flush()
            os.fsync(file.fileno())


def _found(record: dict) -> Found:
    arrays = [_array(record[name], dtype) for name, dtype in _ARRAYS]
    return Found(*arrays, record["counts"], record["undecided"])
