#!/usr/bin/env bash
# Prints the extra of heterokit that fits this machine's NVIDIA driver, for `make tour`:
# pip install ".$(tools/gpu_extra.sh)".  CUDA 13 needs driver 580, CUDA 12 needs 525.
# Without nvidia-smi or with an older driver it prints nothing, because the CPU needs no extra.
# It never fails.

driver=$(timeout 60 nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null)
if [[ $driver =~ ^[[:space:]]*([0-9]{1,6})\. ]]; then  # not a message such as "No devices found"
    major=$((10#${BASH_REMATCH[1]}))
    if ((major >= 580)); then
        echo "[cuda13]"
    elif ((major >= 525)); then
        echo "[cuda12]"
    fi
fi
exit 0
