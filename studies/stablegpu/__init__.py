"""The tables of Julian-Moreno et al. (2016) and Royuela-del-Val et al. (2017), and an oracle."""
