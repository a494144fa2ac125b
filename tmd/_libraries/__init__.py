"""Functions of other libraries as callables that take and return one float."""
