"""The experiments of Fortin, Gouicem and Graillat (2016)."""
