"""Published results: the counts of Fortin, Gouicem and Graillat (2016), and known hard cases."""

import re
from pathlib import Path

import pytest

import tmd

RECORDS = Path(__file__).parents[2] / "benchmarks/records/tmd"

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


KNOWN = """
0x1.f8e165f8388f7p-30 0x1.282aae3169ee7p-20 0x1.e5ba92aa9b1efp-20 0x1.d0c9d5bd3eadcp-17
0x1.c1d04f5e50962p-16 -0x1.664716b68a409p-14 0x1.ba07d73250de7p-14 0x1.5e308987a5f71p-13
-0x1.a2fefefd580dfp-13 0x1.4a5cae9902908p-12 -0x1.ce3f638d0c742p-12 -0x1.ceff32831e2c2p-12
0x1.d83e8bdd4f7e4p-12 0x1.0850c69fc1c96p-11 -0x1.33accae78b371p-11 -0x1.d792b60084f92p-11
0x1.21c3bb0c54ae3p-10 0x1.28cc2eac5e20ep-10 0x1.6a4d1af9cc989p-8 0x1.7c41be26a6979p-8
-0x1.7fb235d76cce7p-8 0x1.b241d26c4794bp-8 0x1.e52a847839285p-8 -0x1.1ff9b8e8b38bep-7
-0x1.54511e930898cp-7 0x1.5a75293a5dcdap-6 -0x1.5c5ed0ec83666p-6 -0x1.8c56ff5326197p-6
-0x1.a4187f2ca71f9p-6 0x1.42ea46949b3c7p-5 0x1.7c8bb0cf5d160p-5 0x1.8ae823850230bp-5
0x1.73a52c9515dddp-4 0x1.8c8c2e03cf4e2p-4 0x1.943a8913f2a2fp-4 -0x1.a8f783d749a8fp-4
-0x1.bd44fdaed819fp-4 -0x1.daf693d64fadap-4 0x1.0948d39a41695p-3 -0x1.290ea09e36479p-3
0x1.7d7fc2e4f5fccp-3 0x1.81f63829c4e0ap-3 -0x1.8aeb636f3ce35p-3 0x1.a065fefae814fp-3
-0x1.d3f3799439415p-3 -0x1.ea16274b0109bp-3 0x1.f6e4c3ced7c72p-3 0x1.00687179e3f66p-2
0x1.1a0408712e00ap-2 0x1.bcab27d05abdep-2 0x1.005ae04256babp-1 -0x1.22e24fa3d5cf9p-1
0x1.305cf6d213b3fp-1 0x1.41c9e095cd545p-1 -0x1.85068c07fbbf6p-1 0x1.accfbe46b4ef0p-1
-0x1.bdc7955d1482cp-1 0x1.d086543694c5ap-1 -0x1.2a9cad9998262p+0 0x1.2f2fccf23ce9dp+0
0x1.6587e74ac8c65p+0 -0x1.cc37ef7de7501p+0 0x1.fd4cc3eff9dc6p+0 -0x1.02393d5976769p+1
0x1.07515ca9652cap+1 -0x1.65061daf79a78p+1 0x1.911f93f6f6cf8p+1 0x1.00091a4a0dae5p+2
0x1.273c188aa7b14p+2 0x1.83d4bcdebb3f4p+2 0x1.d08405afd2c04p+2 0x1.566d341a98d23p+3
0x1.a8ead058bc6b8p+3 -0x1.e8bdbfcd9144ep+3 0x1.08f51434652c3p+4 0x1.1d5c2daebe367p+4
-0x1.8f80e06f3a04cp+4 0x1.c44ce0d716a1ap+4 0x1.4b3ded710bd0fp+5 0x1.872ea5debf893p+5
0x1.e07e71bfcf06fp+5 0x1.f7216c4b435c9p+5 0x1.519fcf17ae48ep+6 -0x1.59f038076039cp+6
0x1.fe0836c0955b9p+6 0x1.1c11f1687d68fp+7 0x1.54cd1fea7663ap+7 -0x1.981587ad4542fp+7
0x1.622c5afbc0484p+8 0x1.8cfadd48a83a2p+8 0x1.d6479eba7c971p+8 0x1.2c1e030b5decdp+9
0x1.4f6c9bbf79eb2p+9
"""
"""Arguments that correctly rounded libraries (CORE-MATH and others) treat specially or test."""


def test_the_record_has_the_cases_known_to_library_authors():
    listed = (RECORDS / "tmd-exp-cases.txt").read_text().splitlines()
    recorded = {float.fromhex(line.split()[0]) for line in listed if not line.startswith("#")}
    assert len(KNOWN.split()) > 80
    assert {float.fromhex(x) for x in KNOWN.split()} <= recorded
