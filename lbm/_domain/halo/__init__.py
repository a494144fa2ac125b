"""The exchange of populations between the parts of a domain."""
