#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# judge.sh - the experiment on the error bound, one process for each body and type.
#
# tools/judge/judge.sh OUT.json [OPTION...]    options are those of tests/bench/bench_judge (--seeds 100 ...).
# In a given time, by the program alone (no sources are needed): bench_judge --budget SECONDS --json OUT.json.
# Environment: BUILD (build), JOBS (the number of processors). Parts lie in OUT.json.parts/ and are not run again.
set -eu
out=$1
shift
program=${BUILD:-build}/tests/bench/bench_judge
here=$(cd "$(dirname "$0")/../.." && pwd)
parts=$out.parts
mkdir -p "$parts"
files=()
lines=()
for body in $("$program" --list all); do
	for type in f32 f16 bf16; do
		files+=("$parts/$body.$type.json")
		lines+=("--body $body --type $type --json $parts/$body.$type.json $*")
	done
done
# The bodies that take longest first.
{
	printf '%s\n' "${lines[@]}" | grep -E 'matmul|attention|conv|gemm'
	printf '%s\n' "${lines[@]}" | grep -vE 'matmul|attention|conv|gemm'
} | xargs -P "${JOBS:-$(nproc)}" -I{} sh -c "$program {}"
"$here/tools/gen/judge_page.py" --merge "$out" "${files[@]}"
