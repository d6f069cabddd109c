#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# trajectory.sh - passmith trajectory on stored sessions: the list, a session for people, exports, what is left out.
#
# tests/golden/trajectory has the sessions (sessions.jsonl, as `passmith db export` writes them; import checks their
# hashes) and what is expected. `make golden-update` writes the expected files anew; review the diff.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

golden=tests/golden/trajectory
db=$tmp/t.db
HOME=/home/alice
export HOME

# same FILE NAME: the last answer is the golden file of this name.
same()
{
	[ -z "${PM_GOLDEN_UPDATE-}" ] || cp "$1" "$golden/$2"
	diff -u "$golden/$2" "$1" >"$tmp/diff"
	tap_same=$?
	[ $tap_same -eq 0 ] || sed 's/^/# /' "$tmp/diff"
	[ $tap_same -eq 0 ]
	tap "$2 is as expected"
}

pm db import $golden/sessions.jsonl --db "$db"
exits 0 "sessions are imported"
pm db export --db "$db" -o "$tmp/again.jsonl"
cmp -s "$tmp/again.jsonl" $golden/sessions.jsonl
tap "and exported as they were"
pm db import $golden/sessions.jsonl --db "$db"
pm db export --db "$db" -o "$tmp/again.jsonl"
cmp -s "$tmp/again.jsonl" $golden/sessions.jsonl
tap "importing twice changes nothing"
sed 's/I begin with/I ended with/' $golden/sessions.jsonl >"$tmp/changed.jsonl"
pm db import "$tmp/changed.jsonl" --db "$tmp/changed.db"
exits 4 "a step that was changed is refused"
warns "the step's hash is not that of what it says" "and the error says why"

pm trajectory list --db "$db"
same "$tmp/out" list.txt
pm trajectory list --db "$db" --json
json "the list as JSON"
for id in e3f6f0 fc6a95 bec9af; do
	pm trajectory show $id --db "$db"
	same "$tmp/out" show-$id.txt
done
pm trajectory show e3f6f0 --db "$db" --json
json "a session as JSON"

# What lists and exports let through.
count()
{
	# shellcheck disable=SC2086 # the words are arguments
	pm trajectory export --db "$db" $1 -o "$tmp/x.jsonl"
	[ "$code" -eq 0 ] && [ "$(wc -l <"$tmp/x.jsonl")" -eq "$2" ]
	tap "export $1: $2 lines"
	# shellcheck disable=SC2086
	pm trajectory list --db "$db" ${3-$1}
	[ "$(grep -c steps "$tmp/out")" -eq "${4-$2}" ]
	tap "list ${3-$1}: ${4-$2} lines"
}
count "--above 0.1" 2
count "--above 1.25" 1
count "--above 2" 0
count "--model model-x" 1
count "--kind agent" 2
count "--kind mcp" 1 "--kind mcp" 2
count "--experiment e1" 2
count "--task 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a" 3
count "--first-success" 2 "" 4
count "--first-success --unique" 1 "" 4
count "--unique" 3 "" 4
pm trajectory export --db "$db" --first-success --unique
grep -q '"model":"model-x","as":1.5' "$tmp/out" && ! grep -q 'make it faster' "$tmp/out"
tap "of two with the same files the better one stays, up to its first success"

for format in chat atif; do
	pm trajectory export --db "$db" --format $format
	same "$tmp/out" $format.jsonl
	for word in alice sk-abc abababab; do
		! grep -q $word "$tmp/out"
		tap "$format: no $word"
	done
	cp "$tmp/out" "$tmp/first"
	pm db import $golden/sessions.jsonl --db "$tmp/$format.db"
	pm trajectory export --db "$tmp/$format.db" --format $format
	cmp -s "$tmp/out" "$tmp/first"
	tap "$format: another database gives the same bytes"
done
pm trajectory export e3f6f0 --db "$db" --format atif -o "$tmp/one.json"
[ "$(wc -l <"$tmp/one.json")" -eq 1 ] && is_json "$tmp/one.json"
tap "one session is one document"

pm trajectory show 99 --db "$db"
exits 4 "a session that there is not"
one_sentence "one sentence says so"
pm trajectory list --db "$db" --kind pass
exits 2 "a kind that there is not"
pm trajectory export --db "$db" --format csv
exits 2 "a format that there is not"
pm trajectory show --db "$db"
exits 2 "show without an ID"
pm trajectory list
exits 2 "list without a database"
tap_done
