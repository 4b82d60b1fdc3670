#!/usr/bin/env bash
# Builds the replay library as programs use it: include/, lib/ with a shared and a static library, and lib/cmake/.
#
#     scripts/replay_kit.sh FOLDER [TARGET]     TARGET: aarch64-unknown-linux-gnu; else this machine's
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 1 ] || die "usage: scripts/replay_kit.sh FOLDER [TARGET]"
folder=$1
target=${2:-$(rustc -vV | sed -n 's/^host: //p')}
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER:-aarch64-linux-gnu-gcc}

cargo build --quiet --locked -p inkle-replay --lib --profile replay --target "$target"

built=${CARGO_TARGET_DIR:-target}/$target/replay
mkdir -p "$folder/include" "$folder/lib/cmake/inkle_replay"
cp crates/inkle-replay/include/inkle_replay.h "$folder/include/"
cp crates/inkle-replay/cmake/inkle_replay-config.cmake "$folder/lib/cmake/inkle_replay/"
cp "$built/libinkle_replay.so" "$built/libinkle_replay.a" "$folder/lib/"
