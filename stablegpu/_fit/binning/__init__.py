"""Large data sets in bins."""
