"""Closed triangle meshes: their files, their topology, and the cells inside them."""
