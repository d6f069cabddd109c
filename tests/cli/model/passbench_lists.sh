#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# passbench_lists.sh - each form of PassBench's lists: which samples it names, and which of them are one group. Exporting
# is replaced, so that PyTorch is not needed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "lists name samples" "there is no python3"
	tap_done
	exit
fi
cat >"$tmp/lists.py" <<P
import os
import sys

sys.path.insert(0, "$PWD/tools/bench")
import import_kernelbench as tool


def run_one(path, out, opts):
    with open(out, "w", encoding="utf-8") as f:
        f.write(path)
    return "" if os.path.exists(os.path.join(path, "model.py")) else "There is no model.py."


tool.run_one = run_one
sys.exit(tool.main())
P
lists() # ARGUMENT...: the models in $tmp/g
{
	rm -rf "$tmp/g"
	python3 "$tmp/lists.py" "$@" -o "$tmp/g" --json "$tmp/table.json" >"$tmp/out" 2>"$tmp/err"
	code=$?
}
groups() # TEXT NAME: groups.txt is this
{
	printf '%b' "$1" | cmp -s - "$tmp/g/groups.txt"
	tap "$2"
}
pb=$tmp/bench
long=$(printf 'n%.0s' $(seq 240))
for s in a b c "$long"; do
	mkdir -p "$pb/graphs/float32/$s"
	echo >"$pb/graphs/float32/$s/model.py"
done
mkdir -p "$pb/graph_lists" "$pb/sample_lists" "$pb/tasks/0f/pass_dir"
ua=6dd2c7119e374b27b807c6a7d4e8c361
ub=00105f14f4764fb3b77394651ed31878
printf '%s\tfloat32/a\n%s\tfloat32/b\n' $ua $ub >"$pb/graph_lists/all.txt"
lists "$pb/graph_lists/all.txt"
exits 1 "paths that begin elsewhere are not found"
says "--root names the folder" "and the sentence names the option"
lists "$pb/graph_lists/all.txt" --root "$pb/graphs"
exits 0 "--root says where they begin"
says "exported  float32__b" "UID<TAB>PATH names a sample"
[ ! -e "$tmp/g/groups.txt" ]
tap "a list without groups gives no groups.txt"
printf '%s,%s\n%s,float32/c,ffffffffffffffffffffffffffffffff\n' $ua $ub $ub >"$pb/graph_lists/grouped.txt"
lists "$pb/graph_lists/grouped.txt" --root "$pb/graphs"
exits 1 "a group names what no list has"
says "left out  ffffffffffffffffffffffffffffffff  No list of UID<TAB>PATH in" "it is a row with its reason"
says "3 of 4 problems exported" "a graph of two groups is exported once"
name=$(printf '%s\n%s' $ub $ua | sha256sum | cut -c1-12)
groups "passbench__$name\tfloat32__a.onnx,float32__b.onnx\t2\npassbench__grouped__2\tfloat32__b.onnx,float32__c.onnx\t3\n" \
	"a comma list is a group a line; UIDs give PassBench's own name, and how many were listed is kept"
grep -q '"listed": 3' "$tmp/table.json"
tap "the table as JSON has the groups"
mv "$pb/graph_lists/all.txt" "$tmp/elsewhere.txt"
lists "$pb/graph_lists/grouped.txt" --root "$pb/graphs" --uids "$tmp/elsewhere.txt"
says "exported  float32__a" "--uids names a list that is not beside it"
printf 'sample_id,graph_path,dtype\n0,graphs/float32/a,float32\n1,graphs/float32/b,float32\n0,graphs/float32/c,float32\n' \
	>"$pb/sample_lists/some.csv"
lists "$pb/sample_lists/some.csv"
groups "passbench__some__0\tgraphs__float32__a.onnx,graphs__float32__c.onnx\t2\npassbench__some__1\tgraphs__float32__b.onnx\t1\n" \
	"rows of one sample_id are a group"
printf 'graph_path\ngraphs/float32/a\n' >"$pb/sample_lists/plain.csv"
lists "$pb/sample_lists/plain.csv"
exits 0 "a .csv without groups is a list of samples"
printf 'what\nx\n' >"$pb/sample_lists/other.csv"
lists "$pb/sample_lists/other.csv"
says "has no row below a header with graph_path, sample_path or path" "a .csv of something else is refused by name"
printf 'graphs/float32/a\ngraphs/float32/b\n\ngraphs/float32/c\n' >"$pb/sample_lists/parts.txt"
lists "$pb/sample_lists/parts.txt"
groups "passbench__parts__1\tgraphs__float32__a.onnx,graphs__float32__b.onnx\t2\npassbench__parts__2\tgraphs__float32__c.onnx\t1\n" \
	"empty lines part groups"
printf 'graphs/float32/a\ngraphs/float32/b\n' >"$pb/tasks/0f/graph_list.txt"
echo 'x = 1' >"$pb/tasks/0f/pass_dir/my_pass.py"
task="passbench__0f\tgraphs__float32__a.onnx,graphs__float32__b.onnx\t2\n"
lists "$pb/tasks"
groups "$task" "a folder of tasks: graph_list.txt is a group, and what lies beside it no problem"
lists "$pb/tasks/0f/graph_list.txt"
groups "$task" "graph_list.txt by itself as well"
printf 'sample_path\ntasks/0f\n' >"$pb/sample_lists/tasks.csv"
lists "$pb/sample_lists/tasks.csv"
groups "$task" "and a list of tasks"
printf 'graphs/float32/%s\n' "$long" >"$pb/sample_lists/long.txt"
lists "$pb/sample_lists/long.txt"
exits 0 "a path that is too long for a file's name is exported"
tap_done
