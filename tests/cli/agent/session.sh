#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# session.sh - a session of passmith mcp becomes a trajectory: its calls, files as diffs, the verdict; what was said of
# secrets and folders does not; and its submissions can be run again.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

db=$tmp/t.db
key=sk-planted0123456789abcdef
export PLANTED_API_KEY="$key"
silu_graph "float[8,64]"
pm extract "$tmp/silu.gpt" --db "$db" -j 1
pm task make --db "$db" --top 1 --name silu --shapes 2 --max-elements 2000
exits 0 "a task"

# call ID TOOL ARGUMENTS: a request.
call()
{
	printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$1" "$2" "$3"
}

# text FILE: its contents as a string of JSON.
text()
{
	awk '{ gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); gsub(/\t/, "\\t"); t = t $0 "\\n" } END { printf "\"%s\"", t }' "$1"
}

# after ID FILE: waits until this request was answered.
after()
{
	tries=0
	until grep -q "\"id\":$1," "$2" || [ $tries -ge 1500 ]; do
		sleep 0.2
		tries=$((tries + 1))
	done
}

requests()
{
	echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}'
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
	sed 's/expf(-v)/expf(v)/' passes/library/activation/silu.c >"$tmp/wrong.c"
	call 2 write_file "{\"path\":\"silu.c\",\"text\":$(text "$tmp/wrong.c")}"
	call 3 evaluate '{"task":"silu","pass":"silu.c","level":"full","wait_s":60}'
	after 3 "$1"
	call 4 edit_file '{"path":"silu.c","old_text":"expf(v)","new_text":"expf(-v)"}'
	after 4 "$1"
	call 5 evaluate '{"task":"silu","pass":"silu.c","level":"full","wait_s":60}'
	after 5 "$1"
	call 6 no_such_tool '{}'
	call 7 write_file "{\"path\":\"notes.c\",\"text\":\"/* $key in $tmp/work/x and $HOME/y */\\n\"}"
	call 8 read_file '{"path":"notes.c"}'
	after 8 "$1"
}

: >"$tmp/answers"
code=0
requests "$tmp/answers" | "$passmith" mcp --db "$db" --workspace "$tmp/work" >"$tmp/answers" 2>"$tmp/err" || code=$?
exits 0 "a session"
grep -q "$key" "$tmp/answers"
tap "whose answers have the key that was planted"

pm trajectory list --db "$db"
says "mcp    silu  script 1  7 steps  AS " "is a trajectory of seven calls"
says "right at #3" "whose fourth call was right"
says "done" "and which has an end"
pm trajectory show 1 --db "$db" --all
says "==> INCORRECT, AS" "the first evaluation"
says "<== first success" "and the second"
says "silu.c changed:" "the edit is a diff"
says "error: There is no tool no_such_tool" "a call that is none"
for word in "$key" "$tmp" "$HOME/y"; do
	! grep -qF "$word" "$tmp/out"
	tap "a session that is shown has no $word"
done
grep -q '<secret> in <workspace>/x and <home>/y' "$tmp/out"
tap "but what stands for them"
pm db export --db "$db" -o "$tmp/all.jsonl"
grep '"row":"step"' "$tmp/all.jsonl" >"$tmp/steps"
[ "$(wc -l <"$tmp/steps")" -eq 7 ]
tap "seven steps are exported"
for word in "$key" "$tmp" "$HOME/y"; do
	! grep -qF "$word" "$tmp/steps"
	tap "nor has the database $word"
done
grep '"verdict":"OK"' "$tmp/steps" | grep -q '"report":"[0-9a-f]\{64\}"'
tap "an evaluation has the digest of its report"

pm trajectory export --db "$db" --first-success
[ "$(wc -l <"$tmp/out")" -eq 1 ] && ! grep -q no_such_tool "$tmp/out" && grep -q '"verdict\\":\\"OK' "$tmp/out"
tap "the export ends with the first success"
pm trajectory export --db "$db" --format atif -o "$tmp/one.json"
is_json "$tmp/one.json"
tap "and is JSON in the other format"

pm trajectory replay 1 --db "$db"
exits 0 "both evaluations give the same again"
says "2 submissions, 0 differ" "and it says so"
pm trajectory replay 1 --db "$db" --json
json "replay as JSON"

pm db merge "$db" --db "$tmp/merged.db"
pm trajectory replay 1 --db "$tmp/merged.db"
exits 0 "a merged database replays too"

# quoted TEXT: as it takes part in a hash, and as it stands in a line of JSON.
quoted()
{
	printf '"'
	printf %s "$1" | sed 's/\\/\\\\/g; s/"/\\"/g'
	printf '"'
}

# claim VERDICT SCORE: makes $tmp/claim.db, in which an evaluation of the right pass says that.
claim()
{
	rm -f "$tmp"/claim.*
	of=$(sed -n 's/.*"row":"task","hash":"\([0-9a-f]*\)".*/\1/p' "$tmp/all.jsonl")
	pass=passes/library/activation/silu.c
	files="[{\"path\":\"silu.c\",\"text\":$(text $pass),\"sha256\":\"$(sha256sum <$pass | cut -c1-64)\"}]"
	said="{\"id\":\"a\",\"arguments\":{\"task\":\"silu\",\"pass\":\"silu.c\",\"level\":\"full\"},\"answer\":{},\"is_error\":false}"
	key=$(printf 'trajectory 0 "mcp""""x""1""m""""%s"' "$1 $2" | sha256sum | cut -c1-64)
	score_17=$(awk -v score="$2" 'BEGIN { printf "%.17g", score }') # as hashed: JSON has the shortest that reads back
	hash=$({
		printf 'step %s %s 5 -1 -1 -1 -1 "tool""evaluate""%s""""%s"' "$key" "$score_17" "$of" "$1"
		quoted "$said"
		quoted "$files"
	} | sha256sum | cut -c1-64)
	{
		grep '"row":"\(subgraph\|task\)"' "$tmp/all.jsonl"
		printf '{"row":"trajectory","key":"%s","kind":"mcp","model":"x","version":"1","machine":"m","instance":"%s","started":5}\n' \
			"$key" "$1 $2"
		printf '{"row":"step","trajectory":"%s","ordinal":0,"hash":"%s","role":"tool","name":"evaluate","task":"%s","verdict":"%s","score":%s,"at":5,"json":%s,"files":%s}\n' \
			"$key" "$hash" "$of" "$1" "$2" "$(quoted "$said")" "$(quoted "$files")"
	} >"$tmp/claim.jsonl"
	pm db import "$tmp/claim.jsonl" --db "$tmp/claim.db"
	exits 0 "a session that claims $1 $2"
	pm trajectory replay 1 --db "$tmp/claim.db"
}
score=$(sed -n 's/.*"verdict":"OK".*"score":\([0-9.]*\).*/\1/p' "$tmp/steps")
claim OK "$score"
exits 0 "what it claims is so"
claim OK 9.8
exits 1 "a score whose digits are not those of %.17g is imported, and is another"
claim INCORRECT "$score"
exits 1 "another verdict is found"
says "DIFFERS: the verdict was INCORRECT and is OK" "and named"
claim OK 9.5
exits 1 "another score is found"
says "DIFFERS: the score was 9.5 and is $(echo "$score" | cut -c1-4)" "and named"

pm mcp --db "$db" --workspace "$tmp/idle"
pm trajectory list --db "$db"
[ "$(wc -l <"$tmp/out")" -eq 1 ]
tap "a client that does nothing leaves no trajectory"
requests_short()
{
	call 1 list_files '{}'
	after 1 "$1"
}
: >"$tmp/answers"
requests_short "$tmp/answers" | "$passmith" mcp --db "$db" --workspace "$tmp/idle" --no-record >"$tmp/answers" 2>/dev/null
pm trajectory list --db "$db"
[ "$(wc -l <"$tmp/out")" -eq 1 ]
tap "nor does one with --no-record"
tap_done
