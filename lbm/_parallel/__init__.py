"""The parts of a domain on ranks and devices: how it is cut, and what travels between parts."""
