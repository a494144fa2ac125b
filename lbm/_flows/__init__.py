"""Parts that the flows of `lbm.flows` share: their settings, and the profile of the cavity."""
