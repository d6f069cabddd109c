#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh - passmith build compiles the kernels too: every error, at its place in the author's file, by whichever
# compiler is there.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# A library without what NVRTC's has: it is not taken for one.
mkdir "$tmp/hidden"
echo 'int nothing_of_nvrtc;' | "${CC:-cc}" -shared -fPIC -o "$tmp/hidden/libnvrtc.so" -xc -
tap "a library that is no NVRTC is built"

# pass NAME: PM_CUDA on many lines from stdin.
pass()
{
	{
		printf '#include "passmith/dsl.h"\nenum { X };\n/* PM_CUDA( of a comment */\nstatic const char SRC[] = PM_CUDA(\n'
		cat
		cat <<'PASS'
);
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { pm_blocks(n, 64) }, .block = { 64 },
		.in = PM_VALS(m->v[X]), .arg = PM_ARGS(IN(0), OUT(0), I64(n)), .define = PM_DEFINES(DEF(WIDE, n + 1)));
}
PM_RULE(rule, .pattern = OP(Relu, TYPED(V(X), FLOATS, -1)), .rewrite = rewrite);
PM_PLUGIN("pass", "1", &rule)
PASS
	} >"$tmp/$1.c"
}

good='	extern "C" __global__ void k(const T *x, T *y, long long n)
	{
		/* a comment, with ( one parenthesis */
		int i = blockIdx.x * 64 + threadIdx.x; // and another "
		if (i < n) y[i] = x[i];'
bad=$(printf '%s\n\t\ty[i] = zero;\n\t\tint r = one;\n\t\tint q = 1\n\t}' "$good")

# at LINE TEXT NAME: an error of that line of bad.c.
at()
{
	grep -q "bad\.c:$1:[0-9:]* error: .*$2" "$tmp/err"
	tap "$3"
}

both()
{
	echo "$good }" | pass good
	pm build "$tmp/good.c"
	exits 0 "$1: a pass whose kernel compiles"
	says "kernels: 1 source compiled, by $2" "$1: the compiler is named"
	echo "$bad" | pass bad
	echo an older object >"$tmp/bad.so"
	pm build "$tmp/bad.c"
	exits 1 "$1: a kernel with errors"
	at 10 zero "$1: the first error, at the line of the .c file"
	at 11 one "$1: the second"
	at '1[23]' expected "$1: and the last, of another kind"
	warns "in the kernels of $tmp/bad.c, by $2" "$1: one sentence says so"
	[ ! -e "$tmp/bad.so" ]
	tap "$1: no object is left"
	pm build "$tmp/bad.c" --json
	exits 1 "$1: --json"
	json "$1: one JSON object"
	tr -d ' \n\t' <"$tmp/out" >"$tmp/flat"
	grep -q '"stage":"compilingkernels"' "$tmp/flat" && grep -q '"error":"[0-9]*errors' "$tmp/flat"
	tap "$1: error and stage"
	grep -q '{"file":"[^"]*bad\.c","line":10,"column":10,"severity":"error","text":"[^}]*zero' "$tmp/flat"
	tap "$1: a message is file, line, column, severity and text"

	# A macro of the kernel, in a text of literals.
	cat >"$tmp/macro.c" <<'PASS'
#include "passmith/dsl.h"
enum { X };
static const char SRC[] = "#define TWICE(v) ((v) + nowhere)\n"
	"extern \"C\" __global__ void k(const float *x, float *y)\n{\n"
	"\ty[0] = TWICE(x[0]);\n}\n";
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { 1 }, .block = { 1 });
}
PM_RULE(rule, .pattern = OP(Relu, V(X)), .rewrite = rewrite);
PM_PLUGIN("pass", "1", &rule)
PASS
	pm build "$tmp/macro.c"
	exits 1 "$1: an error in a macro"
	grep -q 'macro\.c:5:.*error: .*nowhere' "$tmp/err" && [ "$(grep -c nowhere "$tmp/err")" -eq 1 ]
	tap "$1: it is said once, where the macro is used"

	# In a .cu file, and a text that is only a part.
	printf 'extern "C" __global__ void k(const T *x, T *y)\n{\n\ty[0] = missing;\n}\n' >"$tmp/lies.cu"
	sed -e 's/^static const char SRC.*/#include "lies.cu.h"/' -e '/^\t"/d' -e 's/SRC/lies_cu/' "$tmp/macro.c" >"$tmp/lies.c"
	pm build "$tmp/lies.c"
	exits 1 "$1: an error in a .cu file"
	warns "lies.cu:3:" "$1: it has the line of that file"
	cat >"$tmp/part.c" <<'PASS'
#include "passmith/dsl.h"
enum { X };
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmText t = pm_text(4096);
	pm_text_add(&t, "extern \"C\" __global__ void k(const T *x, T *y)\n{\n");
	pm_text_add(&t, "y[0] = x[0]; }\n");
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = t.s, .grid = { 1 }, .block = { 1 });
}
PM_RULE(rule, .pattern = OP(Relu, V(X)), .rewrite = rewrite);
PM_PLUGIN("pass", "1", &rule)
PASS
	pm build "$tmp/part.c"
	exits 0 "$1: a source that is put together"
	says "kernels: of 1 text it is not known before a match" "$1: how many could not be compiled is said"

	# A source cannot say that its errors are another file's.
	sed 's/y\[0\] = TWICE/\\n#line 7 \\"other.c\\"\\ny[0] = TWICE/' "$tmp/macro.c" >"$tmp/lines.c"
	pm build "$tmp/lines.c"
	exits 1 "$1: #line in a kernel"
	warns "has a #line" "$1: is refused with a sentence"
	! grep -q '^other.c' "$tmp/err"
	tap "$1: and no message is given to another file"

	# What a rewrite computes is tried: an error that all numbers have is one.
	echo "$good float part[WIDE]; part[0] = 0; }" | pass wide
	pm build "$tmp/wide.c"
	exits 0 "$1: a computed define"
	printf '%s\n\t\tfloat part[WIDE]; part[0] = lost; }\n' "$good" | pass bad
	pm build "$tmp/bad.c"
	at 10 lost "$1: an error beside a computed define"

	# A name that a text gives a value itself is the DEF of another source; a comment gives none.
	echo "$good" '/* WIDE = 4 */ float part[WIDE]; part[0] = 0; }' | pass wide
	pm build "$tmp/wide.c"
	exits 0 "$1: a define that a comment sets"
	echo "$good" 'enum { ALSO = OTHER & 1, WIDE = OTHER & 2 }; if (ALSO) y[0] = WIDE; }' | pass own
	sed -i 's/DEF(WIDE, n + 1)/DEF(WIDE, n + 1), DEF(OTHER, n)/' "$tmp/own.c"
	pm build "$tmp/own.c"
	exits 0 "$1: a define of another source beside one of this"
	sed -i 's/y\[0\] = WIDE/y[0] = WIED/' "$tmp/own.c"
	pm build "$tmp/own.c"
	exits 1 "$1: a misspelt one"
	grep -q 'own\.c:9:[0-9]*: error: .*WIED' "$tmp/err"
	tap "$1: is said at its line"
}

if "$passmith" doctor | grep -q '^yes NVRTC'; then
	both NVRTC NVRTC
fi
export LD_LIBRARY_PATH="$tmp/hidden${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
both emu "g++ for emu"

pm build "$tmp/bad.c" --no-kernels
exits 0 "a build without the kernels"
[ -s "$tmp/bad.so" ] && ! grep -q kernels: "$tmp/out"
tap "leaves an object, and says nothing of kernels"

# Messages of the C compiler.
echo 'int main(void) { return foo + bar; }' >"$tmp/two.c"
pm build "$tmp/two.c" --json
exits 1 "two errors in C"
tr -d ' \n\t' <"$tmp/out" | grep -q '"line":1,"column":25,"severity":"error".*"line":1,"column":31,"severity":"error"'
tap "both are there as fields"
sed 's/OP(Relu,/OP(Rleu,/' "$tmp/good.c" >"$tmp/typo.c"
pm build "$tmp/typo.c"
grep -q 'typo\.c:1[0-9]:[0-9]*: error: .*did you mean .PM_OP_Relu' "$tmp/err" && ! grep -q 'macro\|dsl\.h' "$tmp/err"
tap "a misspelt operator is said where the author wrote it, without the SDK's macros"

# A pass is a folder, with folders in it.
mkdir -p "$tmp/parts/deep" "$tmp/parts/.hidden"
{ echo '#define PM_SEVERAL_FILES'; echo '#include "deep/part.h"'; cat "$tmp/good.c"; } >"$tmp/parts/a.c"
echo 'int part(void);' >"$tmp/parts/deep/part.h"
printf '#include "part.h"\nint part(void) { return 1; }\n' >"$tmp/parts/deep/part.c"
echo 'this is no C' >"$tmp/parts/.hidden/x.c"
pm build "$tmp/parts" -o "$tmp/parts.so"
exits 0 "a folder with a folder in it"
pm check "$tmp/parts.so"
exits 0 "is a pass"
echo 'int part(void) { return 2; }' >"$tmp/parts/twice.c"
pm build "$tmp/parts" -o "$tmp/twice.so"
exits 1 "a function that two of its files define"
grep -q 'multiple definition of .part' "$tmp/err"
tap "so files of folders in it are parts"

# A source is a stranger's: its compiler sees its folder and the SDK, and no other file of the machine.
if "$passmith" doctor | grep -q '^yes *sandbox.*landlock'; then
	secret=planted-where-no-pass-may-look
	mkdir "$tmp/mine" "$tmp/elsewhere"
	printf '/* %s */\n#define BESIDE 1\n' "$secret" >"$tmp/elsewhere/other.h"
	echo '#define BESIDE 1' >"$tmp/mine/own.h"
	{ echo '#include "own.h"'; cat "$tmp/good.c"; } >"$tmp/mine/a.c"
	pm build "$tmp/mine/a.c"
	exits 0 "a header beside the source"
	{ echo '#include "../elsewhere/other.h"'; cat "$tmp/good.c"; } >"$tmp/mine/b.c"
	pm build "$tmp/mine/b.c"
	exits 1 "a header of another folder"
	grep -q 'b\.c:1:[0-9]*: error: .*Permission denied' "$tmp/err"
	tap "is said at its line"
	{ cat "$tmp/good.c"; echo "__asm__(\".incbin \\\"$tmp/elsewhere/other.h\\\"\");"; } >"$tmp/mine/c.c"
	pm build "$tmp/mine/c.c"
	exits 1 "a file of another folder as data of the object"
	[ ! -e "$tmp/mine/c.so" ] && ! grep -q "$secret" "$tmp/out" "$tmp/err"
	tap "leaves no object, and shows nothing of the file"
else
	skip "what a compiler sees" "there is no landlock on this machine"
fi
tap_done
