#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# explain.sh - what `passmith explain` and `passmith eval` say of rules that did not apply.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/many.c" <<'END'
#include "passmith/dsl.h"

static const char SRC[] = PM_CUDA(
	extern "C" __global__ void product(const T *a, const T *b, T *y, long long n)
	{
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i < n)
			y[i] = st(ld(a[i]) * ld(b[i]));
	}
);

static PmStatus never(PmMatch *m)
{
	return pm_decline(m, "not on this day of the week");
}

static PmStatus only_f32(PmMatch *m)
{
	return pm_dtype(m->v[0]) == PM_F32 ? PM_OK : pm_decline(m, "no 16 bits yet");
}

static PmStatus product(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->root);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "product", .source = SRC, .grid = { pm_blocks(n, 64) },
		.block = { 64 }, .in = PM_VALS(m->v[0], m->v[1]), .arg = PM_ARGS(I64(n)), .like = m->root);
}

/* Goes first, declines, and the next takes the node. */
PM_RULE(declines, .pattern = OP(Mul, V(0), OP(Sigmoid, V(0))), .check = never, .rewrite = product);
PM_RULE(takes, .pattern = OP(Mul, V(0), V(1)), .check = only_f32, .rewrite = product);
/* Comes after that, and finds no Mul. */
PM_RULE(late, .pattern = OP(Mul, V(0), V(1)), .benefit = -1, .rewrite = product);
PM_RULE(by_attr, .pattern = WITH(OP(Softmax, V(0)), INT(axis, 0)), .rewrite = product);
PM_RULE(by_count, .pattern = WITH(OP(Concat, V(0), V(1)), INT(axis, 0)), .rewrite = product);
PM_RULE(by_type, .pattern = TYPED(OP(Exp, V(0)), TYPE(F16), -1), .rewrite = product);
PM_RULE(by_number, .pattern = OP(Add, V(0), NUM(2)), .rewrite = product);

PM_PLUGIN("many", "1", &declines, &takes, &late, &by_attr, &by_count, &by_type, &by_number)
END
cat >"$tmp/many.gpt" <<'END'
g (float[3,5] x) => (float[3,5] y, float[3,5] s, float[9,5] c, float[3,5] e, float[3,5] a)
<float three = {3}>
{
   h = Sigmoid (x)
   y = Mul (x, h)
   s = Softmax <axis = 1> (x)
   c = Concat <axis = 0> (x, x, x)
   e = Exp (x)
   a = Add (x, three)
}
END
pm build "$tmp/many.c"
exits 0 "build"

pm explain "$tmp/many.gpt" --pass "$tmp/many.so"
exits 0 "explain where one of several rules applies"
says "declined  1 x not on this day of the week" "a decline is told though the next rule took the node"
says "tried 1, matched 1, declined 1, applied 0" "and its root counts once"
grep -A3 "^rule late" "$tmp/out" | grep -q "other rules had fused every Mul node before its turn"
tap "a rule that came too late is told so"
[ "$(grep -c 'the graph has no' "$tmp/out")" -eq 0 ]
tap "no rule is told that the graph lacks what it has"
says "attribute axis of Softmax is 1, the pattern wants [0]" "a miss at the root: an attribute"
says "Concat has 3 operands, not as many as in" "a miss at the root: the number of operands"
grep -q "near miss 0 of 1 operators: node .*Exp.*has type float" "$tmp/out"
tap "a miss at the root: the element type"

pm explain "$tmp/many.gpt" --pass "$tmp/many.so" --rule by_attr
exits 1 "explain of one rule"
grep -A3 "^rule takes" "$tmp/out" | grep -q "its turn did not come: --rule names another"
tap "the others are told that they were not run"

pm explain models/bge_pooling_head.gpt --pass "$build/passes/silu.so"
exits 1 "explain where the operator is missing"

# One line for each rule, as name|node|operand|field|expected|actual.
pm explain "$tmp/many.gpt" --pass "$tmp/many.so" --json
tr -d '\n\t' <"$tmp/out" >"$tmp/line"
fields()
{
	grep -q "\"node\": *\"node [0-9]* ($1 [^\"]*\", *$2\"field\": *\"$3\", *\"expected\": *\"$4\", *\"actual\": *\"$5\"" "$tmp/line"
	tap "JSON has the fields of a near miss: $3"
}
fields Softmax "" "attribute axis" '\[0\]' 1
fields Concat "" operands 2 3
fields Exp "" "element type" f16 'float\[3,5\]'
fields Add '"operand": *1, *' constant 2 3

# eval: a rule that declined is told of where another applied, and where none did.
pm eval "$tmp/many.gpt" --pass "$tmp/many.so" --hidden 0 --json
exits 0 "eval where one of several rules applies"
tr -d '\n\t' <"$tmp/out" >"$tmp/line"
grep -q '"declined": *\[{"rule": *"declines", *"text": *"not on this day of the week"' "$tmp/line"
tap "JSON lists what the others declined"
sed -e '/^PM_PLUGIN/d' -e '/^PM_RULE([^t]/d' "$tmp/many.c" >"$tmp/f32.c"
echo 'PM_PLUGIN("f32", "1", &takes)' >>"$tmp/f32.c"
pm build "$tmp/f32.c"
pm eval "$tmp/many.gpt" --pass "$tmp/f32.so" --hidden 0 --variants
exits 1 "eval on variants of which a rule declines some"
grep -q "NO_MATCH (.*16.*): No rule of the pass applied to the graph. Rule 'takes' declined node .*Mul.*: no 16 bits yet\." "$tmp/out"
tap "the variants' verdict says which rule declined, where and why"
number=$("$build/passmith" explain "$tmp/many.gpt" --pass "$tmp/f32.so" --variants |
	sed -n 's/^variant \([0-9]*\) (.*float16.*/\1/p' | head -1)
pm explain "$tmp/many.gpt" --pass "$tmp/f32.so" --variant "$number"
exits 1 "explain on one variant"
says "declined  1 x no 16 bits yet" "explain runs on that variant"
[ "$(grep -c '^variant ' "$tmp/out")" -eq 1 ]
tap "and on no other"
pm explain "$tmp/many.gpt" --pass "$tmp/f32.so" --variant 999
exits 4 "explain on a variant that does not exist"
warns "has no variant 999" "and says so"
tap_done
