#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# models.sh - the bundled models: text to ONNX and back unchanged, and the devices agree on them.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

for m in models/*.gpt; do
	name=$(basename "$m" .gpt)
	pm print "$m"
	exits 0 "$name: print"
	cp "$tmp/out" "$tmp/first.gpt"
	[ -s "$tmp/first.gpt" ]
	tap "$name: there is text"
	pm print "$tmp/first.gpt"
	cmp -s "$tmp/out" "$tmp/first.gpt"
	tap "$name: printed text prints itself"
	pm import "$m" -o "$tmp/one.onnx"
	exits 0 "$name: to ONNX"
	pm print "$tmp/one.onnx"
	cmp -s "$tmp/out" "$tmp/first.gpt"
	tap "$name: ONNX prints the same text"
	pm import "$m" -o "$tmp/one.gpt"
	exits 0 "$name: to text"
	pm print "$tmp/one.gpt"
	grep -q "ir_version" "$tmp/one.gpt" && cmp -s "$tmp/out" "$tmp/first.gpt"
	tap "$name: a name that ends in .gpt gets the text form"
	pm import "$tmp/one.onnx" -o "$tmp/two.onnx"
	cmp -s "$tmp/one.onnx" "$tmp/two.onnx"
	tap "$name: ONNX to ONNX is the same bytes"
	pm run "$m" --device emu --compare ref
	exits 0 "$name: emu and ref agree"
	says "agrees with ref at t=" "$name: the agreement is printed"
	pm run "$m" --device emu --compare ref --json
	json "$name: run --json is JSON"
done
tap_done
