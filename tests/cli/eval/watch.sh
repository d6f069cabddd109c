#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# watch.sh - passmith watch: evaluations that go on, those that were killed, and the ranking so far.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/m.gpt" <<'GRAPH'
m (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)
 y = Mul(x, s) }
GRAPH
db=$tmp/w.db
silu=$build/passes/silu.so
hanging=$build/tests/plugin/hanging_silu.so

pm watch --db "$tmp/none.db"
exits 4 "no database"
one_sentence "is said in one sentence"
pm watch
exits 2 "no --db"
pm watch --db "$db" --interval 0
exits 2 "no time between two readings"
printf 'no database' >"$tmp/text.db"
pm watch --db "$tmp/text.db" --once
exits 4 "a file that is no database"

pm extract "$tmp/m.gpt" --db "$db"
pm watch --db "$db" --once
exits 0 "before anything was evaluated"
says "Nothing is being evaluated." "nothing goes on"
says "No result of a pass is stored." "there is no ranking"

pm task make --db "$db" --top 1 --name t --shapes 2
pm eval t --db "$db" --pass "$silu" --pass "$build/passes/bias_gelu.so" --pass "$build/tests/plugin/wrong_silu.so"
pm watch --db "$db" --once
says "Ranking on emu by modelled time: 1 task, 6 variants" "a ranking"
! grep -q "$(printf '\033')" "$tmp/out"
tap "no escape where stdout is no terminal"
[ "$(sed -n 's/^ *[123] *\([a-z_]*\) .*/\1/p' "$tmp/out" | tr '\n' ' ')" = "silu bias_gelu wrong_silu " ]
tap "greatest AS first"

# The figures are those of bench.
pm bench --db "$db" --baselines eager,silu,bias_gelu,wrong_silu="$build/tests/plugin/wrong_silu.so" --stored
cp "$tmp/out" "$tmp/bench"
pm watch --db "$db" --once
for p in silu bias_gelu wrong_silu; do
	a=$(sed -n "s/^  $p  *[0-9]* *\([0-9]*\) *\([0-9]*\) *\([0-9]*\) *\([^ ]*\) .*/\1 \2 \3 \4/p" "$tmp/bench" | head -n 1)
	w=$(sed -n "s/^ *[123]  *$p  *6.6 *\([0-9]*\) *\([0-9]*\) *\([0-9]*\) *\([^ ]*\) .*/\1 \2 \3 \4/p" "$tmp/out")
	[ -n "$a" ] && [ "$a" = "$w" ]
	tap "$p: right, applied, faster and speedup as bench has them ($w)"
	a=$(awk -v p="$p" '$1 == p { print $10; exit }' "$tmp/bench")
	w=$(awk -v p="$p" '$2 == p { print $NF }' "$tmp/out")
	[ "$p" = wrong_silu ] || { [ -n "$a" ] && [ "$a" = "$w" ]; }
	tap "$p: AS as bench has it ($w)"
done
pm eval t --db "$db" --pass "$silu" --seed 7 --only 0
pm watch --db "$db" --once
grep -q '^ *1 .*silu  *1/6 ' "$tmp/out"
tap "what is missing counts as missing"
[ "$(grep -c '^Ranking' "$tmp/out")" = 2 ]
tap "what may not be compared is not in one ranking"

# until TEXT: waits until a snapshot has it.
until_says()
{
	i=0
	pm watch --db "$db" --once
	while ! grep -q -e "$1" "$tmp/out" && [ $i -lt 1200 ]; do
		sleep 0.1
		i=$((i + 1))
		pm watch --db "$db" --once
	done
	grep -q -e "$1" "$tmp/out"
}

# Two at once, one of them for good: it hangs until its deadline, which nobody waits for.
for seed in 11 12; do
	"$passmith" eval t --db "$db" --pass "$hanging" --seed $seed --deadline 100000 --hidden 0 --weak-sandbox --quiet >/dev/null 2>&1 &
	[ $seed = 11 ] && first=$! || second=$!
done
until_says "2 running"
tap "two evaluations at once"
[ "$(grep -c 'hanging_silu on t' "$tmp/out")" = 2 ]
tap "each has a line"
pm watch --db "$db" --json
is_json "$tmp/out" && grep -q "\"pid\": $first," "$tmp/out" && grep -q "\"pid\": $second," "$tmp/out" && grep -q "\"host\": \"$(hostname)\"" "$tmp/out"
tap "with host and process"
kill -9 "$first"
wait "$first" 2>/dev/null
kill "$second"
wait "$second" 2>/dev/null
# Age is all that tells of a death: what was heard 30 seconds ago or earlier is silent, on any host.
if command -v python3 >/dev/null; then
	sql()
	{
		python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute(sys.argv[2])
db.commit()' "$db" "$1"
	}
	sql "UPDATE running SET heartbeat = heartbeat - 40"
	pm watch --db "$db" --once
	says "0 running, 2 silent" "killed evaluations are silent"
	sql "UPDATE running SET heartbeat = heartbeat - 4000"
	pm eval t --db "$db" --pass "$silu" --seed 13 --only 0 --hidden 0
	pm watch --db "$db" --once
	says "0 running  " "who begins next takes away what was silent for an hour"

	# Names of strangers.
	sql "INSERT INTO running VALUES (char(27) || '[2J' || char(8238) || 'evil', 1, 1, 0, NULL, '/' || printf('%.10000c', 'x') || char(7, 155) || '.so', '<script>', char(13, 10), 1, 2, 4e9)"
	sql "UPDATE runs SET pass_path = '/p/' || char(27) || ']0;owned' || char(7) || char(8238) || pass_path"
	pm watch --db "$db" --once
	exits 0 "names of strangers"
	! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" "$tmp/out" && ! LC_ALL=C grep -q "$(printf '\342\200\256')" "$tmp/out"
	tap "no control character and no mark of direction comes out"
	[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' "$tmp/out")" -le 80 ]
	tap "no line is longer than 80 columns"
	COLUMNS=40 "$passmith" watch --db "$db" --once >"$tmp/out" 2>"$tmp/err"
	[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' "$tmp/out")" -le 40 ]
	tap "or than COLUMNS says"

	# Without --once: a snapshot for each change, until a signal asks to end.
	sql "DELETE FROM running"
	: >"$tmp/log"
	"$passmith" watch --db "$db" --interval 0.1 >"$tmp/log" 2>"$tmp/err" &
	watching=$!
	wait_for()
	{
		i=0
		while [ "$(grep -c "$1" "$tmp/log")" -lt "$2" ] && [ $i -lt 1200 ]; do
			sleep 0.1
			i=$((i + 1))
		done
		[ "$(grep -c "$1" "$tmp/log")" = "$2" ]
	}
	wait_for "Nothing is being evaluated" 1
	tap "the first snapshot"
	sql "INSERT INTO running VALUES ('far', 1, 1, 0, NULL, 'p.so', 'emu', 'variants', 1, 2, 4e9)"
	wait_for "1/2 variants" 1
	tap "one when something changed"
	sql "UPDATE running SET heartbeat = heartbeat + 1"
	sql "UPDATE running SET done = 2"
	wait_for "2/2 variants" 1 && [ "$(grep -c "1/2 variants" "$tmp/log")" = 1 ]
	tap "and none for a heartbeat alone"
	kill "$watching"
	code=0
	wait "$watching" || code=$?
	exits 0 "a signal ends it"

	# A database that another process has locked: with --once in the end an error, else it is tried again.
	mkfifo "$tmp/hold"
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA locking_mode = EXCLUSIVE")
db.execute("BEGIN EXCLUSIVE")
open(sys.argv[2], "w").close()
sys.stdin.read()' "$db" "$tmp/locked" <"$tmp/hold" &
	locker=$!
	exec 3>"$tmp/hold"
	i=0
	while [ ! -e "$tmp/locked" ] && [ $i -lt 1200 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	"$passmith" watch --db "$db" --interval 0.1 >"$tmp/log" 2>"$tmp/err" 3>&- &
	watching=$!
	wait_for "locked" 1
	tap "it says that the database is locked"
	exec 3>&-
	wait "$locker"
	wait_for "2/2 variants" 1
	tap "and goes on when it is not"
	kill "$watching"
	wait "$watching"
else
	skip "names of strangers, silence and locks" "python3 is not here, which writes to the database"
fi
tap_done
