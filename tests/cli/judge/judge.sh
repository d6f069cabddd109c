#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# judge.sh - `passmith eval` refuses a body of which a part is left out, and takes the same done honestly.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/product.gpt" <<'END'
g (bfloat16[24,256] x, bfloat16[256] s, bfloat16[256,48] w) => (bfloat16[24,48] y)
{
   m = Mul (x, s)
   y = MatMul (m, w)
}
END

# only RULE: a pass of this rule alone.
only()
{
	sed "/^PM_PLUGIN/,\$d" tests/adversarial/passes/sum_attacks.c >"$tmp/$1.c"
	echo "PM_PLUGIN(\"$1\", \"1\", &$1)" >>"$tmp/$1.c"
	pm build "$tmp/$1.c"
	exits 0 "build $1"
	pm eval "$tmp/product.gpt" --pass "$tmp/$1.so" --hidden 0
}
only honest_rounded
exits 0 "rounding where the eager run rounds is right"
says "OK" "and the verdict says so"
only honest_product
exits 0 "rounding nowhere is right"
only S46_half_a_factor
exits 1 "four digits of eight of one factor are not"
says "INCORRECT" "and the verdict says so"
says "output 'y'" "and where"
only S47_half_sums
exits 1 "nor is a sum kept in bfloat16"

# Sums of large integers that go through float: wrong in nearly every element of the class that has them.
cat >"$tmp/ints.gpt" <<'END'
g (int32[9,64] a, int32[9,64] b) => (int32[9,64] y)
{
   y = Add (a, b)
}
END
pm eval "$tmp/ints.gpt" --pass "$build/tests/adversarial/passes/input_attacks.so" --hidden 0
exits 1 "S68_int_through_float"
says "INCORRECT" "and the verdict says so"

# A plain loop's sum, which drifts where one term is far larger than the others (inputs tail) or many are equal
# (special): an honest kernel, refused by an earlier judge in nearly every run.
cat >"$tmp/softmax.gpt" <<'END'
g (float[31,4093] x) => (float[31,4093] y)
{
   y = Softmax <axis = 1> (x)
}
END
sed "/^PM_PLUGIN/,\$d" tests/adversarial/passes/honest_kernels.c >"$tmp/softmax.c"
echo "PM_PLUGIN(\"softmax\", \"1\", &softmax_serial)" >>"$tmp/softmax.c"
pm build "$tmp/softmax.c"
exits 0 "build softmax_serial"
pm eval "$tmp/softmax.gpt" --pass "$tmp/softmax.so" --hidden 0
exits 0 "a softmax that sums in a plain loop is right"
says "OK" "and the verdict says so"

if command -v python3 >/dev/null; then
	tools/gen/judge_page.py --check
	tap "docs/results/judge.md is what docs/results/judge.json gives"
fi

tap_done
