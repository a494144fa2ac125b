"""Random ordinary differential equations driven by Ornstein-Uhlenbeck noise: planned, no public functions yet."""
