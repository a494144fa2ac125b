"""Independent parts of a computation: over devices of this process, workers or MPI ranks.

- `parts` : `run_parts`, which computes parts wherever they go, and returns their results in order
- `engines` : the engine of a call, from its arguments `device`, `executor` and `comm`
- `worker_devices` : the devices of this process, of a worker and of a rank
- `cancellation` : flags that ask the loops of other threads to stop
- `interruption` : an interrupted caller stops the workers of its pool of processes
"""
