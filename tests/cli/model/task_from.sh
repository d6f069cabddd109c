#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# task_from.sh - whole models as tasks: named by their files, tagged, cut to sizes that emu runs, packed and exported.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

db=$tmp/k.db
cat >"$tmp/level2__7_Linear_Gate.gpt" <<EOF
<ir_version: 8, opset_import: ["" : 18]>
m (float[4096,2048] x, float[1024,2048] w, float[1024] b) => (float[4096,1024] y)
{
 g = Gemm <transB = 1> (x, w, b)
 s = Sigmoid (g)
 unused = Tanh (g)
 y = Mul (g, s)
}
EOF
printf '<ir_version: 8, opset_import: ["" : 18]>\nm (float[3,5] x) => (float[3] y) { y = ReduceSum <axes = [1], keepdims = 0> (x) }\n' \
	>"$tmp/mkb_reduce__sum.gpt"
printf 'this is no model\n' >"$tmp/broken.gpt"

pm task from "$tmp/level2__7_Linear_Gate.gpt" "$tmp/mkb_reduce__sum.gpt" --db "$db" --shapes 3 --tag level=3 \
	--tag origin=ours
exits 0 "two models become tasks; the database is made"
says "level2__7_Linear_Gate: 3 shapes" "a task has its file's name and so many shapes"
says "2 of 2 models are tasks" "they are counted"
pm db query "SELECT name, key, value FROM task_tags JOIN tasks ON id = task ORDER BY 1, 2" --db "$db"
says "level2__7_Linear_Gate	suite	kernelbench" "level2__ is of KernelBench"
says "level2__7_Linear_Gate	level	3" "--tag wins over the file's name"
says "mkb_reduce__sum	suite	multikernelbench" "mkb_ is of MultiKernelBench"
says "mkb_reduce__sum	category	reduce" "with its category"
says "mkb_reduce__sum	origin	ours" "--tag tags all"
pm task show level2__7_Linear_Gate --db "$db"
says "shape 0, float: 4096x2048 1024x2048 1024" "the first shape is the model's own"
pm task from "$tmp/level2__7_Linear_Gate.gpt" --db "$db" --shapes 3
says "(was there)" "the same again is there"

pm task from "$tmp/level2__7_Linear_Gate.gpt" --db "$tmp/cut.db" --shapes 4 --max-elements 65536 --max-mflop 10 --json
exits 0 "cut"
json "task from --json is JSON"
says '"cut": true' "it says that sizes were cut"
says '"over": false' "and that they are within the limits"
says '"elements_before": 8388608' "from how many elements"
most=$(sed -n 's/.*"elements": \([0-9]*\).*/\1/p' "$tmp/out")
[ "$most" -le 65536 ] && [ "$most" -gt 4096 ]
tap "no value has more than 65536 elements, and they are not cut to nothing ($most)"
pm db query "SELECT value FROM task_tags WHERE key = 'cut'" --db "$tmp/cut.db"
says "largest value 8388608 to $most elements" "the tag says by how much"
"$passmith" task show level2__7_Linear_Gate --db "$tmp/cut.db" | sed 1d | sed '/^# variant/,$d' >"$tmp/first.gpt"
pm run "$tmp/first.gpt" --device emu --compare ref
exits 0 "what was cut runs on emu and agrees with ref"

cp "$tmp/level2__7_Linear_Gate.gpt" "$tmp/level2__8_Same.gpt"
pm task from "$tmp/level2__8_Same.gpt" --db "$tmp/cut.db" --shapes 4 --max-elements 65536 --max-mflop 10
pm db query "SELECT count(*) FROM tasks" --db "$tmp/cut.db"
says "2" "an equal problem of another name is a task of its own"

pm task pack level2__7_Linear_Gate --db "$tmp/cut.db" -o "$tmp/packs"
exits 0 "it is packed as any task"
pm task verify "$(cat "$tmp/out")"
exits 0 "and the pack is whole"
pm task export level2__7_Linear_Gate --torch "$tmp/torch" --db "$tmp/cut.db"
exits 0 "and exported for PyTorch"
says "4 graphs" "all shapes"

pm task from "$tmp/broken.gpt" "$tmp/mkb_reduce__sum.gpt" --db "$db"
exits 1 "one that is no model: exit code 1"
warns "left out $tmp/broken.gpt" "it is named"
says "1 of 2 models are tasks" "and the others go on"
printf '<ir_version: 8, opset_import: ["" : 18]>\nm (float[3,5] x) => (float[3,5] y) { y = Relu (x) }\n' >"$tmp/small.gpt"
pm task from "$tmp/small.gpt" --db "$db" --shapes 1 --max-elements 1 --json
exits 0 "as small as it goes"
pm task from "$tmp/small.gpt" --db "$db" --tag level
exits 4 "a tag without a value"
warns "is not KEY=VALUE" "and the sentence says so"
pm task from "$tmp/small.gpt" "$tmp/broken.gpt" --db "$db" --name x
exits 2 "--name names one task"
pm task from --db "$db"
exits 2 "task from needs a model"
tap_done
