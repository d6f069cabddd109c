#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh - rules about the text of the sources that no compiler checks.
set -eu
cd "$(dirname "$0")/../.."
max_lines=900
# Files that may switch over operators; everything else reads the table (ir/core/ops.def).
op_switch_files='ir/onnx/normal/onnx_norm.c'
# Words of unfinished work. This script and the words' own lists are left out.
words='TODO|FIXME|XXX|HACK|for now|placeholder|stub|not implemented|not yet implemented|simplified'

bad=0
complain()
{
	echo "check: $1" >&2
	bad=1
}

files=$(tools/check/files.sh '*.c' '*.h' '*.def' '*.cu' '*.cuh' '*.sh' '*.sql' \
	Makefile .ci/run | while read -r f; do [ -f "$f" ] && [ "$f" != tools/check/check.sh ] && echo "$f"; done)
[ -n "$files" ] || { echo "${0##*/}: no sources found" >&2; exit 3; }

# One process for all files: length, and "/* name.c - what it is for" in the first line, of scripts in the second, after
# #!; the line of the licence (tools/check/spdx.sh) does not count.
hits=$(echo "$files" | xargs awk -v max="$max_lines" '
	function want(f, name) {
		name = f
		sub(/.*\//, "", name)
		return f ~ /\.(c|h|def|cu|cuh)$/ ? "/* " name " - " : f ~ /\.sh$/ ? "# " name : ""
	}
	FNR == 1 { kept = 0 }
	FNR <= 3 && !/SPDX-License-Identifier: / && ++kept == (FILENAME ~ /\.sh$/ ? 2 : 1) { first[FILENAME] = $0 }
	{ n[FILENAME] = FNR }
	END {
		for (i = 1; i < ARGC; i++) {
			f = ARGV[i]
			if (n[f] > max)
				printf "%s has %d lines; the limit is %d: split it\n", f, n[f], max
			if (want(f) != "" && index(first[f], want(f)) != 1)
				printf "%s does not begin with \"%s...\"\n", f, want(f)
		}
	}')
[ -z "$hits" ] || complain "length and first lines:
$hits"

hits=$(echo "$files" | xargs grep -nE 'case[[:space:]]+PM_OP_' /dev/null | grep -vE "^($op_switch_files):" || true)
[ -z "$hits" ] || complain "switches over operators outside the files listed in tools/check/check.sh:
$hits"

docs=$(tools/check/files.sh '*.md' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
hits=$(echo "$files $docs" | tr ' ' '\n' | xargs grep -nIwE "$words" /dev/null || true)
[ -z "$hits" ] || complain "words of unfinished work:
$hits"

exit $bad
