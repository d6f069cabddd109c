#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tap.sh - TAP for tests of the command line; sourced by tests/cli/*/*.sh, which end with tap_done.
#
# pm ARG... runs the program: its status is in $code, its streams in $tmp/out and $tmp/err.

set -u
cd "$(dirname "$0")" || exit 5
while [ ! -e tests/lib/tap.sh ]; do
	[ "$PWD" != / ] && cd .. || exit 5
done
build=${BUILD:-build}
passmith=$build/passmith
# Of this tree, also where the shell has that of another one: the README has users export it.
PASSMITH_ROOT=$PWD
: "${PASSMITH_CACHE:=$build/test-cache}"
export PASSMITH_ROOT PASSMITH_CACHE
unset PASSMITH_LOG
tap_n=0
tap_failed=0
code=0
tmp=$(mktemp -d) || exit 5
trap 'rm -rf "$tmp"' EXIT

# Where this machine lacks a layer of the sandbox, what is stored has to be allowed to.
pm()
{
	code=0
	case ${1-}${2-} in
	eval* | bench* | clusterplan)
		: "${tap_weak=$("$passmith" doctor 2>/dev/null | grep -q '^no *[a-z_]*sandbox' && echo --weak-sandbox)}"
		[ -z "$tap_weak" ] || set -- "$@" "$tap_weak"
		;;
	esac
	"$passmith" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}

# silu_graph TYPE: makes $tmp/silu.gpt, a SiLU of a type such as float[8,64].
silu_graph()
{
	cat >"$tmp/silu.gpt" <<GRAPH
silu ($1 x) => ($1 y)
{
   s = Sigmoid (x)
   y = Mul (x, s)
}
GRAPH
}

# tap NAME: reports the status of the command before it; on failure with what the program said last.
tap()
{
	tap_status=$?
	tap_n=$((tap_n + 1))
	if [ $tap_status -eq 0 ]; then
		echo "ok $tap_n - $1"
	else
		echo "not ok $tap_n - $1"
		echo "# status $code; stdout and stderr of the last run:"
		head -n 20 "$tmp/out" "$tmp/err" | sed 's/^/#   /'
		tap_failed=1
	fi
}

# holds TEXT NAME and lacks TEXT NAME: the text is somewhere in the file $page, which the test names, or nowhere.
holds()
{
	grep -qF -e "$1" "$page"
	tap "$2"
}

lacks()
{
	! grep -qF -e "$1" "$page"
	tap "$2"
}

# skip NAME REASON: a check that cannot be made here. tests/run.sh counts it and lists the reason.
skip()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

# exits CODE NAME: the last run ended with this status.
exits()
{
	[ "$code" -eq "$1" ]
	tap "$2 (exit code $1)"
}

# says TEXT NAME and warns TEXT NAME: the text is somewhere in stdout, in stderr.
says()
{
	grep -qF -e "$1" "$tmp/out"
	tap "$2"
}

warns()
{
	grep -qF -e "$1" "$tmp/err"
	tap "$2"
}

# one_sentence NAME: stderr is a single line that begins with the program's name, stdout is empty.
one_sentence()
{
	[ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q '^passmith: [^ ].* ' "$tmp/err" && [ ! -s "$tmp/out" ]
	tap "$1"
}

. tests/lib/json.sh

json()
{
	is_json "$tmp/out"
	tap "$1"
}

tap_done()
{
	echo "1..$tap_n"
	exit $tap_failed
}
