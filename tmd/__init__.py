"""Hard-to-round cases of elementary functions: planned, no public functions yet."""
