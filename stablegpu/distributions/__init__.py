"""Distributions by their parameters: the base and the stable one, modes, risk, derivatives."""
