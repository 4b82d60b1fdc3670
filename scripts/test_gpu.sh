#!/usr/bin/env bash
# Runs the tests that need an NVIDIA GPU. SANITIZE=1 runs the Python ones under compute-sanitizer as well.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command -v nvidia-smi >/dev/null && nvidia-smi -L || die "no NVIDIA GPU here: nvidia-smi finds none"
exec scripts/with_gpu_python.sh scripts/run_gpu_tests.py
