"""Checkpoints: the finished blocks of a search, in a text file that only grows.

The first line identifies the search. Each further line holds a block: a checksum, and a JSON object
with the hash of the block's cases, in which arrays are base85 of their compressed bytes. A line is
written at once and flushed to the disk. An incomplete last line, as an interruption may leave it,
is dropped, and its block is searched again.

Of ranks each appends to a file of its own beside that of the search, so that none waits for another
and a job that dies loses only blocks that were being searched. The next one takes these in.
"""

from __future__ import annotations

import base64
import contextlib
import glob
import hashlib
import json
import os
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hetero.data_files.atomic_files import lock_name
from hetero.distributed.parts import raised_by_all
from tmd._search.cases import BlockCases, find_contradiction, join_batches
from tmd._search.planning import Plan, Stretch
from tmd._search.taylor_models import FRACTION_BITS
from tmd.errors import CheckpointError

_FORMAT = "tmd-checkpoint 2"
_RANK_SUFFIX = ".rank"
_ARRAYS = (("index", "<u8"), ("middle", "?"), ("value", "<i8"), ("error", "<i8"))


def _encode_array(array: np.ndarray, dtype: str) -> str:
    """Return an array as compressed text."""
    return base64.b85encode(zlib.compress(np.ascontiguousarray(array, dtype).tobytes(), 1)).decode()


def _decode_array(text: str, dtype: str) -> np.ndarray:
    """Return the array of a text of `_encode_array`."""
    flat = np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype)
    return flat.astype(np.dtype(dtype).newbyteorder("="))


def _format_line(record: dict) -> str:
    """Return a line of the file: a checksum and a record in JSON."""
    text = json.dumps(record, separators=(",", ":"))
    return f"{_checksum(text)} {text}\n"


def _checksum(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _path_of_rank(path: str | Path, rank: int) -> Path:
    """Return the file to which a rank other than 0 writes."""
    return Path(f"{path}{_RANK_SUFFIX}{rank}")


class Checkpoint:
    """The finished blocks of one search, in a file.

    Parameters
    ----------
    path : path-like
        The file is created if it does not exist.
    search : dict
        Identifies the search. The file of another search is refused.
    plans : sequence of Plan
        The plans of all blocks of the search.

    Attributes
    ----------
    blocks : dict of int to BlockCases
        The cases of each finished block, by the block's number.

    Raises
    ------
    CheckpointError
        The file is damaged, or belongs to another search.
    """

    def __init__(self, path: str | Path, search: dict, plans: Sequence[Plan]):
        self.path = Path(path)
        self._search, self._plans = search, plans
        self.blocks: dict[int, BlockCases] = {}
        head = _format_line({"format": _FORMAT, "search": search})
        if not self.path.exists():
            self.path.write_text(head)
            return
        text = self.path.read_text(errors="replace")
        complete, _, torn = text.rpartition("\n")
        lines = complete.split("\n") if complete else []
        if not lines:
            if not head.startswith(text):
                raise CheckpointError(f"{self.path} is not a checkpoint of tmd")
            self.path.write_text(head)
            return
        self._check_head(self._parse_line(1, lines[0]), search)
        for number, line in enumerate(lines[1:], 2):
            record = self._parse_line(number, line)
            try:
                block, cases = _parse_block(record, plans)
                if block in self.blocks:
                    raise ValueError(f"block {block} is also in another line")
            except (ValueError, TypeError, KeyError, zlib.error) as error:
                raise self._damage(number, str(error)) from None
            self.blocks[block] = cases
        if torn:
            with self.path.open("r+") as file:
                file.truncate(len(complete.encode()) + 1)

    def _parse_line(self, number: int, line: str) -> dict:
        """Return the JSON object of line `number`, after a check of its checksum."""
        checksum, _, text = line.partition(" ")
        if _checksum(text) != checksum:
            raise self._damage(number, "its checksum does not match")
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise self._damage(number, "it does not hold a JSON object")
        return record

    def _damage(self, number: int, problem: str) -> CheckpointError:
        """Return the error for a damaged line."""
        return CheckpointError(
            f"{self.path} is damaged in line {number}: {problem}. Remove that line to search its "
            "block again, or use another file"
        )

    def _check_head(self, record: dict, search: dict) -> None:
        """Check that the first line belongs to `search`."""
        if record.get("format") != _FORMAT or not isinstance(record.get("search"), dict):
            raise CheckpointError(f"{self.path} is not a checkpoint of tmd, version 2")
        for key, value in search.items():
            recorded = record["search"].get(key)
            if recorded != json.loads(json.dumps(value)):
                raise CheckpointError(
                    f"{self.path} belongs to a search with {key}={recorded!r}, but this one has "
                    f"{value!r}"
                )

    def take_in_ranks(self) -> None:
        """Append the blocks that are in the files of ranks alone, and remove these files.

        Raises CheckpointError if one is damaged, or belongs to another search.
        """
        for name in sorted(glob.glob(glob.escape(str(self.path)) + _RANK_SUFFIX + "*")):
            other = Checkpoint(name, self._search, self._plans)
            for number, cases in other.blocks.items():
                if number not in self.blocks:
                    self.add(number, cases)
            other.path.unlink()

    def add(self, number: int, cases: BlockCases) -> None:
        """Append the cases of block `number`."""
        self.blocks[number] = cases
        record = {"block": number, "counts": cases.counts, "undecided": cases.undecided}
        record |= {"hash": cases.hash}
        record |= {name: _encode_array(getattr(cases, name), dtype) for name, dtype in _ARRAYS}
        with self.path.open("a") as file:
            file.write(_format_line(record))
            file.flush()
            os.fsync(file.fileno())


def _parse_block(record: dict, plans: Sequence[Plan]) -> tuple[int, BlockCases]:
    """Return the number and the cases of a block.

    Raises ValueError, TypeError, KeyError or zlib.error if the record is damaged.
    """
    block, counts, undecided = (record[key] for key in ("block", "counts", "undecided"))
    if type(block) is not int or not 0 <= block < len(plans):
        raise ValueError(f"block {block!r} is not among the {len(plans)} blocks of the search")
    plan = plans[block]
    if len(counts) != 5 or not all(type(n) is int and n >= 0 for n in (*counts, *undecided)):
        raise ValueError("its counts are not five nonnegative integers")
    arrays = [_decode_array(record[name], dtype) for name, dtype in _ARRAYS]
    index, middle, value, error = arrays
    if len({len(a) for a in arrays}) > 1:
        raise ValueError("its arrays have different lengths")
    for numbers in (index, np.array(undecided, object)):
        ascending = bool((numbers[1:] > numbers[:-1]).all())
        if not ascending or (numbers.size and numbers[-1] >= plan.block.run.count):
            raise ValueError("its arguments are not in ascending order within the block")
    if (error < 0).any() or (
        np.abs(value) - error > plan.scale.case_distance(plan.bits) >> (FRACTION_BITS - 63)
    ).any():
        raise ValueError("its cases are too far from breakpoints to be cases")
    cases = BlockCases(index, middle, value, error, list(counts), list(undecided))
    if record["hash"] != cases.hash:
        raise ValueError("its hash does not match its cases")
    if problem := find_contradiction(plan, counts, index.size, len(undecided)):
        raise ValueError(f"its block has {problem}")
    return block, cases


def read_hash_of_plans(path: Path) -> str | None:
    """Return the hash of the plans in the first line of a checkpoint; None if it has none."""
    try:
        with path.open(errors="replace") as file:
            plans: str = json.loads(file.readline().partition(" ")[2])["search"]["plans"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None  # `open_checkpoint` says what is wrong
    return plans


def open_checkpoint(
    path: Path, search: dict, plans: list[Plan], comm: Any, stack: contextlib.ExitStack
) -> Checkpoint:
    """Open a checkpoint with the blocks that ranks have left; of ranks each gets a file to write.

    No other process may search with it until the stack is closed. An error of rank 0 is raised by
    all.
    """

    def open_first() -> Checkpoint:
        """Open the file of rank 0, or of the only process."""
        if not stack.enter_context(lock_name(path, wait=False, keep_file=True)):
            raise CheckpointError(
                f"{path} belongs to a search that another process runs now: wait for its end, or "
                "use another file. Commands `tmd campaign` may share a folder"
            )
        store = Checkpoint(path, search, plans)
        store.take_in_ranks()
        return store

    if comm is None:
        return open_first()
    error: Exception | None = None
    if comm.Get_rank() == 0:
        try:
            store = open_first()
        except (CheckpointError, OSError) as caught:
            error = caught
    error = comm.bcast(error)
    if error is not None:
        raise error
    with raised_by_all(comm):
        if comm.Get_rank() > 0:
            store = Checkpoint(_path_of_rank(path, comm.Get_rank()), search, plans)
    return store


class BlockStore:
    """Stores blocks whose stretches are all known; a `hetero.distributed.parts.PartStore`.

    Parameters
    ----------
    store : on ranks the file of this one
    tasks : the stretches of each task, with the numbers of their blocks
    """

    def __init__(self, store: Checkpoint, tasks: list[list[tuple[int, Stretch]]]) -> None:
        self._store, self._tasks = store, tasks
        self._missing = Counter(block for task in tasks for block, _ in task)
        self._known: dict[int, dict[int, BlockCases]] = {}

    def load(self, parts: int) -> dict[int, list[BlockCases]]:
        """Return nothing: tasks are of blocks that are not in the checkpoint."""
        return {}

    def add(self, number: int, result: list[BlockCases]) -> None:
        """Store the blocks that the result of a task completes."""
        for (block, stretch), cases in zip(self._tasks[number], result, strict=True):
            parts = self._known.setdefault(block, {})
            parts[stretch.first] = cases
            if len(parts) == self._missing[block]:
                self._store.add(block, join_batches([parts[first] for first in sorted(parts)]))
                del self._known[block]
