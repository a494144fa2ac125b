"""The commands of `stablegpu`: fits, values and samples."""
