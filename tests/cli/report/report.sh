#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# report.sh - passmith report: a database as one page, and as an index with a page for each task.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

page=$tmp/r.html

silu_graph 'float[8,32]'
pm extract "$tmp/silu.gpt" --db "$tmp/w.db"
hostile='<script>alert(1)</script>"quoted"'
pm task make --db "$tmp/w.db" --top 1 --name "$hostile" --shapes 1
exits 0 "a task with a hostile name"
pm report --db "$tmp/w.db" -o "$page"
exits 0 "a report of a task that nobody tried"
holds "not evaluated" "which it says"
holds "&lt;script&gt;alert(1)&lt;/script&gt;&quot;quoted&quot;" "the name is text"
lacks "<script>alert" "and no HTML"

pm bench --db "$tmp/w.db" --baselines eager,silu,wrong="$build/tests/plugin/wrong_silu.so" -j 1
exits 0 "two passes are evaluated"
pm report --db "$tmp/w.db" -o "$page"
exits 0 "their report"
says "1 ranking, 1 task, 2 systems" "what it has is said"
holds "Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-" "the page may load nothing"
holds "modelled for h200" "times that nobody measured are called modelled"
holds 'data-system="wrong_silu"' "the wrong pass is in the ranking"
holds '>INCORRECT 3</span>' "with its verdicts"
holds '<td class="x">wrong</td>' "and in the map of variants"
holds "Worst element: expected " "the worst element of its first wrong variant"
holds "So on 2 more variants." "and on how many more it is wrong"
holds "roofline" "times stand against the roofline"
holds "History: 2 runs" "the history of the task"
cp "$page" "$tmp/first.html"
pm report --db "$tmp/w.db" -o "$page"
cmp -s "$tmp/first.html" "$page"
tap "the same database, the same bytes"

# A kernel that writes infinities: its worst element is one, and no number of ulp away.
cp tests/plugin/silu_with.h "$tmp/"
sed -e 's/"wrong_silu"/"inf_silu"/' -e 's/st(ld(x\[i\]).*;/st(x == y ? 0.f : 1.f \/ 0.f); \\/' tests/plugin/wrong_silu.c >"$tmp/inf_silu.c"
pm build "$tmp/inf_silu.c" -o "$tmp/inf_silu.so"
exits 0 "a pass whose kernel writes infinities"
pm eval 1 --db "$tmp/w.db" --pass "$tmp/inf_silu.so" --quiet -o "$tmp/inf.json"
exits 1 "it is wrong"
grep -q '"got":[[:space:]]*"inf"' "$tmp/inf.json"
tap "JSON says inf"
pm report --db "$tmp/w.db" -o "$page"
grep -qE 'Worst element: expected [-0-9.e+]+, got inf \(output [^<]*alternative [0-9]+\)\.' "$page"
tap "and the report says it without ulp"

# The data of the page are those of bench --json.
if command -v python3 >/dev/null; then
	pm bench --db "$tmp/w.db" --baselines eager,silu --stored --json
	python3 - "$tmp/out" "$page" <<'PY'
import json, re, sys
bench = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))
board = data["boards"][0]["bench"]
for key in bench:
    assert key in board or key in ("error", "stage", "spread"), key
for system in ("eager", "silu"):
    for key, want in bench["systems"][system]["modelled"].items():
        got = board["systems"][system]["modelled"][key]
        pairs = zip(want, got) if isinstance(want, list) else [(want, got)]
        for a, b in pairs:
            assert a == b or abs(a - b) <= 1e-5 * abs(a), (system, key, a, b)
PY
	tap "its data are those of bench --json, to six digits"
else
	skip "its data are those of bench --json" "there is no python3"
fi

# Of several runs of a pass on a task the last counts, and two passes of one name are two systems.
mkdir "$tmp/mine" "$tmp/yours"
cp "$build/passes/silu.so" "$tmp/mine/same.so"
cp "$build/passes/silu.so" "$tmp/yours/same.so"
pm bench --db "$tmp/w.db" --baselines eager,a="$tmp/mine/same.so",b="$tmp/yours/same.so" -j 1
pm report --db "$tmp/w.db" -o "$page"
lacks 'data-system="same"' "bytes that were evaluated before are no second system"
for pass in fuse bias_gelu; do # the first is right, the second does not match
	cp "$build/passes/$pass.so" "$tmp/mine/same.so"
	cp "$build/passes/add_rms_norm.so" "$tmp/yours/same.so"
	pm bench --db "$tmp/w.db" --baselines eager,a="$tmp/mine/same.so",b="$tmp/yours/same.so" -j 1
	exits 0 "$pass in the same file"
done
pm report --db "$tmp/w.db" -o "$page"
holds 'data-system="yours/same"' "two files of one name are told apart by their folders"
sum=$(sha256sum "$tmp/mine/same.so" | cut -c 1-8)
sed -n '/data-system="same"/,/<\/tr>/p' "$page" >"$tmp/row"
grep -q "$sum+" "$tmp/row" && grep -q 'NO_MATCH 3' "$tmp/row" && ! grep -q 'OK 3' "$tmp/row"
tap "the last build of a file counts"

# Times of two GPUs are two rankings.
pm task export 1 --db "$tmp/w.db" --torch "$tmp/d"
hash=$(sed -n 's/.*"graph": "\([0-9a-f]*\)".*/\1/p' "$tmp"/d/000_*/case.json)
for gpu in X Y; do
	cat >"$tmp/torch.json" <<TIMES
{"kind": "torch_bench", "torch": "2.11.0", "device": "GPU $gpu", "records": [
 {"graph": "$hash", "times": {"torch eager": {"cold": {"seconds": 12e-6}}, "torch inductor": {"cold": {"seconds": 6e-6}}}}]}
TIMES
	pm results import "$tmp/torch.json" --db "$tmp/w.db"
done
pm report --db "$tmp/w.db" -o "$page" --json
grep -q '"rankings": 3' "$tmp/out"
tap "a ranking for each GPU, and one for modelled times"
holds "<h3>GPU X</h3>" "one GPU has its ranking"
holds "<h3>GPU Y</h3>" "and so has the other"

pm report --db "$tmp/w.db" -o "$page" --pages
exits 0 "a page for each task"
says "a page for each task" "which it says"
holds 'href="r.tasks/task-1.html"' "the index leads to it"
page=$tmp/r.tasks/task-1.html
holds 'href="../r.html#tasks"' "and it leads back"
holds "Every time, with launches and bytes" "it has every time"

if command -v python3 >/dev/null; then
	cp "$tmp/w.db" "$tmp/broken.db"
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE measurements SET json = ? WHERE run = 1", ("{",))
db.commit()' "$tmp/broken.db"
	pm report --db "$tmp/broken.db" -o "$tmp/broken.html"
	exits 4 "a stored result that is no JSON"
	warns "The results of run 1 (" "the run is named"
else
	skip "a stored result that is no JSON" "there is no python3"
fi

# A file of times: what is computed of it is what the table that was stored with it says.
page=$tmp/times.html
pm report --times docs/results/h200_systems.json -o "$page"
exits 0 "a report of a file of times"
holds "Measured on NVIDIA H200, Passmith at commit" "it says where and by what"
if command -v python3 >/dev/null; then
	python3 - docs/results/h200_systems.json "$page" <<'PY'
import json, re, sys
want = json.load(open(sys.argv[1]))["summary"]
text = open(sys.argv[2]).read()
got = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))["boards"][0]["bench"]["systems"]
for system, clocks in want.items():
    for clock, figures in clocks.items():
        found = got[system.replace("timed-", "")][clock]
        for key in ("graphs", "right", "faster", "gmean", "worst", "as"):
            assert abs(found[key] - figures[key]) <= 2e-3 * abs(figures[key]), (system, clock, key, found[key], figures[key])
        for a, b in zip(found["es"], figures["es"]):
            assert abs(a - b) <= 2e-3 * b, (system, clock, "es", a, b)
PY
	tap "its figures are those of the stored table"
else
	skip "its figures are those of the stored table" "there is no python3"
fi
printf '{"device": "X", "graphs": [{"task": 1}]}' >"$tmp/times.json"
pm report --times "$tmp/times.json" -o "$page"
exits 4 "a file of other things"
one_sentence "is refused in one sentence"
printf '{"device": "X", "graphs": [{"task": 1, "variant": "shape 0, float: 8", "eager": [1, "x", 2]}]}' >"$tmp/words.json"
pm report --times "$tmp/words.json" -o "$page"
exits 4 "a time that is no number"
warns "has for 'eager' no list of three times" "graph and system are named"
pm report --times "$tmp/times.json" --db "$tmp/w.db" -o "$page"
exits 2 "a database and a file of times"

page=$tmp/r.html
pm report --db "$tmp/w.db" -o "$tmp/r.txt"
exits 4 "a file of another kind"
one_sentence "is refused in one sentence"
[ ! -e "$tmp/r.txt" ]
tap "and nothing is written"
pm report --db "$tmp/w.db"
exits 2 "no file to write"
pm report --db "$tmp/none.db" -o "$page"
exits 4 "a database that is not there"
printf 'm (float[8,32] x) => (float[8,32] y) { y = Relu(x) }\n' >"$tmp/m.gpt"
pm extract "$tmp/m.gpt" --db "$tmp/e.db"
pm report --db "$tmp/e.db" -o "$tmp/e.html"
exits 0 "a database without a task has what was extracted"
: >"$tmp/none.jsonl"
pm db import "$tmp/none.jsonl" --db "$tmp/nothing.db"
pm report --db "$tmp/nothing.db" -o "$tmp/nothing.html"
exits 4 "a database without anything"
warns "make tasks with \`passmith task make\`" "it says what to do"
if command -v tidy >/dev/null; then
	tidy -q -e --drop-empty-elements no "$tmp/r.html" >"$tmp/out" 2>"$tmp/err" && ! grep -q '^line' "$tmp/err"
	tap "the page is HTML by tidy's rules"
else
	skip "the page is HTML by tidy's rules" "tidy is not here"
fi
if command -v node >/dev/null; then
	node --check draw/html/page.js
	tap "the script is JavaScript"
else
	skip "the script is JavaScript" "node is not here"
fi
# What could make text HTML, load something or run text has no place in the script; and it stays small.
! grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|setTimeout|setInterval\(|fetch\(|XMLHttpRequest|WebSocket|import|localStorage|\.src|\.cookie' draw/html/page.js
tap "the script makes no HTML of text and loads nothing"
[ "$(wc -l <draw/html/page.js)" -le 600 ]
tap "the script has 600 lines at most"
tap_done
