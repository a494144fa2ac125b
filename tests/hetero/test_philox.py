"""Random words equal the published ones, bit for bit, on every device."""

import numpy as np
import pytest

from hetero import philox, use_threads

# Known answers published with the Random123 library: counter and key -> words.
ONES = (2**32 - 1,) * 4, (2**32 - 1,) * 2
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
KNOWN = [
    (10, (0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (10, *ONES, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (10, *PI, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    (7, (0, 0, 0, 0), (0, 0), "5f6fb709 0d893f64 4f121f81 4f730a48"),
    (7, *ONES, "5207ddc2 45165e59 4d8ee751 8c52f662"),
    (7, *PI, "4dfccaba 190a87f0 c47362ba b6b5242a"),
]


def oracle(counter, key, rounds):
    """Compute Philox4x32 in Python integers, as Salmon et al. (2011) define it."""
    c, k = list(counter), list(key)
    for _ in range(rounds):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b % 2**32, (a >> 32) ^ c[3] ^ k[1], a % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


@pytest.mark.parametrize(("rounds", "counter", "key", "answer"), KNOWN)
def test_known_answers(rounds, counter, key, answer):
    from hetero.philox.formulas import philox as scalar_philox

    expected = [int(word, 16) for word in answer.split()]
    assert oracle(counter, key, rounds) == expected
    words = scalar_philox(*map(np.uint32, counter), *map(np.uint32, key), rounds)
    assert [int(w) for w in words] == expected


@pytest.mark.simulator
@pytest.mark.parametrize("rounds", [7, 10])
def test_words_follow_the_counter(device, rounds):
    words = philox.words(11, rng=5, path=3, stream=9, rounds=rounds, device=device)
    key = [int(k) for k in philox.key(5)]
    expected = [w for block in range(3) for w in oracle((block, 0, 3, 9), key, rounds)][:11]
    assert words.dtype == np.uint32
    assert words.tolist() == expected


def test_block_number_has_64_bits():
    from hetero.philox.formulas import words

    block = 2**40 + 5
    result = words(np.uint64(block), np.uint32(3), np.uint32(9), np.uint32(1), np.uint32(2), 10)
    assert [int(w) for w in result] == oracle((5, 2**8, 3, 9), (1, 2), 10)


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniforms_are_odd_multiples(device, dtype):
    bits = {"float32": 24, "float64": 53}[dtype]
    u = philox.uniform((5, 7), dtype=dtype, rng=1, device=device)
    assert u.shape == (5, 7)
    assert u.dtype == dtype
    scaled = u.astype(np.float64) * 2.0**bits
    assert np.all(scaled % 2 == 1)
    assert np.all((u > 0) & (u < 1))
    np.testing.assert_array_equal(u, philox.uniform((5, 7), dtype=dtype, rng=1, device="cpu"))


@pytest.mark.statistical
def test_uniform_moments():
    for dtype in ("float32", "float64"):
        u = philox.uniform(10**6, dtype=dtype, rng=2).astype(np.float64)
        assert abs(u.mean() - 0.5) < 5 / np.sqrt(12e6)
        assert abs(u.var() - 1 / 12) < 5 / np.sqrt(180e6)
        assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 5e-3


def test_keys():
    assert philox.key(1) == philox.key(1) == philox.key(np.random.SeedSequence(1))
    assert philox.key(1) != philox.key(2)
    assert philox.key() != philox.key()
    generator = np.random.default_rng(1)
    assert philox.key(generator) != philox.key(generator)
    for bad in ("1", 1.5, True, [1]):
        with pytest.raises(TypeError, match="rng"):
            philox.key(bad)
    with pytest.raises(ValueError, match="rng must be >= 0"):
        philox.key(-1)


def test_empty_and_out():
    assert philox.words(0).shape == (0,)
    out = np.zeros((2, 3), np.uint32)
    assert philox.words((2, 3), rng=1, out=out) is out
    np.testing.assert_array_equal(out, philox.words((2, 3), rng=1))


def test_every_use_has_a_stream_of_its_own():
    numbers = list(philox.STREAMS.values())
    assert len(set(numbers)) == len(numbers)
    assert all(0 < n < 2**32 for n in numbers)


def test_words_do_not_depend_on_the_thread_count():
    many = philox.words(10001, rng=3)
    with use_threads(1):
        np.testing.assert_array_equal(philox.words(10001, rng=3), many)
