"""The commands of `lbm`: known flows, case files, rates and predictions."""
