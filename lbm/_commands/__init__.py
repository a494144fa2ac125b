"""The commands of `lbm`: known flows, case files, rates, predictions and studies."""
