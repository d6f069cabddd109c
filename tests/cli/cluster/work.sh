#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# work.sh - passmith cluster: a plan, workers beside each other, findings in one database, and files that are damaged.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/cluster.sh
. tests/lib/cluster.sh

tasks_db "$tmp/w.db"
plan_of "$tmp/plan"
exits 0 "a plan"
grep -q '4 items (2 passes on 2 tasks) in 4 shards' "$tmp/out"
tap "all passes on all tasks"
[ "$(stat -c %a "$tmp/plan/plan.json")" = 600 ]
tap "the secret is for its owner alone"
[ "$(n_files "$tmp/plan/pending")" = 4 ] && [ "$(n_files "$tmp/plan/passes")" = 2 ] && [ ! -e "$tmp/plan/tasks.db-wal" ]
tap "claims, copies of the passes, and tasks in one file"
before=$(sha256sum <"$tmp/plan/tasks.db")
pm db stats --db "$tmp/plan/tasks.db"
grep -q '^tasks *2$' "$tmp/out" && grep -q '^results *0$' "$tmp/out"
tap "the tasks, and nothing else"
[ "$(sha256sum <"$tmp/plan/tasks.db")" = "$before" ] && [ "$(find "$tmp/plan" -name 'tasks.db*' | wc -l)" = 1 ]
tap "which are not changed by those who look, root among them"
plan_of "$tmp/plan"
exits 4 "a folder that is not empty is left alone"
# The same plan, its secret included, for one process and for several.
cp -r "$tmp/plan" "$tmp/fresh"
cp -r "$tmp/plan" "$tmp/one"

pm cluster collect "$tmp/plan"
exits 1 "collect says that something is missing"
grep -q '4 are missing' "$tmp/out"
tap "how much"
pm cluster work "$tmp/one" -j 2
exits 0 "one worker"
grep -q '^4 shards and 4 items finished, 24 variants' "$tmp/out"
tap "what it did"
for k in 1 2 3 4; do
	"$passmith" cluster work "$tmp/plan" -j 1 --quiet >"$tmp/worker$k" 2>&1 &
done
wait
[ "$(n_files "$tmp/plan/results")" = 4 ] && [ "$(n_files "$tmp/plan/done")" = 4 ]
tap "four workers finish it"
[ "$(n_files "$tmp/plan/partial" "$tmp/plan/tries" "$tmp/plan/running" "$tmp/plan/workers")" = 0 ]
tap "and leave nothing behind"
for p in one plan; do
	pm cluster collect "$tmp/$p"
	exits 0 "collect of $p"
	evidence "$tmp/$p/collected.db" >"$tmp/$p.evidence"
done
tail -n 1 "$tmp/one.evidence" | grep -q '"results":24,"hidden":4' && cmp "$tmp/one.evidence" "$tmp/plan.evidence"
tap "the same evidence, byte for byte"

pm cluster work "$tmp/plan"
exits 0 "work on a finished plan"
grep -q '^0 shards and 0 items finished, 0 variants' "$tmp/out"
tap "does nothing"
pm cluster collect "$tmp/plan"
grep -q '0 items added, 4 were there, 0 are missing' "$tmp/out"
tap "nor does collect"

# What eval finds of it is resumed from: the options of a plan are those of eval.
pm eval 1 --db "$tmp/plan/collected.db" --pass "$build/passes/silu.so" --hidden 1 -o "$tmp/eval.json"
grep -q '"speedup"' "$tmp/eval.json"
tap "eval reads the results"
[ "$("$passmith" db query --db "$tmp/plan/collected.db" 'SELECT count(*) FROM runs' | tail -n 1)" = 4 ]
tap "as those of the same run"

# One shard, as an element of an array: twice, and beside another one.
cp -r "$tmp/fresh" "$tmp/element"
pm cluster work "$tmp/element" --shard 2 -j 2
exits 0 "work --shard"
grep -q '^1 shard and 1 item finished, 6 variants evaluated$' "$tmp/out" && [ "$(n_files "$tmp/element/results")" = 1 ] &&
	[ -e "$tmp/element/done/2" ]
tap "that shard alone"
pm cluster work "$tmp/element" --shard 2
exits 0 "again"
pm cluster work "$tmp/element" --shard 4
exits 4 "a shard that there is not"
pm cluster work "$tmp/element" --once -j 2
[ "$(n_files "$tmp/element/results")" = 2 ]
tap "work --once takes one"
pm cluster status "$tmp/element"
grep -q '^shards: 2 pending, 0 running, 2 done' "$tmp/out" && grep -q '^items: *2 of 4 done' "$tmp/out"
tap "status counts"

# Each measurement says on which node, and as what of the batch system it was made.
cp -r "$tmp/fresh" "$tmp/array"
(
	unset SLURM_ARRAY_JOB_ID
	export SLURM_JOB_ID=77 SLURM_ARRAY_TASK_ID=2 SLURM_RESTART_COUNT=1
	"$passmith" cluster work "$tmp/array" --shard 2 -j 2 --quiet
) >"$tmp/out" 2>"$tmp/err"
tap "work as an element of an array"
pm cluster collect "$tmp/array"
for table in measurements hidden_measurements; do
	pm db query --db "$tmp/array/collected.db" "SELECT DISTINCT o.node, o.job, o.element, o.restarts FROM $table m
		LEFT JOIN origins o ON o.id = m.origin"
	[ "$(tail -n +2 "$tmp/out" | tr -s '\t ' '  ')" = "$(uname -n) 77 2 1" ]
	tap "node, job, element and restarts of $table"
done

# The worker of a shard has been killed: its claim stays, and is taken by the next one at once, since its process is gone.
cp -r "$tmp/fresh" "$tmp/dead"
sh -c 'echo $$' >"$tmp/gone"
host=$(uname -n)
mv "$tmp/dead/pending/1" "$tmp/dead/running/1.x-1-1"
printf '{"host":"%s","pid":%s,"life":"%s %s"}\n' "$host" "$(cat "$tmp/gone")" "$(cat /proc/sys/kernel/random/boot_id)" \
	"$(readlink /proc/self/ns/pid)" >"$tmp/dead/workers/x-1-1.json"
pm cluster status "$tmp/dead"
grep -q 'silent; cluster resume' "$tmp/out"
tap "status names a worker that ended"
pm cluster resume "$tmp/dead"
grep -q '^1 shard taken back' "$tmp/out" && [ -e "$tmp/dead/pending/1" ]
tap "resume takes its shard back"
# Of a worker on another host only the age of its heartbeat is known.
mv "$tmp/dead/pending/1" "$tmp/dead/running/1.y-1-1"
touch "$tmp/dead/running/1.y-1-1"
pm cluster resume "$tmp/dead"
grep -q '^0 shards taken back' "$tmp/out"
tap "not that of one that was just heard of"
touch -d '10 minutes ago' "$tmp/dead/running/1.y-1-1"
pm cluster work "$tmp/dead" --shard 1 -j 2
exits 0 "work takes it when the lease is over"

# A worker was killed after the last result of its shard, and one while it wrote.
cp -r "$tmp/plan" "$tmp/late"
mv "$tmp/late/done/1" "$tmp/late/pending/1"
mkdir -p "$tmp/late/partial/0"
for f in results/1.jsonl partial/0/1.x-1-1.jsonl workers/x-1-1.json; do
	: >"$tmp/late/$f.x-1-1-0.tmp"
	touch -d '10 minutes ago' "$tmp/late/$f.x-1-1-0.tmp"
done
: >"$tmp/late/results/2.jsonl.y-1-1-0.tmp"
cp -r "$tmp/late" "$tmp/late2"
pm cluster status "$tmp/late"
grep -q '^shards: 0 pending, 0 running, 4 done' "$tmp/out"
tap "status: a shard that has all its results is done"
pm cluster resume "$tmp/late" --json
grep -q '"settled": 1' "$tmp/out" && grep -q '"pending": 0' "$tmp/out" && [ -e "$tmp/late/done/1" ] && [ ! -e "$tmp/late/pending/1" ]
tap "resume says so in the folder"
grep -q '"swept": 3' "$tmp/out" && [ "$(find "$tmp/late" -name '*.tmp')" = "$tmp/late/results/2.jsonl.y-1-1-0.tmp" ]
tap "resume removes what a killed worker had not finished, and leaves what may be written now"
pm cluster work "$tmp/late2" --shard 1
exits 0 "work on that shard"
[ -e "$tmp/late2/done/1" ] && [ ! -e "$tmp/late2/pending/1" ]
tap "does so, too"

# An item that comes to nothing three times is left; here its pass cannot be loaded.
cp -r "$tmp/fresh" "$tmp/broken"
for k in 1 2 3; do
	mkdir -p "$tmp/broken/tries/0"
	echo '{"worker":"x","why":"It was a bad day."}' >"$tmp/broken/tries/0/$k.x-1-1.json"
done
pm cluster work "$tmp/broken" -j 2
exits 1 "work with an item that is left"
[ "$(n_files "$tmp/broken/results")" = 3 ]
tap "the others are finished"
pm cluster status "$tmp/broken" --json
grep -q '"why": "It was a bad day."' "$tmp/out"
tap "status says why"
pm cluster resume "$tmp/broken"
[ "$(n_files "$tmp/broken/pending")" = 0 ] && grep -q '1 item is left' "$tmp/out"
tap "resume leaves it"
pm cluster resume "$tmp/broken" --retry
[ "$(n_files "$tmp/broken/pending")" = 1 ]
tap "resume --retry does not"
pm cluster work "$tmp/broken" -j 2
exits 0 "and then it is finished"

# Files that are damaged, or of another plan: a sentence, and exit code 4.
says()
{
	exits 4 "$1"
	grep -qF -e "$2" "$tmp/err" && [ "$(wc -l <"$tmp/err")" = 1 ]
	tap "$1: one sentence"
}
bad()
{
	rm -rf "$tmp/bad"
	cp -r "$tmp/$1" "$tmp/bad"
}
bad fresh
sed -i 's/"hidden": *1/"hidden":2/; s/"hidden":1/"hidden":2/' "$tmp/bad/plan.json"
pm cluster work "$tmp/bad" --quiet
says "a plan that was changed" "it is damaged"
bad fresh
head -c 300 "$tmp/fresh/plan.json" >"$tmp/bad/plan.json"
pm cluster status "$tmp/bad" --quiet
says "a plan that was cut" "plan.json: it is no JSON object"
echo '{"format":"another"}' >"$tmp/bad/plan.json"
pm cluster collect "$tmp/bad" --quiet
says "a file of another program" "it is no plan"
rm "$tmp/bad/plan.json"
pm cluster resume "$tmp/bad" --quiet
says "no plan" "has no plan.json"
bad fresh
chmod +w "$tmp/bad/tasks.db"
printf 'x' >>"$tmp/bad/tasks.db"
pm cluster work "$tmp/bad" --quiet
says "tasks that were changed" "tasks.db is damaged"
bad fresh
for f in "$tmp/bad"/passes/*.so; do printf 'x' >>"$f"; done
pm cluster work "$tmp/bad" --quiet
says "a pass that was changed" "is damaged"
[ "$(n_files "$tmp/bad/pending")" = 4 ] && [ "$(n_files "$tmp/bad/tries")" = 0 ]
tap "its shard is pending again, and the item is not blamed"
bad plan
rm "$tmp/bad/collected.db"
sed -i '2s/a/b/' "$tmp/bad/results/1.jsonl"
pm cluster collect "$tmp/bad" --quiet
says "a result that was changed" "results/1.jsonl is damaged"
grep -q '3 items added' "$tmp/out"
tap "the others are collected"
cp "$tmp/one/results/2.jsonl" "$tmp/bad/results/1.jsonl"
pm cluster collect "$tmp/bad" --quiet
says "a result of another item" "is not of item 1"
rm "$tmp/bad/results/1.jsonl"
pm cluster resume "$tmp/bad"
pm cluster work "$tmp/bad" -j 2
pm cluster collect "$tmp/bad"
exits 0 "what was removed is evaluated and collected again"
evidence "$tmp/bad/collected.db" | cmp - "$tmp/one.evidence"
tap "to the same evidence"
plan_of "$tmp/other"
bad fresh
mkdir -p "$tmp/bad/partial/0"
cp "$tmp/plan/results/0.jsonl" "$tmp/bad/partial/0/1.x-1-1.jsonl"
sed 's/"seal":"[0-9a-f]*"/"seal":"0123456789abcdef"/' "$tmp/plan/results/0.jsonl" >"$tmp/bad/partial/0/2.x-1-1.jsonl"
pm cluster work "$tmp/bad" --shard 0 --quiet
says "a part of another plan" "is not of item 0"
tap_done
