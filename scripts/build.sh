#!/usr/bin/env bash
# Builds the Python package into `.venv`, as release code without link-time optimisation and with LLVM linked
# dynamically, and the operators beside it. INKLE_PROFILE names another cargo profile.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

say "building inkle (profile ${INKLE_PROFILE:-fast})"
export VIRTUAL_ENV=$venv
maturin develop --quiet --locked --profile "${INKLE_PROFILE:-fast}"
exec scripts/operators.sh python/inkle/lib "${INKLE_PROFILE:-fast}"
