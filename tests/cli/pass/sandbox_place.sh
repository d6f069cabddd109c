#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sandbox_place.sh - a pass is judged wherever the system put the C library of the process that runs it: here on both
# sides of a multiple of 4 GiB, where it is in one process of three thousand. Not randomised, libraries lie below the
# room of the stack, so that its limit moves them.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# placed KILOBYTES COMMAND...: goes on as the command with so much room for the stack, not randomised; in a subshell.
placed()
{
	# shellcheck disable=SC3045 # dash and bash have it
	ulimit -S -s "$1" || exit 77
	shift
	exec setarch -R "$@"
}

if ! (placed 262144 true) 2>"$tmp/err"; then
	echo "addresses that are not random cannot be chosen here"
	exit 77
fi

mkfifo "$tmp/job"
host=$(readlink -f "$build/passmith-host")
# library KILOBYTES: where the code of the C library of the process that runs passes is, "from to"; it waits for its
# job meanwhile.
library()
{
	(placed "$1" "$host") <"$tmp/job" >"$tmp/out" 2>&1 &
	running=$!
	exec 9>"$tmp/job"
	while kill -0 $running 2>/dev/null; do
		if [ "$(readlink "/proc/$running/exe")" = "$host" ] &&
			sed -n 's/^\([0-9a-f]*\)-\([0-9a-f]*\) r-xp .*\/libc[.-].*/\1 \2/p' "/proc/$running/maps" |
			grep .; then
			break
		fi
		sleep 0.01
	done
	exec 9>&-
	wait $running 2>/dev/null
}

# shellcheck disable=SC2046 # two words
set -- $(library 262144)
[ $# -eq 2 ]
tap "the C library is found"
room=$((262144 + ((0x$1 + 0x$2) / 2 % 4294967296) / 1024 / 4 * 4))
# shellcheck disable=SC2046
set -- $(library "$room")
if [ $# -ne 2 ] || [ $((0x$1 >> 32)) -eq $((0x$2 >> 32)) ]; then
	skip "a pass is judged on both sides of 4 GiB" "the limit of the stack does not say where libraries are on this machine"
	tap_done
fi
printf 'g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }\n' >"$tmp/silu.gpt"
(placed "$room" "$passmith" eval "$tmp/silu.gpt" --pass "$build/passes/silu.so" --check-only) >"$tmp/out" 2>"$tmp/err"
code=$?
exits 0 "the pass is judged there"
says "1/1" "and is right"
tap_done
