#!/bin/sh
# Every command of the image: `./mnav ...`, or anything else in the environment of the built workspace.
set -eu
cd /mnav
case "${1:-}" in
    ./mnav | mnav) shift; exec ./mnav "$@" ;;
esac
. /mnav/.mnav/env.sh
exec "$@"
