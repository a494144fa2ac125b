"""Wind tunnels: where the body stands, what is chosen for a flow, and means with their errors."""
