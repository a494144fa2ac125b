"""Exceptions that tmd raises besides ValueError, TypeError and hetero's DeviceUnavailableError."""


class CheckpointError(ValueError):
    """A checkpoint is damaged or belongs to another search. The file is left unchanged."""


class CertificateError(ValueError):
    """A certificate is damaged, or contradicts the results of its verification."""
