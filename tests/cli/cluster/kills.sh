#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kills.sh - workers of a plan, and what they start, are killed at random: the evidence is that of one worker.
#
# PASSMITH_KILLS=200 is how many kills (40), PASSMITH_KILL_SEED what they are drawn by. A kill comes when something was
# published since the one before last, so that the work goes on at any load. When a plan is finished before all kills are
# made, the same plan begins again. A process that evaluates an item loses at most two of its processes: the judge gives
# one up that died three times, as it should.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/cluster.sh
. tests/lib/cluster.sh

kills=${PASSMITH_KILLS:-40}
RANDOM=${PASSMITH_KILL_SEED:-1}
workers=8
export TMPDIR=$tmp/local
mkdir "$TMPDIR"

tasks_db "$tmp/w.db"
plan_of "$tmp/plan" --pass "$build/passes/swiglu.so" --pass "$build/passes/bias_act.so"
exits 0 "a plan"
cp -r "$tmp/plan" "$tmp/one"
pm cluster work "$tmp/one" --quiet
exits 0 "one worker"
pm cluster collect "$tmp/one"
evidence "$tmp/one/collected.db" >"$tmp/one.evidence"
tail -n 1 "$tmp/one.evidence" | grep -q '"results":48,"hidden":4'
tap "its evidence"

declare -A pid lost
all_files()
{
	find "$dir/partial" "$dir/results" -name '*.jsonl' | sort | cksum
}

# The processes below $1, and itself.
tree()
{
	ps -eo pid=,ppid= | awk -v root="$1" '
		{ parent[$1] = $2 }
		END { for (p in parent) { q = p; while (q in parent && q != root) q = parent[q]; if (q == root) print p } }' | sort -n
}

# Starts a worker in each place that has none; 1 when all have ended and nothing is left to do.
keep_working()
{
	[ "$(n_files "$dir/results")" -lt 8 ] || return 1
	for ((k = 0; k < workers; k++)); do
		if [ -z "${pid[$k]-}" ] || ! kill -0 "${pid[$k]}" 2>/dev/null; then
			"$passmith" cluster work "$dir" -j 1 --quiet >>"$tmp/said" 2>&1 &
			pid[$k]=$!
			disown # no word of the shell about each that is killed
		fi
	done
}

# Kills a worker, or something that it started.
kill_one()
{
	local k=$((RANDOM % workers)) victims item
	local worker=${pid[$k]-}
	[ -n "$worker" ] && kill -0 "$worker" 2>/dev/null || return 1
	if ((RANDOM % 2)); then
		kill -9 "$worker" && unset "pid[$k]" && killed_workers=$((killed_workers + 1))
		return
	fi
	item=$(ps -o pid= --ppid "$worker" | tail -n 1 | tr -d ' ')
	[ -n "$item" ] && [ "${lost[$item]-0}" -lt 2 ] || return 1
	mapfile -t victims < <(tree "$item")
	[ ${#victims[@]} -gt 0 ] || return 1
	lost[$item]=$((${lost[$item]-0} + 1))
	kill -9 "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null && killed_children=$((killed_children + 1))
}

done_kills=0 killed_workers=0 killed_children=0 rounds=0 wrong=0
while [ "$done_kills" -lt "$kills" ]; do
	rounds=$((rounds + 1))
	dir=$tmp/round$rounds
	cp -r "$tmp/plan" "$dir"
	seen='' credit=0
	while keep_working; do
		now=$(all_files)
		[ "$now" = "$seen" ] || credit=2
		seen=$now
		if [ "$credit" -gt 0 ] && [ "$done_kills" -lt "$kills" ] && kill_one; then
			credit=$((credit - 1))
			done_kills=$((done_kills + 1))
		fi
		sleep "0.0$((RANDOM % 10))"
		# Items that lost all their tries to kills are tried again.
		[ "$(n_files "$dir/tries")" -lt 3 ] || "$passmith" cluster resume "$dir" --retry >>"$tmp/said" 2>&1
	done
	for p in "${pid[@]}"; do
		while kill -0 "$p" 2>/dev/null; do sleep 0.05; done
	done
	"$passmith" cluster work "$dir" -j 2 --quiet >>"$tmp/said" 2>&1
	pm cluster collect "$dir"
	exits 0 "round $rounds is collected"
	evidence "$dir/collected.db" >"$tmp/evidence"
	cmp "$tmp/evidence" "$tmp/one.evidence" || {
		wrong=$((wrong + 1))
		diff "$tmp/evidence" "$tmp/one.evidence" | cut -c 1-400 | sed "s/^/# /"
	}
	rm -rf "$dir"
done
echo "# $kills kills in $rounds rounds: $killed_workers of workers, $killed_children of what they had started"
[ "$wrong" = 0 ]
tap "the evidence of every round is that of one worker, byte for byte"
[ "$killed_workers" -gt 0 ] && [ "$killed_children" -gt 0 ]
tap "workers and what they started were killed"
tap_done
