#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# spdx.sh [--check] [FILE...] - adds the licence line to source files that lack it, or with --check names those.
#
# The line stands first, behind #! second. In kernels (.cu, .cuh) it stands last, because messages name their
# lines. What is embedded into the program loses it (tools/gen/embed-cu.sh, tools/gen/embed-text.sh): no kernel changes.
# Left out: passes/TEMPLATE.c, which becomes an author's own file. Without files: all sources (tools/check/files.sh).
set -eu
cd "$(dirname "$0")/../.."
id='SPDX-License-Identifier: Apache-2.0'
check=0
if [ "${1:-}" = --check ]; then
	check=1
	shift
fi
bad=0

# add FILE: puts the line where it belongs. The file keeps its mode.
add()
{
	case $1 in
	*.c | *.h | *.def | *.inc | *.ld | *.cu | *.cuh) line="/* $id */" ;;
	*.sql) line="-- $id" ;;
	*) line="# $id" ;;
	esac
	case $1 in
	*.cu | *.cuh) { cat "$1" && echo "$line"; } >"$tmp" ;;
	*) awk -v line="$line" 'NR == 1 && /^#!/ { print; print line; next } NR == 1 { print line } { print }' \
		"$1" >"$tmp" ;;
	esac
	cat "$tmp" >"$1"
}

if [ $# -gt 0 ]; then
	files=$(printf '%s\n' "$@")
else
	files=$(tools/check/files.sh '*.c' '*.h' '*.def' '*.inc' '*.ld' \
		'*.cu' '*.cuh' '*.sql' '*.sh' '*.py' '*Makefile' .ci/run | grep -v '^passes/TEMPLATE\.c$')
fi
[ -n "$files" ] || { echo "spdx.sh: no sources found" >&2; exit 3; }
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
# Files without exactly one such line, each behind the number of its lines. Only a line of its own counts; this script
# names it elsewhere. One process for all: names that begin with a folder are no assignments of awk.
counts=$(printf '%s\n' "$files" | while read -r f; do [ ! -f "$f" ] || printf '%s\n' "$f"; done | sed 's,^[^/],./&,' |
	tr '\n' '\0' | xargs -0 -r awk -v id="$id" '
		$0 == "/* " id " */" || $0 == "-- " id || $0 == "# " id || $0 == "/* " id || $0 == "-- " id " */" ||
			$0 == "# " id " */" { n[FILENAME]++ }
		END {
			for (i = 1; i < ARGC; i++)
				if (n[ARGV[i]] != 1) {
					f = ARGV[i]
					sub(/^\.\//, "", f)
					print n[ARGV[i]] + 0, f
				}
		}')
while read -r n f; do
	[ -n "$f" ] || continue
	if [ "$n" -gt 1 ]; then
		echo "spdx.sh: $f has the licence line $n times; keep one" >&2
		bad=1
	elif [ $check = 1 ]; then
		echo "spdx.sh: $f has no licence line; run: tools/check/spdx.sh" >&2
		bad=1
	else
		add "$f"
	fi
done <<END
$counts
END
exit $bad
