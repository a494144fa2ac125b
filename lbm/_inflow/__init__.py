"""Turbulent inlets: synthetic eddies that pass through a face of the domain."""
