#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bundle-run.sh (in the bundle: run.sh) [COMMAND ARGUMENT...] - runs `passmith COMMAND ARGUMENT...` from this folder; without a command, runs the
# tests that need a GPU and prints "N passed, N failed, N skipped" as its last line (exit 1 when something failed
# or nothing ran). Output of the tests is kept in the folder $PASSMITH_LOGS when that is set.
#
# The folder may be moved anywhere. Environment: PASSMITH_CACHE (compiled kernels; default: the user's cache),
# CUDA_HOME (default /usr/local/cuda), TEST_TIMEOUT (600 seconds for each test program).
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 5
export PASSMITH_ROOT=$here PASSMITH_BUILD=$here
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

if [ $# -gt 0 ]; then
	exec "$here/passmith" "$@"
fi

cd "$here" || exit 5
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C
logs=${PASSMITH_LOGS:-$(mktemp -d)} || exit 5
mkdir -p "$logs" || exit 5
[ -n "${PASSMITH_LOGS:-}" ] || trap 'rm -rf "$logs"' EXIT

tests=(tests/gpu/test_* tests/unit/runtime/test_nvrtc)
if ./passmith doctor | grep -q '^yes GPU'; then
	export PASSMITH_TEST_DEVICE=cuda
	tests+=(tests/adversarial/test_timed tests/adversarial/test_siege_timed tests/unit/passes/test_pass_*)
else
	echo "No GPU here: the tests of the passes are left out."
fi

passed=0 failed=0 skipped=0
for test in "${tests[@]}"; do
	log=$logs/$(basename "$test").log
	start=$SECONDS
	timeout -k 5 "${TEST_TIMEOUT:-600}" "./$test" >"$log" 2>&1 </dev/null
	rc=$?
	s=$(grep -c '^not ok .*# SKIP' "$log")
	f=$(($(grep -c '^not ok ' "$log") - s))
	p=$(grep -c '^ok [0-9]' "$log")
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$log" | head -n 1)
	# A program that died counts its missing cases as failed.
	[ "${plan:-0}" -gt $((p + f + s)) ] && f=$((${plan:-0} - p - s))
	[ "$f" -eq 0 ] && { [ "$rc" -ne 0 ] || [ $((p + s)) -eq 0 ]; } && f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%s: %d passed, %d failed, %d skipped, status %d, %d s\n' "$test" "$p" "$f" "$s" "$rc" $((SECONDS - start))
	[ "$f" -gt 0 ] && sed 's/^/    | /' "$log" | tail -n 100
	grep '^# reason: ' "$log" | sort -u
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
