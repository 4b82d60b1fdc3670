#!/usr/bin/env bash
# Runs a Python program with inkle importable: from `.venv` where inkle can be built, else from the wheel of
# build/gpu under the machine's own Python.
# BENCH_PEER names a folder with Warp for the benchmarks (see scripts/gpu_peer.sh).
#
#     scripts/with_gpu_python.sh PROGRAM ARGUMENTS...
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [ -n "${BENCH_PEER:-}" ]; then
    export PYTHONPATH="$(realpath "$BENCH_PEER")${PYTHONPATH:+:$PYTHONPATH}"
fi

if command -v cargo >/dev/null; then
    scripts/setup.sh
    scripts/build.sh
    exec "$python" "$@"
fi

wheels=(build/gpu/inkle-*.whl)
[ -f "${wheels[0]}" ] || die "no cargo and no build/gpu: run 'make gpu-bundle' where Rust is, and bring build/gpu along"
site=build/gpu/site
if [ ! -d "$site" ] || [ "${wheels[0]}" -nt "$site" ]; then
    python3 -m pip install -q --no-index --no-deps --upgrade --target "$site" "${wheels[0]}"
    touch "$site"
fi
export PYTHONPATH="$root/$site${PYTHONPATH:+:$PYTHONPATH}"
export BENCH_REVISION=${BENCH_REVISION:-$(cat build/gpu/revision)}
exec python3 "$@"
