#!/bin/sh
# extract.sh - passmith extract: the same database however it is filled, nothing to do the second time.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

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
fi
pm extract models/*.gpt --db "$tmp/one.db" --json
exits 0 "again"
says '"models_skipped": 6' "nothing is left to do"

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
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - a model whose reading ends the process # SKIP this build does not start in 60 MB of addresses"
fi

pm extract models/swin_block.gpt --db "$tmp/x.db" --shard 2/2
exits 2 "a shard that is not there"
pm extract --db "$tmp/x.db"
exits 2 "no model"
tap_done
