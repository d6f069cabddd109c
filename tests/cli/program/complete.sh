#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# complete.sh - what a new row of a table needs elsewhere is there: text for PyTorch of operators, a place that gives a
# verdict and a test that expects it. CONTRIBUTING.md says which files these are. (Commands: json_errors.sh, help.sh.)
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

: >"$tmp/err"

# names FILE: the first word of each row.
names()
{
	sed -n 's/^\(OP\|XX\)(\([A-Za-z0-9_]*\),.*/\2/p' "$1"
}

# Operators that PyTorch export refuses, by name: no one function of PyTorch is the same, or nobody has needed it.
no_torch='Acos Acosh Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Col2Im ConstantOfShape Cosh DFT
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
tap "no device is told by its name outside of runtime/device/device.c"

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
types_compile && echo 'XX(F8, 13, "float8", 1, FLOAT)' >>"$tmp/copy/include/passmith/dtypes.def" && ! types_compile &&
	grep -q 'ROW_OF_F8' "$tmp/out"
tap "a floating-point type without its row in floats.def does not compile"
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
tap_done
