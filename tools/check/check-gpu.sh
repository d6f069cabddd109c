#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-gpu.sh - the tests that need a GPU; where there is one, also the guides, the shape tables of the passes and the
# attacks on timed calls, which otherwise run on the emulated device. One after the other: some look at times.
#
# Environment: BUILD (build), TEST_TIMEOUT (600 seconds for each program).
set -u
cd "$(dirname "$0")/../.." || exit 5
export BUILD=${BUILD:-build} TEST_TIMEOUT=${TEST_TIMEOUT:-600} JOBS=1

words=(tests/gpu/)
if "$BUILD/passmith" doctor | grep -q '^yes GPU'; then
	export PASSMITH_TEST_DEVICE=cuda
	words+=(tests/adversarial/test_timed tests/adversarial/test_siege_timed tests/guide.sh)
	for pass in passes/library/*/*.c; do
		[ -e "tests/unit/passes/test_pass_$(basename "$pass")" ] && words+=("tests/unit/passes/test_pass_$(basename "$pass")")
	done
else
	echo "No GPU here: the passes and the timed attacks are left out."
fi
exec tests/run.sh "${words[@]}"
