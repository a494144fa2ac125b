"""Random ODEs driven by Ornstein-Uhlenbeck noise: planned, no public functions yet."""
