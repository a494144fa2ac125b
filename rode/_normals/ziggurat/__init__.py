"""Normal numbers by the Ziggurat method."""
