"""The measurements of Riesinger (2017, chapter 16), and the stable settings of flows."""
