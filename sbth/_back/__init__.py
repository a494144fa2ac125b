"""Products of vectors by the orthogonal factor of a reduction, a product of reflections."""
