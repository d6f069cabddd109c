#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# model.sh - apply --db, and the section Models of passmith report: what apply --json says is what a page shows.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

page=$tmp/r.html

silu=$build/passes/silu.so
cat >"$tmp/two.gpt" <<'GPT'
two (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)
 m = Mul(x, s)
 e = Exp(m)
 t = Sigmoid(e)
 y = Mul(e, t) }
GPT
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/o.onnx" --db "$tmp/d.db"
exits 0 "apply with a database"
says "saved us" "the text has a table of regions"
says "outside: 1 node, " "and a line on what stayed outside"
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/o.onnx" --db "$tmp/d.db"
pm db query "SELECT count(*) AS n FROM applications" --db "$tmp/d.db"
says "1" "the same result is stored once"
pm db query "SELECT path FROM applications WHERE record LIKE '%$tmp%'" --db "$tmp/d.db"
! grep -qF "$tmp" "$tmp/out"
tap "the record has no path of this machine"

pm report --db "$tmp/d.db" -o "$page"
exits 0 "a report of a database with nothing else"
holds '<a href="#models">Models</a>' "the section is in the list of sections"
holds '<figcaption>Before: 5 nodes' "the model before is drawn"
holds '<figcaption>After: 3 nodes' "and after"
[ "$(grep -o 'item node [a-z]* mark1' "$page" | wc -l)" -eq 6 ]
tap "four nodes and two kernels have the colour of the pass"
[ "$(grep -o '>pass 1[^<]*<' "$page" | wc -l)" -ge 6 ]
tap "and its number beside the colour"
holds 'pass 1: silu.so, 2 regions' "the legend names the pass"
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/o.onnx" --json
launches=$(sed -n 's/^  "launches_after": *\([0-9]*\).*/\1/p' "$tmp/out")
tr -d '\n' <"$page" | grep -oE 'Launches</th>(<td[^>]*>[0-9]*</td>){2}' | grep -qF ">$launches</td>"
tap "launches are those of apply --json"
cp "$page" "$tmp/first.html"
pm report --db "$tmp/d.db" -o "$page"
cmp -s "$tmp/first.html" "$page"
tap "the same database, the same bytes"

pm db export --db "$tmp/d.db"
cp "$tmp/out" "$tmp/d.jsonl"
pm db import "$tmp/d.jsonl" --db "$tmp/e.db"
exits 0 "an export is read"
pm report --db "$tmp/e.db" -o "$page"
sed 's/e\.db/d.db/' "$page" | cmp -s - "$tmp/first.html"
tap "and gives the same page"
sed 's/"name":"two.gpt"/"name":"three.gpt"/' "$tmp/d.jsonl" >"$tmp/bad.jsonl"
pm db import "$tmp/bad.jsonl" --db "$tmp/f.db"
exits 4 "a row whose key is not that of what it says"

# What saves most comes first, wherever it stands in the model.
cat >"$tmp/sizes.gpt" <<'GPT'
sizes (float[8,32] x, float[4096,512] v) => (float[8,32] y, float[4096,512] z) { little = Sigmoid(x)
 y = Mul(x, little)
 much = Sigmoid(v)
 z = Mul(v, much) }
GPT
pm apply "$tmp/sizes.gpt" --pass "$silu" -o "$tmp/o.onnx" --db "$tmp/s.db"
exits 0 "two regions of different sizes"
pm report --db "$tmp/s.db" -o "$page"
tr -d '\n' <"$page" | grep -qE 'Regions, by time saved.*<th scope="row">much</th>.*<th scope="row">little</th>'
tap "the table of regions begins with the one that saves most"

# A kernel's pass and its neighbours, when nothing applies.
cat >"$tmp/none.gpt" <<'GPT'
none (float[8,32] x) => (float[8,32] y) { y = Exp(x) }
GPT
pm apply "$tmp/none.gpt" --pass "$silu" -o "$tmp/o.onnx" --db "$tmp/n.db"
exits 1 "no rule applied"
pm report --db "$tmp/n.db" -o "$page"
exits 0 "is a page, too"

if command -v python3 >/dev/null; then
	cp "$tmp/d.db" "$tmp/hostile.db"
	python3 -c 'import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
bad = "<script>alert(1)</script>\"x\" \u202e\x1b[31m" + "a" * 10000
r = json.loads(db.execute("SELECT record FROM applications").fetchone()[0])
r["passes"][0]["pass"] = bad
for region in r["regions"]:
    region.update(rule=bad, kernel=bad, names=[bad, 7], nodes=[-1, 1e300, "x", 4, None], place=1 << 40)
r["regions"] += [{}, 3, {"pass": 1 << 40, "nodes": 5}]
r["outside"]["operators"] = [{"operator": bad}, 1]
r["outside"]["why"] = [{"node": bad, "why": bad, "rule": bad, "pass": -5}, []]
db.execute("UPDATE applications SET name = ?, version = ?, record = ?, after_text = ?", (bad, bad, json.dumps(r), bad))
db.commit()' "$tmp/hostile.db"
	pm report --db "$tmp/hostile.db" -o "$page"
	exits 0 "a record in which nothing is as it should be"
	lacks "<script>alert" "makes no HTML"
	lacks "$(printf '\033')" "and no control character"
	holds "<figcaption>After: line 1" "a text that is no graph is a sentence"
	[ "$(wc -c <"$page")" -lt $(($(wc -c <"$tmp/first.html") + 60000)) ]
	tap "long names are cut"
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE applications SET record = ?", ("[",))
db.commit()' "$tmp/hostile.db"
	pm report --db "$tmp/hostile.db" -o "$page"
	exits 4 "a record that is no JSON is an error"
else
	skip "a record from elsewhere" "there is no python3"
fi
tap_done
