"""Published results: the counts of Fortin, Gouicem and Graillat (2016), and known hard cases."""

import re

import pytest

import tmd

PUBLISHED = """
0x1.aca7ae8da5a7bp+0 M 53  0x1.d6336a88077aap+0 F 53  0x1.193573b7c2752p+0 F 51
0x1.6587e74ac8c65p+0 M 51  0x1.e9375280398bbp+0 F 51  0x1.2f2fccf23ce9dp+0 M 50
0x1.37c9e03e6099dp+0 F 50  0x1.64d5380fe51dep+0 F 50  0x1.fd4cc3eff9dc6p+0 M 50
0x1.2a5bf822681aep+0 F 49  0x1.35af982f6e796p+0 F 49  0x1.499d86d300c36p+0 M 49
0x1.634475bcb1429p+0 F 49  0x1.6589afa30862dp+0 F 49  0x1.8f51bb119aeaep+0 F 49
0x1.a083788425ab6p+0 M 49  0x1.aa9bfdaffce64p+0 M 49  0x1.b682c67777da5p+0 F 49
0x1.bbbc7e4c90f7bp+0 M 49  0x1.c3fecd00c1fd9p+0 M 49  0x1.54cd1fea7663ap+7 F 55
0x1.1c11f1687d68fp+7 M 52  0x1.7945e34b18a9ap+7 F 51  0x1.1f0da93354198p+7 F 50
0x1.556c678d5e976p+7 F 50  0x1.226b70c1a9d7bp+7 F 49  0x1.d6ddf782a4663p+7 M 49
0x1.f44c934fc9053p+7 F 49  0x1.1cd1082a884adp+7 F 48  0x1.2713ee7d7e670p+7 M 48
0x1.3c21bdea53262p+7 F 48  0x1.3ea2d5723c992p+7 M 48  0x1.55648038fdb56p+7 F 48
0x1.5edc76020343dp+7 F 48  0x1.63e0b6953781ep+7 F 48  0x1.76aadc2aa51fap+7 F 48
0x1.7a36cece60d73p+7 M 48  0x1.7a908a9053aacp+7 F 48  0x1.8060cfaa6351ap+7 F 48
0x1.865f4e986cc0ap+7 F 48
"""
"""Arguments of exp, each with its kind and its number of identical bits after the round bit."""

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


@pytest.mark.parametrize("case", re.findall(r"(\S+) ([FM]) (\d+)", PUBLISHED))
def test_published_cases_are_found(case, device):
    """Each is found in a window of 2^28 arguments around it, with bits = 45."""
    x = float.fromhex(case[0])
    half = 2.0**27 * abs(x) * 2.0**-53
    result = tmd.search("exp", (x - half, x + half), bits=45, device=device)
    (found,) = [c for c in result.cases if c.argument == x]
    assert (found.kind, found.identical_bits) == (case[1], int(case[2]))
