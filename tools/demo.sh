#!/usr/bin/env bash
# demo.sh - the main job end to end on the bundled models: import, extract, make a task, score two passes.
#
# Environment: BUILD (build). The database and the JSON reports stay in BUILD/demo; a second run reuses them.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
pm=$build/passmith
out=$build/demo

[ -x "$pm" ] || {
	echo "demo: $pm is not built; run make first" >&2
	exit 3
}
models=("$build"/models/*.onnx)
[ -e "${models[0]}" ] || {
	echo "demo: no models in $build/models; run make first" >&2
	exit 3
}
mkdir -p "$out"

step()
{
	echo
	echo "\$ $(basename "$pm") $*"
	"$pm" "$@"
}

step doctor
step import "${models[@]}" --db "$out/demo.db"
step extract "${models[@]}" --db "$out/demo.db"
step task list --db "$out/demo.db"
