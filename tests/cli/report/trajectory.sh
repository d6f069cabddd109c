#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# trajectory.sh - the section Trajectories of passmith report, of the sessions in tests/golden/trajectory.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

db=$tmp/t.db
page=$tmp/r.html
HOME=/home/alice
export HOME

pm db import tests/golden/trajectory/sessions.jsonl --db "$db"
pm report --db "$db" -o "$page"
exits 0 "a report of a database that has sessions and no task"
holds '<a href="#trajectory">Trajectories</a>' "the section is in the list of sections"
lacks 'id="dataset"' "what the database does not hold is not in it"

# row ID: the line of a session in the list, as text.
row()
{
	grep -F "<a href=\"#s$1\">" "$page" | sed 's/<[^>]*>/|/g; s/|\{1,\}/|/g'
}
pm trajectory list --db "$db" --json
json "the list as JSON"
[ "$(grep -c '<a href="#s[0-9]*">Session' "$page")" -eq "$(grep -c '"best_as"' "$tmp/out")" ]
tap "each session of the list is in the page"
row 3 | grep -qF '|agent|model-x|5a5a5a5a5a5a...|done|1.500|13|9|17.0|'
tap "outcome, best score, steps, first success and seconds of a session"
row 4 | grep -qF '|mcp|some-client 2.1|5a5a5a5a5a5a...|cut off|0.050|5|-|6.0|'
tap "and of one that was cut off"
grep -o '<section class="task" id="s[0-9]*"' "$page" | tr -cd '0-9\n' | tr '\n' ' ' | grep -qx '1 4 2 3 '
tap "the last session is the first"

holds '#6 +5.5 s <strong>evaluate</strong> task=&quot;silu&quot; pass=&quot;silu.c&quot; (1.50 s) <span class="badge note">WRONG</span> AS 0.1</summary>' \
	"a step says what was called, the verdict and the score"
holds 'OK</span>  AS 1.5, first success</summary>' "the first success is marked"
holds '<span class="del">-static int scale = 2;</span>' "a line that was taken out"
holds '<span class="add">+static int scale = 1;</span>' "a line that was put in"
holds '<span class="hunk">@@ -1,7 +1,7 @@</span>' "and where"
holds '<code>silu.c</code> is new:' "a new file is called new"
holds 'Sigmoid and Mul have one input in common.' "what a model thought"
[ "$(grep -c 'aria-label="Score over steps"' "$page")" -eq 3 ]
tap "scores over steps, of the three sessions that have scores"
# Session 3: 0.1 at step 6, 1.5 at step 9, of steps 6 to 13 on 480 pixels: the rise is at 3/7 of the width.
sed -n '/id="s3"/,/<\/svg>/p' "$page" | grep -F 'class="line c1"' | grep -q 'M70.0 364.0.*L275.7 364.0L275.7 40.0.*L550.0 40.0"'
tap "the best score rises at the step that had it"
lacks sk-abcdefghijklmnop1234 "a secret is not in the page"
lacks /home/alice "nor a path of the author"
lacks "$(printf '\033')" "nor a control character"
cp "$page" "$tmp/first.html"
pm report --db "$db" -o "$page"
cmp -s "$tmp/first.html" "$page"
tap "the same database, the same bytes"
pm report --db "$db" -o "$page" --pages
holds 'id="s3"' "an index has the section"

if command -v python3 >/dev/null; then
	# Names of strangers, a long diff, many steps and many sessions.
	cp "$db" "$tmp/many.db"
	python3 - "$tmp/many.db" <<'PY'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
bad = "<script>alert(1)</script>\"x\" \u202e\x1b[31m" + "a" * 10000
db.execute("UPDATE trajectories SET model = ?, outcome = ?, machine = ? WHERE id = 3", (bad, bad, bad))
db.execute("UPDATE steps SET verdict = ? WHERE trajectory = 3 AND ordinal = 6", (bad,))
db.execute("UPDATE steps SET name = ? WHERE trajectory = 3 AND ordinal = 5", (bad,))
files = [{"path": bad, "sha256": "0" * 64, "diff": "@@ -1,1 +1,1 @@\n" + ("+" + bad[:99] + "\n") * 500}]
files += [{"path": "f%d" % i, "sha256": "0" * 64, "deleted": True} for i in range(24)]
db.execute("UPDATE steps SET json = ?, files = ? WHERE trajectory = 3 AND ordinal = 12",
           (json.dumps({"content": bad, "tool_calls": [{"name": bad}]}), json.dumps(files)))
def add(table, row):
    db.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, ",".join(row), ",".join("?" * len(row))), list(row.values()))
step = {"hash": "0" * 64, "role": "tool", "task": "", "report": "", "verdict": "", "at": 1780000400, "json": "{}", "files": "[]"}
for i in range(13, 130):
    add("steps", {"trajectory": 3, "ordinal": i, "name": "step_%d" % i, **step})
for i in range(218):
    add("trajectories", {"id": 100 + i, "key": "%064x" % i, "kind": "mcp", "task": "", "model": "early", "seed": "0",
                         "version": "0", "machine": "m", "experiment": "", "instance": str(i), "options": "{}", "started": 1000 + i})
db.commit()
PY
	pm report --db "$tmp/many.db" -o "$page"
	exits 0 "hostile and long sessions"
	lacks "<script>alert" "make no HTML"
	lacks "$(printf '\033')" "and no control character"
	lacks "$(printf '\342\200\256')" "and no mark of direction"
	holds '<span class="badge note" title="&lt;script&gt;alert(1)' "a verdict that there is not is text"
	holds '5 more files are left out.' "files above 20 of a step are counted"
	grep -qE '>[0-9]+ more lines are left out\.<' "$page"
	tap "lines of a long diff are counted"
	holds '30 more steps: passmith trajectory show 3.' "steps above 100 are counted"
	holds '<strong>step_99</strong>' "the hundredth step is there"
	lacks '<strong>step_100</strong>' "and no further one"
	holds '22 earlier sessions are left out: passmith trajectory list.' "sessions above 200 are counted"
	holds '180 of these are not shown step by step: passmith trajectory show.' "and those that are only in the list"
	[ "$(grep -c '<section class="task" id="s[0-9]*"' "$page")" -eq 20 ]
	tap "20 are shown step by step"
	if command -v tidy >/dev/null; then
		tidy -q -e --drop-empty-elements no "$page" >"$tmp/out" 2>"$tmp/err"
		! grep '^line' "$tmp/err"
		tap "the page is HTML by tidy's rules"
	else
		skip "the page is HTML by tidy's rules" "tidy is not here"
	fi
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE steps SET json = ? WHERE trajectory = 3 AND ordinal = 4", ("{",))
db.commit()' "$tmp/many.db"
	pm report --db "$tmp/many.db" -o "$tmp/none.html"
	exits 4 "a step that holds no JSON"
	warns "Step 4 of trajectory 3 holds no JSON" "is named"
else
	skip "hostile and long sessions" "there is no python3"
fi
tap_done
