#!/bin/sh
# Re-lock after editing a .in file: `pip install uv`, then `sh requirements/lock.sh [--upgrade]`.
# Without --upgrade, versions already locked are kept. Every lock is complete (installed with --no-deps) and hash-pinned.
set -eu
cd "$(dirname "$0")"
compile() { # compile OUT PYTHON IN...
    out=$1 python=$2
    shift 2
    # shellcheck disable=SC2086
    uv pip compile --quiet --universal --generate-hashes --python-version "$python" --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links $upgrade "$@" -o "$out"
}
upgrade="${1:-}"
compile dev.lock 3.10 dev.in
upgrade=""
# The smaller sets take their versions from the largest one, so that a robot and a workstation run the same code.
compile robot.lock 3.10 robot.in -c dev.lock
compile sim.lock 3.10 sim.in -c dev.lock
compile ros.lock 3.10 ros.in -c dev.lock
compile build.lock 3.10 build.in -c dev.lock
compile underlay.lock 3.12 underlay.in
# Peers stand beside the workspace, in an environment of their own.
compile peers.lock 3.10 peers.in
if grep -nE '://|--(extra-)?index|--find-links' ./*.lock; then
    echo "lock.sh: a lock names a host or an index" >&2
    exit 1
fi
