#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# siege_pair.sh - two passes given together get the verdicts and digests that each gets alone, in both orders and with
# an empty cache each time: nothing of one reaches the other through the cache, memory or what is put together.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[5,67]"
index='long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;'
right='st(ld(x[i]) / (1.f + expf(-ld(x[i]))))'

has_nvrtc()
{
	"$passmith" doctor 2>/dev/null | grep -q 'yes NVRTC'
}

# pass NAME ENTRY SOURCE [COUNT]: the source is a C string; it has one scratch buffer of 4,096 bytes.
pass()
{
	cat >"$tmp/$1.c" <<PASS
#include "passmith/dsl.h"
enum { X };
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "$2", .source = $3, .grid = { pm_blocks(n, 64) }, .block = { 64 },
		.in = PM_VALS(m->v[X]), .scratch = PM_SCRATCH(4096), .arg = PM_ARGS(IN(0), OUT(0), SCR(0), I64(${4:-n})));
}
PM_RULE(same, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("same", "1", &same)
PASS
	pm build "$tmp/$1.c" -o "$tmp/$1.so"
	[ "$code" -eq 0 ] || cat "$tmp/err"
}

# what TAG: verdict and digests of each pass of the last run, one line each, in $tmp/TAG.
what()
{
	tr -d ' ,' <"$tmp/out" | awk -F'"' '
		$2 == "pass" { if (line) print line; n = split($4, w, "/"); line = w[n] }
		$2 == "verdict" || $2 == "sources" || $2 == "ptx" || $2 == "cubin" || $2 == "pass_sha256" { line = line " " $2 "=" $4 }
		END { print line }' | sort >"$tmp/$1"
}

# together NAME A B VERDICT-OF-A VERDICTS-OF-B: alone, and beside each other in both orders.
together()
{
	for order in "$2" "$3" "$2 $3" "$3 $2"; do
		tag=$(echo "$order" | tr ' ' +)
		set -- "$1" "$2" "$3" "$4" "$5"
		args=
		for p in $order; do args="$args --pass $tmp/$p.so"; done
		# Of an earlier run only the emulator's own headers are left, which no pass has a part in.
		mkdir -p "$tmp/cache"
		find "$tmp/cache" -mindepth 1 -maxdepth 1 ! -name emu-head -exec rm -rf {} +
		# shellcheck disable=SC2086 # a list of words
		PASSMITH_CACHE=$tmp/cache pm eval "$tmp/silu.gpt" $args --device emu --hidden 0 --json
		what "$tag"
	done
	grep -q "verdict=$4 " "$tmp/$2" && grep -qE "verdict=($5)( |\$)" "$tmp/$3"
	tap "$1: alone one is $4, the other $5"
	sort "$tmp/$2" "$tmp/$3" >"$tmp/alone"
	[ -s "$tmp/alone" ] && cmp -s "$tmp/alone" "$tmp/$2+$3" && cmp -s "$tmp/alone" "$tmp/$3+$2"
	tap "$1: and together, in both orders, with the same digests"
}

# One source, two functions: the cache may not give one for the other.
two="\"extern \\\"C\\\" __global__ void k(const T *x, T *y, int *s, long long n) {\\n$index\\nif (i < n) y[i] = $right;\\n}\\n\"
	\"extern \\\"C\\\" __global__ void w(const T *x, T *y, int *s, long long n) {\\n$index\\nif (i < n) y[i] = st(0.f);\\n}\\n\""
pass good k "$two"
pass bad w "$two"
together SC4_entries good bad OK INCORRECT

# The same function under one name, where a macro decides: the text is what the key is of.
pass plain k "\"extern \\\"C\\\" __global__ void k(const T *x, T *y, int *s, long long n) {\\n$index\\nif (i < n) y[i] = $right;\\n}\\n\""
pass defined k "\"#define expf(v) 0.f\\n\" \"extern \\\"C\\\" __global__ void k(const T *x, T *y, int *s, long long n) {\\n$index\\nif (i < n) y[i] = $right;\\n}\\n\""
together SC5_defines plain defined OK INCORRECT

# The same source and entry, launched for one element only: what is kept for the one says nothing of the other.
pass shorter k "\"extern \\\"C\\\" __global__ void k(const T *x, T *y, int *s, long long n) {\\n$index\\nif (i < n) y[i] = $right;\\n}\\n\"" 1
together SC9_launches plain shorter OK UNWRITTEN

# One leaves its results in scratch, the other reads what it finds there.
pass leaves k "\"extern \\\"C\\\" __global__ void k(const T *x, T *y, int *s, long long n) {\\n$index\\nif (i < n) { y[i] = $right; ((T *)s)[i] = y[i]; }\\n}\\n\""
pass finds k "\"extern \\\"C\\\" __global__ void k(const T *x, T *y, int *s, long long n) {\\n$index\\nif (i < n) y[i] = ((const T *)s)[i];\\n}\\n\""
together SC6_scratch leaves finds OK "INCORRECT|NONDET|UNWRITTEN"

# What a GPU's compiler alone refuses stays refused beside a pass that is right.
pass forbidden k "\"extern \\\"C\\\" __global__ void k(const T *x, T *y, int *s, long long n) {\\n$index\\n#ifndef PASSMITH_EMU\\nif (clock64() == 7) return;\\n#endif\\nif (i < n) y[i] = $right;\\n}\\n\""
if has_nvrtc; then
	together SC7_gate plain forbidden OK REJECT_PTX
else
	skip SC7_gate "NVRTC is missing, and no PTX is judged"
fi

# Both applied to one model: each place once, by the one that comes first; the next finds nothing.
mkdir "$tmp/ab" "$tmp/ba"
cp "$tmp/good.so" "$tmp/ab/a.so" && cp "$tmp/bad.so" "$tmp/ab/b.so"
cp "$tmp/good.so" "$tmp/ba/b.so" && cp "$tmp/bad.so" "$tmp/ba/a.so"
for d in ab ba; do
	pm apply "$tmp/silu.gpt" --passes "$tmp/$d" -o "$tmp/$d.gpt"
	[ "$(grep -c . "$tmp/$d.gpt")" -gt 0 ] && cp "$tmp/out" "$tmp/$d.out"
done
grep -q 'launch_0 = \["k ' "$tmp/ab.gpt" && ! grep -q 'launch_0 = \["w ' "$tmp/ab.gpt"
tap "SC8_apply: the first pass takes the place"
grep -q 'launch_0 = \["w ' "$tmp/ba.gpt" && ! grep -q 'launch_0 = \["k ' "$tmp/ba.gpt"
tap "SC8_apply: and the other one in the other order"
grep -q NO_MATCH "$tmp/ab.out" && grep -q NO_MATCH "$tmp/ba.out"
tap "SC8_apply: the second is NO_MATCH, and says nothing else"
tap_done
