#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# half.sh - kernels that compute with cuda_fp16.h and cuda_bf16.h are judged like any other: what these headers write
# in assembler is allowed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

printf '%s\n' 'g (float16[6,33] x) => (float16[6,33] y) {' ' a = Abs(x)' ' y = Sqrt(a) }' >"$tmp/root.gpt"

# root NAME SQRT: a right square root of the magnitude, in 16 bits, of whichever type.
root()
{
	cat >"$tmp/$1.c" <<PASS
#include "passmith/dsl.h"
enum { X };
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void k(const T *x, T *y, long long n)
	{
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i < n)
			y[i] = $2;
	}
);
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { pm_blocks(n, 64) }, .block = { 64 },
		.in = PM_VALS(m->v[X]), .arg = PM_ARGS(IN(0), OUT(0), I64(n)));
}
PM_RULE($1, .pattern = OP(Sqrt, OP(Abs, TYPED(V(X), TYPE(F16) | TYPE(BF16), -1))), .rewrite = rewrite);
PM_PLUGIN("$1", "1", &$1)
PASS
	pm build "$tmp/$1.c" -o "$tmp/$1.so"
	exits 0 "$1 is built"
}

root one 'hsqrt(__habs(x[i]))'
for type in float16 bfloat16; do
	pm eval "$tmp/root.gpt" --pass "$tmp/one.so" --device emu --dtype $type --check-only --json
	exits 0 "one number of $type at a time"
	says '"verdict": "OK"' "is right"
done
root wrong 'hsqrt(x[i])'
pm eval "$tmp/root.gpt" --pass "$tmp/wrong.so" --device emu --dtype float16 --check-only
says "INCORRECT" "and a wrong one is not, for its numbers"
tap_done
