"""Checkpoints: the blocks that are done, in a text file that only grows.

The first line names the search. Each further line is a block: a checksum and JSON, in which arrays
are base85 of their compressed bytes, with the hash of the block's cases that the certificate will
hold. A line is written at once and flushed to the disk; the beginning of a line at the end, as an
interruption may leave it, is a block that was not done.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tmd.decide import Found, contradiction
from tmd.errors import CheckpointError
from tmd.plan import Plan
from tmd.taylor import POINT

_HEAD = "tmd-checkpoint 2"
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
    plans : the plans of all its blocks

    Attributes
    ----------
    done : dict of block numbers to Found
    """

    def __init__(self, path, search: dict, plans: Sequence[Plan]):
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
            try:
                block, found = _found(record, plans)
                if block in self.done:
                    raise ValueError(f"block {block} stands in another line, too")
            except (ValueError, TypeError, KeyError, zlib.error) as error:
                raise self._damage(number, str(error)) from None
            self.done[block] = found
        if torn:
            with self.path.open("r+") as file:
                file.truncate(len(whole.encode()) + 1)

    def _record(self, number: int, line: str) -> dict:
        checksum, _, text = line.partition(" ")
        if _sum(text) != checksum:
            raise self._damage(number, "its checksum does not fit")
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise self._damage(number, "it holds no JSON object")
        return record

    def _damage(self, number: int, problem: str) -> CheckpointError:
        return CheckpointError(
            f"{self.path} is damaged in line {number}: {problem}. Remove that line to do its block "
            "again, or name another file"
        )

    def _check_head(self, record: dict, search: dict) -> None:
        if record.get("format") != _HEAD or not isinstance(record.get("search"), dict):
            raise CheckpointError(f"{self.path} is no checkpoint of tmd, version 2")
        for key, mine in search.items():
            theirs = record["search"].get(key)
            if theirs != json.loads(json.dumps(mine)):
                raise CheckpointError(
                    f"{self.path} belongs to a search with {key}={theirs!r}, this one has {mine!r}"
                )

    def add(self, number: int, found: Found) -> None:
        """Keep a block that is done."""
        record = {"block": number, "counts": found.counts, "undecided": found.undecided}
        record |= {"hash": found.hash}
        record |= {name: _packed(getattr(found, name), dtype) for name, dtype in _ARRAYS}
        with self.path.open("a") as file:
            file.write(_line(record))
            file.flush()
            os.fsync(file.fileno())


def _found(record: dict, plans: Sequence[Plan]) -> tuple[int, Found]:
    """Read the number and the cases of a block.

    Damage is a ValueError, TypeError or KeyError.
    """
    block, counts, undecided = (record[key] for key in ("block", "counts", "undecided"))
    if type(block) is not int or not 0 <= block < len(plans):
        raise ValueError(f"block {block!r} is none of the {len(plans)} blocks of the search")
    plan = plans[block]
    if len(counts) != 5 or not all(type(n) is int and n >= 0 for n in (*counts, *undecided)):
        raise ValueError("its counts are not five numbers")
    arrays = [_array(record[name], dtype) for name, dtype in _ARRAYS]
    index, _, value, error = arrays
    if len({len(a) for a in arrays}) > 1:
        raise ValueError("its arrays have different lengths")
    for numbers in (index, np.array(undecided, object)):
        ascending = bool((numbers[1:] > numbers[:-1]).all())
        if not ascending or (numbers.size and numbers[-1] >= plan.block.run.count):
            raise ValueError("its arguments are not ascending within the block")
    if (error < 0).any() or (np.abs(value) - error > plan.limit >> (POINT - 63)).any():
        raise ValueError("its cases are farther from breakpoints than cases are")
    found = Found(*arrays, list(counts), list(undecided))
    if record["hash"] != found.hash:
        raise ValueError("its hash does not fit its cases")
    if problem := contradiction(plan, counts, index.size, len(undecided)):
        raise ValueError(f"its block has {problem}")
    return block, found
