#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# judge.sh - the experiment on the error bound on all processors of this machine, as one file.
#
# tools/judge/judge.sh OUT.json [OPTION...]    options are those of tests/bench/bench_judge (--seeds 100 ...).
# On several machines, by the program alone (no sources are needed there): bench_judge --shard 1/2 --json
# 1.json, and so on; then tools/gen/judge_page.py --merge OUT.json 1.json 2.json.
# Environment: BUILD (build).
set -eu
out=$1
shift
here=$(cd "$(dirname "$0")/../.." && pwd)
"${BUILD:-build}/tests/bench/bench_judge" --json "$out.shard" "$@"
"$here/tools/gen/judge_page.py" --merge "$out" "$out.shard"
rm "$out.shard"
