#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# faults.sh - a worker of a plan that is killed or stopped at each step of what it writes there, and one whose disk is full.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/cluster.sh
. tests/lib/cluster.sh

if nm "$passmith" 2>/dev/null | grep -q __asan_init; then
	skip "faults" "a library cannot be loaded before the sanitizer's"
	tap_done
fi
${CC:-gcc} -D_GNU_SOURCE -O1 -shared -fPIC -Wall -Werror -o "$tmp/faults.so" tests/cli/cluster/faults.c -ldl
tap "the library that lets something happen"

# One item of one variant, so that there are few steps.
silu_graph "float[8,64]"
pm task from "$tmp/silu.gpt" --db "$tmp/w.db" --shapes 1 --quiet
pm cluster plan --db "$tmp/w.db" --tasks 1 --pass "$build/passes/silu.so" --hidden 1 --lease 1 \
	--weak-sandbox -o "$tmp/plan"
exits 0 "a plan"
# pm, in a process that has the library and no fault: what it finds is of the same machine.
with_library()
{
	code=0
	LD_PRELOAD=$tmp/faults.so "$passmith" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}
cp -r "$tmp/plan" "$tmp/one"
with_library cluster work "$tmp/one"
pm cluster collect "$tmp/one"
exits 0 "one worker finishes it"
evidence "$tmp/one/collected.db" >"$tmp/one.evidence"
tail -n 1 "$tmp/one.evidence" | grep -q '"results":1,"hidden":1'
tap "its evidence"

# faulty WHAT STEP ARG...: passmith cluster work on $tmp/p with a fault.
faulty()
{
	fault_what=$1 fault_at=$2
	shift 2
	code=0
	FAULT=$fault_what FAULT_AT=$fault_at FAULT_DIR=$tmp/p/ LD_PRELOAD=$tmp/faults.so \
		"$passmith" cluster work "$tmp/p" -j 1 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}

fresh()
{
	rm -rf "$tmp/p"
	cp -r "$tmp/plan" "$tmp/p"
}

# What is there can be read, and is all that is needed to go on.
goes_on()
{
	pm cluster collect "$tmp/p"
	[ "$code" -le 1 ] || return 1
	pm cluster resume "$tmp/p" --retry
	[ "$code" -eq 0 ] || return 1
	with_library cluster work "$tmp/p"
	[ "$code" -eq 0 ] || return 1
	pm cluster collect "$tmp/p"
	[ "$code" -eq 0 ] || return 1
	evidence "$tmp/p/collected.db" | cmp - "$tmp/one.evidence"
}

# Killed at each step: the last one is the first at which a worker came to its end by itself.
n=0 killed=0 wrong=
while :; do
	n=$((n + 1))
	fresh
	faulty kill "$n" --quiet
	if [ "$code" -eq 0 ]; then
		break
	fi
	killed=$((killed + 1))
	goes_on || wrong="$wrong $n"
done
echo "# killed at each of $killed steps; wrong after:${wrong:- none}"
[ -z "$wrong" ] && [ "$killed" -ge 15 ]
tap "killed at any step: no half file is read, and the next worker finds the same"

# The disk is full from some step on.
n=0 full=0 wrong=
while :; do
	n=$((n + 1))
	fresh
	faulty full "$n" --quiet
	if [ "$code" -eq 0 ]; then
		break
	fi
	full=$((full + 1))
	if [ "$code" -ne 3 ] || ! grep -q 'No space left on device' "$tmp/err" || [ "$(wc -l <"$tmp/err")" != 1 ] ||
		[ "$(n_files "$tmp/p/running")" != 0 ]; then
		wrong="$wrong $n(code $code)"
	fi
	goes_on || wrong="$wrong $n"
done
echo "# full from each of $full steps on; wrong:${wrong:- none}"
[ -z "$wrong" ] && [ "$full" -ge 8 ]
tap "a full disk: exit code 3, one sentence, the shard is free, and the next worker goes on"

# A limit on the size of files, as users have: the same.
fresh
code=0
(
	ulimit -f 8
	LD_PRELOAD=$tmp/faults.so "$passmith" cluster work "$tmp/p" --quiet >"$tmp/out" 2>"$tmp/err" </dev/null
) || code=$?
[ "$code" -eq 3 ] && goes_on
tap "a file that may not grow: exit code 3, and the next worker goes on"

# A worker is stopped for longer than its lease, between any two steps of its own; another one takes its shard. Then the first
# goes on, and believes that it still has it.
stopped()
{
	state=
	while [ "$state" != T ]; do
		state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) || return 1
		[ "$state" != Z ] || return 1
		sleep 0.05
	done
}
for at in 5 6 10 13; do
	fresh
	FAULT=stop FAULT_AT=$at FAULT_FIRST=1 FAULT_DIR=$tmp/p/ LD_PRELOAD=$tmp/faults.so \
		"$passmith" cluster work "$tmp/p" -j 1 >"$tmp/first" 2>&1 </dev/null &
	first=$!
	stopped "$first"
	tap "the first worker stops before step $at"
	with_library cluster work "$tmp/p" --shard 0
	exits 0 "another one takes its shard"
	kill -CONT "$first"
	code=0
	wait "$first" || code=$?
	[ "$code" -eq 0 ]
	tap "the first goes on and ends"
	[ "$(n_files "$tmp/p/results")" = 1 ] && [ "$(n_files "$tmp/p/done")" = 1 ] && [ "$(n_files "$tmp/p/running")" = 0 ] &&
		goes_on
	tap "nothing is lost or doubled"
done

# A signal ends a worker; its shard is free, and what it had finished is there.
for signal in USR1 TERM INT; do
	fresh
	FAULT=stop FAULT_AT=6 FAULT_FIRST=1 FAULT_DIR=$tmp/p/ LD_PRELOAD=$tmp/faults.so \
		"$passmith" cluster work "$tmp/p" -j 1 --json >"$tmp/first" 2>&1 </dev/null &
	first=$!
	stopped "$first" && kill -"$signal" "$first" && kill -CONT "$first"
	code=0
	wait "$first" || code=$?
	[ "$code" -eq 1 ] && grep -q '"stopped": true' "$tmp/first" && [ -e "$tmp/p/pending/0" ] &&
		[ "$(n_files "$tmp/p/tries")" = 0 ] && goes_on
	tap "SIG$signal ends a worker, and blames nobody"
done
tap_done
