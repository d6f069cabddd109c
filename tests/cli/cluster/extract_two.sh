#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# extract_two.sh - two processes extract into one database at once: one that is still cutting a model keeps nobody from writing, and
# both end with all that they found.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

export TMPDIR="$tmp/put_aside"
mkdir "$TMPDIR"
# Long sets of operators between products, no two alike: to cut them takes much longer than to write them down.
awk 'BEGIN {
	print "large (float[8,8] x0) => (float[8,8] x6000)\n{"
	for (i = 0; i < 6000; i++) {
		if (i % 150 == 149)
			printf "   x%d = MatMul (x%d, x%d)\n", i + 1, i, i
		else
			printf "   x%d = %s (x%d)\n", i + 1, substr("Relu   SigmoidTanh   Exp    ", i * (i % 150) % 11 % 4 * 7 + 1, 7), i
	}
	print "}"
}' >"$tmp/large.gpt"
cat >"$tmp/small.gpt" <<'GRAPH'
small (float[4,8] x) => (float[4,8] y)
{
   s = Sigmoid (x)
   y = Mul (x, s)
}
GRAPH

# cutting PID: it has put something aside. The first file is of the models that it has read, the next of what it cuts.
cutting()
{
	n=0
	for fd in "/proc/$1/fd"/*; do
		case $(readlink "$fd" 2>/dev/null) in
		"$TMPDIR"/*) [ "$(stat -L -c %s "$fd" 2>/dev/null || echo 0)" -gt 0 ] && n=$((n + 1)) ;;
		esac
	done
	[ $n -ge 2 ]
}

# A process may be stopped just when it writes, for a moment: then the next round shows it.
round=0 done_beside=0
while [ $round -lt 20 ] && [ $done_beside = 0 ]; do
	round=$((round + 1))
	db=$tmp/$round.db
	"$passmith" extract "$tmp/large.gpt" --db "$db" -j 1 --quiet >"$tmp/large.out" 2>&1 </dev/null &
	pid=$!
	while kill -0 $pid 2>/dev/null && ! cutting $pid; do :; done
	kill -STOP $pid 2>/dev/null && cutting $pid && done_beside=1
	if [ $done_beside = 1 ]; then
		timeout 20 "$passmith" extract "$tmp/small.gpt" --db "$db" -j 1 --quiet >"$tmp/out" 2>"$tmp/err" </dev/null || done_beside=0
	fi
	kill -CONT $pid 2>/dev/null || true
	code=0
	wait $pid || code=$?
done
[ $done_beside = 1 ]
tap "while one cuts a model, another one stores what it has cut"
exits 0 "and the first one ends as it should"
pm db stats --db "$db" --json
grep -q '"models": 2' "$tmp/out"
tap "both models are there"
"$passmith" extract "$tmp/small.gpt" "$tmp/large.gpt" --db "$tmp/alone.db" -j 1 --quiet >/dev/null 2>&1
pm db stats --db "$tmp/alone.db" --json
sed "s,$tmp/alone.db,DB," "$tmp/out" >"$tmp/alone"
pm db stats --db "$db" --json
sed "s,$db,DB," "$tmp/out" >"$tmp/two"
cmp -s "$tmp/alone" "$tmp/two"
tap "with all that one process finds in both"
[ -z "$(ls "$TMPDIR")" ]
tap "what was put aside is gone"
tap_done
