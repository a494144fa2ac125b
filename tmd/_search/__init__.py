"""The search: blocks, Taylor models, Boolean tests, the three phases and their decisions."""
