"""The exchange of halos between the parts of a domain."""
