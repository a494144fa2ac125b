"""Compiled code on disk: a folder for each state of the sources, a file for each function.

`folder` says where, `fingerprint` tells functions apart, `disk_cache` reads and writes, and
`notice` tells a user who waits that something compiles.
"""
