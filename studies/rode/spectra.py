"""Response spectra beside pyrotd and eqsig: differences, RotD50, RotD100 and times.

eqsig has the same recurrence (Nigam and Jennings 1969) in NumPy. pyrotd multiplies the Fourier
transform of the record by the transfer function of each oscillator, which takes the record as
periodic and band-limited instead of linear between samples. So the records end with zeros in which
the response dies out, and the difference to pyrotd is that of two motions between the samples: it
falls with the period over the time between them. Peers that are not installed are named.
"""

from __future__ import annotations

import importlib
import math
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

import numpy as np
from scipy import signal

import rode
from studies.study import Study

DT, DAMPING = 0.005, 0.05
MOTION, REST = 20.0, 120.0
"""Seconds of the motion, and of the zeros behind it."""

PERIODS = np.geomspace(0.1, 5.0, 30)
BANDS = ((0.1, 0.3), (0.3, 1.0), (1.0, 5.0))
"""Ranges of periods in s, for each of which the largest difference is stated."""

PEERS = ("pyrotd", "eqsig")
HEADS = ("quantity", "peer", "periods, s", "largest relative difference", "s", "s of rode")


def records() -> np.ndarray:
    """Return two components of a motion: filtered white noise with an envelope, then zeros."""
    soil = rode.Filtered.kanai_tajimi(c=0.05)
    times = DT * np.arange(round(MOTION / DT) + 1)
    noise = np.random.default_rng(1).standard_normal((2, times.size)) / math.sqrt(DT)
    system = soil.F, soil.L, soil.C, np.zeros((1, 1))
    shape = np.interp(times, [0, 3, 12, MOTION], [0, 1, 1, 0])
    motions = np.array([shape * signal.lsim(system, one, times)[1] for one in noise])
    return np.pad(motions, ((0, 0), (0, round(REST / DT))))


def _of_pyrotd(peer: Any, motions: np.ndarray, quantity: str) -> np.ndarray:
    """Return the pseudo-acceleration of the first component, or a percentile of all directions."""
    if quantity == "pseudo-acceleration":
        found = peer.calc_spec_accels(DT, motions[0], 1.0 / PERIODS, DAMPING)
        return np.array(found.spec_accel)
    level = {"RotD50": 50, "RotD100": 100}[quantity]
    found = peer.calc_rotated_spec_accels(
        DT, motions[0], motions[1], 1.0 / PERIODS, DAMPING, percentiles=[level], method="rigorous"
    )
    return np.array(found.spec_accel)


def _of_eqsig(peer: Any, motions: np.ndarray, quantity: str) -> np.ndarray:
    """Return the pseudo-acceleration by eqsig, which has no directions."""
    spectra = importlib.import_module("eqsig.sdof").pseudo_response_spectra
    return np.asarray(spectra(motions[0], DT, PERIODS, DAMPING)[2])


def _of_rode(motions: np.ndarray, quantity: str, study: Study) -> np.ndarray:
    """Return the same of this package."""
    if quantity == "pseudo-acceleration":
        return rode.response_spectrum(
            motions[0], DT, PERIODS, DAMPING, device=study.device
        ).pseudo_acceleration
    level = {"RotD50": 50.0, "RotD100": 100.0}[quantity]
    return rode.rotd(
        motions[0], motions[1], DT, PERIODS, DAMPING, percentiles=[level], device=study.device
    )[0]


def run(study: Study) -> dict:
    """Compare the spectra of all peers that are installed."""
    versions, peers = {}, {}
    for name in PEERS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # pyrotd imports pkg_resources, which is deprecated
                peers[name] = importlib.import_module(name)
            versions[name] = metadata.version(name)
        except ImportError as error:
            versions[name] = f"not installed ({error})"
            print(f"{name} is not installed: pip install {name}")
    rows = study.table(
        f"Spectra of {MOTION:g} s with dt = {DT} s, damping {DAMPING}", HEADS,
        differences(study, peers),
    )  # fmt: skip
    return {
        "versions of peers": versions,
        "largest difference": {
            name: max((row[3] for row in rows if row[1] == name), default=None) for name in peers
        },
    }


def differences(study: Study, peers: dict[str, Any]) -> Iterator[tuple]:
    """Yield a row for each quantity, peer and range of periods."""
    motions = records()
    of: dict[str, Callable] = {"pyrotd": _of_pyrotd, "eqsig": _of_eqsig}
    if study.quick:
        motions = motions[:, : round((MOTION + 40.0) / DT)]
    for quantity in ("pseudo-acceleration", "RotD50", "RotD100")[: 1 if study.quick else None]:
        _of_rode(motions, quantity, study)  # compiled before it is timed
        start = time.perf_counter()
        ours = _of_rode(motions, quantity, study)
        seconds = time.perf_counter() - start
        for name, peer in peers.items():
            if name == "eqsig" and quantity != "pseudo-acceleration":
                continue
            start = time.perf_counter()
            theirs = of[name](peer, motions, quantity)
            elapsed = time.perf_counter() - start
            for low, high in BANDS:
                chosen = (low * 0.999 <= PERIODS) & (high * 1.001 >= PERIODS)
                error = float(np.abs(theirs / ours - 1.0)[chosen].max())
                yield quantity, name, f"{low:g} to {high:g}", error, elapsed, seconds
