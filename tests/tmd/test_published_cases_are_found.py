"""Published results: the counts of Fortin, Gouicem and Graillat (2016), and known hard cases."""

import pytest

import tmd
from studies.tmd.windows import LIST

START, STOP = 1.0, 1.0 + 2.0**-13


def test_the_published_243_cases(device):
    """They have 54-bit arguments and are closer than 2^-33 ulp to a float."""
    result = tmd.search(
        "exp", (START, STOP), bits=33, argument_precision=54, rounding="directed", device=device
    )
    assert len(result.cases) == 243


def test_53_bit_arguments_give_241_and_254_cases(device):
    result = tmd.search("exp", (START, STOP), bits=32, device=device)
    middle = int(result.cases.middle.sum())
    assert (len(result.cases) - middle, middle) == (241, 254)


@pytest.mark.parametrize("line", [x for x in LIST.read_text().splitlines() if x[0] != "#"])
def test_published_cases_are_found(line, device):
    """Each is found in a window of 2^28 arguments around it, with bits = 45."""
    name, text, kind, bits = line.split()
    x = float.fromhex(text)
    half = 2.0**27 * abs(x) * 2.0**-53
    result = tmd.search(name, (x - half, x + half), bits=45, device=device)
    (found,) = [c for c in result.cases if c.argument == x]
    assert (found.kind, found.identical_bits) == (kind, int(bits))
