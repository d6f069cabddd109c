#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# debug_print.sh - passmith eval --debug-print: kernels print on emu, in a run without a score; in no other.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[4,8]"

# pass_with NAME BODY: builds NAME.so, a right SiLU whose 32 threads do BODY before they write.
pass_with()
{
	cat >"$tmp/$1.c" <<END
#include "passmith/dsl.h"
enum { X };
static const char SRC[] = "${3-}" PM_CUDA(
	extern "C" __global__ void k(const T *x, T *y, long long n)
	{
		long long i = blockIdx.x * 16 + threadIdx.x;
		float v = ld(x[i]);
		$2
		if (i < n)
			y[i] = st(v / (1.f + expf(-v)));
	}
);
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { pm_blocks(n, 16) }, .block = { 16 },
		.in = PM_VALS(m->v[X]), .arg = PM_ARGS(IN(0), OUT(0), I64(n)));
}
PM_RULE(loud, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("$1", "1", &loud)
END
	pm build "$tmp/$1.c" -o "$tmp/$1.so" --no-kernels
	exits 0 "$1 is built"
}

# debug NAME ARG...: evaluates it with --debug-print.
debug()
{
	name=$1
	shift
	pm eval "$tmp/silu.gpt" --pass "$tmp/$name.so" --debug-print "$@"
}

pass_with words 'if (i == 17) { printf("half "); printf("a line, %5.2f|%-4d|%lld|%hhx|%c|%s|%%\n", 1.5f, -3, 1ll << 40, 0x1ff, 65, "text");
	printf("two\nlines\n"); }'
pm build "$tmp/words.c" -o "$tmp/words.so"
exits 0 "build takes printf, whichever compiler is there"
debug words
exits 0 "a debugging run of a right pass"
grep -qx 'loud (k) block (1,0,0) thread (1,0,0): half a line,  1\.50|-3  |1099511627776|ff|A|text|%' "$tmp/err"
tap "a line has kernel, block and thread, and what was printed"
grep -qx 'loud (k) block (1,0,0) thread (1,0,0): two' "$tmp/err" && grep -qx 'loud (k) block (1,0,0) thread (1,0,0): lines' "$tmp/err"
tap "each line has them"
grep -qx -e '--- as written, inputs normal, alternative 0:' "$tmp/err"
tap "the run is named before"
! grep -q 'thread (2,0,0)' "$tmp/err"
tap "who prints nothing is not there"
says "A debugging run: kernels may print, so that this has no score and is not kept." "the answer says what it is"
says "debugging, no score" "the table has no score"
! grep -q -e '[0-9]\.[0-9][0-9]*$' -e replay "$tmp/out"
tap "nothing looks like one, or invites to replay"

debug words --json
json "--debug-print --json: one JSON object"
tr -d ' \n\t' <"$tmp/out" >"$tmp/flat"
grep -q '"debug":true,"printed":\["---aswritten' "$tmp/flat" && grep -q '"loud(k)block(1,0,0)thread(1,0,0):two",' "$tmp/flat" &&
	grep -q '"printed_cut":0' "$tmp/flat"
tap "debug, the lines, and what was cut"
! grep -q -e '"AS"' -e '"ES"' -e '"S":' -e '"fast_1"' -e '"speedup":[0-9]' "$tmp/flat"
tap "no field of a score"
pm eval "$tmp/silu.gpt" --pass "$build/passes/silu.so" --json
tr -d ' \n\t' <"$tmp/out" >"$tmp/flat"
grep -q '"debug":false' "$tmp/flat" && ! grep -q '"printed' "$tmp/flat"
tap "a judged run says that it is none"

pm eval "$tmp/silu.gpt" --pass "$tmp/words.so"
exits 1 "without the option"
grep -q -e 'REJECT_PTX.*printf' -e 'COMPILE_FAIL.*printf' "$tmp/out"
tap "a kernel with printf is refused"

for args in "--db $tmp/t.db" "--record $tmp/t.record" "--replay $tmp/t.json" "--sign-key $tmp/t.key" "--save-failing $tmp/dir" "--device cuda"; do
	# shellcheck disable=SC2086 # the words are arguments
	debug words $args
	exits 2 "--debug-print $args"
	one_sentence "--debug-print $args: one sentence"
	warns "leave out --debug-print" "--debug-print $args: which says what to do"
done
[ ! -e "$tmp/t.db" ] && [ ! -e "$tmp/t.record" ] && [ ! -e "$tmp/dir" ]
tap "nothing is written"
pm eval "$tmp/silu.gpt" --pass "$tmp/words.so" --device emu+print
exits 2 "--device emu+print is no device of a judged run"
pm run "$tmp/silu.gpt" --device emu+print
exits 2 "nor of run"

# Formats of a stranger.
pass_with odd 'if (!i) { printf("%s|%n|%d|%d|%f\n", 7, &v, 1.5f, 2, 3); printf("%*d|%.999f|%9999d\n", 1 << 30, 1, 1.0, 5); printf("%"); printf("%lll"); printf("\n\x1b[2J\x9b\n"); }'
debug odd
exits 0 "formats that ask for what is not there"
grep -qF 'thread (0,0,0): %s(?)|%n(?)|%d(?)|2|%f(?)' "$tmp/err"
tap "each conversion takes only what is of its kind"
[ "$(awk '{ if (length > n) n = length } END { print n }' "$tmp/err")" -lt 300 ]
tap "widths are small"
grep -qF '?[2J?' "$tmp/err" && ! grep -q "$(printf '\033')" "$tmp/err"
tap "nothing of escape sequences reaches the terminal"

pass_with wild 'if (i == 3) { printf("before\n"); printf("%s\n", (const char *)64); }'
debug wild
exits 1 "a string that is nowhere"
says DEVICE_FAULT "it ends the launch"
grep -q 'thread (3,0,0): before$' "$tmp/err"
tap "what was printed before the fault is there"

pass_with much 'for (int j = 0; j < 100; j++) printf("%s %d\n", "many words from each of the threads", j);'
debug much
exits 0 "a kernel that prints without end"
[ "$(wc -c <"$tmp/err")" -le 65900 ]
tap "64 KiB are shown"
grep -q '^passmith: The kernels of .*much.so printed [0-9][0-9]* bytes more, which are cut\.$' "$tmp/err"
tap "and how much was cut"

# Without NVRTC the emulated device alone knows what a kernel may call.
mkdir "$tmp/hidden"
echo 'int nothing_of_nvrtc;' | "${CC:-cc}" -shared -fPIC -o "$tmp/hidden/libnvrtc.so" -xc -
tap "a library that is no NVRTC is built"
export LD_LIBRARY_PATH="$tmp/hidden${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
pm build "$tmp/words.c" -o "$tmp/words.so"
exits 0 "build takes printf without NVRTC"
pm eval "$tmp/silu.gpt" --pass "$tmp/words.so"
says "'printf' was not declared" "a kernel with printf is refused without NVRTC too"
pass_with own 'if (!i) printf("mine\n");' '#include \"cuda_print.h\"\n'
pm eval "$tmp/silu.gpt" --pass "$tmp/own.so"
exits 1 "nor does its header help"
says "called printf, which works in passmith eval --debug-print" "the launch ends there"
tap_done
