#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD [NAME...] - runs the libFuzzer programs of BUILD/libfuzzer (all, or fuzz_NAME...), one at a time,
# each for FUZZ_TIME seconds (default 60), on its corpus in the tree and what earlier runs found.
#
# New inputs are kept in BUILD/corpus; a crash leaves its input in BUILD/crash-* and ends with status 1.
# An hour each: make fuzz FUZZ_TIME=3600; one target: make fuzz FUZZ_TARGETS=onnx FUZZ_TIME=600.
set -u
cd "$(dirname "$0")/../.." || exit 5
build=${1:-build}
shift || true
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
	for source in tests/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		names+=("${name#fuzz_}")
	done
fi
bad=0
for name in "${names[@]}"; do
	mkdir -p "$build/corpus/fuzz_$name"
	dirs=("$build/corpus/fuzz_$name")
	[ -d "tests/fuzz/corpus/$name" ] && dirs+=("tests/fuzz/corpus/$name")
	[ "$name" = elf ] && dirs+=("$build/passes" "$build/tests/adversarial/elf")
	echo "== $name"
	"$build/libfuzzer/fuzz_$name" -max_total_time="${FUZZ_TIME:-60}" -timeout=10 -rss_limit_mb=2048 \
		-print_final_stats=1 -verbosity="${FUZZ_VERBOSITY:-1}" \
		-artifact_prefix="$build/crash-$name-" "${dirs[@]}" || bad=1
done
exit $bad
