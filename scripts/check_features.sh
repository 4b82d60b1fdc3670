#!/usr/bin/env bash
# Builds the crate `inkle` with every combination of its features, and runs the tests that each one has. The combination of
# all is the one that everything else is tested with.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

with() {
    say "inkle with the features: ${1:-none}"
    cargo "$2" -p inkle --locked --quiet --no-default-features --features "$1" "${@:3}"
}

# Warnings of what is left out show where everything is.
with "" clippy --lib --test without -- -D warnings
with "" test --lib --test without
with "cuda" test --test without
with "dynamic-llvm" test --test without
# Alone, the example has neither; in the whole workspace it shares the library of those that do.
say "a program with none"
cargo test --locked --quiet -p inkle-robot
