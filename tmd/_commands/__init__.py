"""The commands of `tmd` beside its studies: searches, verifications and checks of libraries."""
