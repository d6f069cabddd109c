#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# complete.sh - what a new row of a table needs elsewhere is there: text for PyTorch of operators, a place that gives a
# verdict and a test that expects it. CONTRIBUTING.md says which files these are. (Commands: json_errors.sh, help.sh.) And
# what zsh offers is what the program has.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

: >"$tmp/err"

# names FILE: the first word of each row.
names()
{
	sed -n 's/^\(OP\|XX\)(\([A-Za-z0-9_]*\),.*/\2/p' "$1"
}

# Operators that PyTorch export refuses, by name: no one function of PyTorch is the same, or nobody has needed it.
no_torch='Acos Acosh Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Col2Im Cosh DFT
DequantizeLinear Det EyeLike GridSample Hardmax Kernel LRN NonMaxSuppression NonZero OneHot Opaque QuantizeLinear RMSNormalization
RandomNormalLike RandomUniformLike Range ReduceProd ReverseSequence RoiAlign Shape Sinh Size Tan TopK Unique'

operators=$(names ir/core/ops.def)
torch=" $(names bench/torch/torch.def | tr '\n' ' ') "
[ "$(echo "$operators" | wc -l)" -ge 100 ]
tap "the operators are known"
missing=
for op in $operators; do
	case "$torch $(echo "$no_torch" | tr '\n' ' ') " in *" $op "*) ;; *) missing="$missing $op" ;; esac
done
echo "operators without a row in bench/torch/torch.def that this test does not list:$missing" >"$tmp/out"
[ -z "$missing" ]
tap "every operator has its text for PyTorch, or is listed as having none"
stale=
for op in $no_torch; do
	case $torch in *" $op "*) stale="$stale $op" ;; esac
	echo "$operators" | grep -qx "$op" || stale="$stale $op"
done
echo "listed here as operators without a text, wrongly:$stale" >"$tmp/out"
[ -z "$stale" ]
tap "the list of operators without a text is true"

# Kinds of devices are told by pm_device_kind: a name compared elsewhere would be a second list of them.
grep -rnE --include='*.[ch]' --exclude-dir=tests --exclude-dir='build*' --exclude-dir='.*' \
	'(strcmp|pm_str_eq)\(.*"(ref|emu|emu\+[a-z]*|cuda)"' . >"$tmp/out"
[ $? -eq 1 ]
tap "no device is told by its name outside of runtime/device/devices.c"

# Given somewhere, and expected by a test. The page of verdicts is held to the table by tests/cli/program/reference.sh.
verdicts=$(names matcher/host/verdicts.def)
[ "$(echo "$verdicts" | wc -l)" -ge 25 ]
tap "the verdicts are known"
printf 'XX(NEW_VERDICT, "a row without what a score takes it for")\n' | cat matcher/host/verdicts.def - >"$tmp/verdicts.def"
mkdir -p "$tmp/copy/matcher/host"
cp matcher/host/verdict.[ch] matcher/host/verdicts.def "$tmp/copy/matcher/host"
# compiles: verdict.c of the copy.
compiles()
{
	"${CC:-cc}" -std=c11 -fsyntax-only -I"$tmp/copy" "$tmp/copy/matcher/host/verdict.c" >"$tmp/out" 2>&1
}
compiles && cp "$tmp/verdicts.def" "$tmp/copy/matcher/host" && ! compiles
tap "a verdict without its columns does not compile"
mkdir -p "$tmp/copy/include" && cp -r include/passmith "$tmp/copy/include"
# types_compile: type.c with the element types of the copy.
types_compile()
{
	"${CC:-cc}" -std=c11 -fsyntax-only -I"$tmp/copy/include" -Iinclude -I. ir/core/type.c >"$tmp/out" 2>&1
}
types_compile && echo 'XX(F8, 25, "float8", 1, FLOAT, "f8", "char", F32, HALF, 29, INT32_DATA, "torch.float8", 8)' \
	>>"$tmp/copy/include/passmith/dtypes.def" && ! types_compile && grep -q 'ROW_OF_F8' "$tmp/out"
tap "a floating-point type without its row in floats.def does not compile"
mkdir -p "$tmp/copy/ir/core" && cp ir/core/floats.def "$tmp/copy/ir/core"
printf 'XX(F8, half, 0x1p-3, 0x1p-9, 0x1p-6, 448, 1, 0.5, 1e-1, 1e-1, 448, 6, 0, 28, 12)\n' >>"$tmp/copy/ir/core/floats.def"
cp ir/core/type.[ch] ir/core/element.[ch] ir/core/narrow.def "$tmp/copy/ir/core"
for f in "$tmp/copy/ir/core/type.c" "$tmp/copy/ir/core/element.c" matcher/pattern/pattern.c bench/compare/tolerance.c; do
	"${CC:-cc}" -std=c11 -D_DEFAULT_SOURCE -fsyntax-only -I"$tmp/copy/include" -I"$tmp/copy" -Iinclude -I. "$f" || echo "$f"
done >"$tmp/out" 2>&1
[ ! -s "$tmp/out" ]
tap "an element type is a row of dtypes.def, and one of floats.def"
# A type told by its name in CUDA C++ or PyTorch would be a second table. What is in a comment counts for nothing.
grep -rnE --include='*.[ch]' --exclude-dir=tests --exclude-dir=passes --exclude-dir='build*' --exclude-dir='.*' \
	'"(__half|__nv_bfloat16|torch\.float16|u64)"' . | grep -vE ':[0-9]+:(.*/\*| \*)' >"$tmp/out"
[ ! -s "$tmp/out" ]
tap "no other file has a list of the names of element types"
given_words=$(grep -rhoE --include='*.c' --exclude-dir=tests --exclude-dir='build*' --exclude-dir='.*' 'PM_VERDICT_[A-Z_]+' * | sort -u)
tested_words=$(grep -rhoE --include='*.c' --include='*.sh' --include='*.tsv' --exclude=complete.sh '[A-Z_]+' tests | sort -u)
given= expected=
for v in $verdicts; do
	echo "$given_words" | grep -qx "PM_VERDICT_$v" || given="$given $v"
	echo "$tested_words" | grep -qxE "(PM_VERDICT_)?$v" || expected="$expected $v"
done
echo "verdicts that nothing gives:$given" >"$tmp/out"
[ "$given" = " REJECT_SRC" ] # kept: names of verdicts stand in stored results and are not taken away
tap "every verdict is given somewhere"
echo "verdicts that no test expects:$expected" >"$tmp/out"
[ "$expected" = " REJECT_SRC" ]
tap "every verdict is expected by a test"

# ---- completion in zsh, as someone at a keyboard gets it (bash: install.sh) ----

# offers LINE WORD...: what zsh offers behind LINE is these words, in any order.
offers()
{
	line=$1
	shift
	TERM=vt100 timeout 120 zsh -f tests/lib/complete.zsh "$tmp/zsh" "$line" </dev/null >"$tmp/out" 2>"$tmp/err" || return
	sed 's/^offer //' "$tmp/out" | LC_ALL=C sort -u >"$tmp/offered"
	printf '%s\n' "$@" | LC_ALL=C sort -u >"$tmp/wanted"
	diff "$tmp/wanted" "$tmp/offered" >"$tmp/out"
}

if command -v zsh >/dev/null && zsh -fc 'zmodload zsh/zpty' 2>/dev/null; then
	mkdir "$tmp/zsh"
	tools/gen/gen-completion.sh "$build" zsh >"$tmp/zsh/_passmith" 2>"$tmp/err"
	tap "completion for zsh is made"
	# shellcheck disable=SC2046 # the words are arguments
	offers "passmith " $(sed -n 's/^XX(\([a-z_]*\),.*/\1/p' cli/cmds.def | tr _ -)
	tap "zsh offers every command"
	offers "passmith ex" extract explain
	tap "zsh offers the commands that begin so"
	# shellcheck disable=SC2046
	offers "passmith task " $(sed -n '/} verbs\[\] = {/,/^};/p' cli/cmd/cmd_task.c | grep -o '{ "[a-z]*"' | tr -d '{ "')
	tap "zsh offers the verbs of task"
	# shellcheck disable=SC2046
	offers "passmith eval -" $("$passmith" eval --help | sed -n 's/^  \(-[^ ]*\) .*/\1/p') --help
	tap "zsh offers every option of a command"
	offers "passmith run --device " ref emu cuda
	tap "zsh offers the devices"
	offers "passmith run models/llama" llama_block.gpt
	tap "zsh offers files where a model is wanted"
else
	skip "completion in zsh" "zsh with its module zsh/zpty is not installed here"
fi
tap_done
