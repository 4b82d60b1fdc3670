#!/usr/bin/env bash
# Builds what `make test-gpu` needs on a machine with a GPU and no Rust, LLVM or network, into build/gpu: a wheel
# with LLVM inside, the Rust test binaries that hold tests for a GPU, and the C program that replays graph files.
# GPU_BUNDLE_MIB (60) is the most it may weigh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

bundle=build/gpu
limit_mib=${GPU_BUNDLE_MIB:-60}
rm -rf "$bundle"
mkdir -p "$bundle"

scripts/wheel.sh "$bundle"

say "building the test binaries"
"$python" scripts/cuda_tests.py pack "$bundle/tests" --profile fast --no-default-features --features static-llvm

say "building the C program that replays graph files"
scripts/replay_kit.sh build/replay-kit
mkdir -p "$bundle/programs"
cc -std=c11 -O2 -s examples/replay/c/replay.c -I build/replay-kit/include build/replay-kit/lib/libinkle_replay.a \
    -static-libgcc -Wl,--gc-sections -o "$bundle/programs/replay"

git rev-parse --short=12 HEAD >"$bundle/revision"
du -h "$bundle"/* "$bundle"/tests/*
weight_mib=$(du -sm "$bundle" | cut -f1)
[ "$weight_mib" -le "$limit_mib" ] || die "$bundle weighs $weight_mib MiB, more than $limit_mib"
say "$bundle: $weight_mib MiB; on the machine with the GPU: make test-gpu"
