#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# structure.sh - circles of files and overfull folders are noticed: tools/check/check-cycles.sh, tools/gen/structure.sh.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# A tree of two files that call each other, one that only calls, and one whose header needs another's.
mkdir -p "$tmp/tree/base" "$tmp/tree/obj"
cp -r tools "$tmp/tree"
for d in ir simplify extract dataset matcher runtime integrity bench rt app cli; do
	mkdir "$tmp/tree/$d"
done
printf 'int b(int n);\nint a(int n);\nint a(int n) { return n ? b(n - 1) : 0; }\n' >"$tmp/tree/base/a.c"
printf 'int a(int n);\nint b(int n);\nint b(int n) { return n ? a(n - 1) : 1; }\n' >"$tmp/tree/base/b.c"
printf 'int a(int n);\nint c(void);\nint c(void) { return a(3); }\n' >"$tmp/tree/base/c.c"
printf 'int c(void);\nint d(void);\nint d(void) { return c(); }\n' >"$tmp/tree/base/d.c"
printf '#include "base/b.h"\n' >"$tmp/tree/base/a.h"

# cycles LIST-LINE WORDS: with that list, the check ends with these words, and fails unless they are of its success.
cycles()
{
	printf '%s\n' "$1" >"$tmp/list"
	for f in a b c d; do
		mkdir -p "$tmp/build/obj/base"
		"${CC:-cc}" -c "$tmp/tree/base/$f.c" -o "$tmp/build/obj/base/$f.o" || return
	done
	CYCLES=$tmp/list BUILD=$tmp/build "$tmp/tree/tools/check/check-cycles.sh" >"$tmp/out" 2>"$tmp/err"
	code=$?
	grep -qF "$2" "$tmp/out" || return
	case $2 in *"each named"*) [ $code -eq 0 ] ;; *) [ $code -eq 1 ] ;; esac
}

cycles '# none' 'files need each other: base/a base/b'
tap "two files that call each other are a circle"
cycles 'base/a base/b: a test' '4 files, 1 circles, each named in'
tap "one that is named with its reason is allowed"
cycles 'base/a base/b:' 'cannot read'
tap "a name without a reason is not"
printf '#include "base/d.h"\n' >"$tmp/tree/base/c.h"
cycles 'base/a base/b: a test' 'files need each other: base/c base/d'
tap "a header that needs the header of a caller is a circle"
rm "$tmp/tree/base/c.h"
printf 'int b(int n);\nint b(int n) { return n; }\n' >"$tmp/tree/base/b.c"
rm "$tmp/tree/base/a.h"
cycles 'base/a base/b: a test' 'names a circle that is not there: base/a base/b'
tap "a name of a circle that is gone is noticed"

# The real tree with one folder too full, and one without a purpose.
mkdir "$tmp/full"
tools/check/files.sh '*.c' '*.h' '*.cu' '*.cuh' '*.def' '*.sql' '*.py' '*.sh' '*.txt' 'docs/design/*' >"$tmp/files"
tar -c -T "$tmp/files" | tar -x -C "$tmp/full"
"$tmp/full/tools/gen/structure.sh" --check >"$tmp/out" 2>"$tmp/err"
tap "the drawing and the tables of the tree are fresh"
"$tmp/full/tools/check/check-layers.sh" >"$tmp/out" 2>"$tmp/err"
tap "files include what their folders may"
cp "$tmp/full/tools/check/layers.txt" "$tmp/layers"
echo 'folder simplify: base ir' >>"$tmp/full/tools/check/layers.txt"
! "$tmp/full/tools/check/check-layers.sh" >"$tmp/out" 2>"$tmp/err" && [ "$(head -n 1 "$tmp/out")" = "tools/check/layers.txt: the folder simplify has two rows; join them to one" ]
tap "a folder with two rows is refused"
cp "$tmp/layers" "$tmp/full/tools/check/layers.txt"
"$tmp/full/tools/gen/structure.sh" --sizes >"$tmp/out" 2>"$tmp/err"
before=$(sed -n 's/^ *\([0-9]*\) simplify$/\1/p' "$tmp/out")
: >"$tmp/full/simplify/more.c"
"$tmp/full/tools/gen/structure.sh" --sizes >"$tmp/out" 2>"$tmp/err" && grep -q "^ *$((before + 1)) simplify\$" "$tmp/out"
tap "a new source is counted"
"$tmp/full/tools/gen/structure.sh" --check >"$tmp/out" 2>"$tmp/err"
tap "and changes no page: CONTRIBUTING.md counts the files of a change"
mkdir "$tmp/full/simplify/part" && : >"$tmp/full/simplify/part/part.c"
echo 'simplify/part: a part' >>"$tmp/full/tools/gen/folders.txt"
! "$tmp/full/tools/gen/structure.sh" --check >"$tmp/out" 2>"$tmp/err" && grep -q 'is not fresh' "$tmp/err"
tap "a new folder makes them stale"
for i in $(seq 30); do
	: >"$tmp/full/simplify/more_$i.c"
done
! "$tmp/full/tools/gen/structure.sh" --check >"$tmp/out" 2>"$tmp/err" && grep -q 'simplify has .* at most 30' "$tmp/err"
tap "a folder of more than 30 sources is refused"
tap_done
