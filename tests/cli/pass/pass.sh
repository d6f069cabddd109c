#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pass.sh - the way of a pass's author: new, build, check, explain, eval; and what goes wrong on it.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

pm new my_fusion --dir "$tmp"
exits 0 "new"
says "passmith build $tmp/my_fusion.c" "new says what comes next"
[ -s "$tmp/my_fusion.c" ]
tap "new wrote the source"
cp "$tmp/my_fusion.c" "$tmp/kept.c"
pm new my_fusion --dir "$tmp"
[ "$code" -ne 0 ] && cmp -s "$tmp/my_fusion.c" "$tmp/kept.c"
tap "new does not overwrite a pass"
pm build "$tmp/my_fusion.c"
exits 0 "build"
pm check "$tmp/my_fusion.so"
exits 0 "check"
says "OK (my_fusion" "check says OK and names the pass"
PASSMITH_BUILD=$(realpath --relative-to=. "$build") pm check "$tmp/my_fusion.so"
exits 0 "check with the folder of the build as a relative path"
pm explain models/resnet_bottleneck.gpt --pass "$tmp/my_fusion.so"
exits 0 "explain on a model with Relu(Add)"
pm explain models/bge_pooling_head.gpt --pass "$tmp/my_fusion.so"
exits 1 "explain where nothing matches"
says "NO_MATCH" "explain names the verdict"

cat >"$tmp/cut.c" <<'END'
#include "passmith/dsl.h"
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	(void)rw;
	return pm_decline(m, "not reached");
}
PM_RULE(cut, .doc = "Split of a Relu", .pattern = ANYATTR(OP(Split, OP(Relu, V(0)))), .rewrite = rewrite);
PM_PLUGIN("cut", "1", &cut)
END
cat >"$tmp/cut.gpt" <<'END'
cut (float[6] x) => (float[2] a, float[4] b) { r = Relu (x) a, b = Split <axis = 0, split = [2, 4]> (r) }
END
pm build "$tmp/cut.c" -o "$tmp/cut.so"
pm explain "$tmp/cut.gpt" --pass "$tmp/cut.so"
exits 1 "a pattern whose root has two results"
says "interior value 'b' is an output of the graph; its node has several results, of which a pattern names one: write a region rule" \
	"explain says what takes both"
pm explain models/llama_block.gpt --pass "$build/passes/bias_gelu.so"
exits 1 "explain a pass that nearly matches"
says "near miss" "explain tells of near misses"
grep -q 'near miss [0-9]* of [0-9]* operators: operand [01] of node .*: the pattern wants .*, this is ' "$tmp/out"
tap "a near miss says where, what was wanted and what is there"

# The model's sizes are multiples of a block, so that the missing test of the bound shows on other shapes only.
sed 's/if (i >= n)/if (0)/' "$tmp/kept.c" >"$tmp/no_bound.c"
pm build "$tmp/no_bound.c"
pm eval models/resnet_bottleneck.gpt --pass "$tmp/no_bound.so" --save-failing "$tmp/failing" -o "$tmp/hidden"
exits 1 "eval of a pass that is wrong on shapes that it is not shown"
says "OOB, so that no variant counts as right: On the hidden shape" "eval says so, and where"
grep -q "no_bound  *1/1  *0/1  *-" "$tmp/out"
tap "and counts it as right nowhere"
shape=$(sed -n 's/.*"why": *"On the hidden \(shape [0-9]*, [a-z0-9]*: [0-9x]*\) .*/\1/p' "$tmp/hidden")
[ -n "$shape" ] && sed -n '/"hidden": {/,/"records"/p' "$tmp/hidden" | tr '\t\n' '  ' |
	grep -q "\"failure\": *{ *\"variant\": *\"$shape [^\"]*\", *\"inputs\": *\"[a-z]*\","
tap "with the shape and the class of inputs as fields"
"$passmith" print "$tmp/failing/no_bound-0.gpt" >/dev/null && sh "$tmp/failing/replay.sh" >"$tmp/out" 2>"$tmp/err" </dev/null
[ $? -eq 1 ] && grep -q " OOB " "$tmp/out" && grep -q '1 of 1 verdicts are' "$tmp/out"
tap "what failed is saved, though it was hidden, and fails again"

mkdir "$tmp/two"
cp passes/common/elementwise.* passes/common/choose.h passes/common/shapes.h "$tmp/two"
sed 's,"../../common/,",' passes/library/activation/quick_gelu.c >"$tmp/two/quick_gelu.c"
pm build "$tmp/two/quick_gelu.c"
exits 0 "build of a pass whose header, beside it, includes a .cu of another name"

sed 's/PM_PLUGIN/PM_PLUGGIN/' "$tmp/kept.c" >"$tmp/broken.c"
pm build "$tmp/broken.c"
exits 1 "build of a pass that does not compile"
warns "PM_PLUGGIN" "the compiler's message is shown"
[ ! -e "$tmp/broken.so" ]
tap "no shared object is left behind"

sed 's/PM_PLUGIN("my_fusion"/PM_PLUGIN(""/' "$tmp/kept.c" >"$tmp/nameless.c"
pm build "$tmp/nameless.c"
pm eval models/resnet_bottleneck.gpt --pass "$tmp/nameless.so"
says "are malformed: plugin: the name of the plugin is missing" "eval says what is wrong with the rules"
pm check "$tmp/kept.c"
exits 4 "check of a source"
warns "is the source of a pass; run passmith build" "check says what to do with it"

for p in abi_newer abi_v2 abi_none; do
	pm check "$build/tests/plugin/$p.so"
	exits 1 "check of $p"
	says "REJECT_ABI" "$p is REJECT_ABI"
done
printf 'g (float[300] x) => (float[300] y)\n{\n  s = Sigmoid (x)\n  y = Mul (x, s)\n}\n' >"$tmp/silu.gpt"
pm eval "$tmp/silu.gpt" --pass "$build/tests/plugin/short_structs.so"
exits 0 "a pass whose structures lack the last fields of today's is right"

# Which kernels of a source are launched follows from the graph; what is refused does not.
cat >"$tmp/square.gpt" <<'END'
g (float[300] x) => (float[300] y)
{
  r = Relu (x)
  y = Mul (r, r)
}
END
for one in silu square; do
	pm eval "$tmp/$one.gpt" --pass "$build/tests/plugin/two_kernels.so"
	exits 0 "a source with two kernels where the graph has a use for $one alone"
done

pm check "$build/tests/plugin/bad_rules.so"
exits 1 "check of a pass with bad rules"
says "did you mean 'Sigmoid'?" "the lint proposes the right operator"
[ "$(grep -c '^bad_rules: ' "$tmp/out")" -ge 10 ]
tap "all problems are reported at once"
tap_done
