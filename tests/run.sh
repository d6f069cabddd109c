#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [-v] [-x WORD]... [WORD...] - runs the tests, each program in its own process with a deadline.
#
# Without words: every test program of tests/{unit/*,conform,plugin,agent,adversarial}, every fuzz target on its
# corpus, every tests/*.sh, tests/cli/*.sh and tests/cli/*/*.sh. With words: those whose path contains one of them ("gpu" adds
# the tests that need a GPU). Output is shown for what fails (-v: always). Programs and scripts speak TAP; a case that is
# skipped says why ("# reason: TEXT" before cmocka's skip(), or "# SKIP TEXT"), a script may exit 77 with the
# reason as its last line; one that does not say why has failed. Environment: BUILD (build), JOBS (processors), TEST_TIMEOUT (900 seconds
# each: many times what the longest takes alone, so that none fails on a busy machine), TEST_CACHE (compiled kernels;
# BUILD/test-cache).
#
# Each test's line tells its seconds and its seconds of processors, those of all processes that it waited for.
# The last line is "N passed, N failed, N skipped"; exit 1 when something failed or nothing ran.
set -u
cd "$(dirname "$0")/.." || exit 5

verbose=0
if [ "${1:-}" = -v ]; then
	verbose=1
	shift
fi
# -x WORD leaves out what has the word in its name.
without=()
while [ "${1:-}" = -x ]; do
	without+=("$2")
	shift 2
done
words=("$@")
build=${BUILD:-build}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)}
deadline=${TEST_TIMEOUT:-900}

work=$(mktemp -d "${TMPDIR:-/tmp}/passmith-tests-XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tmp" "$build/test-cache"
build=$(cd "$build" && pwd) || exit 5

export PASSMITH_ROOT=$PWD PASSMITH_BUILD=$build PASSMITH_CACHE=${TEST_CACHE:-$build/test-cache} BUILD=$build
export CMOCKA_MESSAGE_OUTPUT=TAP TMPDIR=$work/tmp LC_ALL=C
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:allocator_may_return_null=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
unset PASSMITH_LOG

wanted()
{
	local w
	for w in "${without[@]}"; do
		case $1 in *"$w"*) return 1 ;; esac
	done
	[ ${#words[@]} -eq 0 ] && { case $1 in tests/gpu/*) return 1 ;; *) return 0 ;; esac; }
	for w in "${words[@]}"; do
		case $1 in *"$w"*) return 0 ;; esac
	done
	return 1
}

# The programs to run come from the sources, so that a stale binary is not run and a missing one fails.
names=()
for f in tests/unit/*/test_*.c tests/{conform,plugin,agent,adversarial,gpu}/test_*.c tests/fuzz/fuzz_*.c tests/*.sh \
	tests/cli/*.sh tests/cli/*/*.sh; do
	[ -e "$f" ] && [ "$f" != tests/run.sh ] && wanted "$f" && names+=("$f")
done

# Runs test number $1; leaves its output and exit status in $work.
run_one()
{
	local name=${names[$1]} out=$work/$1.out start=$SECONDS
	local -a cmd
	case $name in
	*.sh) cmd=("$name") ;;
	tests/fuzz/*)
		local corpus=tests/fuzz/corpus/$(basename "${name%.c}" | sed s/^fuzz_//)
		cmd=("$build/${name%.c}" -n 2000 -s 5)
		[ -d "$corpus" ] && cmd+=("$corpus")
		# Shared objects are not kept in the repository: the built ones are the corpus.
		[ "$name" = tests/fuzz/fuzz_elf.c ] && cmd+=("$build/passes" "$build/tests/adversarial/elf")
		;;
	*) cmd=("$build/${name%.c}") ;;
	esac
	timeout -k 5 "$deadline" "${cmd[@]}" >"$out" 2>&1 </dev/null
	echo "$? $((SECONDS - start))" >"$work/$1.rc"
	times >"$work/$1.cpu"
}

# What takes longest begins first, so that nothing runs alone at the end: the order is that of seconds in a clean clone.
order=()
for long in unit/runtime/test_nvrtc.c unit/passes/test_pass_library.c cli/judge/core_passes.sh unit/runtime/test_eager.c \
	unit/passes/test_fuse_product.c cli/model/core.sh unit/passes/test_pass_fuse.c conform/test_onnx_nodes_emu.c \
	unit/passes/test_pass_fuse_split.c adversarial/test_kill.c adversarial/test_device.c cli/program/install.sh \
	unit/passes/test_pass_fuse_round.c unit/runtime/test_eager_shapes.c adversarial/test_honest.c adversarial/test_timed.c \
	cli/pass/build_passes.sh unit/passes/test_pass_add_layer_norm.c unit/passes/test_pass_scaled_masked_softmax.c \
	adversarial/test_inputs.c cli/model/model_ops.sh conform/test_onnx_light.c adversarial/test_source.c \
	cli/judge/siege_reply.sh guide.sh cli/eval/store.sh cli/model/tasks.sh; do
	for i in "${!names[@]}"; do
		[ "${names[$i]}" = "tests/$long" ] && order+=("$i")
	done
done
for i in "${!names[@]}"; do
	case " ${order[*]} " in *" $i "*) ;; *) order+=("$i") ;; esac
done

running=0
for i in "${order[@]}"; do
	if [ "$running" -ge "$jobs" ]; then
		wait -n
		running=$((running - 1))
	fi
	run_one "$i" 2>/dev/null & # or the shell itself would report crashes, out of place
	running=$((running + 1))
done
wait

# Prints the processors' seconds, user's and system's, of the test whose `times` are in file $1: what it costs on any
# machine, however busy.
cpu_seconds()
{
	awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += t[1] * 60 + t[2] } printf "%.1f", sum }' "$1"
}

# Counts the TAP lines of one output; prints "passed failed skipped", then the skipped cases with reasons.
count()
{
	awk -v rc="$2" -v name="$1" '
	/^1\.\.[0-9]+/ { plan += substr($1, 4); planned = 1 }
	/^# reason: / { reason = substr($0, 11) }
	/^(not )?ok [0-9]+/ {
		seen++
		if (match($0, /# SKIP/)) {
			skipped++
			before = substr($0, 1, RSTART - 1)
			after = substr($0, RSTART + 7)
			sub(/^(not )?ok [0-9]+ */, "", before)
			if (before ~ /^- /) { # "ok 1 - name # SKIP reason"
				sub(/^- /, "", before)
				sub(/ +$/, "", before)
				why = after
				what = before
			} else { # cmocka: "not ok 1 # SKIP name", the reason on a line of its own before it
				what = after
				why = reason
			}
			if (why == "") { # nobody can say whether it had to be left out
				skipped--
				failed++
				unsaid = unsaid "  failed: " name ": " what ": is skipped without a reason\n"
			} else {
				list = list "  skipped: " name ": " what ": " why "\n"
			}
		} else if (/^not/) {
			failed++
		} else {
			passed++
		}
		reason = ""
	}
	/^tests\/.*\.sh: (line )?[0-9]+: .*: (command )?not found$/ { missing++ } # a check that was not made
	{ if ($0 != "") last = $0 }
	END {
		failed += missing
		if (rc == 77 && seen == 0 && last != "") {
			skipped++
			list = list "  skipped: " name ": " last "\n"
		} else {
			if (rc == 77 && seen == 0)
				unsaid = unsaid "  failed: " name ": is skipped without a reason\n"
			if (planned && plan > seen) # it died before these could run
				failed += plan - seen
			if (failed == 0 && (rc != 0 || seen == 0))
				failed++
		}
		printf "%d %d %d\n%s%s", passed, failed, skipped, list, unsaid
	}' "$3"
}

passed=0 failed=0 skipped=0 skips="" failures=""
for i in "${!names[@]}"; do
	name=${names[$i]}
	read -r rc seconds <"$work/$i.rc"
	summary=$(count "$name" "$rc" "$work/$i.out")
	read -r p f s <<<"$summary"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	case $summary in *$'\n'*) skips+=${summary#*$'\n'}$'\n' ;; esac
	verdict=ok
	[ "$f" -gt 0 ] && verdict=FAILED
	printf '%-6s %s (%d passed, %d failed, %d skipped, %d s, %s CPU s)\n' "$verdict" "$name" "$p" "$f" "$s" "$seconds" \
		"$(cpu_seconds "$work/$i.cpu")"
	if [ "$f" -gt 0 ]; then
		case $rc in
		124 | 137) why="was stopped at its deadline of $deadline s" ;;
		127) why="could not be started: is it built? (make tests)" ;;
		*)
			why="ended with status $rc"
			[ "$rc" -gt 128 ] && why="was killed by signal $((rc - 128))"
			;;
		esac
		failures+="  failed: $name $why"$'\n'
	fi
	if [ "$f" -gt 0 ] || [ $verbose -eq 1 ]; then
		sed 's/^/    | /' "$work/$i.out" | if [ $verbose -eq 1 ]; then cat; else tail -n 200; fi
	fi
done

echo
printf '%s' "$skips" | LC_ALL=C sort -u
printf '%s' "$failures"
[ ${#names[@]} -gt 0 ] || echo "no test matches: ${words[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + failed)) -gt 0 ]
