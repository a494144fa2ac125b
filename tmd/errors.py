"""What tmd raises beside ValueError, TypeError and hetero's DeviceUnavailableError."""


class CheckpointError(ValueError):
    """A checkpoint is damaged or belongs to another search. The file is left as it is."""


class CertificateError(ValueError):
    """A certificate is damaged, or does not fit what is found when it is checked."""
