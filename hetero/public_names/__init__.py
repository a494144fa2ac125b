"""How packages offer their public names: at their first use, and under old names for a while."""
