#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# functions.sh - model-local functions are inlined as ONNX means them: nested, with references to attributes of every
# kind and defaults, opsets of their own, clashing names, omitted operands, overloads (tests/golden/functions).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

folder=tests/golden/functions
for device in ref emu; do
	pm conform $folder --device $device
	exits 0 "every case passes on $device"
	grep -Eq '^total +8 +8 +0 +0 +0$' "$tmp/out"
	tap "all eight were run on $device"
done
for m in "$folder"/*/model.onnx; do
	name=$(basename "$(dirname "$m")")
	pm import "$m" --json
	says '"opaque_nodes": 0' "$name: nothing is opaque"
	pm import "$m" -o "$tmp/flat.onnx"
	pm print "$m"
	cp "$tmp/out" "$tmp/first.gpt"
	pm print "$tmp/flat.onnx"
	[ -s "$tmp/out" ] && cmp -s "$tmp/out" "$tmp/first.gpt"
	tap "$name: written without functions it is the same graph"
done
tap_done
