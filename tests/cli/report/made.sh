#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# made.sh - what passes made of a task: stored by bench, carried by exports, drawn in a report with its kernels.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

page=$tmp/r.html

# asks SQL ANSWER NAME: the answer of a question to $tmp/w.db, as JSON without blanks, holds a text.
asks()
{
	pm db query "$1" --db "$tmp/w.db" --json
	tr -d ' \n' <"$tmp/out" | grep -qF -e "$2"
	tap "$3"
}

silu_graph 'float[8,32]'
pm extract "$tmp/silu.gpt" --db "$tmp/w.db"
pm task make --db "$tmp/w.db" --top 1 --name silu --shapes 2
pm report --db "$tmp/w.db" -o "$page"
holds 'Graph of the first variant, as a drawing' "a task that nobody tried has its graph drawn"
lacks 'class="item node ew mark1"' "without a mark"
pm bench --db "$tmp/w.db" --baselines eager,silu,bias_gelu -j 1
exits 0 "two passes are evaluated, of which one matches"
asks "SELECT count(*) AS a, count(DISTINCT rewrite) AS b, count(rewrite) AS c FROM results WHERE run IN (SELECT id FROM runs WHERE pass_path LIKE '%/silu.so')" \
	'"a":"6","b":"1","c":"6"' "its six results name one graph"
asks "SELECT count(*) AS a FROM rewrites" '"a":"1"' "which is stored once; what does not match makes none"
asks "SELECT count(*) AS a FROM kernel_sources WHERE text LIKE '%__global__ void silu(%'" '"a":"1"' "with the source of its kernel"
asks "SELECT count(*) AS a FROM rewrites WHERE text LIKE '%__global__%'" '"a":"0"' "which its text has not"
asks "SELECT count(*) AS a FROM rewrites WHERE text LIKE '%silu grid=1,1,1 block=256,1,1%'" '"a":"1"' "but entry and grid"
pm bench --db "$tmp/w.db" --baselines eager,silu,bias_gelu -j 1
asks "SELECT count(*) AS a, count(rewrite) AS b FROM results WHERE run IN (SELECT id FROM runs WHERE pass_path LIKE '%/silu.so')" \
	'"a":"6","b":"6"' "a run that is resumed keeps it"

pm report --db "$tmp/w.db" -o "$page"
exits 0 "their report"
holds 'What passes made of it' "it says what they made"
holds '<summary>silu: 2 of 2 nodes became 1 kernel; launches 2 → 1</summary>' "which launches the rewrite removed"
[ "$(grep -o 'class="item node ew mark1"' "$page" | wc -l)" -eq 2 ]
tap "both nodes have the mark of the kernel"
grep -q 'swatch mark1" aria-hidden="true"></span>kernel 1 (silu)</th><td>Sigmoid, Mul</td>' "$page"
tap "and the legend says so in words"
holds 'silu grid=1,1,1 block=256,1,1 smem=0' "with entry and grid"
holds '6 of 6 variants have kernels like these.' "and on how many variants"
holds '<summary>Source of kernel 1 (silu), ' "the source of the kernel is there"
holds '<span class="cu">__global__</span>' "with its words told apart"
! grep -q '<details open="">.*Source of' "$page"
tap "and closed"
cp "$page" "$tmp/first.html"
pm report --db "$tmp/w.db" -o "$page"
cmp -s "$tmp/first.html" "$page"
tap "the same database, the same bytes"

# Exports carry it, and so does a merge; what nothing names is dropped when the file is shrunk.
pm db export --db "$tmp/w.db" -o "$tmp/w.jsonl"
pm db import "$tmp/w.jsonl" --db "$tmp/copy.db"
exits 0 "an export is imported"
pm db export --db "$tmp/copy.db" -o "$tmp/copy.jsonl"
cmp -s "$tmp/w.jsonl" "$tmp/copy.jsonl"
tap "and exports the same bytes"
pm report --db "$tmp/copy.db" -o "$page"
holds '<summary>silu: 2 of 2 nodes became 1 kernel; launches 2 → 1</summary>' "its report has the drawing, too"
sed 's/__global__ void silu/__global__ void other/' "$tmp/w.jsonl" >"$tmp/bad.jsonl"
pm db import "$tmp/bad.jsonl" --db "$tmp/bad.db"
exits 4 "a source that is not what its digest says is refused"

# A stored profile.
pm report --db "$tmp/w.db" -o "$page"
lacks 'Profile of variant' "no profile is stored"
pm profile 1 --db "$tmp/w.db" --pass "$build/passes/silu.so"
if [ "$code" -eq 0 ]; then
	asks "SELECT count(*) AS a FROM profiles" '"a":"1"' "profile --db stores one"
	pm profile 1 --db "$tmp/w.db" --pass "$build/passes/silu.so"
	asks "SELECT count(*) AS a FROM profiles" '"a":"1"' "and the next takes its place"
	pm report --db "$tmp/w.db" -o "$page"
	holds 'Profile of variant 0 for NVIDIA H200, device=emu' "the report has it"
	pm db export --db "$tmp/w.db" -o "$tmp/p.jsonl"
	pm db import "$tmp/p.jsonl" --db "$tmp/p.db"
	pm db export --db "$tmp/p.db" -o "$tmp/q.jsonl"
	cmp -s "$tmp/p.jsonl" "$tmp/q.jsonl"
	tap "exports carry it"
else
	skip "a stored profile" "passmith profile does not work here: $(head -n 1 "$tmp/err")"
fi

# Whatever a source holds, it is text.
if command -v python3 >/dev/null; then
	python3 - "$tmp/w.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
text = "// </script><script>alert(1)</script> \u202e\u2066\nchar *s = \"<img src=x>\";\n" + "x" * 10000 + "\n" + "int y;\n" * 4000
db.execute("UPDATE kernel_sources SET text = ?", (text,))
db.execute("UPDATE runs SET pass_path = '/p/<b>' || id || '</b>.so'")
db.commit()
PY
	pm report --db "$tmp/w.db" -o "$page"
	exits 0 "a hostile source"
	holds '&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; ??' "is text, and what turns its order is '?'"
	lacks '<script>alert' "and no HTML"
	lacks '<summary><b>' "nor is a pass's name"
	grep -q '<summary>b&gt;: 2 of 2 nodes' "$page"
	tap "which is text, too"
	holds 'more bytes are left out; the table kernel_sources has all.' "what is long is cut, and that is said"
	[ "$(wc -c <"$page")" -lt 200000 ]
	tap "and the page stays small"
	python3 - "$tmp/w.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE rewrites SET text = 'no graph'")
db.commit()
PY
	pm report --db "$tmp/w.db" -o "$page"
	exits 0 "a stored graph that is none"
	holds 'b&gt;: what it made cannot be drawn.' "which the report says"
	python3 - "$tmp/w.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE rewrites SET text = 'g (float[8,32] x) => (float[8,32] y) { y = Abs (x) }'")
db.commit()
PY
	pm report --db "$tmp/w.db" -o "$page"
	exits 0 "a stored graph that is of another one"
	holds 'b&gt;: what it made cannot be drawn.' "which the report says as well"
	python3 - "$tmp/w.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM runs")
db.execute("DELETE FROM measurements")
db.commit()
PY
	pm db vacuum --db "$tmp/w.db"
	asks "SELECT (SELECT count(*) FROM rewrites) AS a, (SELECT count(*) FROM kernel_sources) AS b" '"a":"0","b":"0"' \
		"db vacuum drops what nothing names"
else
	skip "hostile sources" "there is no python3"
fi
tap_done
