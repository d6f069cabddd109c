#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# runner.sh - tests/run.sh counts what it should: a check that calls what is not there, one that never came, a skip.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

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
plant cmocka 'printf "1..2\n# reason: there is no sun\nnot ok 1 # SKIP near\nok 2 - right\n"'
plant script 'echo "there are no stars"; exit 77'
plant silent 'echo "ok 1 - right"; echo "ok 2 - far # SKIP"; echo 1..2'
plant quiet 'printf "1..3\n# reason: there is no sun\nok 1 - right\nnot ok 2 # SKIP near\nok 3 - right\n"'
plant mute 'exit 77'
plant nothing 'echo "ok 1 - far # SKIP there is no moon"; echo 1..1'

# counts NAME STATUS LINE: what the copy says of the planted script.
counts()
{
	BUILD=$tmp/tree/build "$tmp/tree/tests/run.sh" "tests/cli/$1" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq "$2" ] && [ "$(tail -n 1 "$tmp/out")" = "$3" ]
	tap "$1: $3"
}
counts good 0 "1 passed, 0 failed, 0 skipped"
grep -Eq '^ok +tests/cli/good\.sh .*, [0-9]+ s, [0-9]+\.[0-9] CPU s\)$' "$tmp/out"
tap "the line of a test has its seconds and those of processors"
counts missing 1 "1 passed, 1 failed, 0 skipped"
counts short 1 "1 passed, 2 failed, 0 skipped"
counts skipped 0 "1 passed, 0 failed, 1 skipped"
says "there is no moon" "the reason of a skip is printed"
counts cmocka 0 "1 passed, 0 failed, 1 skipped"
says "  skipped: tests/cli/cmocka.sh: near: there is no sun" "and that of a skip in cmocka's way, with its name"
counts script 1 "0 passed, 0 failed, 1 skipped"
says "  skipped: tests/cli/script.sh: there are no stars" "and that of a script that was left out as a whole"
counts silent 1 "1 passed, 1 failed, 0 skipped"
says "failed: tests/cli/silent.sh: far: is skipped without a reason" "a skip without a reason has failed, and is named"
counts quiet 1 "2 passed, 1 failed, 0 skipped"
says "near: is skipped without a reason" "a reason is that of the next case only"
counts mute 1 "0 passed, 1 failed, 0 skipped"
says "mute.sh: is skipped without a reason" "a script that is left out says why too"
counts nothing 1 "0 passed, 0 failed, 1 skipped"
# Here nothing may be left out but through what prints the reason.
grep -rnE '(^|[^_a-z])skip\(\)' tests --include='*.c' | grep -v '^tests/lib/need\.c:' >"$tmp/out"
[ ! -s "$tmp/out" ]
tap "no test calls cmocka's skip() by itself: pm_test_skip() prints the reason"
tap_done
