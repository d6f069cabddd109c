#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dataset.sh - the section Dataset of passmith report: its counts are those of db query, its list is that of mine.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

page=$tmp/r.html

# Three models: two hold the same graph once and twice, one holds another.
cat >"$tmp/one.gpt" <<'GPT'
one (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)
 y = Mul(x, s) }
GPT
cat >"$tmp/two.gpt" <<'GPT'
two (float[8,32] x, float[32,8] w) => (float[8,32] y) { s = Sigmoid(x)
 a = Mul(x, s)
 b = MatMul(a, w)
 c = MatMul(b, x)
 t = Sigmoid(c)
 y = Mul(c, t) }
GPT
cat >"$tmp/three.gpt" <<'GPT'
three (float[8,32] x) => (float[8,32] y) { s = Exp(x)
 t = ReduceSum<keepdims=1, axes=[1]>(s)
 y = Div(s, t) }
GPT
for name in one two three; do
	pm extract "$tmp/$name.gpt" --db "$tmp/d.db"
	exits 0 "graphs of $name"
done
pm task make --db "$tmp/d.db" --top 1 --name first --shapes 1
pm bench --db "$tmp/d.db" --baselines eager,silu -j 1
pm report --db "$tmp/d.db" -o "$page"
exits 0 "a report of what was extracted"
holds '<a href="#dataset">Dataset</a>' "the section is in the list of sections"

# drawn LABEL N: a bar of this label is labelled with this number.
drawn()
{
	grep -A 1 -F ">$1</text><rect" "$page" | grep -qF ">$2</text>"
	tap "$1: $2"
}

# The page and the database say the same, also where the numbers were not written down here.
counted()
{
	pm db query "$2" --db "$tmp/d.db" --json
	drawn "$1" "$(sed -n 's/.*"n": *"\([0-9]*\)".*/\1/p' "$tmp/out")"
}
counted "places in models" "SELECT count(*) AS n FROM occurrences"
counted fusible "SELECT count(*) AS n FROM kinds WHERE kind = 'fusible'"
counted normalization "SELECT count(*) AS n FROM models WHERE category = 'normalization'"
drawn Sigmoid 5
holds "Redundancy: structures by the models that hold them" "redundancy is in it"
pm db query "SELECT count(DISTINCT s.structure) || ' structures have ' || count(*) || ' places' AS n FROM occurrences o
	JOIN subgraphs s ON s.id = o.subgraph" --db "$tmp/d.db" --json
holds "$(sed -n 's/.*"n": *"\(.*\)".*/\1/p' "$tmp/out") in models." "structures and places are counted"
# Of places 2, 2, 2, 2, 1, 1, 1, 1, 1 four are 8 of 13, and eight are 12.
holds "4 of them have half of the places, 8 have 90 %." "the long tail, by hand"
holds "Structures that a task was made of: 1. They have 2 of the places (15.4 %)." "and what tasks stand for"
holds 'aria-label="Places in models that the most frequent structures hold"' "a figure has it"

pm mine --db "$tmp/d.db"
stake=$(sed -n 's/^ *1 *\([0-9.]*\) %.*/\1/p' "$tmp/out")
sed -n '/id="mined"/,/<\/table>/p' "$page" | tr -d '\n' | sed 's/<\/tr>/&\n/g' | grep 'MatMul,Sigmoid,Mul' >"$tmp/row"
[ -s "$tmp/row" ] && grep -q '>modelled<' "$tmp/row"
tap "the list of what is worth a pass has a structure without results"
[ -n "$stake" ] && sed -n '/id="mined"/,/<\/table>/p' "$page" | tr -d '\n' | sed 's/<\/tr>/&\n/g' | sed -n 2p | grep -qF ">$stake<"
tap "the first has the share at stake that mine prints"
sed -n '/id="mined"/,/<\/table>/p' "$page" | grep -qF '>silu.so<'
tap "the best pass of the first is named without its folder"

cp "$page" "$tmp/first.html"
pm report --db "$tmp/d.db" -o "$page"
cmp -s "$tmp/first.html" "$page"
tap "the same database, the same bytes"
pm report --db "$tmp/d.db" -o "$page" --pages
holds 'id="dataset"' "an index has the section"
pm report --times docs/results/h200_systems.json -o "$page"
lacks 'id="dataset"' "a file of times has none"

# A database from elsewhere may say anything.
if command -v python3 >/dev/null; then
	cp "$tmp/d.db" "$tmp/hostile.db"
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
bad = "<script>alert(1)</script>\"x\" \u202e\x1b[31m" + "a" * 10000
db.execute("UPDATE op_seqs SET text = ? || text", (bad,))
db.execute("UPDATE models SET category = ?", (bad,))
db.execute("UPDATE kinds SET kind = ? WHERE kind = \"single\"", (bad,))
db.commit()' "$tmp/hostile.db"
	pm report --db "$tmp/hostile.db" -o "$page"
	exits 0 "labels that are no labels"
	lacks "<script>alert" "make no HTML"
	holds "&lt;script&gt;alert(1)&lt;/script&gt;&quot;x&quot; ?" "they are text, and marks of direction are gone"
	lacks "$(printf '\033')" "no control character is left"
	[ "$(wc -c <"$page")" -lt $(($(wc -c <"$tmp/first.html") + 100000)) ]
	tap "and long ones are cut"
	cp "$tmp/d.db" "$tmp/bare.db"
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM occurrences")
db.commit()' "$tmp/bare.db"
	pm report --db "$tmp/bare.db" -o "$page"
	exits 0 "a database in which nothing was extracted"
	lacks 'id="dataset"' "has no such section"
	lacks '#dataset' "and no link to it"
else
	skip "a database from elsewhere" "there is no python3"
fi
tap_done
