#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# author.sh - what an author reads about a wrong pass: who is named is at fault, and nothing is said that does not help.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/norm.gpt" <<'END'
g (float[12,10,5] v, float[1,1,5] g) => (float[12,10,5] w)
{
  n = ReduceL2 <axes = [0, 1]> (v)
  s = Div (g, n)
  w = Mul (v, s)
}
END

# norm NAME REDUCE FACTOR: a weight normalisation, whose block of a column does REDUCE in each step of the sum.
norm()
{
	cat >"$tmp/$1.c" <<PASS
#include "passmith/dsl.h"
enum { X, G };
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void wnorm(const T *x, const T *g, T *y, int rows, int cols)
	{
		__shared__ float part[128];
		int c = blockIdx.x, t = threadIdx.x;
		float s = 0.f;
		for (int r = t; r < rows; r += 128)
			s += ld(x[r * cols + c]) * ld(x[r * cols + c]);
		part[t] = s;
		__syncthreads();
		$2
		float f = $3;
		for (int r = t; r < rows; r += 128)
			y[r * cols + c] = st(ld(x[r * cols + c]) * f);
	}
);
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t rows = pm_dim(m->v[X], 0) * pm_dim(m->v[X], 1), cols = pm_dim(m->v[X], 2);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "wnorm", .source = SRC, .grid = { cols }, .block = { 128 },
		.in = PM_VALS(m->v[X], m->v[G]), .arg = PM_ARGS(I32(rows), I32(cols)));
}
PM_RULE($1, .pattern = OP(Mul, TYPED(V(X), FLOATS, 3), OP(Div, TYPED(V(G), FLOATS, 3), WITH(OP(ReduceL2, V(X)), INTS(axes, 0, 1)))),
	.rewrite = rewrite);
PM_PLUGIN("$1", "1", &$1)
PASS
	pm build "$tmp/$1.c" -o "$tmp/$1.so" --no-kernels
	exits 0 "$1 is built"
	shift 3
	pm eval "$tmp/norm.gpt" --pass "$tmp/${name:?}.so" --device emu --hidden 0 --check-only "$@"
}

halves='for (int o = 64; o; o >>= 1) { if (t < o) part[t] += part[t + o]; __syncthreads(); }'
factor='ld(g[c]) / sqrtf(part[0])'

# Within a warp the collective orders what its lanes read and what they write then.
warp='for (int o = 64; o > 31; o >>= 1) { if (t < o) part[t] += part[t + o]; __syncthreads(); }
	if (t < 32)
		for (int o = 16; o; o >>= 1) {
			float other = part[t ^ o];
			__syncwarp();
			part[t] += other;
			__syncwarp();
		}
	__syncthreads();'
name=right
norm right "$halves" "$factor"
exits 0 "a right one is right"
name=by_warp
norm by_warp "$warp" "$factor"
exits 0 "so is one whose last steps are a warp's"

# The barrier behind the last step is missing: thread 0 writes what all have read.
name=unsynced
norm unsynced 'for (int o = 64; o; o >>= 1) { __syncthreads(); if (t < o) part[t] += part[t + o]; }' "$factor"
says "NONDET (as written): Kernel 'unsynced' (entry 'wnorm') has a race: threads (" "a missing barrier is a race"
grep -q 'threads (0,0,0) and (0,0,0)' "$tmp/out"
[ $? -eq 1 ]
tap "of two threads"
says "Inputs are drawn anew each time; give -o REPORT" "what was drawn can be drawn again"
norm unsynced 'for (int o = 64; o; o >>= 1) { __syncthreads(); if (t < o) part[t] += part[t + o]; }' "$factor" \
	--save-failing "$tmp/failing"
says "sh $tmp/failing/replay.sh" "where failing variants are saved their lines do that"
! grep -q "Inputs are drawn anew" "$tmp/out"
tap "and nothing else is advised"

# What is refused before anything runs does not come from what was drawn.
name=loud
norm loud "$halves printf(\"%f\", part[0]);" "$factor"
if "$passmith" doctor | grep -q '^yes NVRTC'; then
	says "REJECT_" "printf is refused"
	says "see what it prints by passmith eval --debug-print" "and the sentence says where it works"
else
	says "COMPILE_FAIL" "printf is not there on emu"
	skip "and the sentence says where it works" "there is no NVRTC"
fi
! grep -q "Inputs are drawn anew" "$tmp/out"
tap "no inputs are blamed"
pm eval "$tmp/norm.gpt" --pass "$tmp/loud.so" --device emu --check-only --json
! grep -q '"why": ".* ",$' "$tmp/out"
tap "no sentence ends with a blank"
pm check "$tmp/norm.gpt" --json
says '"verdict": "REJECT_ELF"' "what is no shared object is refused"
! grep -q '"message": ".* ",$' "$tmp/out"
tap "without a blank at the end, too"
tap_done
