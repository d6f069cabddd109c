#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# json_errors.sh - under --json every command prints one object on stdout, also when it fails: what went wrong, where,
# and what was finished.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

model=models/llama_block.gpt
silu=$build/passes/silu.so

# object NAME: stdout is one JSON object; failed CODE STAGE NAME: and it says that and where it failed.
object()
{
	is_json "$tmp/out" && head -c 1 "$tmp/out" | grep -q '{'
	tap "$1: one object"
}

failed()
{
	exits "$1" "$3"
	object "$3"
	grep -q '^  "error": "..*"' "$tmp/out" && grep -q "^  \"stage\": \"$2\"" "$tmp/out"
	tap "$3: the error, and that it was in $2"
}

printf 'no model at all' >"$tmp/junk.gpt"
printf 'nor this' >"$tmp/junk2.gpt"
printf 'int main(void) { return\n' >"$tmp/junk.c"
printf '{"records": [}' >"$tmp/junk.json"
none=$tmp/none

# What a command does with input that is not there or nonsense. Every command of cmds.def has a line.
bad_input()
{
	case $1 in
	import | validate | time) echo "4 reading $1 $tmp/junk.gpt" ;;
	bind) echo "4 reading bind $none.gpt --dim batch=4 -o $tmp/o.onnx" ;;
	simplify) echo "4 reading simplify $none.gpt -o $tmp/o.onnx" ;;
	cast) echo "4 reading cast $none.gpt --to float16 -o $tmp/o.onnx" ;;
	print) echo "4 reading print $none.gpt" ;;
	materialize) echo "4 reading materialize $none.gpt -o $tmp/o.onnx" ;;
	run) echo "4 reading run $none.gpt" ;;
	extract) echo "4 reading extract $none.gpt --db $tmp/x.db" ;;
	task) echo "4 reading task list --db $none.db" ;;
	trajectory) echo "4 reading trajectory list --db $none.db" ;;
	db) echo "4 reading db stats --db $none.db" ;;
	mine) echo "4 reading mine --db $none.db" ;;
	apply) echo "4 reading apply $none.gpt --pass $silu -o $tmp/o.onnx" ;;
	bank) echo "4 reading bank list $none" ;;
	compile) echo "4 reading compile $none.gpt -o $tmp/o.pmz" ;;
	serve-bench) echo "4 reading serve-bench $tmp/junk.gpt" ;;
	new) echo "4 reading new no-name --dir $tmp" ;;
	build) echo "1 compiling build $tmp/junk.c" ;;
	check) echo "4 reading check $none.so" ;;
	explain) echo "4 reading explain $none.gpt --pass $silu" ;;
	eval) echo "4 reading eval $none.gpt --pass $silu" ;;
	agent) echo "4 reading agent report --out $none" ;;
	cluster) echo "4 reading cluster status $none" ;;
	profile) echo "4 reading profile $none.gpt --pass $silu" ;;
	verify) echo "4 reading verify $none.record" ;;
	results) echo "4 reading results import $tmp/junk.json --db $none.db" ;;
	watch) echo "4 reading watch --db $none.db" ;;
	mcp) echo "4 reading mcp --db $none.db" ;;
	bench) echo "4 reading bench --db $none.db --baselines eager" ;;
	report) echo "4 reading report --db $none.db -o $tmp/r.html" ;;
	view) echo "4 reading view $none.gpt -o $tmp/v.html" ;;
	conform) echo "4 reading conform $none" ;;
	doctor) echo "2 arguments doctor --ops-markdown" ;;
	esac
}

commands=$(sed -n 's/^XX(\([a-z_]*\),.*/\1/p' cli/cmds.def | tr _ -)
[ "$(echo "$commands" | wc -l)" -ge 23 ]
tap "the commands are known"
for c in $commands; do
	pm "$c" --json --no-such-option
	failed 2 arguments "$c with an option that there is not"
	pm "$c" --no-such-option --json
	failed 2 arguments "$c, --json after the mistake"
	pm "$c" --json=0
	exits 2 "$c --json=0"
	[ ! -s "$tmp/out" ] && grep -qF "Option '--json' takes no value" "$tmp/err"
	tap "$c: --json=0 does not turn it on"
	pm "$c" --help --json
	exits 0 "$c --help --json"
	object "$c --help --json"
	line=$(bad_input "$c")
	[ -n "$line" ]
	tap "$c has a line of bad input in this test (bad_input)"
	[ -n "$line" ] || continue
	# shellcheck disable=SC2086 # the words are arguments
	set -- $line
	code_wanted=$1 stage=$2
	shift 2
	pm "$@" --json
	failed "$code_wanted" "$stage" "$*"
done
pm abacus --json
failed 2 arguments "no such command"
pm print $model --json=1
exits 2 "a flag with a value"

# What was finished stays.
pm import $model "$tmp/junk.gpt" --json
failed 4 reading "import of a model and of nonsense"
says '"file": "models/llama_block.gpt"' "import: the model is there"
pm validate models/swin_block.gpt "$tmp/junk.gpt" --json
failed 4 reading "validate of a model and of nonsense"
says 'swin_block' "validate: the model is there"
pm check "$silu" "$none.so" --json
failed 4 reading "check of a pass and of none"
says 'silu.so' "check: the pass is there"
pm explain $model --pass "$silu" --pass "$none.so" --json
failed 4 working "explain with a pass and with none"
says 'silu.so' "explain: the pass is there"
pm eval $model --pass "$silu" --pass "$none.so" --hidden 0 --json
failed 4 working "eval of a pass and of none"
says '"AS"' "eval: the report of the pass is there"
pm eval $model --pass "$silu" --hidden 0 --json -o "$tmp/no/such.json"
failed 3 writing "eval whose report cannot be written"
says '"AS"' "eval: it is on stdout all the same"
pm eval $model --pass "$silu" --hidden 0 --json
exits 0 "eval that goes well"
object "eval that goes well"
grep -q '^  "error": null' "$tmp/out" && grep -q '^  "stage": "done"' "$tmp/out" && grep -q '^  "results": \[' "$tmp/out"
tap "eval: no error, done, and results"

pm extract $model --db "$tmp/j.db" --json
exits 0 "extract"
pm db export --db "$tmp/j.db" --json
failed 4 reading "many lines of JSON where one object is asked for"
pm extract "$tmp/junk.gpt" "$tmp/junk2.gpt" models/swin_block.gpt --db "$tmp/j.db" --json
failed 4 reading "extract of two models that are none"
says '"errors": [' "extract: both errors"
says '"kinds"' "extract: the count of what is held"

# A model that cannot be read does not keep the others from being timed. Without a GPU: their times are in the file
# of a run before.
for m in llama_block swin_block; do
	pm import "models/$m.gpt" --json
	sed -n 's/.*"hash": "\([0-9a-f]*\)".*/\1/p' "$tmp/out" | head -n 1 >"$tmp/$m.key"
	[ -s "$tmp/$m.key" ]
	tap "the key of $m"
done
printf '{"kind": "passmith_time", "device": "emu (host CPU)", "tf32": false, "graphs": false, "records": [
  {"target": "models/llama_block.gpt", "graph": "%s", "times": {"passmith eager": {}}},
  {"target": "models/swin_block.gpt", "graph": "%s", "times": {"passmith eager": {}}}]}' \
	"$(cat "$tmp/llama_block.key")" "$(cat "$tmp/swin_block.key")" >"$tmp/times.json"
pm time $model "$tmp/junk.gpt" models/swin_block.gpt --device emu --resume -o "$tmp/times.json" --json
failed 4 reading "time of two models and of nonsense"
[ "$(grep -c '"target"' "$tmp/out")" -eq 3 ] && grep -q '"target": "models/swin_block.gpt"' "$tmp/out"
tap "time: what comes after the nonsense is there"
[ "$(grep -c '"target"' "$tmp/times.json")" -eq 3 ]
tap "time: and in the file"
tap_done
