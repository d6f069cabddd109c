#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuse.sh - for tests of what passes/fuse makes of small graphs; after tap.sh.
# shellcheck disable=SC2154

fuse=$build/passes/fuse.so

# first_kernel FILE: the text of the first kernel of a rewritten graph, line by line; nothing when there is none.
first_kernel()
{
	sed -n 's/.* source_0 = "//; s/", source_1 = .*//; s/", type_0 = .*//; s/\\n/\n/gp' "$1"
}

# right NAME GRAPH: the graph's kernels give what the reference does; then $tmp/out is what explain says.
right()
{
	printf '%s\n' "$2" >"$tmp/$1.gpt"
	pm eval "$tmp/$1.gpt" --pass "$fuse" --json
	exits 0 "$1"
	says '"verdict": "OK"' "$1 is right"
	pm explain "$tmp/$1.gpt" --pass "$fuse"
}
