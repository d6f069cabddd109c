#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# failure.sh - what a failing record says as fields: result, inputs, first and worst element, how many are wrong.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[8,64]"
wrong=$build/tests/plugin/wrong_silu.so

# failure FILE: the object, one line, without blanks; number KEY: what stands at the first such key of it.
failure()
{
	awk '/"failure": \{/ { on = 1; depth = 0 }
	     on { gsub(/[ \t]/, ""); printf "%s", $0; depth += gsub(/\{/, "{") - gsub(/\}/, "}"); if (!depth) exit }' "$1"
}
number()
{
	sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" "$tmp/f"
}
# same_place: the last "index" is that of the sentence, and the coordinates before it are the same element's.
same_place()
{
	index=$(number index)
	grep -q "\"at\":\[$((index / 64)),$((index % 64))\],\"index\":$index," "$tmp/f" &&
		grep -q "\"why\":.*element $index is " "$tmp/r"
}

pm eval "$tmp/silu.gpt" --pass "$wrong" --hidden 0 -o "$tmp/r" --quiet
exits 1 "a wrong pass"
failure "$tmp/r" >"$tmp/f"
grep -q '"variant":"aswritten","inputs":"[a-z]*","eight_changed":[a-z]*,"alternative":0,"output":"y","judged_by":"bound","type":"float","shape":\[8,64\],"elements":512,' "$tmp/f"
tap "variant, inputs, alternative, result and shape are fields"
grep -q "\"why\":.*inputs $(sed -n 's/.*"inputs":"\([a-z]*\)".*/\1/p' "$tmp/f")" "$tmp/r"
tap "the inputs are those of the sentence"
n=$(number wrong)
[ -n "$n" ] && [ "$n" -gt 0 ] && [ "$n" -le 512 ]
tap "the wrong elements are counted"
same_place
tap "the worst element is that of the sentence, by its coordinates"
grep -q '"first":{"at":\[[0-9]*,[0-9]*\],"index":[0-9]*,"expected":[^,]*,"got":[^}]*}' "$tmp/f"
tap "and the first has what was expected and what came"

pm eval "$tmp/silu.gpt" --pass "$wrong" --preset passnet -o "$tmp/r" --quiet
failure "$tmp/r" >"$tmp/f"
grep -q '"judged_by":"ladder"' "$tmp/f" && grep -q '"first":{"at":' "$tmp/f" && [ "$(number wrong)" -gt 0 ]
tap "without a bound they are those of the ladder"
same_place
tap "and the worst is that of the sentence there too"

# Rounding hides the whole answer, here behind 1e9: a constant is within any bound, and still not taken for right.
cat >"$tmp/flat.c" <<'END'
#include "passmith/dsl.h"
enum { X, C };
static const char SRC[] = PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {
	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = st(ld(x[i]) != ld(x[i]) ? ld(x[i]) : 7.f);
});
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)), .like = m->root);
}
PM_RULE(flat, .doc = "x + c - c, by a constant",
	.pattern = OP(Sub, OP(Add, OP(Sigmoid, TYPED(V(X), FLOATS, -1)), V(C)), V(C)), .rewrite = rewrite);
PM_PLUGIN("flat", "1", &flat)
END
cat >"$tmp/hidden.gpt" <<'END'
g (float[8,64] x) => (float[8,64] y)
<float c = {1000000000.0}>
{
   s = Sigmoid (x)
   a = Add (s, c)
   y = Sub (a, c)
}
END
pm build "$tmp/flat.c"
exits 0 "build of a pass that gives a constant"
pm eval "$tmp/hidden.gpt" --pass "$tmp/flat.so" --hidden 0 -o "$tmp/r" --quiet
says "INCORRECT (as written): Not proven right" "what no bound can tell is not proven right"
failure "$tmp/r" >"$tmp/f"
grep -q '"output":"y","judged_by":"ladder"' "$tmp/f" && grep -q '"first":{"at":' "$tmp/f" && [ "$(number wrong)" -gt 0 ] &&
	grep -q "\"why\":.*inputs $(sed -n 's/.*"inputs":"\([a-z]*\)".*/\1/p' "$tmp/f")" "$tmp/r"
tap "and has the same fields, of the inputs that the sentence names"

pm eval "$tmp/silu.gpt" --pass "$build/tests/plugin/half_silu.so" --hidden 0 -o "$tmp/r" --quiet
failure "$tmp/r" >"$tmp/f"
[ "$(cat "$tmp/f")" = '"failure":{"variant":"aswritten","inputs":"normal","eight_changed":false,"alternative":0},' ] ||
	[ "$(cat "$tmp/f")" = '"failure":{"variant":"aswritten","inputs":"normal","eight_changed":false,"alternative":0}' ]
tap "a run that fails otherwise has its inputs"
pm eval "$tmp/silu.gpt" --pass "$build/passes/silu.so" --hidden 0 -o "$tmp/r" --quiet
exits 0 "a right pass"
! grep -q '"failure"' "$tmp/r"
tap "has no failure"

pm extract "$tmp/silu.gpt" --db "$tmp/db" --quiet
pm task make --db "$tmp/db" --top 1 --name t --shapes 1 --quiet
pm eval t --db "$tmp/db" --pass "$wrong" --hidden 0 -o "$tmp/r1" --quiet
pm eval t --db "$tmp/db" --pass "$wrong" --hidden 0 -o "$tmp/r2" --quiet
failure "$tmp/r1" >"$tmp/a" && failure "$tmp/r2" >"$tmp/b" && [ -s "$tmp/a" ] && cmp -s "$tmp/a" "$tmp/b"
tap "a stored result keeps it"
tap_done
