"""NVIDIA GPUs: the driver, launches, shared memory and tables that stay on a device."""
