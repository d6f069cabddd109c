#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dist.sh - make dist: the tarball has every file of the checkout and nothing else; the checks of sources hold in it,
# and its Makefile builds from it. (The whole of make check there takes as long as here: .ci/run does it for the checkout.)
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! git rev-parse --git-dir >/dev/null 2>&1; then
	echo "this is no git checkout"
	exit 77
fi
BUILD=$tmp tools/release/dist.sh >"$tmp/out" 2>"$tmp/err"
tap "make dist"
BUILD=$tmp/again tools/release/dist.sh >"$tmp/out" 2>"$tmp/err" && cmp "$tmp"/passmith-*.tar.gz "$tmp"/again/passmith-*.tar.gz
tap "the same tree gives the same bytes"
tar -C "$tmp" -xzf "$tmp"/passmith-*.tar.gz && cd "$tmp"/passmith-*/
tap "it unpacks to one folder"
source=$OLDPWD
find . -type f -o -type l | sed 's,^\./,,' | LC_ALL=C sort >"$tmp/has"
git -C "$source" ls-files | while read -r f; do [ ! -e "$source/$f" ] || echo "$f"; done | LC_ALL=C sort >"$tmp/wants"
diff "$tmp/wants" "$tmp/has" >"$tmp/out"
tap "every file is there, and no other"
for f in Makefile .ci/run tests/run.sh tools/setup.sh; do
	[ -e "$f" ] && { [ "$f" = Makefile ] || [ -x "$f" ]; }
	tap "$f is there and may be run"
done
for check in "tools/check/check.sh" "tools/check/spdx.sh --check" "tools/check/check-layers.sh" "tools/check/check-docs.sh" "tools/check/check-api.sh" \
	"tools/gen/structure.sh --check" "tools/gen/picture.sh --check"; do
	# Words of a command. No git looks beyond the folder.
	GIT_CEILING_DIRECTORIES=$tmp $check >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ]
	tap "$check holds in it, without git"
done
rm docs/design/timing.md
! tools/check/check-docs.sh >"$tmp/out" 2>"$tmp/err"
tap "and notices a page that is missing"
printf 'int wrong;\n' >ir/core/wrong.c
! tools/check/check.sh >"$tmp/out" 2>"$tmp/err" && grep -q 'ir/core/wrong.c' "$tmp/err"
tap "and a file that does not say what it is for"
rm ir/core/wrong.c
make BUILD="$tmp/build" "$tmp/build/obj/base/core/err.o" >"$tmp/out" 2>"$tmp/err" && [ -s "$tmp/build/obj/base/core/err.o" ]
tap "what is generated is made, and a source compiles"
make -n BUILD="$tmp/build" all >"$tmp/out" 2>"$tmp/err" && grep -q 'ar rcs' "$tmp/out"
tap "make knows how to build everything from it"
tap_done
