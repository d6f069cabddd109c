#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# extract.sh - passmith extract: the same database however it is filled, nothing to do the second time.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# What a database holds: graphs and where they were found, without row numbers.
held()
{
	sqlite3 "$1" "SELECT m.name, s.hash, o.nodes FROM occurrences o JOIN models m ON m.id = o.model
		JOIN subgraphs s ON s.id = o.subgraph ORDER BY 1, 2, 3" >"$2"
}

pm extract models/*.gpt --db "$tmp/one.db" --quiet -j 1
exits 0 "one process"
says "6 models extracted, 0 done before, 0 failed" "six models"
says "fusible " "fusible subgraphs are reported"
says "classical " "classical ones too"
says "single " "and single operators"
says "0, 0, 0" "none is disconnected, not convex or rejected"
pm extract models/*.gpt --db "$tmp/three.db" --quiet -j 3
exits 0 "three processes"
# shellcheck disable=SC2046
pm extract $(ls -r models/*.gpt) --db "$tmp/back.db" --quiet -j 2
exits 0 "in the other order"
pm extract models/*.gpt --db "$tmp/shards.db" --quiet --shard 0/2
exits 0 "the first shard"
pm extract models/*.gpt --db "$tmp/shards.db" --quiet --shard 1/2
exits 0 "the second shard"
says "3 models extracted, 3 done before" "it does the other half"
if command -v sqlite3 >/dev/null; then
	held "$tmp/one.db" "$tmp/one"
	for other in three back shards; do
		held "$tmp/$other.db" "$tmp/$other"
		[ -s "$tmp/one" ] && cmp -s "$tmp/one" "$tmp/$other"
		tap "$other: the same graphs in the same places"
	done
else
	for other in three back shards; do
		skip "$other: the same graphs in the same places" "there is no sqlite3"
	done
fi
pm extract models/*.gpt --db "$tmp/one.db" --json
exits 0 "again"
says '"models_skipped": 6' "nothing is left to do"

# Each model has a category, the same that import says, and it survives an export.
pm import models/llama_block.gpt --json
want=$(sed -n 's/^ *"category": *"\(.*\)",*$/\1/p' "$tmp/out")
pm import models/llama_block.gpt models/resnet_bottleneck.gpt
grep -q "^models/llama_block.gpt: $want, " "$tmp/out"
tap "import of several says the category of each"
pm db query "SELECT category FROM models WHERE name = 'llama_block.gpt'" --db "$tmp/one.db"
[ -n "$want" ] && [ "$(tail -n 1 "$tmp/out")" = "$want" ]
tap "a stored model has its category"
pm db query "SELECT count(*) FROM models WHERE category = ''" --db "$tmp/one.db"
[ "$(tail -n 1 "$tmp/out")" = 0 ]
tap "so have all"
pm db report --db "$tmp/one.db" -o "$tmp/one.html"
sed -n '/Models by category/,/Extracted graphs/p' "$tmp/one.html" | grep -q ">$want<"
tap "the report has them"
pm db export --db "$tmp/one.db" -o "$tmp/one.jsonl"
pm db import "$tmp/one.jsonl" --db "$tmp/again.db"
pm db query "SELECT category FROM models WHERE name = 'llama_block.gpt'" --db "$tmp/again.db"
[ "$(tail -n 1 "$tmp/out")" = "$want" ]
tap "an export and an import keep it"
sed "s/\"category\":\"$want\"/\"category\":\"nonsense\"/" "$tmp/one.jsonl" | grep '"nonsense"' >"$tmp/bad.jsonl"
pm db import "$tmp/bad.jsonl" --db "$tmp/bad.db"
exits 4 "a category that there is not"
warns "has a category that there is not" "is said"

# A list of models in place of a command line that would be too long.
printf '%s\n' models/*.gpt "" >"$tmp/list"
pm extract --from "$tmp/list" --db "$tmp/list.db" --quiet
exits 0 "a list of models"
says "6 models extracted, 0 done before" "has them all"
head -n 2 "$tmp/list" >"$tmp/two"
pm extract models/llama_block.gpt --from "$tmp/two" --db "$tmp/two.db" --quiet
exits 0 "a list and a model"
says "3 models extracted, 0 done before" "are taken together"
pm extract --from "$tmp/none" --db "$tmp/none.db"
exits 4 "a list that is not there"
one_sentence "is said in one sentence"
[ ! -e "$tmp/none.db" ]
tap "and no database is made"
printf 'models/llama_block.gpt\0models\n' >"$tmp/zero"
pm extract --from "$tmp/zero" --db "$tmp/none.db"
exits 4 "a list that is no text"
warns "has a byte 0" "is refused"
: >"$tmp/empty"
pm extract --from "$tmp/empty" --db "$tmp/none.db"
exits 2 "a list without a path"
warns "No model was given" "is no model"

cp models/llama_block.gpt "$tmp/copy.gpt"
pm extract models/llama_block.gpt "$tmp/copy.gpt" --db "$tmp/copy.db" --quiet
says "1 models extracted, 1 done before" "a copy is the same model"

# one model exported twice: once as it is, once with nodes that change nothing
printf '%b' 'm (float[2,4] x, float[4,4] w) => (float[2,4] y)\n<float k = {3}> {\n m = MatMul (x, w)\n a = Mul (m, k)\n b = Add (a, k)\n y = Relu (b)\n}\n' >"$tmp/clean.gpt"
printf '%b' 'm (float[2,4] x, float[4,4] w) => (float[2,4] y)\n<int64[2] sh = {2, 4}, float k = {3}, float l = {3}> {\n i = Identity (x)\n m = MatMul (i, w)\n r = Reshape (m, sh)\n t = Transpose <perm = [0, 1]> (r)\n a = Mul (k, t)\n s = Slice <starts = [0], ends = [9], axes = [0], steps = [1]> (a)\n b = Add (l, s)\n c = Relu (b)\n y = Identity (c)\n}\n' >"$tmp/noisy.gpt"
if command -v sqlite3 >/dev/null; then
	for m in clean noisy; do
		pm extract "$tmp/$m.gpt" --db "$tmp/$m.db" --quiet
		sqlite3 "$tmp/$m.db" "SELECT hash FROM subgraphs ORDER BY 1" >"$tmp/$m"
	done
	[ -s "$tmp/clean" ] && cmp -s "$tmp/clean" "$tmp/noisy"
	tap "what an exporter left behind does not count"
else
	skip "what an exporter left behind does not count" "there is no sqlite3"
fi

echo "no model" >"$tmp/bad.gpt"
pm extract "$tmp/bad.gpt" models/swin_block.gpt --db "$tmp/bad.db" --quiet
exits 4 "a broken model is bad input"
warns "bad.gpt" "and is named"
says "1 models extracted, 0 done before, 1 failed" "the other one is done"

# A model that is too much for the process that reads it. (Where a sanitizer reserves all addresses, nothing starts so.)
{
	echo "big (float[12000000] x) => (float[12000000] y) <float[12000000] w = {"
	yes 1, | head -n 11999999 | tr -d '\n'
	echo "1}> { y = Add(x, w) }"
} >"$tmp/big.gpt"
if (ulimit -v 60000 && "$passmith" doctor --help >"$tmp/out" 2>"$tmp/err"); then
	(
		ulimit -v 60000
		pm extract "$tmp/big.gpt" models/swin_block.gpt --db "$tmp/big.db" --quiet -j 2
		exit $code
	)
	code=$?
	exits 4 "a model whose reading ends the process"
	warns "big.gpt: Reading the model ended the process" "is told as such, not as one that could not be cut"
	[ "$(grep -c 'out of memory' "$tmp/err")" -eq 1 ]
	tap "it is not read again"
	says "1 models extracted, 0 done before, 1 failed" "the other one is done"
else
	skip "a model whose reading ends the process" "this build does not start in 60 MB of addresses"
fi

# Every model's file is opened once: what is hashed, what is folded and what is cut is the same bytes. A small
# program that asks the kernel counts the openings.
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -o "$tmp/opened" tests/cli/model/opened.c
tap "what counts openings is built"
mkdir "$tmp/m" "$tmp/t"
cp models/*.gpt "$tmp/m"
: >"$tmp/empty"
"$tmp/opened" "$tmp/empty" -- sh -c "cat $tmp/empty; cat $tmp/empty" 2>"$tmp/err"
warns "opened: 2" "it counts two openings as two"

# opened NAME WANTED ARG...: how often extract with these options opens each of the six models.
opened()
{
	opened_name=$1 opened_wanted=$2
	shift 2
	code=0
	"$tmp/opened" "$tmp"/m/*.gpt -- "$passmith" extract "$tmp"/m/*.gpt --quiet "$@" >"$tmp/out" 2>"$tmp/err" || code=$?
	[ "$code" -eq 0 ] && grep -qxF "opened: $opened_wanted" "$tmp/err"
	tap "$opened_name"
}
opened "one process opens each model once" "1 1 1 1 1 1" --db "$tmp/o1.db" -j 1
opened "three processes, too" "1 1 1 1 1 1" --db "$tmp/o3.db" -j 3
opened "and one shard, of the models that it does not cut" "1 1 1 1 1 1" --db "$tmp/os.db" -j 2 --shard 1/3
opened "what the first shard stored is hashed and folded" "1 2 1 1 2 1" --db "$tmp/os.db" -j 2
opened "when all are stored they are hashed" "1 1 1 1 1 1" --db "$tmp/o1.db" -j 2

# Folding and cutting work on what was read, wherever it was put aside: the same content as before, and the
# numbers of the nodes are the model's.
cat >"$tmp/gaps.gpt" <<'MODEL'
m (float[2,4] x, float[4,4] w, float[4,4] u) => (float[2,4] y)
<int64[2] sh = {2, 4}, float k = {3}> {
 i = Identity (x)
 m = MatMul (i, w)
 r = Reshape (m, sh)
 a = Mul (r, k)
 b = Relu (a)
 n = MatMul (b, u)
 t = Identity (n)
 y = Sigmoid (t)
}
MODEL
if command -v sqlite3 >/dev/null; then
	pm extract "$tmp/gaps.gpt" --db "$tmp/gaps.db" --quiet
	sqlite3 "$tmp/gaps.db" "SELECT DISTINCT o.nodes FROM occurrences o JOIN kinds k ON k.subgraph = o.subgraph
		WHERE k.kind = 'fusible' ORDER BY o.first_node" >"$tmp/nodes"
	[ "$(tr '\n' ' ' <"$tmp/nodes")" = "2,4,5 6,8 " ]
	tap "nodes that were taken out leave gaps in the numbers"
else
	skip "nodes that were taken out leave gaps in the numbers" "there is no sqlite3"
fi

# Nothing is left behind in the folder for temporary files: after the end, after a failure, after a kill.
TMPDIR=$tmp/t "$passmith" extract "$tmp"/m/*.gpt "$tmp/bad.gpt" --db "$tmp/left.db" --quiet -j 2 >"$tmp/out" 2>"$tmp/err"
[ -z "$(ls -A "$tmp/t")" ]
tap "the folder for temporary files is as it was"
TMPDIR=$tmp/t "$passmith" extract "$tmp/big.gpt" "$tmp/m/swin_block.gpt" --db "$tmp/left.db" --quiet -j 2 >"$tmp/out" 2>"$tmp/err" &
running=$!
while kill -0 $running 2>/dev/null && [ -z "$(ls -A "$tmp/t")" ] &&
	! find "/proc/$running/fd" -lname "$tmp/t/*" 2>/dev/null | grep -q .; do
	sleep 0.01
done
kill -KILL $running 2>/dev/null
wait $running 2>/dev/null
[ -z "$(ls -A "$tmp/t")" ]
tap "after a kill, too"
TMPDIR=$tmp/none pm extract models/swin_block.gpt --db "$tmp/none.db" --quiet
exits 3 "without a folder for temporary files"
warns "make a temporary file" "that is said"
[ ! -e "$tmp/none.db" ]
tap "and no database is made"

# What ended a process is told: here the model was read, and its graph is larger than a file may be.
{
	echo "chain (float[4] x) => (float[4] y) { v0 = Relu(x)"
	seq 20000 | sed 's/.*/v& = Relu(v@&)/' | awk -F@ '{ split($2, n, ")"); print $1 (n[1] - 1) ")" }'
	echo "y = Relu(v20000) }"
} >"$tmp/chain.gpt"
(
	ulimit -f 1000
	pm extract "$tmp/chain.gpt" "$tmp/bad.gpt" --db "$tmp/chain.db" --quiet -j 2
	exit $code
)
code=$?
exits 4 "a model that cannot be put aside"
warns "chain.gpt: Putting aside the model that was read ended the process" "is not told as one that cannot be read"
says "0 models extracted, 0 done before, 2 failed" "and is stored as failed"
pm extract "$tmp/chain.gpt" --db "$tmp/chain.db" --quiet
exits 0 "without the limit it is extracted"

# A model that was read, and whose nodes cannot be listed to be folded: the table of its edges has a size that nothing
# else has, and the process that asks for it dies. 4321 operands of Concat and one of Relu are 4322 edges and one more.
{
	echo "wide (float[1] x) => (float[4321] y) { c = Concat<axis = 0>("
	yes x, | head -n 4320 | tr -d '\n'
	echo "x)"
	echo "y = Relu(c) }"
} >"$tmp/wide.gpt"
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -shared -fPIC -DDIES_AT=$((8 * 4323)) -o "$tmp/dies.so" tests/cli/model/dies.c
tap "what kills a process at one place is built"
preload=$tmp/dies.so${LD_PRELOAD:+ $LD_PRELOAD}
# listed ARG...: extract, where the process that lists the nodes of wide.gpt dies.
listed()
{
	code=0
	LD_PRELOAD=$preload "$passmith" extract "$@" --quiet -j 2 >"$tmp/out" 2>"$tmp/err" || code=$?
}
if LD_PRELOAD=$preload "$passmith" doctor --help >"$tmp/out" 2>"$tmp/err"; then
	listed "$tmp/wide.gpt" models/swin_block.gpt --db "$tmp/wide.db"
	exits 4 "a model whose nodes cannot be listed"
	warns "wide.gpt: Listing the nodes of the model, to fold them, ended the process" "is not told as one that cannot be read"
	[ "$(grep -c 'wide.gpt' "$tmp/err")" -eq 1 ]
	tap "and once"
	says "1 models extracted, 0 done before, 1 failed" "it is stored as failed, and the other one is done"
	listed models/swin_block.gpt "$tmp/wide.gpt" --db "$tmp/part.db" --shard 0/2
	exits 0 "one of another shard, that is read for its nodes only"
	says "1 models extracted, 0 done before, 0 failed" "keeps none of this shard from being cut"
	pm extract "$tmp/wide.gpt" --db "$tmp/wide.db" --quiet
	exits 0 "where nothing dies it is extracted"
	says "1 models extracted, 0 done before, 0 failed" "though it failed before"
else
	skip "a model whose nodes cannot be listed" "this build takes no library before its own"
fi

pm extract models/swin_block.gpt --db "$tmp/x.db" --shard 2/2
exits 2 "a shard that is not there"
pm extract --db "$tmp/x.db"
exits 2 "no model"
tap_done
