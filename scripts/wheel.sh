#!/usr/bin/env bash
# Builds a wheel that needs no LLVM on the machine it is installed on.
#
#     scripts/wheel.sh FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

folder=${1:?usage: scripts/wheel.sh FOLDER}
say "building the operators for PyTorch and ONNX Runtime"
scripts/operators.sh python/inkle/lib
say "building the wheel with LLVM linked statically"
# maturin changes the library where cargo has put it, and would not find what it needs a second time.
rm -f "${CARGO_TARGET_DIR:-target}"/{maturin,release,release/deps}/lib_native.so
"$venv/bin/maturin" build --locked --release --strip --no-default-features --features static-llvm,remote-cache --out "$folder"
ls -l "$folder"/*.whl
