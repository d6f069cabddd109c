#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm.sh - a plan of 50 elements on a real Slurm of this machine, to which everything happens: it must end with the same
# evidence as one process alone.
#
# Of the elements 30 % are killed (PASSMITH_KILL_SEED says which, when and how), one has a full disk, all that run are told
# that their time is over and are queued again by force; a node is drained, one fails, the controller is killed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/cluster.sh
. tests/lib/cluster.sh
# shellcheck source=tests/cluster/slurm_bed.sh
. tests/cluster/slurm_bed.sh

if reason=$(bed_missing); then
	echo "1..0 # SKIP $reason"
	exit 0
fi
trap 'bed_stop; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
seed=${PASSMITH_KILL_SEED:-7}
RANDOM=$seed
faults=$tmp/faults
plan=$tmp/plan
passes="silu fuse swiglu quick_gelu bias_act bn_relu geglu split_heads rotary group_norm"
echo "# seed $seed"

# ---- the plan, and what one process finds ----

make_plan()
{
	local i p list=()

	for i in 1 2 3 4 5; do
		printf 'silu%d (float[%d,8] x) => (float[%d,8] y)\n{\n   s = Sigmoid (x)\n   y = Mul (x, s)\n}\n' \
			"$i" $((i + 3)) $((i + 3)) >"$tmp/$i.gpt"
		"$passmith" extract "$tmp/$i.gpt" --db "$tmp/work.db" >/dev/null 2>&1 || return 1
	done
	"$passmith" task make --db "$tmp/work.db" --top 5 --shapes 1 >/dev/null 2>&1 || return 1
	for p in $passes; do list+=(--pass "$build/passes/$p.so"); done
	"$passmith" doctor 2>/dev/null | grep -q '^no *[a-z_]*sandbox' && list+=(--weak-sandbox)
	pm cluster plan --db "$tmp/work.db" --tasks 1,2,3,4,5 "${list[@]}" --hidden 1 -o "$plan" --at-once 8 \
		--sbatch=--time=1 --launch "$PWD/tests/cluster/slurm_launch.sh $faults" --program "$(realpath "$passmith")"
}

mkdir -p "$faults/full" "$faults/kill" "$faults/did"
make_plan
exits 0 "a plan of 10 passes on 5 tasks"
says "in 50 shards" "has 50 shards"
[ -e "$plan/slurm/element.sh" ] || tap_done
cp -a "$plan" "$tmp/alone"

# Fifteen of the fifty, seeded, and one other.
for shard in $(seq 0 49); do echo "$RANDOM $shard"; done | sort -n | head -n 16 | cut -d' ' -f2 >"$tmp/chosen"
head -n 15 "$tmp/chosen" | while read -r shard; do
	echo "$((RANDOM % 700)) $([ $((RANDOM % 2)) = 0 ] && echo worker || echo element)" >"$faults/kill/$shard"
done
full=$(tail -n 1 "$tmp/chosen")
: >"$faults/full/$full"

# ---- Slurm ----

pm cluster submit "$plan"
exits 3 "without a controller that answers nothing is submitted"
one_sentence "in one sentence"

BED_ARRAY=32
bed_start 2
elements() { squeue -h -r -n "$name" -t "${1:-all}" -o '%K %T' | grep -vc '^N/A\|COMPLETED\|FAILED\|CANCELLED\|NODE_FAIL\|TIMEOUT'; }
at_least() { [ "$(elements "$2")" -ge "$1" ]; }

pm cluster submit "$plan"
exits 0 "submit"
[ "$code" -eq 0 ] || bed_fail "nothing was submitted"
says "50 elements in 2 arrays" "arrays longer than MaxArraySize (32) are split"
name=$(sed -n 's/.*"name": "\(.*\)".*/\1/p' "$plan/slurm/jobs.json")
queued=$(squeue -h -r | wc -l)
[ "$queued" -eq 51 ]
tap "50 elements and the job that collects are queued"
pm cluster submit "$plan"
says "nothing is submitted" "submit again does nothing"
[ "$(squeue -h -r | wc -l)" -eq "$queued" ]
tap "and the queue is the same"

# While the elements wait for $faults/open: one process alone, and the time limit, which is a minute, warns by USR1.
bed_wait "4 running elements" at_least 4 RUNNING
pm cluster status "$plan" --json
json "status is JSON"
says '"slurm"' "and tells of Slurm"
pm cluster status "$plan"
says "4 RUNNING" "status says that 4 elements run"
says "no accounting" "and that this cluster has no accounting"
sbatch -J other -o /dev/null --hold --wrap true >/dev/null
alone=0
"$passmith" cluster work "$tmp/alone" >"$tmp/alone.out" 2>&1 || alone=$?
[ $alone -eq 0 ]
tap "one process alone does the same plan"
requeued() { [ "$(cat "$plan"/slurm/*_*.log 2>/dev/null | grep -c 'queued again')" -ge 4 ]; }
bed_wait "USR1 before the time limit, and elements that queue themselves again" requeued
tap "four elements were warned of the time limit and queued themselves again"
for id in $(squeue -h -n "$name" -o %A | sort -u); do scontrol update "JobId=$id" TimeLimit=60 2>/dev/null; done

# ---- what happens to it ----

: >"$faults/open"
restarted() { bed_hasten; grep -qs 'restarts [1-9]' "$plan"/slurm/*_*.log; }
bed_wait "an element that runs again" restarted
tap "its log says that it was restarted"

scontrol update NodeName=n2 State=DRAIN Reason=test
drained() { bed_hasten; [ "$(sinfo -h -N -n n2 -o %t)" = drain ]; }
bed_wait "node n2 to be drained" drained
tap "a node was drained while elements ran"

bed_restart_controller
tap "the controller was killed and came back"

# From here on elements wait for $faults/open again: none can be finished before enough happened.
mv "$faults/open" "$faults/closed"
storm_round()
{
	local id n=0

	bed_hasten
	for id in $(squeue -h -r -n "$name" -t RUNNING -o '%K %A' | sed -n 's/^[0-9]* //p'); do
		scontrol requeue "$id" 2>/dev/null && n=$((n + 1))
	done
	storms=$((storms + n))
	[ $storms -ge 12 ]
}
storms=0
bed_wait "a storm of 12 elements that are queued again by force" storm_round
tap "$storms elements were queued again by force"

bed_wait "an element that runs" eval 'bed_hasten; at_least 1 RUNNING'
scontrol update NodeName=n1 State=DOWN Reason=test
tap "a node failed under its elements"
mv "$faults/closed" "$faults/open"
# Slurm itself may take the failed one back before that.
nodes_back()
{
	bed_hasten
	for node in $(sinfo -h -N -t drain,down -o %N); do scontrol update "NodeName=$node" State=RESUME 2>/dev/null; done
	[ "$(sinfo -h -N -t idle,mixed,allocated,completing -o %N | sort -u | wc -l)" -eq 2 ]
}
bed_wait "both nodes to be back" nodes_back
tap "all nodes came back"

# ---- to the end ----

over() { bed_hasten; [ "$(elements)" -eq 0 ] && [ -z "$(squeue -h -n "$name")" ]; }
bed_wait "all elements, and the job that collects after them" over
[ -e "$plan/collected.db" ]
tap "the job that collects has run after the elements"
[ "$(find "$faults/did" -name 'kill.*' | wc -l)" -eq 15 ]
tap "15 elements were killed"
grep -qs 'passmith: .*File too large' "$plan"/slurm/*_*.log
tap "an element with a full disk said so"

[ ! -e "$plan/done/$full" ]
tap "and its shard is not done"
rm "$faults/full/$full"
rounds=0
while :; do
	pm cluster resume "$plan"
	exits 0 "resume"
	grep -q 'all shards are done' "$tmp/out" && break
	rounds=$((rounds + 1))
	[ $rounds -le 3 ] || bed_fail "after $rounds rounds of resume shards are missing: $("$passmith" cluster status "$plan")"
	grep -Eq 'elements? in [12] arrays? (is|are) submitted' "$tmp/out"
	tap "resume submits what is missing: $(grep -oE '[0-9]+ elements? in' "$tmp/out")"
	bed_wait "the elements that resume submitted" over
done
[ $rounds -ge 1 ]
tap "what failed came back by resume"

pm cluster collect "$plan"
exits 0 "collect misses nothing"
says "50 were there" "the job that collects had all 50"
"$passmith" cluster collect "$tmp/alone" >/dev/null
evidence "$tmp/alone/collected.db" >"$tmp/want" && evidence "$plan/collected.db" >"$tmp/got"
[ "$(wc -c <"$tmp/want")" -gt 10000 ] && cmp "$tmp/want" "$tmp/got"
tap "the evidence is that of one process, byte by byte"

# ---- cancel ----

pm cluster plan --db "$tmp/work.db" --tasks 1 --pass "$build/passes/silu.so" -o "$tmp/second" --sbatch=--hold
pm cluster submit "$tmp/second"
exits 0 "a second plan is submitted, whose jobs are held"
pm cluster cancel "$tmp/second"
exits 0 "cancel"
says "2 elements and jobs" "cancels its element and the job that collects"
left() { [ "$(squeue -h -o %j)" = other ]; }
bed_wait "only the job of somebody else in the queue" left
tap "and no other job"
tap_done
