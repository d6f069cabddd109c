#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plan.sh - passmith eval: the kernels that are rehearsed are those that were judged, or nothing is said of the pass.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[5,67]"

cat >"$tmp/two.c" <<'PASS'
#include "passmith/dsl.h"
enum { X };
#define SRC(name) "extern \"C\" __global__ void " name "(const T *x, T *y, long long n)\n{\n" \
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" \
	"if (i < n) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n}\n"
#define SPEC(name) .entry = name, .source = SRC(name), .grid = { pm_blocks(n, 64) }, .block = { 64 }, \
	.arg = PM_ARGS(IN(0), OUT(0), I64(n))
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	return PM_REPLACE_WITH_KERNEL(rw, m, SPEC("the_first"), .in = PM_VALS(m->v[X]),
		.alt = PM_ALTERNATIVE(SPEC("the_second")));
}
PM_RULE(two, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("two", "1", &two)
PASS
pm build "$tmp/two.c" -o "$tmp/two.so"
exits 0 "a pass with two alternatives is built"

PASSMITH_CACHE=$tmp/cache
export PASSMITH_CACHE
pm eval "$tmp/silu.gpt" --pass "$tmp/two.so" --device emu
exits 0 "it is right"

second=
# From now on the second alternative is another file each time that somebody loads it: a byte more behind its code.
for so in "$tmp"/cache/emu/*.so; do
	grep -q the_second "$so" && second="$second $so"
done
[ -n "$second" ]
tap "the cache holds the second alternative"
while [ ! -e "$tmp/stop" ]; do
	for so in $second; do
		printf x >>"$so"
	done
	sleep 0.01
done &
changes=$!
pm eval "$tmp/silu.gpt" --pass "$tmp/two.so" --device emu
: >"$tmp/stop"
wait $changes
exits 3 "what changes between judging and rehearsing is not evaluated"
warns "Alternative 1 that ran (digest " "it says which one ran"
warns "is not the one that was judged" "and that another was judged"

tap_done
