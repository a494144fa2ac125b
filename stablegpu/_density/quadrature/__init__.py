"""Values by adaptive Gauss-Kronrod quadrature of Nolan's integrals."""
