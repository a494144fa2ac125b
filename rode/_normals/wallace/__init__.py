"""Normal numbers by Wallace's pools."""
