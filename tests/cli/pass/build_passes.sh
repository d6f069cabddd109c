#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build_passes.sh - passmith build refuses no pass of ours, whichever compiler reads the kernels. NVRTC reads those with
# a DEF, of which there is more than one way to compile a text; all others are compiled by it in other tests.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# builds BY PASS: it does, and says who read the kernels, or that eval will.
builds()
{
	rm -f "$tmp/p.so"
	pm build "$2" -o "$tmp/p.so"
	[ "$code" -eq 0 ] && [ -s "$tmp/p.so" ] && grep -q -e "^kernels: [1-9].* by $1" -e '^kernels: of [1-9]' "$tmp/out"
	tap "$1: $2"
}

if "$passmith" doctor | grep -q '^yes NVRTC'; then
	for c in passes/*.c passes/library/*/*.c; do
		! grep -q 'DEF(' "$c" || builds NVRTC "$c"
	done
else
	skip "NVRTC: passes with a DEF" "there is no NVRTC here"
fi

mkdir "$tmp/hidden"
echo 'int nothing_of_nvrtc;' | "${CC:-cc}" -shared -fPIC -o "$tmp/hidden/libnvrtc.so" -xc -
tap "a library that is no NVRTC is built"
export LD_LIBRARY_PATH="$tmp/hidden${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
for c in passes/*.c passes/library/*/*.c passes/fuse; do
	builds "g++ for emu" "$c"
done
tap_done
