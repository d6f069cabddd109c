#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quick.sh - eval --quick: a first answer, what it did not look at, and that it is no score; and that an ordinary
# evaluation tells its first answer on stderr.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[8,64]"
silu=$build/passes/silu.so

# verdict FILE and unchecked FILE WHAT: of the one record of a report.
verdict()
{
	sed -n 's/^ *"verdict": *"\([A-Z_]*\)".*/\1/p' "$1" | head -n 1
}
unchecked()
{
	sed -n '/"not_checked":/,/\]/p' "$1" | grep -qF "\"$2\""
}

pm eval "$tmp/silu.gpt" --pass "$silu" --quick -o "$tmp/r" --quiet
exits 0 "a right pass"
says "A first answer (--quick), without a score" "the table says what it is"
says "Not checked: inputs " "and what was not checked"
says "a first answer, no score" "and has no score"
grep -q '"first_answer": *true' "$tmp/r" && [ "$(verdict "$tmp/r")" = OK ]
tap "and so does the report"
! grep -q -e '"AS"' -e '"ES"' -e '"S"' -e '"fast_1"' -e '"hidden"' "$tmp/r"
tap "which has neither scores nor hidden shapes"
grep -q '"speedup": *[1-9]' "$tmp/r" && grep -q '"time": *"modelled"' "$tmp/r"
tap "a speedup is there, and said to be modelled"
[ "$(sed -n '/"first_answer": *{/,/\]/p' "$tmp/r" | tr ',' '\n' | grep -c '"[a-z]*"[^:]*$')" -eq 4 ] &&
	sed -n '/"first_answer": *{/,/\]/p' "$tmp/r" | grep -q '"normal"'
tap "four classes of inputs were run, the normal one among them"
unchecked "$tmp/r" "hidden shapes" && unchecked "$tmp/r" "what calls give that are timed or rehearsed" &&
	unchecked "$tmp/r" "inputs normal (edited), alternative 0"
tap "what was not looked at has its names"
[ "$(sed -n '/"not_checked":/,/\]/p' "$tmp/r" | grep -o '"inputs [a-z]*, alternative 0"' | sort -u | wc -l)" -eq 7 ]
tap "with the seven classes that were not run"
pm eval "$tmp/silu.gpt" --pass "$silu" --quick --json --quiet
exits 0 "--json"
json "is one value"
[ ! -s "$tmp/err" ]
tap "and --quiet says nothing beside it"
pm eval "$tmp/silu.gpt" --pass "$silu" --quick --check-only -o "$tmp/r" --quiet
exits 0 "with --check-only"
grep -q '"speedup": *null' "$tmp/r" && ! unchecked "$tmp/r" "what calls give that are timed or rehearsed"
tap "no speed is asked for"

# What is wrong is wrong, with the verdict and the sentence of the whole evaluation; numbers and inputs are drawn.
# begins FILE: how the sentence begins. Where an access was, and what was drawn, stands behind that.
begins()
{
	sed -n 's/^ *"why": *"\(..*\)",*$/\1/p' "$1" | head -n 1 | sed 's/[0-9][0-9]*/N/g' | cut -c 1-31
}
cat >"$tmp/refused_silu.c" <<'END'
#define SILU_NAME "refused_silu"
#define SILU_SOURCE                                                                                  \
	PM_CUDA(__device__ int calls; extern "C" __global__ void k(const T *x, T *y, long long n) {  \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                      \
		calls = 1;                                                                           \
		if (i < n)                                                                           \
			y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));                               \
	})
#include "silu_with.h"
END
cp tests/plugin/silu_with.h "$tmp/silu_with.h"
pm build "$tmp/refused_silu.c" --no-kernels -o "$tmp/refused_silu.so"
exits 0 "a pass whose kernel has a variable in global memory"
# Without NVRTC no PTX is judged.
judged=
"$passmith" doctor 2>/dev/null | grep -q '^yes NVRTC' && judged=refused
for pass in wrong half oob mutating uncompilable $judged; do
	so=$build/tests/plugin/${pass}_silu.so
	[ -e "$so" ] || so=$tmp/${pass}_silu.so
	pm eval "$tmp/silu.gpt" --pass "$so" --hidden 0 -o "$tmp/whole" --quiet
	pm eval "$tmp/silu.gpt" --pass "$so" --quick -o "$tmp/first" --quiet
	exits 1 "$pass with --quick"
	[ "$(verdict "$tmp/first")" = "$(verdict "$tmp/whole")" ] && [ "$(verdict "$tmp/first")" != OK ]
	tap "has the verdict of the whole evaluation, $(verdict "$tmp/whole")"
	[ -n "$(begins "$tmp/first")" ] && [ "$(begins "$tmp/first")" = "$(begins "$tmp/whole")" ]
	tap "and its sentence: $(begins "$tmp/first")"
	! grep -q '"not_checked"' "$tmp/first"
	tap "and nothing is left to be checked"
done
if [ -n "$judged" ]; then
	[ "$(verdict "$tmp/first")" = REJECT_PTX ] && ! grep -q '"first_answer": *{' "$tmp/first"
	tap "what a gate refuses is not run"
else
	skip "what a gate refuses is not run" "there is no NVRTC"
fi

# The other alternatives are neither compiled nor run: the whole evaluation says what is wrong with them.
cat >"$tmp/second_silu.c" <<'END'
#include "passmith/dsl.h"
enum { X };
#define SILU(more)                                                                                           \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		if (i < n)                                                                                   \
			y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i])))) more;                                  \
	})
static const char GOOD[] = SILU(), BAD[] = SILU(+no_such_name);
#define SPEC(source_)                                                                                        \
	.entry = "k", .source = source_, .grid = { pm_blocks(n, 64) }, .block = { 64 }, .arg = PM_ARGS(I64(n))
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, SPEC(GOOD), .in = PM_VALS(m->v[X]), .like = m->root,
				      .alt = PM_ALTERNATIVE(SPEC(BAD)));
}
PM_RULE(silu, .doc = "Mul(x, Sigmoid(x)); its second alternative does not compile",
	.pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("second_silu", "1", &silu)
END
second=$tmp/second_silu.so
pm build "$tmp/second_silu.c" --no-kernels -o "$second"
exits 0 "a pass with an alternative that does not compile"
pm eval "$tmp/silu.gpt" --pass "$second" --quick -o "$tmp/r" --quiet
exits 0 "is right so far"
unchecked "$tmp/r" "the other alternatives"
tap "and what was not compiled has its name"
pm eval "$tmp/silu.gpt" --pass "$second" --hidden 0 -o "$tmp/r" --quiet
[ "$(verdict "$tmp/r")" = COMPILE_FAIL ]
tap "the whole evaluation finds it"

# Wrong on other shapes alone: right so far, with a list of what that leaves out.
cat >"$tmp/one_shape_silu.c" <<'END'
#define SILU_NAME "one_shape_silu"
#define SILU_SOURCE                                                                                  \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                        \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                      \
		if (i < n)                                                                           \
			y[i] = n == 512 ? st(ld(x[i]) / (1.f + expf(-ld(x[i])))) : x[i];             \
	})
#include "silu_with.h"
END
one=$tmp/one_shape_silu.so
pm build "$tmp/one_shape_silu.c" --no-kernels -o "$one"
exits 0 "a pass that is right on 512 elements alone"
pm eval "$tmp/silu.gpt" --pass "$one" --quick -o "$tmp/r" --quiet
exits 0 "a pass that is wrong on hidden shapes is right so far"
says "hidden shapes" "and the table says that none was looked at"
unchecked "$tmp/r" "hidden shapes"
tap "as does the report"
pm eval "$tmp/silu.gpt" --pass "$one" --quiet
exits 1 "the whole evaluation finds it"

# Of several variants the smallest, which is named.
pm eval "$tmp/silu.gpt" --pass "$silu" --variants --quick -o "$tmp/r" --quiet
exits 0 "of 30 variants"
[ "$(grep -c '"coverage":' "$tmp/r")" -eq 1 ] && grep -q '"left_out": *29' "$tmp/r"
tap "one is evaluated, and 29 are said to be left out"
grep -q '"variant": *"shape [0-9]*, [a-z0-9]*: 1x1"' "$tmp/r"
tap "the smallest"
says "A first answer (--quick), without a score: 'shape " "by its name"
pm eval "$tmp/silu.gpt" --pass "$silu" --dtype bfloat16 --shape 0 --quick -o "$tmp/r" --quiet
grep -q '"variant": *"shape 0, bfloat16: 8x64"' "$tmp/r"
tap "of what was asked for"

# It is not kept.
pm extract "$tmp/silu.gpt" --db "$tmp/w.db" --quiet
for bad in "--db $tmp/w.db" "--record $tmp/rec" "--record $tmp/rec --sign-key $tmp/key" "--replay $tmp/r" \
	"--confirm" "--save-failing $tmp/dir" "--hidden 0" "--hidden 2" "--fail-fast" "--debug-print"; do
	# shellcheck disable=SC2086
	pm eval "$tmp/silu.gpt" --pass "$silu" --quick $bad
	exits 2 "with ${bad%% *}"
	one_sentence "one sentence says that they do not go together"
	warns "leave out --quick" "and what to do"
done
[ ! -e "$tmp/rec" ] && [ ! -e "$tmp/dir" ]
tap "nothing was written"

# An ordinary evaluation tells its first answer once, before its end; never of what is wrong.
pm eval "$tmp/silu.gpt" --pass "$silu" --only 0 --only 5 --hidden 0 --json
exits 0 "an ordinary evaluation"
[ "$(grep -c 'First answer on variant .*: right on [0-9]* classes of inputs, alternative 0, [0-9.]* times as fast (modelled); the rest follows\.$' "$tmp/err")" -eq 1 ]
tap "tells its first answer on stderr, once"
json "and --json is one value on stdout"
! grep -q -e '"first_answer"' -e '"not_checked"' "$tmp/out"
tap "which is the whole answer"
pm eval "$tmp/silu.gpt" --pass "$silu" --pass "$silu" --hidden 0
[ "$(grep -c 'First answer on ' "$tmp/err")" -eq 2 ]
tap "two passes have one each"
pm eval "$tmp/silu.gpt" --pass "$silu" --hidden 0 --check-only
grep -q 'First answer on variant as written: right on [0-9]* classes of inputs, alternative 0; the rest follows\.$' "$tmp/err"
tap "without times no speed is told"
pm eval "$tmp/silu.gpt" --pass "$build/tests/plugin/wrong_silu.so" --hidden 0
! grep -q 'First answer' "$tmp/err" && grep -q 'Found on variant' "$tmp/err"
tap "a wrong pass has none"
pm eval "$tmp/silu.gpt" --pass "$silu" --hidden 0 --quiet
[ ! -s "$tmp/err" ]
tap "--quiet tells nothing"
pm eval "$tmp/silu.gpt" --pass "$silu" --quick
! grep -q 'First answer' "$tmp/err"
tap "nor does --quick, of which it is all"

# Where a class takes long there are fewer.
silu_graph "float[513,256]"
pm eval "$tmp/silu.gpt" --pass "$silu" --quick -o "$tmp/r" --quiet
exits 0 "a large graph"
grep -A 4 '"first_answer": *{' "$tmp/r" | tr '\n' ' ' | grep -q '\[ *"normal", *"[a-z]*" *\]'
tap "the normal class and one more were run"

# What all processes of an evaluation have to know of the compiler is asked once, before they are there; and what
# stands before every kernel is compiled by then.
mkdir -p "$tmp/tools/bin"
cat >"$tmp/tools/bin/cxx" <<END
#!/bin/sh
[ "\$*" != --version ] || echo asked >>"$tmp/asked"
exec g++ "\$@"
END
chmod +x "$tmp/tools/bin/cxx"
PASSMITH_CXX=$tmp/tools/bin/cxx PASSMITH_CACHE=$tmp/cache pm eval "$tmp/silu.gpt" --pass "$silu" --hidden 1 --quiet
exits 0 "an evaluation with an empty cache"
[ "$(wc -l <"$tmp/asked")" -eq 1 ]
tap "asks the compiler for its version once"
ls "$tmp"/cache/emu-head/*/cuda_host.h.gch >"$tmp/out" 2>&1
tap "and leaves the headers of all kernels compiled"
tap_done
