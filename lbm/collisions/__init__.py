"""Collision operators."""
