"""The commands of `stablegpu` beside its studies: fits, values and samples."""
