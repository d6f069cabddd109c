#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# many.sh - eval with several graphs: the same answer however many at once, in the order of the command line, and one
# that fails or is killed is one that failed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu=$build/passes/silu.so
wrong=$build/tests/plugin/wrong_silu.so
graphs=
for k in 1 2 3 4 5 6 7 8 9 10; do
	silu_graph "float[$k,$((70 - k))]"
	mv "$tmp/silu.gpt" "$tmp/g$k.gpt"
	graphs="$graphs $tmp/g$k.gpt"
done
silu_graph "float16[3,40]"
mv "$tmp/silu.gpt" "$tmp/half.gpt"
echo 'm (float[8,32] x, float[8,32] z) => (float[8,32] y) { a = Add(x, z) y = Relu(a) }' >"$tmp/none.gpt"
graphs="$graphs $tmp/none.gpt $tmp/half.gpt"

# timeless FILE: as in jobs.sh; how many ran at once is told, too.
timeless()
{
	grep -vE '"(wall_seconds|made|replayed|compared|projected|checked|verdicts_as_reported|jobs)":' "$1"
}

# shellcheck disable=SC2086 # a list of files
pm eval $graphs --pass "$silu" --pass "$wrong" --hidden 1 -j 2 -o "$tmp/first" --quiet
exits 1 "12 graphs with a right and a wrong pass"
[ "$(grep -c '\.gpt$' "$tmp/out")" = 12 ] && grep '\.gpt$' "$tmp/out" | tr '\n' ' ' | grep -qF "${graphs# } "
tap "are told in the order of the command line"
says "12 graphs: 11 OK, 2 NO_MATCH, 11 INCORRECT" "and counted"
! grep -q '^  category ' "$tmp/out"
tap "all are activations: no table by category"
for jobs in 1 4; do
	# shellcheck disable=SC2086
	pm eval $graphs --pass "$silu" --pass "$wrong" --hidden 1 -j $jobs --replay "$tmp/first" -o "$tmp/report$jobs"
	exits 1 "drawn as before, $jobs at once"
	grep -v '^JSON: ' "$tmp/out" >"$tmp/out$jobs"
done
cmp -s "$tmp/out1" "$tmp/out4" && [ "$(wc -l <"$tmp/out1")" -gt 100 ]
tap "the same bytes on stdout"
[ "$(timeless "$tmp/report1")" = "$(timeless "$tmp/report4")" ] && [ "$(grep -c '"secret":' "$tmp/report1")" -ge 24 ]
tap "and the same report, but for times"

echo 'no graph' >"$tmp/broken.gpt"
pm eval "$tmp/g1.gpt" "$tmp/broken.gpt" "$tmp/missing.gpt" "$tmp/half.gpt" --pass "$silu" --hidden 0 -j 3 --json
exits 4 "two of four cannot be read"
[ "$(grep -c '"task":' "$tmp/out")" = 2 ] && is_json "$tmp/out"
tap "the two others have their reports"
warns "broken.gpt was not evaluated: " "the first is named" && warns "missing.gpt was not evaluated: " "the other, too"
pm eval "$tmp/g1.gpt" "$tmp/broken.gpt" --pass "$silu" --hidden 0 --summary
says "2 graphs: 1 OK, 1 not evaluated" "what is not evaluated is counted"
echo 'm (float[8,32] x, float[8,32] z) => (float[8,32] y) { y = Add(x, z) }' >"$tmp/math.gpt"
pm eval "$tmp/g1.gpt" "$tmp/math.gpt" "$tmp/half.gpt" --pass "$silu" --hidden 0 --summary --quiet
exits 1 "two categories"
grep -qE '^  activation +silu +2 +2/2 +2/2 +[0-9.]+x +[0-9.]+$' "$tmp/out" && grep -qE '^  math +silu +1 +0/1 +0/1 +- +0.00$' "$tmp/out"
tap "each has a line with its figures"
pm eval "$tmp/g1.gpt" "$tmp/math.gpt" "$tmp/half.gpt" --pass "$silu" --hidden 0 --json --quiet
is_json "$tmp/out" && [ "$(grep -c '"category": *"activation"' "$tmp/out")" = 3 ] && [ "$(grep -c '"category": *"math"' "$tmp/out")" = 2 ]
tap "of its report and of the list of categories"
tr -d ' \n' <"$tmp/out" | grep -qE '"category":"activation","pass":"[^"]*","graphs":2,"variants":2,'
tap "which counts two graphs of one"
pm eval "$tmp/g1.gpt" "$tmp/g2.gpt" "$tmp/half.gpt" --pass "$silu" --deadline 0.000001 -j 2 --summary --json
exits 1 "three graphs without time"
[ "$(grep -c '"verdict": *"NOT_CHECKED"' "$tmp/out")" = 3 ] && grep -q '"correct": *0' "$tmp/out" && ! grep -q '"correct": *1' "$tmp/out"
tap "are not checked, each for itself, and count as right nowhere"
pm eval "$tmp/g1.gpt" "$tmp/g2.gpt" --pass "$silu" --record "$tmp/record"
exits 2 "--record is of one"
pm eval "$tmp/g1.gpt" "$tmp/g2.gpt" --pass "$tmp/none.so" --quiet
exits 4 "a pass that is not there is said once"
[ "$(wc -l <"$tmp/err")" -eq 1 ]
tap "in one line"

# A pass that hangs keeps its evaluation at work, so that it is known what is killed.
hanging=$build/tests/plugin/hanging_check.so
parent()
{
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 2
}
# find_worker: $worker is the process of $main that evaluates now, $host the one that holds the pass; empty = none.
find_worker()
{
	worker= host=
	for dir in /proc/[0-9]*; do
		[ "$(cat "$dir/comm" 2>/dev/null)" = passmith-host ] || continue
		host=${dir#/proc/} worker=${dir#/proc/}
		while [ -n "$worker" ] && [ "$worker" -gt 1 ] && [ "$(parent "$worker")" != $main ]; do
			worker=$(parent "$worker")
		done
		[ -n "$worker" ] && [ "$worker" -gt 1 ] && return
		worker=
	done
}
# begin: the command in the background, stopped in its first evaluation: a process that is stopped while it has
# others at work cannot end what it does.
begin()
{
	"$passmith" eval "$tmp/g1.gpt" "$tmp/none.gpt" "$tmp/other.gpt" --pass "$hanging" --hidden 0 -j 1 --check-only --quiet \
		>"$tmp/out" 2>"$tmp/err" </dev/null &
	main=$!
	worker=
	while [ -z "$worker" ] && kill -0 $main 2>/dev/null; do
		find_worker
		[ -n "$worker" ] || continue
		kill -STOP "$worker"
		grep -q . "/proc/$worker/task/$worker/children" && break
		kill -CONT "$worker"
		worker=
	done
}
cp "$tmp/none.gpt" "$tmp/other.gpt"
begin
kill -9 "$worker"
tap "the process that evaluates is killed"
wait $main
code=$?
exits 5 "which is told"
[ "$(grep -c 'g1.gpt was not evaluated: The process that evaluated this was ended from outside' "$tmp/err")" = 1 ]
tap "of the graph that it had"
says "3 graphs: 2 NO_MATCH, 1 not evaluated" "the others have been evaluated"

begin
kill -TERM $main
kill -CONT "$worker"
wait $main
code=$?
exits 143 "a signal ends it"
left=1
while [ $left = 1 ]; do # until the test's own time is over
	left=0
	for pid in $worker $host; do
		[ -d "/proc/$pid" ] && ! grep -q '^State:.*Z' "/proc/$pid/status" 2>/dev/null && left=1
	done
done
[ $left = 0 ]
tap "and leaves no process"
tap_done
