"""Campaigns: whole functions in runs with a budget of time, which share a folder and continue."""
