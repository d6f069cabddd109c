#!/bin/sh
# runner.sh - tests/run.sh counts what it should: a check that calls what is not there, one that never came, a skip.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

mkdir -p "$tmp/tree/tests/cli"
cp tests/run.sh "$tmp/tree/tests"
plant()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$tmp/tree/tests/cli/$1.sh"
	chmod +x "$tmp/tree/tests/cli/$1.sh"
}
plant good 'echo "ok 1 - right"; echo 1..1'
plant missing 'no_such_check "a b"; echo "ok 1 - right"; echo 1..1'
plant short 'echo 1..3; echo "ok 1 - right"'
plant skipped 'echo "ok 1 - right"; echo "ok 2 - far # SKIP there is no moon"; echo 1..2'
plant nothing 'echo "ok 1 - far # SKIP there is no moon"; echo 1..1'

# counts NAME STATUS LINE: what the copy says of the planted script.
counts()
{
	BUILD=$tmp/tree/build "$tmp/tree/tests/run.sh" "tests/cli/$1" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq "$2" ] && [ "$(tail -n 1 "$tmp/out")" = "$3" ]
	tap "$1: $3"
}
counts good 0 "1 passed, 0 failed, 0 skipped"
counts missing 1 "1 passed, 1 failed, 0 skipped"
counts short 1 "1 passed, 2 failed, 0 skipped"
counts skipped 0 "1 passed, 0 failed, 1 skipped"
says "there is no moon" "the reason of a skip is printed"
counts nothing 1 "0 passed, 0 failed, 1 skipped"
tap_done
