#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# counters.sh - CUPTI, which reads a GPU's counters: our declarations beside the toolkit's.
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

tap_done
