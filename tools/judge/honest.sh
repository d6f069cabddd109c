#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# honest.sh [SEED...] - how much of what is honest is refused: for each seed 400 kernels over random shapes, half
# of them built in unusual but legal ways (tests/adversarial/test_honest), then every pass of ours on every graph
# of its tests, judged as a stranger's.
#
# Environment: BUILD (build), HONEST (400 kernels a seed; 0 leaves them out), OURS (1; 0 leaves our passes out).
# Prints a line for each refusal. Exit 1 when more than 0.5 % of either kind are refused or a test fails.
set -u
cd "$(dirname "$0")/../.." || exit 5
export BUILD=${BUILD:-build} TEST_TIMEOUT=3600
[ $# -gt 0 ] || set -- 1
work=$(mktemp -d "${TMPDIR:-/tmp}/passmith-honest-XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT
bad=0

# Says what was refused and in how many tests, from the outputs in $work/out*.
tell()
{
	sed -n 's/^ *| # \(refused: .*\)/\1/p' "$work"/out* | cut -c1-1000
	sed -n 's/^ *| # .*: \([0-9]*\) of \([0-9]*\) refused$/\1 \2/p' "$work"/out* | awk -v what="$1" '
		{ r += $1; n += $2 }
		END { printf "%s: %d of %d refused\n", what, r, n; exit !(n && r * 200 <= n) }' || bad=1
	rm -f "$work"/out*
}

if [ "${HONEST:-400}" -gt 0 ]; then
	for seed in "$@"; do
		PASSMITH_HONEST=${HONEST:-400} PASSMITH_HONEST_SEED=$seed tests/run.sh -v adversarial/test_honest >"$work/out"
		tell "honest kernels, seed $seed"
	done
fi
if [ "${OURS:-1}" != 0 ]; then
	PASSMITH_TEST_JUDGE=1 tests/run.sh -v unit/passes/test_pass_ unit/passes/test_fuse_ >"$work/out" || bad=1
	tell "passes of ours"
fi
exit "$bad"
