"""Every argument of a small format: polynomials with proven bounds, and loops that compare."""
