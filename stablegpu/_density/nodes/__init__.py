"""Values at many points of one distribution, from quadrature nodes laid out once."""
