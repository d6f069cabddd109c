#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# report.sh - what a pass says about its rewrites (pm_report): explain prints it, cleaned and within its limit; nobody else
# asks.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# Its kernel says whether somebody asked. Of more than 64 elements it reports more than is kept.
cat >"$tmp/reports.c" <<'END'
#include "passmith/dsl.h"
#define BODY                                                                                                 \
	"extern \"C\" __global__ void k(const T *x, T *y, long long n) { long long i = blockIdx.x * 64 + "  \
	"threadIdx.x; if (i < n) y[i] = st(tanhf(ld(x[i]))); }"
static PmStatus check(PmMatch *m)
{
	pm_report("a check reports nothing\n");
	return pm_rank(m->root) == 2 ? PM_OK : pm_decline(m, "not of rank 2");
}
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->root), i;
	int asked = pm_report(NULL);

	pm_report("a line,\twith \x1b[31ma colour\n");
	for (i = 0; i < 20000 && n > 64; i++)
		pm_report("0123456789abcde\n");
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = asked ? "/* asked */" BODY : "/* nobody */" BODY,
				      .grid = { pm_blocks(n, 64) }, .block = { 64 }, .in = PM_VALS(m->v[0]),
				      .arg = PM_ARGS(I64(n)), .like = m->root);
}
PM_RULE(alone, .doc = "Tanh", .pattern = OP(Tanh, TYPED(V(0), FLOATS, -1)), .check = check, .rewrite = rewrite);
PM_PLUGIN("reports", "1", &alone)
END
cat >"$tmp/g.gpt" <<'END'
g (float[2,8] x, float[2,64] z, float[3] u) => (float[2,8] y, float[2,64] w, float[3] v)
{ y = Tanh (x) w = Tanh (z) v = Tanh (u) }
END
pm build "$tmp/reports.c"
exits 0 "build"
pm explain "$tmp/g.gpt" --pass "$tmp/reports.so"
exits 0 "explain"
says "rewrite 1, by rule alone: node " "explain says what was rewritten"
grep -q '^a line, with  \[31ma colour$' "$tmp/out"
tap "and what the pass reports, without control characters"
[ "$(grep -c '^rewrite [0-9]*, by rule alone: ' "$tmp/out")" -eq 2 ] && ! grep -q 'a check reports' "$tmp/out"
tap "two rewrites have reports: what declined has none, nor what a check says"
kept=$(sed -n '/^rewrite 2/,$p' "$tmp/out" | grep -c '^0123456789abcde$')
[ "$kept" -gt 16000 ] && [ "$kept" -lt 16384 ]
tap "of a report 256 KiB are kept ($kept lines of 16)"
pm explain "$tmp/g.gpt" --pass "$tmp/reports.so" --json
exits 0 "explain --json"
tr -d ' \t\n' <"$tmp/out" | grep -q '"reports":\[{"rule":"alone","node":"node'
tap "--json has them as reports"
pm explain "$tmp/g.gpt" --pass "$build/passes/silu.so" --json
! grep -q '"reports"' "$tmp/out"
tap "a pass that says nothing has none"
pm apply "$tmp/g.gpt" --pass "$tmp/reports.so" -o "$tmp/fused.gpt"
exits 0 "apply"
grep -q '/\* nobody \*/' "$tmp/fused.gpt" && ! grep -q '/\* asked \*/' "$tmp/fused.gpt"
tap "apply does not ask"
tap_done
