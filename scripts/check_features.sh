#!/usr/bin/env bash
# Builds the crate `inkle` without its compiler, and runs the tests that there are then.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

with() {
    say "inkle with the features: ${1:-none}"
    cargo "$2" -p inkle --locked --quiet --no-default-features --features "$1" "${@:3}"
}

# Warnings of what is left out show where everything is.
with "" clippy --lib --test without -- -D warnings
with "" test --test without
# Alone, the example has no compiler; in the whole workspace it shares the library of those that do.
say "a program without a compiler"
cargo test --locked --quiet -p inkle-robot
