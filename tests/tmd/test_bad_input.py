"""Invalid searches are refused at once, with the name, the value and a remedy."""

import pytest

import tmd

BAD = [
    (("gamma", (1, 2)), {}, ValueError, "function must be one of 'exp'"),
    (("exp", (2, 1)), {}, ValueError, "lo < hi"),
    (("exp", (1, 1)), {}, ValueError, "lo < hi"),
    (("exp", 1), {}, TypeError, "domain must be a pair"),
    (("exp", ("one", 2)), {}, ValueError, "domain must be a number, got 'one'"),
    (("exp", ("0x1p-99999999999", 2)), {}, ValueError, "domain must be a number"),
    (("exp", (1, True)), {}, TypeError, "domain must be a real number, got True"),
    (("exp", (float("nan"), 2)), {}, ValueError, "finite"),
    (("exp", (-1, 1)), {"precision": 30}, ValueError, "must not contain or end at 0"),
    (("exp", (0, 1)), {"precision": 30}, ValueError, "must not contain or end at 0"),
    (("exp", (-1, 1)), {}, ValueError, "too many to store: use bits >= "),
    (("exp", ("2**-120", "2**-90")), {}, ValueError, "trivial near 0, where it is closer than"),
    (("sin", ("2**-60", "2**-59")), {}, ValueError, "trivial"),
    (("exp", ("1/3", "0x1.5555555555556p-2")), {"precision": 10}, ValueError, "no argument"),
    (("log", (-2, -1)), {}, ValueError, "no value at 0 and below"),
    (("exp", (1, 2)), {"bits": 20}, ValueError, "too many to store: use bits >= 28"),
    (("exp", (1, 2)), {"bits": 3}, ValueError, r"bits must be an integer in \[4, 58\], got 3"),
    (("exp", (1, 2)), {"bits": 60}, ValueError, r"bits must be an integer in \[4, 58\], got 60"),
    (("exp", (1, 2)), {"bits": 40.5}, TypeError, "bits must be an integer"),
    (("exp", (1, 2)), {"precision": 65}, ValueError, r"precision must be an integer in \[2, 64\]"),
    (("exp", (1, 2)), {"rounding": "up"}, ValueError, "rounding must be one of"),
    (("exp", (1, 2)), {"algorithm": "slz"}, ValueError, "algorithm must be one of"),
    (("exp", (1, 2)), {"division": "slow"}, ValueError, "division must be one of"),
    (("exp", (1, 1.1)), {"device": "tpu"}, ValueError, "device must be"),
]


@pytest.mark.parametrize(("arguments", "options", "error", "message"), BAD)
def test_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        tmd.search(*arguments, **options)


def test_a_missing_gpu_is_an_error_and_no_fallback():
    import hetero

    if len(hetero.available()) > 1:
        pytest.skip("there is a GPU")
    with pytest.raises(hetero.DeviceUnavailableError, match="Remedy"):
        tmd.search("exp", (1, 1.001), device="cuda")
