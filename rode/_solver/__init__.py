"""The solver of random ODEs: schemes, problems and the fused integration."""
