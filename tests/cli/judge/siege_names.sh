#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# siege_names.sh - what models and passes may not do to the sentences that a user reads.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# A pass whose source has the given C string before a mistake on line 3 (or later).
build_with()
{
	cat >"$tmp/p.c" <<END
#include "passmith/dsl.h"
enum { X };
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k",
		.source = "// one\n" $1 "extern \"C\" __global__ void k(const T *x, T *y, long long n) {\nmistake here;\n}\n",
		.grid = { 1 }, .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(pm_numel(m->v[X]))));
}
PM_RULE(named, .pattern = OP(Mul, V(X), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("named", "1", &named)
END
	pm build "$tmp/p.c" -o "$tmp/p.so" --no-kernels
}
silu_graph "float[4,8]"

build_with '""'
pm eval "$tmp/silu.gpt" --pass "$tmp/p.so"
says "Kernel 'named' does not compile: line 3: " "a mistake is named with its line"
n=0
for form in '"#line 1 \"/etc/passwd\"\n"' '"# 7 \"/etc/passwd\" 1 3\n"' '"%:line 7\n"' '"#li\\\nne 7 \"/etc/passwd\"\n"'; do
	n=$((n + 1))
	build_with "$form"
	pm eval "$tmp/silu.gpt" --pass "$tmp/p.so"
	grep -q "COMPILE_FAIL.*Kernel 'named' does not compile: line 2 has a #line" "$tmp/out" && ! grep -q passwd "$tmp/out"
	tap "S90_line_names_a_file: form $n"
	pm build "$tmp/p.c" -o "$tmp/p.so"
	[ $code -eq 1 ] && grep -q "line 2 has a #line" "$tmp/err" && ! grep -q passwd "$tmp/err" && [ ! -e "$tmp/p.so" ]
	tap "S90_line_names_a_file: form $n is refused by build too"
done
build_with '"#line 1 \"/home/somebody/my.cu\"\n"'
pm eval "$tmp/silu.gpt" --pass "$tmp/p.so"
grep -q "Kernel 'named' does not compile: line 2 of my.cu: " "$tmp/out" && ! grep -q somebody "$tmp/out"
tap "S91_line_of_a_cu: the kernel is named first, then the .cu"

esc=$(printf '\033')
rtl=$(printf '\342\200\256')
printf 'g (float[4] "a%s[2J\\nb%sc") => (float[4] y)\n{ y = Frobnicate("a%s[2J\\nb%sc") }\n' "$esc" "$rtl" "$esc" "$rtl" >"$tmp/name.gpt"
pm run "$tmp/name.gpt"
exits 4 "a graph with a name of escape sequences"
one_sentence "S92_name_of_escapes: one sentence"
! grep -q -e "$esc" -e "$rtl" "$tmp/err"
tap "S92_name_of_escapes: nothing of them reaches the terminal"
printf 'g (float[4] "a%s[2Jb%sc") => (float[4] y)\n{ y = MatMul("a%s[2Jb%sc", nowhere) }\n' "$esc" "$rtl" "$esc" "$rtl" >"$tmp/name.gpt"
pm import "$tmp/name.gpt" -o "$tmp/name.onnx"
! grep -q -e "$esc" -e "$rtl" "$tmp/err" "$tmp/out"
tap "S92_name_of_escapes: nor of import's"
printf 'g (float[4] "a%s[2Jb%sc") => (float[4] y)\n{ y = Relu("a%s[2Jb%sc") }\n' "$esc" "$rtl" "$esc" "$rtl" >"$tmp/name.gpt"
pm import "$tmp/name.gpt" -o "$tmp/name.onnx"
exits 0 "import of a graph with such a name"
! grep -q -e "$esc" -e "$rtl" "$tmp/err" "$tmp/out"
tap "S92_name_of_escapes: nor of import's report"

long=$(head -c 40000 /dev/zero | tr '\0' n)
printf 'g (float[4] "%s", float[5] b) => (float[4] y)\n{ y = Add("%s", b) }\n' "$long" "$long" >"$tmp/name.gpt"
pm run "$tmp/name.gpt"
exits 4 "a graph with a name of 40,000 bytes"
[ "$(wc -c <"$tmp/err")" -lt 1100 ]
tap "S93_long_name: the sentence stays short"
tap_done
