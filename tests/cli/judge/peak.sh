#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# peak.sh - operations count against the peak of the types that the graph computes in. What element type a kernel says
# that it has is its author's word: a float kernel that calls itself half gains nothing.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/g.gpt" <<'END'
<ir_version: 10, opset_import: ["" : 21]>
product (float[384,384] a, float[384,384] b) => (float[384,384] y) { c = MatMul (a, b) y = Relu (c) }
END
# pass NAME FIELDS: a plain product; FIELDS go into the description of the kernel.
pass()
{
	cat >"$tmp/$1.c" <<END
#include "passmith/dsl.h"
enum { A, B };
static const char SRC[] = PM_CUDA(extern "C" __global__ void k(const float *a, const float *b, float *y) {
	float sum = 0.f, part = 0.f;
	for (int i = 0; i < 384; i++) {
		part += a[blockIdx.x * 384 + i] * b[i * 384 + threadIdx.x];
		if (i % 16 == 15) {
			sum += part;
			part = 0.f;
		}
	}
	y[blockIdx.x * 384 + threadIdx.x] = sum < 0.f ? 0.f : sum;
});
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { 384 }, .block = { 384 },
				      .in = PM_VALS(m->v[A], m->v[B]), .like = m->root $2);
}
PM_RULE(product, .doc = "Relu of a product", .pattern = OP(Relu, OP(MatMul, V(A), V(B))), .rewrite = rewrite);
PM_PLUGIN("$1", "1", &product)
END
	pm build "$tmp/$1.c" --no-kernels -o "$tmp/$1.so"
	exits 0 "builds $1"
	pm eval "$tmp/g.gpt" --pass "$tmp/$1.so" --quick -o "$tmp/$1.json" --quiet
	exits 0 "$1 is right"
	sed -n 's/^ *"speedup": *\([0-9.]*\),*$/\1/p' "$tmp/$1.json" | head -n 1 >"$tmp/$1.speed"
}

pass plain ""
pass half ", .type = PM_F16 + 1"
[ -s "$tmp/plain.speed" ] && cmp -s "$tmp/plain.speed" "$tmp/half.speed"
tap "both have the same speedup: $(cat "$tmp/plain.speed"), $(cat "$tmp/half.speed")"

tap_done
