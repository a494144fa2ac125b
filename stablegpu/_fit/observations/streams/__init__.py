"""Samples that are read piece by piece: their pieces, passes over them, order statistics, bins."""
