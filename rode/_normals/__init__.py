"""Normal numbers by each method: Box-Muller, inverse, rational functions, Ziggurat, Wallace."""
