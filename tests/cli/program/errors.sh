#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# errors.sh - exit codes 2, 3 and 4, each with one sentence that names what is wrong.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

model=models/llama_block.gpt

for args in "print" "run" "new" "build" "explain $model" "conform --check-doc x --device cuda" "doctor x" "run $model --seed ten" \
	"run $model --seed" "conform --device abacus" "run $model --device abacus" \
	"run $model --device emu --compare abacus" "eval $model --pass $build/passes/silu.so --device abacus" \
	"eval $model --pass $build/passes/silu.so --device emu+races" "run $model --device emu+races" \
	"bench --db $tmp/none.db --device emu+print" "bench --db $tmp/none.db --device abacus" "time $model --device abacus" "run $model --target abacus" \
	"eval $model --pass $build/passes/silu.so --target abacus" "bench --db $tmp/none.db --target abacus"; do
	# shellcheck disable=SC2086 # the words are arguments
	pm $args
	exits 2 "passmith $args"
	one_sentence "passmith $args: one sentence"
done

pm time $model --device emu --pass "$build/passes/silu.so"
exits 4 "time on a device without a clock"
one_sentence "time on a device without a clock: one sentence, and nothing before it"
warns "The device emu has no clock" "the sentence names the device"
CUDA_VISIBLE_DEVICES='' pm time $model
exits 3 "time without a GPU"
one_sentence "time without a GPU: one sentence"
CUDA_VISIBLE_DEVICES='' PASSMITH_LIBRARIES=off pm time $model
exits 3 "time without a GPU, and without libraries"
one_sentence "time without a GPU, and without libraries: one sentence"
CUDA_VISIBLE_DEVICES='' PASSMITH_LIBRARIES=off pm run $model --device cuda
one_sentence "run without a GPU, and without libraries: one sentence"
! grep -q emu "$tmp/err"
tap "the sentence does not name a device that cannot time either"
# A pass of which no rule applies never gets as far as the device: the verdict would hide that there is none.
CUDA_VISIBLE_DEVICES='' pm time $model
cp "$tmp/err" "$tmp/no_gpu"
printf 'g (float[5,67] x) => (float[5,67] y) { y = Exp(x) }\n' >"$tmp/exp.gpt"
for model_of in "$model" "$tmp/exp.gpt"; do
	CUDA_VISIBLE_DEVICES='' pm eval "$model_of" --pass "$build/passes/silu.so" --device cuda
	exits 3 "eval of ${model_of##*/} without a GPU"
	one_sentence "eval of ${model_of##*/} without a GPU: one sentence"
	cmp -s "$tmp/err" "$tmp/no_gpu"
	tap "eval of ${model_of##*/} without a GPU: the sentence of the other commands"
done
CUDA_VISIBLE_DEVICES='' pm eval "$tmp/exp.gpt" --pass "$build/passes/silu.so" --device cuda --json
exits 3 "eval --json without a GPU"
json "eval --json without a GPU: one object"
! grep -q NO_MATCH "$tmp/out"
tap "eval --json without a GPU: no verdict"
pm extract $model --db "$tmp/no_gpu.db" --quiet
pm task make --db "$tmp/no_gpu.db" --top 1 --shapes 1 --name one --quiet
CUDA_VISIBLE_DEVICES='' pm bench --db "$tmp/no_gpu.db" --baselines eager,silu --device cuda
exits 3 "bench without a GPU"
cmp -s "$tmp/err" "$tmp/no_gpu"
tap "bench without a GPU: the same sentence"

# A number that an option does not take is no default.
for args in "validate $model --max-mflop -3" "validate $model --max-mflop 1000000" "validate $model --seeds 1000" \
	"validate $model --seeds -1" "validate $model -j -4" "run $model --cut -5" "run $model --deadline -1" \
	"run $model --cut 99999999999999999" "apply $model --pass $build/passes/silu.so -o $tmp/o.gpt --deadline -5" \
	"check $build/passes/silu.so --deadline -1" "explain $model --pass $build/passes/silu.so --variant -2" \
	"print $model --max-inline -7" "extract $model --db $tmp/no.db -j -1" "task make --db $tmp/no.db --max-elements -1" \
	"bench --db $tmp/no.db --shapes -2" "mine --db $tmp/no.db --top 3 --show 4" "mine --db $tmp/no.db --top 0" \
	"verify $tmp/no.record --key $(printf '%064d' 0)x" "conform --per-op -1" "time $model --seconds -1"; do
	# shellcheck disable=SC2086 # the words are arguments
	pm $args
	exits 2 "$args"
	one_sentence "$args: one sentence"
done
pm run $model --seed -1 --device ref
exits 0 "a seed may be any number"
# A pass that goes wrong everywhere leaves nothing to time, also without a clock. The help says what 1 means.
pm time $model --device emu --pass "$build/tests/plugin/abi_none.so"
exits 1 "time of a pass that goes wrong"
says "The pass $build/tests/plugin/abi_none.so went wrong" "the line of the graph says so"

pm print "$tmp/none.onnx"
exits 4 "a file that is not there"
one_sentence "a file that is not there: one sentence"
warns "$tmp/none.onnx\": No such file or directory; check the path." "the sentence names the file and what to do"

silu=$build/passes/silu.so
for args in "import $tmp/none.onnx" "apply $tmp/none.onnx --pass $silu -o $tmp/o.onnx" "eval $tmp/none.onnx --pass $silu" \
	"explain $tmp/none.onnx --pass $silu" "eval $model --pass $tmp/none.so" "explain $model --pass $tmp/none.so" \
	"check $tmp/none.so" "apply $model --pass $tmp/none.so -o $tmp/o.onnx"; do
	# shellcheck disable=SC2086 # the words are arguments
	pm $args
	exits 4 "passmith ${args%% *}: a file that is not there"
	one_sentence "passmith ${args%% *}: one sentence"
	warns "none" "passmith ${args%% *}: it is named"
done

pm extract "$tmp/none.onnx" --db "$tmp/none.db"
exits 4 "extract of a model that is not there"
[ ! -e "$tmp/none.db" ]
tap "it leaves no database behind"

# A database is made where it is filled, its folder is not.
for args in "extract $model" "validate $model" "db import $tmp/none.jsonl" "db merge $tmp/none.db" "task unpack $tmp" \
	"eval $model --pass $silu" "task list" "mine"; do
	# shellcheck disable=SC2086
	pm $args --db "$tmp/no/such/x.db"
	exits 4 "passmith ${args%% *} with a database in no folder"
	one_sentence "passmith ${args%% *} with a database in no folder: one sentence"
	warns "atabase '$tmp/no/such/x.db' does not exist" "passmith ${args%% *}: it is named"
	[ ! -e "$tmp/no" ]
	tap "passmith ${args%% *}: nothing is made"
done

# Sizes that are open: what can be done about them, and by which name.
open=models/open/bge_pooling_head.gpt
for args in "run $open" "eval $open --pass $silu"; do
	# shellcheck disable=SC2086
	pm $args
	exits 4 "passmith ${args%% *} of a model with open sizes"
	one_sentence "passmith ${args%% *} of a model with open sizes: one sentence"
	warns "The size 'batch' of input 'last_hidden_state' is open; give it a number with passmith bind" "it names the size"
done

pm eval "$tmp" --pass "$silu"
exits 4 "eval of a folder that is no pack"
warns "The folder $tmp is no pack, for it holds no task.json" "the sentence says what a pack is"
pm run $model --seed --json
exits 2 "an option in the place of a value"
warns "Option '--seed' needs a value" "is not taken for the value"
printf '{"records": [}' >"$tmp/bad.json"
pm extract $model --db "$tmp/some.db"
pm task make --db "$tmp/some.db" --top -3
exits 2 "tasks of fewer subgraphs than one"
pm results import "$tmp/bad.json" --db "$tmp/some.db"
exits 4 "results that are no JSON"
warns "$tmp/bad.json: Malformed JSON" "the sentence names the file"
pm task make --db "$tmp/some.db" --top 1 --shapes 1
pm task export 1 --db "$tmp/some.db" --torch "$tmp/bad.json"
exits 3 "a file where a folder is to be made"
warns "give the path of a folder" "the sentence says so"
PASSMITH_CACHE=$tmp/bad.json pm run $model --device emu
exits 3 "a cache that cannot be made"
warns "PASSMITH_CACHE" "the sentence says what it is for"

for args in "import $model" "apply $model --pass $silu" "materialize $model" "simplify $model"; do
	# shellcheck disable=SC2086
	pm $args -o "$tmp/no/out.onnx"
	exits 3 "passmith ${args%% *} into a folder that is not there"
	one_sentence "passmith ${args%% *} into no folder: one sentence"
	warns "make its folder first" "passmith ${args%% *} into no folder: what to do"
	# shellcheck disable=SC2086
	pm $args -o "$tmp"
	exits 3 "passmith ${args%% *} onto a folder"
	warns "give the path of a file" "passmith ${args%% *} onto a folder: what to do"
done

cp passes/TEMPLATE.c "$tmp/fine.c"
pm build "$tmp/fine.c" -o "$tmp/no/fine.so"
exits 3 "build into a folder that is not there"
one_sentence "build into no folder: one sentence"
pm materialize $model -o "$tmp/full.gpt"
exits 2 "materialize into what is read as text"
warns "full.gpt' in .onnx" "the sentence says how to call it"
pm help import
exits 0 "passmith help import"
cp "$tmp/out" "$tmp/help"
pm import --help
cmp -s "$tmp/out" "$tmp/help"
tap "passmith help import is passmith import --help"
pm help abacus
exits 2 "passmith help of no command"
warns "abacus" "the sentence names it"

printf 'no model at all' >"$tmp/junk.onnx"
pm import "$tmp/junk.onnx"
exits 4 "a file that is no model"
one_sentence "a file that is no model: one sentence"

pm import $model -o "$tmp/whole.onnx"
exits 0 "writing a model"
for n in 1 100 1000 4000; do
	head -c $n "$tmp/whole.onnx" >"$tmp/cut.onnx"
	pm import "$tmp/cut.onnx"
	exits 4 "a model cut after $n bytes"
	one_sentence "a model cut after $n bytes: one sentence"
done

sed 's/Softmax/Sofmax/' $model >"$tmp/bad.gpt"
pm print "$tmp/bad.gpt"
exits 4 "text with a misspelt operator"
one_sentence "text with a misspelt operator: one sentence"
warns "did you mean Softmax" "the sentence proposes the right one"
grep -q 'line [0-9][0-9]*, column [0-9]' "$tmp/err"
tap "the sentence says where"

pm run $model --target abacus
warns "There is no target 'abacus'; there are h200" "the sentence names the target and those that there are"

export PASSMITH_CXX="$tmp/none"
pm run $model --device emu
unset PASSMITH_CXX
exits 3 "no C++ compiler for the emulated device"
one_sentence "no C++ compiler: one sentence"
warns "install g++" "the sentence says what to install"
# ---- a file that is no pass, where one is asked for ----

cp passes/TEMPLATE.c "$tmp/source.c"
pm extract models/llama_block.gpt --db "$tmp/pass.db" -j 1 --quiet
for line in "check" "explain models/llama_block.gpt --pass" "eval models/llama_block.gpt --pass" \
	"apply models/llama_block.gpt -o $tmp/x.onnx --pass" "task make --db $tmp/pass.db --for"; do
	# shellcheck disable=SC2086 # a command and its arguments
	pm $line "$tmp/source.c"
	exits 4 "${line%% *} of a source"
	warns "source.c' is the source of a pass; run passmith build $tmp/source.c, and give the file $tmp/source.so that it makes." \
		"it says to build it"
	# shellcheck disable=SC2086
	pm $line "$tmp/nothing.so"
	exits 4 "${line%% *} of a pass that is not there"
	warns "There is no pass '$tmp/nothing.so'; build one with passmith build PASS.c." "it says so"
done
# A database is not to blame for a file that is no pass.
pm task make --db "$tmp/pass.db" --for models/llama_block.gpt
exits 4 "task make for a file that is no pass"
warns "No subgraph can be chosen for the pass models/llama_block.gpt: " "it names the file"
pm check models/llama_block.gpt
exits 1 "check of a file that is no object"
[ "$(grep -c 'It is no ELF file' "$tmp/out")" -eq 1 ]
tap "its problem is said once"
tap_done
