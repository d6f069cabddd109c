#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# merge.sh - passmith db merge, conflicts and export --evidence: several databases become one, and nothing is lost.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu=$build/passes/silu.so
silu_graph 'float[8,64]'
pm extract "$tmp/silu.gpt" --db "$tmp/tasks.db" --quiet
pm task make --db "$tmp/tasks.db" --top 1 --name t --shapes 2 --quiet
cp "$tmp/tasks.db" "$tmp/whole.db"
pm eval t --db "$tmp/whole.db" --pass "$silu" --hidden 2 --quiet
exits 0 "one process evaluates"
pm db export --db "$tmp/whole.db" -o "$tmp/whole.jsonl"

# number DB SQL: one number.
number()
{
	"$passmith" db query "$2" --db "$1" | sed 1d
}

# Parts as two nodes would have them: lines of results shared out, each under an origin of its own, one on both.
part()
{
	awk -v keep="$2" -v node="$3" '
		/"row":"(result|hidden)"/ {
			n++
			if (!index(keep, " " n " "))
				next
			sub(/"origin":.*/, "")
			sub(/,?}*$/, "")
			print $0 ",\"origin\":{\"node\":\"" node "\",\"job\":\"7\",\"element\":1}}"
			next
		}
		{ print }' "$tmp/whole.jsonl" >"$tmp/$1.jsonl"
	pm db import "$tmp/$1.jsonl" --db "$tmp/$1.db"
}
part a " 1 2 3 " n1
exits 0 "one part"
part b " 3 4 5 6 7 " n2
[ "$(number "$tmp/a.db" "SELECT count(*) FROM results")" = 3 ] && [ "$(number "$tmp/b.db" "SELECT count(*) FROM results")" = 4 ]
tap "the parts hold three and four of six results"

pm db merge "$tmp/ab.db" "$tmp/a.db" "$tmp/b.db" --verify --against "$tmp/whole.db"
exits 0 "two parts become one"
says "8 measurements, 6 results and 1 scores are those of the parts" "all is verified"
says "scores are those of $tmp/whole.db" "against what one process made, too"
pm db merge "$tmp/b.db" "$tmp/a.db" --db "$tmp/ba.db" --verify
exits 0 "in the other order, with --db"
for x in ab ba whole; do
	pm db export --evidence --db "$tmp/$x.db" -o "$tmp/$x.ev"
	pm db export --db "$tmp/$x.db" -o "$tmp/$x.all"
done
cmp -s "$tmp/ab.all" "$tmp/ba.all"
tap "the order does not matter"
cmp -s "$tmp/ab.ev" "$tmp/whole.ev" && [ "$(grep -c '"row":"result"' "$tmp/ab.ev")" = 6 ]
tap "the evidence is that of one process, byte for byte"
! grep -qE '_seconds|"secret"|silu|"n1"|"at"|origin|speedup' "$tmp/ab.ev" && ! grep -qF "$tmp" "$tmp/ab.ev"
tap "it has no times, dates, hosts, paths and secrets"
pm db merge "$tmp/ab.db" "$tmp/a.db" "$tmp/ba.db" "$tmp/b.db" --verify --json
exits 0 "again"
holds_json()
{
	tr -d ' \n' <"$tmp/out" | grep -qF "$1"
	tap "$2"
}
holds_json '"verified":{"tasks":1,"runs":1,"measurements":8,"results":6,"scores":1}' "nothing is new"
pm db export --db "$tmp/ab.db" -o "$tmp/again.all"
cmp -s "$tmp/again.all" "$tmp/ab.all"
tap "nor changed"

# What a part lacks.
pm db merge "$tmp/a2.db" "$tmp/a.db" --verify --against "$tmp/whole.db"
exits 1 "a part is not the whole"
says "The result 'OK' of pass '" "the sentence names what is missing: pass,"
says "' on variant '" "variant"
says "of task 't' is in '$tmp/whole.db', and '$tmp/a2.db' has not the same." "and task"
pm db merge "$tmp/a2.db" "$tmp/a.db" --verify --against "$tmp/whole.db" --json
exits 1 "the same with --json"
holds_json '"difference":"Theresult' "the object has the sentence"

pm db conflicts --db "$tmp/ab.db"
exits 0 "what is measured twice and is equal is no contradiction"
says "0 contradictions" "which it says"

# Speedups of two nodes, each twice: 1 and 3, 5 and 7 as logarithms, on one variant.
awk '/"row":"result"/ { if (n++) next
		sub(/,?"at":.*/, ""); sub(/}*$/, "")
		split("n1 n1 n2 n2", node, " "); split("2.718281828459045 20.085536923187668 148.4131591025766 1096.6331584284585", y, " ")
		for (k = 1; k <= 4; k++) {
			line = $0
			sub(/"speedup":[-0-9.e+]*,"json"/, "\"speedup\":" y[k] ",\"json\"", line)
			print line ",\"origin\":{\"node\":\"" node[k] "\",\"restarts\":" k "}}"
		}
		next }
	{ print }' "$tmp/whole.jsonl" >"$tmp/s.jsonl"
pm db import "$tmp/s.jsonl" --db "$tmp/s.db"
pm db report --db "$tmp/s.db" -o "$tmp/s.html" --json
exits 0 "a report of what two nodes measured"
tr -d ' \n' <"$tmp/out" | grep -qE '"measurements":4,"nodes":2,"within":1\.41421356[0-9]*,"between":2\.64575131[0-9]*'
tap "the spread within and between nodes is that of the hand: sqrt(2), sqrt(7)"
pm bench --db "$tmp/s.db" --stored --pass "$silu" --json
exits 0 "bench of the same"
tr -d ' \n' <"$tmp/out" | grep -qE '"spread":\[\{"task":"t","pass":"[^"]*","measurements":4,"nodes":2,"within":1\.41421356[0-9]*,"between":2\.64575131[0-9]*\}\]'
tap "has it as JSON"
pm bench --db "$tmp/s.db" --stored --pass "$build/passes/fuse.so" --json
tr -d ' \n' <"$tmp/out" | grep -qF '"spread":[]'
tap "for the runs of its table alone"
grep -qF "Speedups on several nodes" "$tmp/s.html" && grep -qF "141 %" "$tmp/s.html" && grep -qF "265 %" "$tmp/s.html"
tap "the page has it"

# A third node contradicts the first: another verdict, and other levels for the same inputs.
awk '/"row":"result"/ { n++; if (n > 2) next
		sub(/,?"at":.*/, ""); sub(/}*$/, "")
		if (n == 1) { sub(/"verdict":"OK"/, "\"verdict\":\"INCORRECT\""); sub(/\\"verdict\\":\\"OK\\"/, "\\\"verdict\\\":\\\"INCORRECT\\\"") }
		if (n == 2) sub(/\\"smallest_t\\":[-0-9]*/, "\\\"smallest_t\\\":3")
		print $0 ",\"origin\":{\"node\":\"n3\",\"gpu_id\":\"GPU-9\"}}"; next }
	/"row":"hidden"/ { next } { print }' "$tmp/whole.jsonl" >"$tmp/c.jsonl"
pm db import "$tmp/c.jsonl" --db "$tmp/c.db"
exits 0 "a third part"
pm db merge "$tmp/abc.db" "$tmp/ab.db" "$tmp/c.db" --verify
exits 0 "contradictions are merged, too"
[ "$(number "$tmp/abc.db" "SELECT count(*) FROM measurements")" = 9 ]
tap "nothing is overwritten"
[ "$(number "$tmp/abc.db" "SELECT count(*) FROM results WHERE verdict = 'INCORRECT'")" = 1 ]
tap "the worst verdict counts"
pm db conflicts --db "$tmp/abc.db"
exits 1 "there are contradictions"
says "2 contradictions" "two"
says ": verdicts" "one of verdicts"
says ": levels" "one of levels"
says "n3, GPU GPU-9" "the origin of each is said"
says "n1, job 7" "and of the other"
pm db conflicts --db "$tmp/abc.db" --json
exits 1 "the same with --json"
holds_json '"what":["verdicts"]' "what contradicts"
holds_json '"node":"n3"' "and where it was measured"

# Who writes into a merged database by hand is found out.
if command -v python3 >/dev/null; then
	cp "$tmp/ab.db" "$tmp/bad.db"
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM measurements WHERE ordinal = 5")
db.commit()' "$tmp/bad.db"
	pm db merge "$tmp/bad.db" "$tmp/bad.db" --verify --against "$tmp/whole.db"
	exits 1 "a result that was taken away"
	says "The result 'OK' of pass '" "is named"
else
	skip "a result that was taken away" "there is no python3"
	skip "is named" "there is no python3"
fi

pm db merge "$tmp/x.db" "$tmp/none.db"
exits 4 "a part that is not there"
one_sentence "is said in one sentence"
pm db merge "$tmp/x.db"
exits 2 "no part"
pm db merge "$tmp/ab.db" "$tmp/a.db" --against "$tmp/whole.db"
exits 2 "--against without --verify"
pm db export --evidence --json --db "$tmp/ab.db"
exits 4 "lines and one object at once"
pm db stats --evidence --db "$tmp/ab.db"
exits 2 "--evidence of what is no export"
tap_done
