"""Second starts of a fit, from a rough profile of the likelihood over alpha."""
