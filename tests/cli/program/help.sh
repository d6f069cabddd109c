#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# help.sh - every command explains itself, and says so when it is used wrongly.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

pm --help
exits 0 "the list of commands"
commands=$(awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' "$tmp/out")
[ "$(echo "$commands" | wc -w)" -ge 8 ]
tap "the list names the commands"

for c in $commands; do
	pm "$c" --help
	exits 0 "$c --help"
	says "passmith $c " "$c --help begins with the call"
	grep -A 1 '^example:' "$tmp/out" | grep -q "^  passmith $c"
	tap "$c --help ends with an example"
	for f in $(sed -n '/^example:/,$p' "$tmp/out" | grep -o '[a-z]*/[^ ]*' | sed "s,^build/,$build/,"); do
		# shellcheck disable=SC2086 # f may be a pattern
		set -- $f
		[ -e "$1" ]
		tap "$c --help: $f of its example is there"
	done
	says "--json" "$c takes --json"
	pm "$c" --no-such-option
	exits 2 "$c with an unknown option"
	one_sentence "$c names the unknown option in one sentence"
	warns "passmith $c --help" "$c says where help is"
done

pm --version
exits 0 "--version"
grep -q '^passmith [0-9]*[.][0-9]*[.][0-9]*$' "$tmp/out"
tap "--version says it"
pm
exits 2 "no command"
warns "commands:" "no command prints the list"
pm no-such-command
exits 2 "an unknown command"
one_sentence "an unknown command is named in one sentence"
tap_done
