"""Fields beside the populations of a flow, and changes of the populations between steps."""
