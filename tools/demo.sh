#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh - the main job end to end on the bundled models: import, extract, make a task, score two passes.
#
# Environment: BUILD (build). The database and the JSON report stay in BUILD/demo; a second run reuses them.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
pm=$build/passmith
out=$build/demo

[ -x "$pm" ] || {
	echo "demo: $pm is not built; run make first" >&2
	exit 3
}
mkdir -p "$out"

step()
{
	echo
	echo "\$ $pm $*"
	"$pm" "$@"
}

echo "1. What this machine has."
step doctor
echo
echo "2. Six bundled models (models/*.gpt, made into real ONNX files by the build) come in."
step import "$build"/models/*.onnx
echo
echo "3. They are cut into fusible subgraphs; each different one is stored once."
step extract "$build"/models/*.onnx --db "$out/demo.db"
echo
echo "4. One subgraph that contains x * sigmoid(x) becomes a task of several shapes and element types."
step task make --db "$out/demo.db" --for "$build/passes/silu.so" --top 1 --name silu --shapes 5 --max-elements 20000
echo
echo "5. Two passes are evaluated on it: passes/library/activation/silu.c, and one that forgot a minus sign."
# The answer for the wrong pass is "no", which is exit code 1.
step eval silu --db "$out/demo.db" --pass "$build/passes/silu.so" --pass "$build/tests/plugin/wrong_silu.so" \
	-o "$out/report.json" || [ $? = 1 ]
