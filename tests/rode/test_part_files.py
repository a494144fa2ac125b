"""Values in files of parts come back as they were, and no file runs code."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import hetero
from rode._solver import finished_parts
from rode._solver.finished_parts import Checkpoint, decode, encode


@dataclass
class Pair:
    first: object
    second: object = None


VALUES = [
    None,
    [True, 0, -(2**70), 1.5, float("inf"), "text \n ä"],
    (1, (2, [3, ()])),
    {"a": (np.arange(6.0).reshape(2, 3), np.float32(1.5)), 3: {"kind": [1]}, "kind": "b"},
    np.zeros((0, 3), np.uint8),
    np.array("text"),
    Pair(np.array([1 + 2j]), [Pair("x"), {"y": Pair(None, np.int64(3))}]),
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_values_come_back_as_they_were(value):
    again = decode(encode(value, [Pair]), [Pair])
    assert type(again) is type(value)
    assert repr(again) == repr(value)


def test_what_has_no_form_is_refused():
    for value in ({1, 2}, Pair(1), np.array([object()]), lambda: 1):
        with pytest.raises(TypeError, match="cannot be stored"):
            encode(value)
    with pytest.raises(ValueError, match="not a stored value"):
        decode(encode(Pair(1), [Pair]))


class Planted:
    def __reduce__(self):
        return pytest.fail, ("a file has run code",)


def test_planted_code_does_not_run(tmp_path):
    checkpoint = Checkpoint(tmp_path, "results")
    checkpoint.open({})
    checkpoint.add(0, [1])
    path = tmp_path / "results-0.part"
    for payload in (pickle.dumps(Planted()), b"", b"PK"):
        path.write_bytes(finished_parts._digest_of(payload) + payload)
        with pytest.raises(hetero.CheckpointError, match="is damaged"):
            checkpoint.load(1)
