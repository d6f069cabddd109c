#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sandbox.sh - what is stored needs every layer of the sandbox, or says that one was missing. A user namespace
# that may hold no others stands for a machine that lacks one.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

weak()
{
	code=0
	# shellcheck disable=SC2016 # the inner shell expands these
	unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh \
		"$passmith" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}

weak doctor
if ! grep -q '^no  *sandbox .*lacks: namespaces' "$tmp/out"; then
	echo "no namespace can be made here that may hold no others"
	exit 77
fi

silu_graph "float[300]"
pass=$build/passes/silu.so
weak eval "$tmp/silu.gpt" --pass "$pass" --hidden 0
exits 0 "eval that keeps nothing"
says "The sandbox of this machine lacks: namespaces" "says what is missing"
weak eval "$tmp/silu.gpt" --pass "$pass" --hidden 0 --require-sandbox
exits 3 "eval with --require-sandbox"
warns "lacks namespaces" "names the layer"
weak eval "$tmp/silu.gpt" --pass "$pass" --hidden 0 --record "$tmp/record"
exits 3 "eval whose record is kept"
[ ! -e "$tmp/record" ]
tap "leaves none"
weak eval "$tmp/silu.gpt" --pass "$pass" --hidden 0 --record "$tmp/record" --weak-sandbox
exits 0 "eval whose record is kept, with --weak-sandbox"
grep -q '"sandbox_lacks": *"namespaces"' "$tmp/record"
tap "and the record says so"
"$passmith" eval "$tmp/silu.gpt" --pass "$pass" --weak-sandbox --require-sandbox >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ]
tap "both at once are refused"

pm extract "$tmp/silu.gpt" --db "$tmp/t.db"
pm task make --db "$tmp/t.db" --top 1 --name t --shapes 1
exits 0 "a task"
weak bench --db "$tmp/t.db" --pass "$pass" --baselines eager
exits 3 "bench"
warns "results that are kept need all of it; --weak-sandbox" "says what to do"
weak bench --db "$tmp/t.db" --pass "$pass" --baselines eager --weak-sandbox
exits 0 "bench with --weak-sandbox"
says "The sandbox of this machine lacks: namespaces" "its table says so"
tap_done
