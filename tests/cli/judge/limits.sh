#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# limits.sh - passmith eval refuses a candidate that asks for more than it may have, before anything is allocated, and
# finds a kernel that works only where buffers do not begin as those of timed calls.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[5,67]"

# scratch NAME BYTES: a pass whose kernel has so much of it, in a second alternative where NAME ends with _alt.
scratch()
{
	case $1 in
	*_alt) first=64 more=", .alt = PM_ALTERNATIVE(.entry = \"k\", .source = SRC, .grid = { pm_blocks(n, 64) }, .block = { 64 }, .scratch = PM_SCRATCH($2), .arg = PM_ARGS(IN(0), OUT(0), SCR(0), I64(n)))" ;;
	*) first=$2 more= ;;
	esac
	cat >"$tmp/$1.c" <<PASS
#include "passmith/dsl.h"
enum { X };
static const char SRC[] = "extern \"C\" __global__ void k(const T *x, T *y, int *s, long long n)\n{\n"
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
	"${trick:-}\n"
	"if (i < n) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n}\n";
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { pm_blocks(n, 64) }, .block = { 64 },
		.in = PM_VALS(m->v[X]), .scratch = PM_SCRATCH($first), .arg = PM_ARGS(IN(0), OUT(0), SCR(0), I64(n))$more);
}
PM_RULE($1, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("$1", "1", &$1)
PASS
	pm build "$tmp/$1.c" -o "$tmp/$1.so"
	exits 0 "$1 is built"
	pm eval "$tmp/silu.gpt" --pass "$tmp/$1.so" --device emu
}

scratch small 4096
says "OK" "4 KiB of scratch are allowed"
scratch much 67108865
says "LAUNCH_FAIL" "64 MiB and a byte are not"
says "more than the 67108864 bytes of scratch" "and the sentence says the limit"
says "67108865 bytes" "and what was asked for"
scratch much_alt 3221225472
says "LAUNCH_FAIL" "nor 3 GiB in another alternative"
says "3221225472 bytes" "and the sentence says which buffer"
trick='if (((unsigned long long)x | (unsigned long long)y) % 4096 == 0 && i < n) { y[i] = st(0.f); return; }'
scratch by_place 4096
grep -qE "NONDET|INCORRECT" "$tmp/out"
tap "a kernel that depends on where its buffers lie is found"
tap_done
