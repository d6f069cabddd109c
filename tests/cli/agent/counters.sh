#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# counters.sh - CUPTI, which reads a GPU's counters: our declarations beside the toolkit's, and what doctor says of it.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# The host interface's header asks for C++'s <string> and needs nothing of it.
headers=${CUDA_HOME:-/usr/local/cuda}/include
if [ -f "$headers/cupti_range_profiler.h" ] && [ -f "$headers/cuda.h" ]; then
	mkdir "$tmp/empty"
	: >"$tmp/empty/string"
	"${CC:-cc}" -std=c11 -fsyntax-only -I. -Iinclude -I"$tmp/empty" -isystem "$headers" tests/cli/agent/cupti_layout.c
	tap "structures lie as in CUPTI's headers"
else
	skip "structures lie as in CUPTI's headers" "no CUPTI headers below ${CUDA_HOME:-/usr/local/cuda}; install cuda-cupti-dev"
fi

# row: doctor's row of CUPTI, of the library in $tmp/lib.
row()
{
	LD_LIBRARY_PATH=$tmp/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$passmith" doctor | grep '^[yn][eo][s ] CUPTI' >"$tmp/out"
}

own_libraries()
{
	mkdir "$tmp/lib"
	"${CC:-cc}" -std=c11 -shared -fPIC -o "$tmp/lib/libcupti.so.13" tests/cli/agent/lacking_cupti.c
	tap "an old CUPTI is built"
	row
	grep -q '^no .*lacks cuptiProfilerInitialize; install cuda-cupti of CUDA 12.6 or newer' "$tmp/out"
	tap "doctor names what an old CUPTI lacks"

	# All functions that are needed: doctor calls none of a GPU.
	{
		echo 'int cuptiGetVersion(unsigned *v) { *v = 130099; return 0; }'
		echo 'int cuptiGetResultString(int e, const char **t) { *t = "error"; return e == 0; }'
		sed -n 's/^	XX([a-z_]*, \(cupti[A-Za-z]*\), .*/int \1(void *s) { (void)s; return 999; }/p' runtime/cuda/cupti/cupti_priv.h
	} >"$tmp/whole.c"
	"${CC:-cc}" -std=c11 -shared -fPIC -o "$tmp/lib/libcupti.so.13" "$tmp/whole.c"
	tap "a new CUPTI is built"
	row
	grep -q "^yes CUPTI         CUPTI 130099, $tmp/lib/libcupti.so.13" "$tmp/out"
	tap "doctor says its version and place"
}

# Libraries of our own, in which the loader looks first; where all of GPUs are hidden they are, too.
case ${LD_PRELOAD-} in
*no_gpu.so*) skip "doctor's row of CUPTI" "libraries of GPUs are hidden here, made-up ones too" ;;
*) own_libraries ;;
esac
"$passmith" doctor --json >"$tmp/out"
grep -q '"what": "CUPTI"' "$tmp/out" && grep -q '"needed_for": "hardware counters in passmith profile"' "$tmp/out"
tap "and in JSON what it is for"

tap_done
