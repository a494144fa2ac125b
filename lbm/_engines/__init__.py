"""The step of a flow: its formulas, and the engines that run it on the CPU and on a GPU."""
