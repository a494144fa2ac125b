"""The band in the layout in which it is reduced."""
