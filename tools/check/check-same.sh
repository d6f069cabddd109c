#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-same.sh [-q] OLD NEW - do two checkouts, each with a build in build/gcc, behave the same?
#
# Runs a fixed set of commands in both and compares stdout, stderr, written files and exit codes to the byte: help and
# errors of every command, models as text and JSON, passes' objects, checks and matches, models rewritten by every
# pass with the kernels' texts in them, and evaluations. An evaluation draws what nobody knows, so the old program's
# report is replayed by both. Left out of the comparison, by name: the JSON fields that say how long this machine took
# (seconds and {wall,rewrite,open,all,compile,cut,fold}_seconds). A file of the sources in a sentence counts by its name alone,
# since it may have moved; a folder of this machine is written TREE.
#
# -q leaves the evaluations out. Environment: BUILD (build/gcc, the same folder in both), SAME_MODELS (a folder with
# more .onnx or .gpt models, which every pass rewrites), PASSMITH_CACHE. Prints a table of what was compared; exit 1
# at the first difference, which is shown.
set -u
quick=0
[ "${1:-}" = -q ] && quick=1 && shift
if [ $# -ne 2 ] || [ ! -d "$1" ] || [ ! -d "$2" ]; then
	sed -n '2,15s/^# \{0,1\}//p' "$0"
	exit 2
fi
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd)
build=${BUILD:-build/gcc}
for t in "$old" "$new"; do
	[ -x "$t/$build/passmith" ] || {
		echo "check-same.sh: $t/$build/passmith is not built; build both checkouts with BUILD=$build" >&2
		exit 3
	}
done
work=$(mktemp -d "${TMPDIR:-/tmp}/passmith-same-XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT
export PASSMITH_CACHE=${PASSMITH_CACHE:-$work/cache} LC_ALL=C
unset PASSMITH_LOG PASSMITH_BUILD PASSMITH_ROOT
run=$work/run # the same names in both runs
rows=0 total=0
declare -A seen

# Each kind of case counts in one row of the table.
row()
{
	[ "$rows" -eq 0 ] || printf '%-58s %4d the same\n' "$name" "$rows"
	name=$1 rows=0
}

# What is left of an output: fields and folders that differ by their nature are taken out.
plain()
{
	sed -E -e 's/("((wall|rewrite|open|all|compile|cut|fold)_)?seconds": ?)[-+.0-9e]+/\1TIME/g' -e "s,$1,TREE,g" \
		-e 's,\b(app|base|ir|matcher|extract|runtime|simplify|dataset|bench|integrity|cli)/([a-z_]+/)*([a-z_0-9]+\.(c|h|def|sql|py)),\3,g'
}

# one TREE OUT ARG...: runs the program of TREE in it; leaves OUT.
one()
{
	local tree=$1 out=$2 code=0
	shift 2
	rm -f "$run"/out.*
	(cd "$tree" && exec "$build/passmith" "$@") >"$work/stdout" 2>"$work/stderr" </dev/null || code=$?
	{
		echo "exit code $code"
		echo "-- stdout"
		plain "$tree" <"$work/stdout"
		echo "-- stderr"
		plain "$tree" <"$work/stderr"
		for f in "$run"/out.*; do
			[ -f "$f" ] || continue
			echo "-- ${f##*/}"
			case $f in *.onnx | *.so) sha256sum <"$f" ;; *) plain "$tree" <"$f" ;; esac
		done
	} >"$out"
}

differ()
{
	echo "DIFFERENT: $1"
	diff "$work/old" "$work/new" | cut -c1-400 | head -n 40
	exit 1
}

# case ARG...: the command in both trees.
same()
{
	total=$((total + 1)) rows=$((rows + 1))
	seen[${1:-none}]=1
	fixtures "$old"
	one "$old" "$work/old" "$@"
	fixtures "$new"
	one "$new" "$work/new" "$@"
	cmp -s "$work/old" "$work/new" || differ "passmith $*"
}

# The fixtures that a tree has built, under names that do not depend on where its sources lie.
fixtures()
{
	[ "$(readlink "$run/so")" = "$work/so.${1//\//_}" ] && return
	if [ ! -d "$work/so.${1//\//_}" ]; then
		mkdir "$work/so.${1//\//_}"
		find "$1/$build/tests/plugin" "$1/$build/tests/adversarial" -name '*.so' -exec cp -f {} "$work/so.${1//\//_}" \;
	fi
	ln -sfn "$work/so.${1//\//_}" "$run/so"
}

mkdir -p "$run" "$PASSMITH_CACHE"
printf 'g (float[300] x) => (float[300] y)\n{\n  s = Sigmoid (x)\n  y = Mul (x, s)\n}\n' >"$run/silu.gpt"
printf 'g (float[300] x) => (float[300] y)\n{\n  s = Sigmoid (x)\n  y = Mul (x, q)\n}\n' >"$run/bad.gpt"
printf 'g (float[40,64] x) => (float[40,64] y)\n{\n  y = Softmax <axis: int = -1> (x)\n}\n' >"$run/softmax.gpt"
printf 'not a model' >"$run/bad.onnx"
printf 'int x = ;\n' >"$run/bad.c"
cp "$old/passes/TEMPLATE.c" "$run/fine.c"
sed 's/PM_PLUGIN/PM_PLUGGIN/' "$run/fine.c" >"$run/word.c"
echo '{' >"$run/bad.record"
P=$build/passes
M=models/llama_block.gpt
commands=$(sed -n 's/^XX(\([a-z_]*\),.*/\1/p' "$old"/cli/cmds.def | tr _ -)

row "files of the build: objects of passes, embedded texts"
(cd "$old/$build" && cat /dev/null >"$work/list" && find passes -maxdepth 1 -name '*.so' | sort >"$work/list")
while read -r so; do
	total=$((total + 1)) rows=$((rows + 1))
	sha256sum <"$old/$build/$so" >"$work/old"
	sha256sum <"$new/$build/$so" >"$work/new" || true
	cmp -s "$work/old" "$work/new" || differ "$build/$so"
done <"$work/list"
for h in $(cd "$old/$build/gen" && find . -name '*.cu.h' -o -name '*.sql.h' -o -name '*.py.h' -o -name ops.h); do
	total=$((total + 1)) rows=$((rows + 1))
	at=$(find "$new/$build/gen" -name "${h##*/}" | grep -F "$(basename "$(dirname "$h")" | sed 's/^dataset$/./;s/^bench$/./')" | head -n 1)
	# The first lines say what it was made from.
	sed '/^\/\* .*[Gg]enerated from/d' "$old/$build/gen/$h" >"$work/old"
	sed '/^\/\* .*[Gg]enerated from/d' "${at:-/dev/null}" >"$work/new"
	cmp -s "$work/old" "$work/new" || differ "$build/gen/$h"
done

row "help of every command"
same
same --help
same --version
same nothing
for c in $commands; do
	same "$c" --help
	same "$c" --no-such-option
	same "$c" --no-such-option --json
done

row "errors and their exit codes"
for c in "print" "run" "new" "build" "explain $M" "doctor x" "run $M --seed ten" "run $M --seed" "conform --device abacus" \
	"run $M --device abacus" "eval $M --pass $P/silu.so --device abacus" "time $M --device abacus" "run $M --target abacus" \
	"time $M --device emu --pass $P/silu.so" "print $run/none.onnx" "print $run/bad.onnx" "print $run/bad.gpt" \
	"import $run/bad.onnx" "import $run/none.onnx" "simplify $run/bad.gpt -o $run/out.gpt" "bind $M --dim x=3 -o $run/out.gpt" \
	"apply $run/none.onnx --pass $P/silu.so -o $run/out.onnx" "eval $run/none.onnx --pass $P/silu.so" "eval $M --pass $run/none.so" \
	"explain $M --pass $run/none.so" "check $run/none.so" "check $run/fine.c" "apply $M --pass $run/none.so -o $run/out.onnx" \
	"extract $run/none.onnx --db $run/none.db" "extract $M --db $run/no/such.db" "validate $M --db $run/no/such.db" \
	"task list --db $run/no/such.db" "task nothing" "mine --db $run/no/such.db" "db stats --db $run/none.db" "db nothing --db $run/none.db" \
	"verify $run/bad.record" "results show x --db $run/none.db" "bench --db $run/none.db --device abacus" "materialize $run/bad.onnx -o $run/out.onnx" \
	"build $run/none.c" "build $run/bad.c -o $run/out.so" "build $run/word.c -o $run/out.so" "new fine --dir $run" "conform $run/none"; do
	# shellcheck disable=SC2086 # the words are arguments
	same $c
	# shellcheck disable=SC2086
	same $c --json
done

row "models as text and JSON, as ONNX, cleaned up, bound"
for m in $(cd "$old" && echo models/*.gpt); do
	same print "$m"
	same print "$m" --canonical
	same print "$m" --stats --json
	same import "$m" -o "$run/out.onnx"
	same import "$m" --check
	same simplify "$m" -o "$run/out.gpt"
	same explain "$m" --pass "$P/fuse.so"
	same validate "$m"
done
same bind models/open/bge_pooling_head.gpt --dim batch=4 --dim tokens=16 -o "$run/out.gpt"
same simplify --list
same doctor --ops-markdown

row "passes: build, check, and where they match"
same build "$run/fine.c" -o "$run/out.so"
for so in $(cd "$old/$build" && echo passes/*.so); do
	same check "$build/$so" --json
	for m in $M models/bert_encoder_layer.gpt models/swin_block.gpt; do
		same explain "$m" --pass "$build/$so" --json
	done
done
fixtures "$old"
for so in $(cd "$run/so" && echo *.so); do
	case $so in hanging_* | fake_*) continue ;; esac # a deadline each; no passes
	same check "$run/so/$so"
	same check "$run/so/$so" --json
done

row "models rewritten, with the kernels' texts"
for m in $(cd "$old" && echo models/*.gpt) "$run/silu.gpt" "$run/softmax.gpt"; do
	for p in "--pass $P/fuse.so" "--passes $P"; do
		# shellcheck disable=SC2086
		same apply "$m" $p -o "$run/out.gpt" --json
	done
done
for m in ${SAME_MODELS:+"$SAME_MODELS"/*.onnx "$SAME_MODELS"/*.gpt}; do
	[ -f "$m" ] || continue
	same apply "$m" --pass "$P/fuse.so" -o "$run/out.gpt" --json
done

# replay PASS MODEL: what the old program drew, by both.
replay()
{
	fixtures "$old"
	(cd "$old" && "$build/passmith" eval "$2" --pass "$1" --device emu --seed 7 --hidden 1 --quiet -o "$run/report.json") \
		>/dev/null 2>&1 </dev/null
	same eval "$2" --pass "$1" --device emu --hidden 1 --replay "$run/report.json" --json
	same eval "$2" --pass "$1" --device emu --hidden 1 --replay "$run/report.json"
}

if [ $quick -eq 0 ]; then
	row "evaluations, replayed"
	replay "$P/silu.so" "$run/silu.gpt"
	replay "$P/fuse.so" "$run/softmax.gpt"
	for so in wrong_silu half_silu oob_silu mutating_silu greedy_silu uncompilable_silu divergent_silu unsynced_silu \
		crashing_check never_matches abi_newer bad_rules two_kernels E09_free A05_empty A05_nothing D01_ctor; do
		replay "$run/so/$so.so" "$run/silu.gpt"
	done
	row "models run"
	for m in $M models/mobilenetv3_se_block.gpt; do
		same run "$m" --device ref --json
		same run "$m" --device emu --json
	done
fi
row ""
for c in $commands; do
	[ -n "${seen[$c]:-}" ] || { echo "check-same.sh: no case runs passmith $c" && exit 1; }
done
echo "$total cases, all the same"
