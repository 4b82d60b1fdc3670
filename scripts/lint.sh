#!/usr/bin/env bash
# Every check that reads the source and runs none of it. Runs them all, then fails if any failed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

failed=()
check() {
    local name=$1
    shift
    say "$name"
    "$@" || failed+=("$name")
}

check "rustfmt" cargo fmt --all --check
features=inkle/glam,inkle/miette,inkle/nalgebra,inkle/ndarray
check "clippy" cargo clippy --workspace --all-targets --features "$features,inkle-remote/stores" --locked --quiet -- -D warnings
# Of the crates that programs in Rust use.
check "rustdoc" env RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked --quiet --features "$features" \
    -p inkle -p inkle-build -p inkle-value -p inkle-macros
check "crate dependencies" "$python" scripts/check_dependencies.py
check "tracked files" "$python" scripts/check_tree.py
check "ruff check" "$venv/bin/ruff" check --quiet
check "ruff format" "$venv/bin/ruff" format --check --quiet
if cargo deny --version >/dev/null 2>&1; then
    # Not the advisories: their database is fetched, and a lint must not depend on the day or the network.
    check "cargo deny" cargo deny --log-level error check bans licenses sources
else
    say "cargo deny: left out, it is not installed (cargo install cargo-deny)"
fi

if [ ${#failed[@]} -gt 0 ]; then
    printf 'lint: failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
say "lint: everything holds"
