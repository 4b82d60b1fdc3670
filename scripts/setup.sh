#!/usr/bin/env bash
# Installs what building, testing and showing inkle needs and this machine lacks: Debian's LLVM 22 and a `.venv`
# with Python packages. Doing it again is quick and changes nothing.
#
#     scripts/setup.sh              what building and most tests need
#     scripts/setup.sh demo         also what the demos need: PyTorch and ONNX Runtime
#     scripts/setup.sh test         also what tests of the replay library need: CMake, C++, and on x86-64 a compiler
#                                   and an emulator for 64-bit Arm; and PyTorch and ONNX Runtime, for exported models
#     scripts/setup.sh bench        also .bench-venv, with the peer that the benchmarks measure beside inkle
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

wanted=${1:-all}
# Not the one of an environment that is yet to be made.
host_python=${PYTHON:-$(PATH=${PATH#"$venv/bin:"} command -v python3 || echo python3)}

need_packages=()
command -v llvm-config-22 >/dev/null || need_packages+=(llvm-22-dev libpolly-22-dev libzstd-dev zlib1g-dev)
# For functions of kernels that are written in C++, and their tests; nothing else needs it.
command -v clang-22 >/dev/null || need_packages+=(clang-22)
command -v cc >/dev/null && command -v c++ >/dev/null || need_packages+=(build-essential)
if [ "$wanted" = test ]; then
    command -v cmake >/dev/null || need_packages+=(cmake)
    if [ "$(uname -m)" = x86_64 ]; then
        command -v aarch64-linux-gnu-gcc >/dev/null || need_packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
        command -v qemu-aarch64 >/dev/null || need_packages+=(qemu-user)
    fi
fi

command -v cargo >/dev/null || die "cargo is not on the PATH; inkle is built with Rust 1.95 or newer (https://rustup.rs)"
rust=$(rustc --version | cut -d' ' -f2)
printf '1.95.0\n%s\n' "${rust%%-*}" | sort -CV || die "rustc is $rust; inkle needs 1.95 or newer: rustup update stable"
command -v "$host_python" >/dev/null || die "$host_python is not on the PATH; inkle needs Python 3.10 or newer"
"$host_python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    die "$host_python is $("$host_python" --version); inkle needs Python 3.10 or newer"
"$host_python" -c 'import ensurepip, venv' 2>/dev/null || need_packages+=(python3-venv)

if [ ${#need_packages[@]} -gt 0 ]; then
    install="apt-get install -y --no-install-recommends ${need_packages[*]}"
    command -v apt-get >/dev/null ||
        die "missing: ${need_packages[*]} (names of Debian 12); this machine has no apt-get, so install them by hand"
    if [ "$(id -u)" = 0 ]; then
        as_root=()
    elif command -v sudo >/dev/null; then
        as_root=(sudo)
    else
        die "missing: ${need_packages[*]}; as root, run: apt-get update && $install"
    fi
    say "installing ${need_packages[*]}"
    "${as_root[@]}" apt-get update -qq
    # One word of many on purpose.
    # shellcheck disable=SC2086
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $install -qq -o Dpkg::Use-Pty=0 </dev/null >/dev/null
fi

arm=aarch64-unknown-linux-gnu
if [ "$wanted" = test ] && [ "$(uname -m)" = x86_64 ] && [ ! -d "$(rustc --print sysroot)/lib/rustlib/$arm" ]; then
    if command -v rustup >/dev/null; then
        rustup --quiet target add "$arm"
    else
        say "there is no rustup to install Rust's standard library for $arm with: tests that need it are skipped"
    fi
fi

# make_venv FOLDER GROUP...: a virtual environment with dependency groups of pyproject.toml, made anew only when
# pyproject.toml, scripts/constraints.txt or the Python changed. Groups that it has stay.
make_venv() {
    local folder=$1 stamp known='' group groups=() missing=() pip versions=()
    shift
    stamp="$("$host_python" -c 'import sys; print(*sys.version.split())') $(cat pyproject.toml scripts/constraints.txt | sha256sum | cut -d' ' -f1)"
    if [ -x "$folder/bin/python" ] && [ -f "$folder/.stamp" ]; then
        { read -r known && read -ra groups; } <"$folder/.stamp" || true
        # What was installed for another pyproject.toml is installed again.
        [ "$known" = "$stamp" ] || missing=("${groups[@]}")
    fi
    for group in "$@"; do
        if [[ " ${groups[*]} " != *" $group "* ]]; then
            groups+=("$group")
            missing+=("$group")
        fi
    done
    if [ ${#missing[@]} -eq 0 ]; then
        return
    fi
    say "making $(basename "$folder") with the groups: ${groups[*]}"
    # One that another Python made would be half of either.
    if [ -n "${known:-}" ] && [[ "$known" != "${stamp% *} "* ]]; then
        "$host_python" -m venv --clear "$folder"
    else
        "$host_python" -m venv "$folder"
    fi
    pip=("$folder/bin/python" -m pip --disable-pip-version-check --no-input)
    # Groups are known to pip from 25.1 on; Debian 12 has an older one.
    "${pip[@]}" install -q --upgrade 'pip>=25.1'
    # The versions are those that Debian 12's Python has; others take what there is for them.
    if "$host_python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
        versions=(--constraint scripts/constraints.txt)
    fi
    "${pip[@]}" install -q "${versions[@]}" "${groups[@]/#/--group=}"
    printf '%s\n%s\n' "$stamp" "${groups[*]}" >"$folder/.stamp"
}

if [ "$wanted" = bench ]; then
    make_venv "$root/.bench-venv" bench
fi
if [ "$wanted" = test ] || [ "$wanted" = demo ]; then
    make_venv "$venv" dev demo test
else
    make_venv "$venv" dev demo
fi
