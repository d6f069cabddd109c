#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# uniform_stats.sh - inputs of a model are drawn from a bell that ends at min and max, or evenly where tensor_stats says so.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

ones() # STATS: how many elements of the input drawn are exactly 1
{
	printf '<ir_version: 8, opset_import: ["" : 18], metadata_props: ["tensor_stats": "{\\"x\\":{%s}}"]>\nm (float[64,64] x) => (float[64,64] y) { y = Relu (x) }\n' \
		"$(printf '%s' "$1" | sed 's/"/\\"/g')" >"$tmp/m.gpt"
	pm run "$tmp/m.gpt" --device ref --save "$tmp/saved"
	exits 0 "run with $1"
	n=$(od -An -v -tx1 "$tmp/saved/test_data_set_0/input_0.pb" | tr -d ' \n' | grep -o '0000803f' | wc -l)
}

ones '"mean":0.5,"std":0.289,"min":0,"max":1'
[ "$n" -gt 50 ]
tap "a bell is held at its ends ($n of 4096 elements are 1)"
ones '"mean":0.5,"std":0.289,"min":0,"max":1,"law":"uniform"'
[ "$n" -eq 0 ]
tap "a uniform input stays below max"
tap_done
