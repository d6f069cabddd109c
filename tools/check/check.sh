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

# The first two lines of a file, without that of the licence (tools/check/spdx.sh).
first_lines()
{
	sed -n '/SPDX-License-Identifier: /!p; 3q' "$1"
}

files=$(tools/check/files.sh '*.c' '*.h' '*.def' '*.cu' '*.cuh' '*.sh' '*.sql' \
	Makefile .ci/run | while read -r f; do [ -f "$f" ] && [ "$f" != tools/check/check.sh ] && echo "$f"; done)
[ -n "$files" ] || { echo "${0##*/}: no sources found" >&2; exit 3; }

for f in $files; do
	n=$(wc -l <"$f")
	[ "$n" -le $max_lines ] || complain "$f has $n lines; the limit is $max_lines: split it"
	# "/* name.c - what it is for" (after #! in scripts, and after the licence line).
	case $f in
	*.c | *.h | *.def | *.cu | *.cuh) first=$(first_lines "$f" | sed -n 1p) && want="/* ${f##*/} - " ;;
	*.sh) first=$(first_lines "$f" | sed -n 2p) && want="# ${f##*/}" ;;
	*) continue ;;
	esac
	case $first in
	"$want"*) ;;
	*) complain "$f does not begin with \"$want...\"" ;;
	esac
done

hits=$(echo "$files" | xargs grep -nE 'case[[:space:]]+PM_OP_' /dev/null | grep -vE "^($op_switch_files):" || true)
[ -z "$hits" ] || complain "switches over operators outside the files listed in tools/check/check.sh:
$hits"

docs=$(tools/check/files.sh '*.md' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
hits=$(echo "$files $docs" | tr ' ' '\n' | xargs grep -nIwE "$words" /dev/null || true)
[ -z "$hits" ] || complain "words of unfinished work:
$hits"

exit $bad
