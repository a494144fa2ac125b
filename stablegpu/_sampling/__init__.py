"""Random numbers by the method of Chambers, Mallows and Stuck."""
