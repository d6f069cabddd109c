#!/usr/bin/env bash
# run.sh BUILD - runs each libFuzzer program of BUILD/libfuzzer for FUZZ_SECONDS (default 60) on its corpus.
#
# New inputs are kept in BUILD/corpus; a crash leaves its input in BUILD/crash-* and ends with status 1.
set -u
cd "$(dirname "$0")/../.." || exit 5
build=${1:-build}
bad=0
for program in "$build"/libfuzzer/fuzz_*; do
	[ -x "$program" ] || continue
	name=$(basename "$program")
	mkdir -p "$build/corpus/$name"
	dirs=("$build/corpus/$name")
	[ -d "tests/fuzz/corpus/${name#fuzz_}" ] && dirs+=("tests/fuzz/corpus/${name#fuzz_}")
	[ "$name" = fuzz_elf ] && dirs+=("$build/passes" "$build/tests/adversarial/elf")
	echo "== $name"
	"$program" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$build/crash-$name-" "${dirs[@]}" || bad=1
done
exit $bad
