"""Order statistics of large samples."""
