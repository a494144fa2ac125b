"""The commands of `tmd`: searches, verifications and checks of libraries."""
