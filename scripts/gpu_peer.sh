#!/usr/bin/env bash
# Brings Warp, the benchmark's peer, to a machine with a GPU and no network, in parts small enough to carry.
#
#     scripts/gpu_peer.sh           here: packs it from .bench-venv into build/gpu-peer/part-*, each under 50 MiB
#     scripts/gpu_peer.sh unpack    there, when every part has arrived: joins them into build/gpu-peer/site
#
# Then: make bench-gpu BENCH_PEER=build/gpu-peer/site. Its compiler for CPUs stays behind.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

peer=build/gpu-peer
case ${1:-pack} in
pack)
    scripts/setup.sh bench
    site=$(.bench-venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    rm -rf "$peer"
    mkdir -p "$peer"
    (cd "$site" && tar --exclude=warp-clang.so --exclude=__pycache__ --exclude=warp/tests --exclude=warp/examples \
        -cf - warp warp_lang-*.dist-info) | xz -T0 -6 | split -b 50M -d -a 1 - "$peer/piece-"
    for piece in "$peer"/piece-*; do
        mkdir "$peer/part-${piece##*-}"
        mv "$piece" "$peer/part-${piece##*-}/"
    done
    du -h "$peer"/part-*
    ;;
unpack)
    mkdir -p "$peer/site"
    cat "$peer"/part-*/piece-* | xz -d | tar -C "$peer/site" -xf -
    ;;
*) die "usage: scripts/gpu_peer.sh [pack|unpack]" ;;
esac
