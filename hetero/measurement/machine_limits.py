"""Measured limits of the machine, with which benchmarks compare their figures."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from hetero.compile_cache.store import user_cache
from hetero.data_files.atomic_files import write_json
from hetero.devices import Device, resolve
from hetero.measurement import limit_loops


@dataclass(frozen=True)
class Limits:
    """Measured limits of one device.

    Attributes
    ----------
    copy : bytes/s, read plus written, of a large copy within the device's memory (the better of
        the driver's copy and our kernel)
    copy_kernel : the same by a Numba kernel
    fma_float32, fma_float64 : multiply-adds/s (two operations each)
    mad_int64 : 64-bit integer multiply-adds/s
    launch : seconds from call to call of an empty kernel or parallel loop
    """

    device: str
    name: str
    copy: float
    copy_kernel: float
    fma_float32: float
    fma_float64: float
    mad_int64: float
    launch: float

    def rows(self) -> list[tuple[str, str]]:
        """Return pairs (name, figure with unit) for a table."""
        return [
            ("copy bandwidth", f"{self.copy / 1e9:,.0f} GB/s"),
            ("copy by a Numba kernel", f"{self.copy_kernel / 1e9:,.0f} GB/s"),
            ("float32 multiply-add", f"{2 * self.fma_float32 / 1e9:,.0f} GFLOP/s"),
            ("float64 multiply-add", f"{2 * self.fma_float64 / 1e9:,.0f} GFLOP/s"),
            ("int64 multiply-add", f"{self.mad_int64 / 1e9:,.1f} G/s"),
            ("launch", f"{self.launch * 1e6:.1f} us"),
        ]

    def _repr_html_(self) -> str:
        from hetero.display.notebook import html_table

        return html_table(f"Limits of {self.device}: {self.name}", self.rows())

    def as_dict(self) -> dict:
        """Return the limits as plain numbers, for JSON."""
        return asdict(self)


def limits(device: str | Device | None = None, *, refresh: bool = False) -> Limits:
    """Return the limits of `device`: from the cache file, or measured now (seconds) and stored.

    The file is `$XDG_CACHE_HOME/hetero/limits.json` (`~/.cache/...`); if it cannot be written, the
    limits are measured again next time.
    """
    device = resolve(device)
    store = _read()
    label = _label(device)
    if refresh or label not in store:
        with device.active():
            rates = limit_loops.loops(device).measure()
        rates.setdefault("copy_kernel", rates["copy"])
        store[label] = Limits(str(device), device.name, **rates).as_dict()
        _write(store)
    return Limits(**store[label])


def _label(device: Device) -> str:
    from hetero.cpu.threads import threads
    from hetero.measurement.environment import versions

    used = versions()
    details = f"{threads()} threads" if device.kind == "cpu" else f"numba-cuda {used['numba-cuda']}"
    return f"{device}|{device.name}|numba {used['numba']}|{details}"


def _path() -> Path:
    """Return the file of measured limits; raises OSError if the user has no home."""
    return user_cache() / "limits.json"


def _read() -> dict:
    try:
        store = json.loads(_path().read_text())
        fields = set(Limits.__dataclass_fields__)
        return {k: v for k, v in store.items() if set(v) == fields}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(store: dict) -> None:
    with contextlib.suppress(OSError):
        write_json(_path(), store, indent=1)
