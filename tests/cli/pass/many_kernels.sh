#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# many_kernels.sh - a pass that makes many kernels of few different sources: each source crosses once from the pass's process, so that
# their number does not bring the answer to its limit.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

places=60

# A source of more than 800,000 bytes: that of all places together is longer than an answer may be (24 MiB).
{
	cat <<'C'
#include "passmith/dsl.h"
static const char SRC[] =
	"extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n"
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\nif (i < n) y[i] = x[i] > 0 ? x[i] : 0;\n}\n"
C
	awk 'BEGIN { for (i = 0; i < 8000; i++) { printf "\t\"// %05d ", i; for (k = 0; k < 10; k++) printf "a comment."; print "\\n\""; } }'
	cat <<'C'
	;
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { pm_blocks(pm_numel(m->v[0]), 256) },
				      .block = { 256 }, .in = PM_VALS(m->v[0]), .arg = PM_ARGS(I64(pm_numel(m->v[0]))),
				      .like = m->root);
}
PM_RULE(relu, .doc = "Relu", .pattern = OP(Relu, V(0)), .rewrite = rewrite);
PM_PLUGIN("long", "1", &relu)
C
} >"$tmp/long.c"
pm build "$tmp/long.c" -o "$tmp/long.so"
exits 0 "a pass with a long source"
{
	echo "m (float[8] x0) => (float[8] x$places) {"
	awk -v n=$places 'BEGIN { for (i = 0; i < n; i++) printf "x%d = Relu(x%d)\n", i + 1, i; }'
	echo "}"
} >"$tmp/m.gpt"
pm apply "$tmp/m.gpt" --pass "$tmp/long.so" -o "$tmp/out.gpt"
exits 0 "it applies in $places places"
says "$places places rewritten" "to all of them"
[ "$(grep -c 'source_0 = "extern' "$tmp/out.gpt")" -eq $places ] && [ "$(grep -c 'a comment' "$tmp/out.gpt")" -eq $places ]
tap "and each kernel has its source"
pm run "$tmp/out.gpt" --device ref
exits 0 "the model that was written runs"
tap_done
