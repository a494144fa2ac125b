"""Friction of walls that cells do not resolve: the law of the wall in the cells beside them."""
