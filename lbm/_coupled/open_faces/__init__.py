"""Inlets and outlets at faces: what is added to the populations that they have returned."""
