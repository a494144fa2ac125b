"""What is computed beside the populations of a flow, or changes them between steps."""
