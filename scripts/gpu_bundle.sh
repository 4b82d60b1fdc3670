#!/usr/bin/env bash
# Builds what `make test-gpu` needs on a machine with a GPU and no Rust, LLVM or network, into build/gpu: a wheel
# with LLVM inside, and every Rust test binary that holds a test with `cuda` in its name. GPU_BUNDLE_MIB (60) is the
# most it may weigh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

bundle=build/gpu
limit_mib=${GPU_BUNDLE_MIB:-60}
rm -rf "$bundle"
mkdir -p "$bundle/tests"

scripts/wheel.sh "$bundle"

say "building the test binaries"
cargo test --workspace --locked --no-run --profile fast --tests --lib --message-format=json \
    --no-default-features --features static-llvm >build/gpu-tests.json
"$python" - build/gpu-tests.json <<'PYTHON' >build/gpu-tests.txt
import json
import sys

for line in open(sys.argv[1], encoding="utf-8"):
    message = json.loads(line)
    if message.get("reason") == "compiler-artifact" and message.get("executable") and message["profile"]["test"]:
        package = message["package_id"].split("#")[0].rsplit("/", 1)[-1]
        print(f"{package}--{message['target']['name']}", message["executable"])
PYTHON
while read -r name binary; do
    if "$binary" --list 2>/dev/null | grep -q 'cuda.*: test$'; then
        say "taking $name"
        strip -o "$bundle/tests/$name" "$binary"
        xz -T0 -6 "$bundle/tests/$name"
    fi
done <build/gpu-tests.txt

git rev-parse --short=12 HEAD >"$bundle/revision"
du -h "$bundle"/* "$bundle"/tests/*
weight_mib=$(du -sm "$bundle" | cut -f1)
[ "$weight_mib" -le "$limit_mib" ] || die "$bundle weighs $weight_mib MiB, more than $limit_mib"
say "$bundle: $weight_mib MiB; on the machine with the GPU: make test-gpu"
