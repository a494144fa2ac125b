"""The version of all six packages, which are released together."""

VERSION = "0.1.0"
