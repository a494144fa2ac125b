"""The problem of a call: its arguments, checked once, and what its arrays hold."""
