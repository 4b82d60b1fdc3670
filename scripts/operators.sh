#!/usr/bin/env bash
# Builds the libraries that PyTorch and ONNX Runtime load: libinkle_torch.so and libinkle_onnx.so.
#
#     scripts/operators.sh FOLDER [PROFILE]     PROFILE: replay, as they are shipped, unless another one is named
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 1 ] || die "usage: scripts/operators.sh FOLDER [PROFILE]"
folder=$1
profile=${2:-replay}
cargo build --quiet --locked -p inkle-torch-op -p inkle-onnx-op --profile "$profile"

built=${CARGO_TARGET_DIR:-target}/$([ "$profile" = dev ] && echo debug || echo "$profile")
mkdir -p "$folder"
for library in libinkle_torch.so libinkle_onnx.so; do
    # A process that has the old file loaded keeps it.
    install -m 755 "$built/$library" "$folder/.$library.new"
    mv "$folder/.$library.new" "$folder/$library"
done
