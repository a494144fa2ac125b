"""Reading of certificates, and checks of their hash and their form."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from typing import Any

from hetero.validation import check_path
from tmd._certificates import periodic_records
from tmd._search.cases import COLUMNS, DEFINITION, KIND, VERSION, hash_json
from tmd._search.planning import MAX_BITS
from tmd._search.taylor_models import ROUNDINGS
from tmd.errors import CertificateError
from tmd.formats import Format, format_fraction, to_fraction
from tmd.functions import is_known

_VERSION = re.compile(r"[0-9]+(\.[0-9a-z]+)*[-+._0-9A-Za-z]*")


def load_certificate(certificate: dict | str | Path) -> dict:
    """Read a certificate from a dict or a JSON file and check its hash and its form.

    Raises
    ------
    CertificateError
        It cannot be read, is damaged or is malformed.
    """
    if not isinstance(certificate, dict):
        try:
            certificate = _parse(Path(certificate).read_text())
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise CertificateError(f"certificate {certificate!r} cannot be read: {error}") from None
    return _check_form(certificate)


def _parse(text: str) -> Any:
    """Parse JSON; raise ValueError if a key appears twice, since one value would be ignored."""

    def to_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            raise ValueError(f"a key appears twice among {sorted(keys)}")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=to_dict)


def _check_form(certificate: Any) -> dict:
    """Check the hash and the form of a certificate; `check_blocks` checks what its blocks say."""
    if not isinstance(certificate, dict):
        raise CertificateError("certificate must be a JSON object")
    body = {k: v for k, v in certificate.items() if k != "hash"}
    kind, version = body.get("kind"), body.get("version")
    known_version, validators = _FORMS.get(kind if isinstance(kind, str) else "", (None, {}))
    if known_version is None or type(version) is not int or version != known_version:
        raise CertificateError(f"certificate must be a {KIND} of version {VERSION}")
    try:
        matches = certificate.get("hash") == hash_json(body)
        certificate = json.loads(json.dumps(certificate))  # tuples become lists, as in a file
    except (TypeError, ValueError, RecursionError) as error:
        raise CertificateError(f"certificate cannot be written as JSON: {error}") from None
    if not matches:
        raise CertificateError("certificate is damaged: its hash does not match its content")
    keys = {"kind", "version", "hash", *validators}
    for key in sorted(keys ^ set(certificate)):
        verb = "must not have" if key in certificate else "lacks"
        raise CertificateError(f"certificate {verb} the key {key!r}")
    for key, valid in validators.items():
        if not valid(certificate[key]):
            value = _abbreviate(certificate[key])
            raise CertificateError(f"certificate has an invalid {key}: {value}")
    return certificate


def _abbreviate(value: object) -> str:
    """Return the repr of a value for a message, cut to 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def is_count(value: object) -> bool:
    """Return whether a value is an integer that is not negative."""
    return type(value) is int and value >= 0


def _is_domain(value: Any) -> bool:
    """Return whether a domain is two numbers, written as `format_fraction` writes them."""
    try:
        written = [format_fraction(to_fraction("domain", end)) for end in value]
    except (TypeError, ValueError):
        return False
    return type(value) is list and len(value) == 2 and written == value


def _are_versions(value: object) -> bool:
    """Return whether a value has the form of versions; whether they are true cannot be checked."""
    return (
        isinstance(value, dict)
        and {"python", "numba", "numpy"} <= set(value)
        and all(isinstance(v, str) and _VERSION.fullmatch(v) for v in value.values())
    )


def _is_precision(value: Any) -> bool:
    """Return whether a value names a format as certificates do."""
    try:
        name = Format.create(value).names[0]
    except (TypeError, ValueError):
        return False
    return type(value) is type(name) and bool(value == name)


def _are_records(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(record, list) and len(record) == len(COLUMNS) for record in value
    )


_VALIDATORS = {
    "definition": lambda value: value == DEFINITION,
    "function": is_known,
    "domain": _is_domain,
    "bits": lambda value: type(value) is int and 4 <= value <= MAX_BITS,
    "precision": _is_precision,
    "argument_precision": _is_precision,
    "rounding": lambda value: value in ROUNDINGS,
    "trivial": is_count,
    "cases": is_count,
    "versions": _are_versions,
    "columns": lambda value: value == list(COLUMNS),
    "blocks": _are_records,
}
"""Predicate for the value of each key."""


def _are_pairs_of_text(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and [*map(type, pair)] == [str, str] for pair in value
    )


_PERIODIC_VALIDATORS = {
    "definition": lambda value: value == periodic_records.DEFINITION,
    "function": is_known,
    "exponent": is_count,
    "phases": _is_domain,
    **{key: _VALIDATORS[key] for key in ("bits", "precision", "rounding")},
    **dict.fromkeys(periodic_records.COUNTS, is_count),
    **dict.fromkeys(("cases", "points"), _are_pairs_of_text),
    "versions": lambda value: isinstance(value, list) and value and all(map(_are_versions, value)),
    "columns": lambda value: value == list(periodic_records.COLUMNS),
    "rows": lambda value: isinstance(value, list) and all(isinstance(row, list) for row in value),
}
"""The same for certificates of periodic searches, whose rows `Row.read` checks."""

_FORMS = {
    KIND: (VERSION, _VALIDATORS),
    periodic_records.KIND: (periodic_records.VERSION, _PERIODIC_VALIDATORS),
}
"""Version and predicates for each kind of certificate."""


MAX_BYTES = 1 << 29
"""Largest size of a file of certificates, decompressed: 50 times that of a campaign's."""


def _read_limited(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends with .xz.

    Raises ValueError for a file that is too large, without decompressing all of it.
    """
    with (lzma.open if path.suffix == ".xz" else open)(path, "rb") as file:
        data: bytes = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES >> 20} MiB")
    return data


def read_certificates(path: str | Path) -> list[dict]:
    """Read a file of certificates, one per line in JSON, which may be compressed (`.xz`).

    Raises
    ------
    CertificateError
        The file cannot be read, holds no certificate, or one is damaged or malformed.
    """
    path = check_path("path", path)
    try:
        text = _read_limited(path).decode()
        certificates = [_check_form(_parse(line)) for line in text.splitlines() if line.strip()]
    except CertificateError:
        raise
    except (OSError, EOFError, ValueError, RecursionError, lzma.LZMAError) as error:
        raise CertificateError(f"certificates {str(path)!r} cannot be read: {error}") from None
    if not certificates:
        raise CertificateError(f"{str(path)!r} holds no certificate")
    return certificates
