#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# task_groups.sh - several models are one task: their own shapes and types, no others; named, tagged, packed, evaluated.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

db=$tmp/g.db
mkdir "$tmp/m"
gate() # FILE TYPE: x times its Sigmoid
{
	printf '<ir_version: 8, opset_import: ["" : 18]>\nm (%s x) => (%s y) { s = Sigmoid (x)\n y = Mul (x, s) }\n' "$2" "$2" \
		>"$tmp/m/$1.gpt"
}
gate a 'float[4,8]'
gate b 'float16[4,8]'
gate c 'bfloat16[6,5]'
gate d 'float[4,8]'
printf '<ir_version: 8, opset_import: ["" : 18]>\nm (float16[3,5] x) => (float[3,5] y) { s = Tanh (x)\n y = Cast <to = 1> (s) }\n' \
	>"$tmp/m/e.gpt"
printf '# a comment\npassbench__one\ta.gpt,b.gpt,c.gpt\n\nmixed\t%s/m/e.gpt,a.gpt,d.gpt\t5\n' "$tmp" >"$tmp/m/groups.txt"
pm task from --groups "$tmp/m/groups.txt" --db "$db" --tag origin=ours
exits 0 "two groups become tasks; paths begin in the list's folder"
says "task 1 passbench__one: 3 of 3 graphs, 2 shapes" "graphs and shapes are counted"
says "task 2 mixed: 2 of 5 graphs, 2 shapes; 1 equal to another of them; 2 lists of operators" \
	"other operators are allowed, equal graphs are one, and both are said"
says "2 of 2 groups are tasks" "groups are counted"
pm task show passbench__one --db "$db"
says "# variant 0: shape 0, float: 4x8" "the first graph is the first variant"
says "# variant 1: shape 0, float16: 4x8" "the same sizes in another type are the same shape"
says "# variant 2: shape 1, bfloat16: 6x5" "types and sizes are those of the models"
[ "$(grep -c '^# variant' "$tmp/out")" = 3 ]
tap "and there are no others"
pm db query "SELECT name, key, value FROM task_tags JOIN tasks ON id = task ORDER BY 1, 2" --db "$db"
says "passbench__one	suite	passbench" "passbench__ is of PassBench"
says "passbench__one	origin	ours" "--tag tags all"
says "mixed	partial	3 of 5 graphs" "a group that lacks graphs says so"
! grep -q "passbench__one	partial" "$tmp/out"
tap "and only such a group"
pm task list --db "$db" --category activation
says "passbench__one" "it has a category"
pm task from --groups "$tmp/m/groups.txt" --db "$db"
says "passbench__one: 3 of 3 graphs, 2 shapes (was there)" "the same again is there"
pm eval passbench__one --db "$db" --pass "$build/passes/silu.so" --summary --hidden 0
exits 0 "a pass is judged on it"
says "3/3" "on each graph"
pm task pack passbench__one --db "$db" -o "$tmp/packs"
exits 0 "it is packed"
pack=$(cat "$tmp/out")
pm task verify "$pack"
exits 0 "and the pack is whole"
pm task export passbench__one --torch "$tmp/torch" --db "$db"
says "3 graphs" "and exported for PyTorch"
pm task from --groups "$tmp/m/groups.txt" --db "$tmp/cut.db" --max-elements 16 --json
exits 0 "cut where that is asked for"
json "task from --groups --json is JSON"
says '"cut": 3' "it says how many were cut"
pm db query "SELECT value FROM task_tags JOIN tasks ON id = task WHERE key = 'cut' AND name = 'passbench__one'" --db "$tmp/cut.db"
says "3 of 3 graphs" "and so does the tag"

printf 'gone\ta.gpt,nothing.gpt\nthere\ta.gpt\n' >"$tmp/m/gone.txt"
pm task from --groups "$tmp/m/gone.txt" --db "$tmp/gone.db"
exits 1 "a group that lacks a model is no task"
warns "left out gone: " "it is named"
warns "nothing.gpt" "with the file"
says "1 of 2 groups are tasks" "and the others go on"
printf 'no tabs here\n' >"$tmp/m/bad.txt"
pm task from --groups "$tmp/m/bad.txt" --db "$tmp/bad.db"
exits 4 "a line of another form"
warns "Line 1 of $tmp/m/bad.txt is not NAME<TAB>MODEL" "is named by its number"
printf 'x\ta.gpt\tmany\n' >"$tmp/m/bad.txt"
pm task from --groups "$tmp/m/bad.txt" --db "$tmp/bad.db"
exits 4 "a number that is none"
printf 'x\ta.gpt\nx\tb.gpt\n' >"$tmp/m/bad.txt"
pm task from --groups "$tmp/m/bad.txt" --db "$tmp/bad.db"
exits 4 "two groups of one name"
warns "Line 2 of $tmp/m/bad.txt names the group 'x' a second time" "are refused"
: >"$tmp/m/bad.txt"
pm task from --groups "$tmp/m/bad.txt" --db "$tmp/bad.db"
exits 4 "a list without groups"
pm task from --groups "$tmp/m/groups.txt" "$tmp/m/a.gpt" --db "$db"
exits 2 "groups or models"
pm task from --groups "$tmp/m/groups.txt" --shapes 3 --db "$db"
exits 2 "a group has its own shapes"
tap_done
