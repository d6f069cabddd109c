#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# slurm.sh - passmith cluster submit, status and cancel with programs of Slurm that are missing, refuse, or say what nobody
# expects. Those of a real one are in tests/cluster/slurm.sh.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/cluster.sh
. tests/lib/cluster.sh

usual=$PATH
tasks_db "$tmp/w.db"
plan_of "$tmp/plan" --sbatch="--partition=gpu --time=30" --at-once 2
exits 0 "a plan"
for f in element collect; do
	sh -n "$tmp/plan/slurm/$f.sh" && [ -x "$tmp/plan/slurm/$f.sh" ]
	tap "$f.sh is a script"
	grep -q '^#SBATCH --partition=gpu --time=30$' "$tmp/plan/slurm/$f.sh"
	tap "with the options of the site"
done
grep -q '^#SBATCH --array=0-3%2$' "$tmp/plan/slurm/element.sh" && ! grep -q gres "$tmp/plan/slurm/element.sh"
tap "an array of the four shards, two at once, without a GPU on emu"
plan_of "$tmp/bad" --sbatch="$(printf -- '--partition=gpu\nrm x')"
exits 4 "a line end in an option is refused"
one_sentence "in one sentence"
[ ! -e "$tmp/bad" ]
tap "before the folder is made"

# With nothing on PATH; then with programs of our own.
mkdir "$tmp/bin" "$tmp/none"
PATH=$tmp/none
pm cluster submit "$tmp/plan"
PATH=$usual
exits 3 "without Slurm's programs"
one_sentence "one sentence"
warns "squeue cannot be run" "names the program"

# program NAME STATUS TEXT: makes a program that prints TEXT, on stderr when STATUS is not 0, and notes what it was asked.
program()
{
	printf '#!/bin/sh\necho "%s $*" >>"%s/asked"\ncat <<"X"%s\n%s\nX\nexit %d\n' "$1" "$tmp" \
		"$([ "$2" -eq 0 ] || echo ' >&2')" "$3" "$2" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

with_bin()
{
	: >"$tmp/asked"
	PATH=$tmp/bin:$usual
	pm "$@"
	PATH=$usual
}

program squeue 0 ''
program scontrol 0 'MaxArraySize = 3'
program sacct 1 'Slurm accounting storage is disabled'
program scancel 0 ''
program sbatch 1 'sbatch: error: invalid partition specified: gpu'
with_bin cluster submit "$tmp/plan"
exits 3 "a controller that refuses"
one_sentence "one sentence"
warns "invalid partition specified: gpu" "has what it said"
[ ! -e "$tmp/plan/slurm/submitting" ]
tap "and the next one may submit"

program sbatch 0 '12 and more'
with_bin cluster submit "$tmp/plan"
exits 4 "an answer that is no number"

program sbatch 0 '12'
: >"$tmp/plan/slurm/submitting"
with_bin cluster submit "$tmp/plan"
exits 3 "while another one submits"
warns "Another process submits" "it is said"
rm "$tmp/plan/slurm/submitting"
with_bin cluster submit "$tmp/plan" --json
exits 0 "submit"
json "JSON"
says '"arrays": 2' "two arrays, for MaxArraySize is 3"
grep -q '^sbatch --parsable --array=0-2%2 .*element.sh 0$' "$tmp/asked" &&
	grep -q '^sbatch --parsable --array=0%2 .*element.sh 3$' "$tmp/asked"
tap "with the number of their first shards"
grep -q '^sbatch --parsable --dependency=afterany:12:12 .*collect.sh$' "$tmp/asked"
tap "and a job that collects after both"

# A worker that died between its last result and the end of its claim: nothing is missing, though the shard is pending.
pm cluster work "$tmp/plan" --shard 0 --quiet
mv "$tmp/plan/done/0" "$tmp/plan/pending/0"
with_bin cluster resume "$tmp/plan"
exits 0 "resume of a plan whose shard 0 has its results and no claim"
grep -q '^sbatch --parsable --array=1-2%2 ' "$tmp/asked"
tap "submits the others alone"

program squeue 0 '77|1|PENDING||Priority'
with_bin cluster resume "$tmp/plan"
exits 0 "resume beside elements that were never noted"
! grep -q '^sbatch' "$tmp/asked"
tap "submits nothing"
program squeue 0 'no such thing'
with_bin cluster submit "$tmp/plan"
exits 4 "a queue that cannot be read"
warns "squeue printed \"no such thing\"" "is shown"
with_bin cluster status "$tmp/plan"
exits 0 "status says it and goes on"
says "Slurm: squeue printed" "beside what the folder says"
program squeue 0 '12|1|RUNNING|n1|None'
with_bin cluster cancel "$tmp/plan"
exits 0 "cancel"
grep -q "^scancel .*-n passmith-[0-9a-f]*$" "$tmp/asked"
tap "by the name of the plan"
echo '{"format": 1, "name": "%", "jobs": []}' >"$tmp/plan/slurm/jobs.json"
with_bin cluster cancel "$tmp/plan"
exits 4 "a damaged list of jobs"
one_sentence "one sentence"
[ ! -s "$tmp/asked" ]
tap "and nothing is asked of Slurm"
tap_done
