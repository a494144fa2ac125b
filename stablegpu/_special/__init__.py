"""Special functions: log_ndtr, ndtr, expn, logsumexp."""
