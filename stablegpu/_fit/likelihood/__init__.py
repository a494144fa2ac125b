"""The log-likelihood of many data sets and its maximization."""
