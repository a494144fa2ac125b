"""The reduction of a wide band to a narrow one."""
