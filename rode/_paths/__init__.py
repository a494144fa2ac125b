"""Paths of the Ornstein-Uhlenbeck process."""
