"""The reduction of a narrow band to tridiagonal form by bulge chasing."""
