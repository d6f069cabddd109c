#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# agent.sh - passmith agent without a model: what it refuses before it asks, and what it says when nobody answers.
# (tests/agent has a server that answers.)
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

no_proxy=127.0.0.1
export no_proxy
"$passmith" extract models/llama_block.gpt --db "$tmp/t.db" --quiet >"$tmp/out" 2>"$tmp/err" &&
	"$passmith" task make --db "$tmp/t.db" --for "$build/passes/silu.so" --top 1 --shapes 1 --max-elements 2000 --name t \
		--quiet >"$tmp/out" 2>"$tmp/err"
tap "there is a task"

# agent OPTION...: with all that every run needs; port 1 of the loopback is nobody's.
agent()
{
	pm agent --base-url http://127.0.0.1:1/v1 --model m --db "$tmp/t.db" --out "$tmp/x" "$@"
}

# refused TEXT NAME OPTION...: a usage error that says so, and no folder is made.
refused()
{
	text=$1 name=$2
	shift 2
	agent "$@"
	exits 2 "$name"
	warns "$text" "$name"
	[ ! -e "$tmp/x" ]
	tap "$name: no folder"
}

pm agent
exits 2 "without options"
refused "Name the tasks" "no tasks"
refused "Name the tasks" "tasks and a split" --tasks t --split train
refused "--mode takes" "a mode that there is not" --tasks t --mode never
refused "--feedback takes" "a feedback that there is not" --tasks t --feedback X
refused "--tools takes" "tools that there are not" --tasks t --tools both
refused "Mode single has one sample" "samples of mode single" --tasks t --mode single --samples 2
refused "Mode sample has one iteration" "iterations of mode sample" --tasks t --mode sample --iterations 2
refused "At most" "too many samples" --tasks t --samples 100000
refused "needs prices" "a budget without prices" --tasks t --budget-usd 1
refused "has no variable PASSMITH_NO_SUCH_KEY" "a key that is not there" --tasks t --key-env PASSMITH_NO_SUCH_KEY
refused "without a user or a password" "a password in the address" --tasks t --base-url http://user:secret@127.0.0.1:1/v1
refused "--base-url takes http" "an address of a file" --tasks t --base-url file:///etc/passwd
refused "takes the word report" "another word" --tasks t again
PASSMITH_BAD_KEY=$(printf 'a\nb: c')
export PASSMITH_BAD_KEY
refused "has a blank or a control character" "a key with a line in it" --tasks t --key-env PASSMITH_BAD_KEY

agent --tasks no_such_task
exits 4 "a task that there is not"
agent --split train
exits 4 "a split without tasks"
warns "has no task of the split" "a split without tasks"

agent --tasks t --mode single --tries 2 --first-wait 0.01
exits 3 "nobody answers"
warns "After 2 tries" "nobody answers: how often it was tried"
warns "127.0.0.1:1" "nobody answers: who"
pm agent report --out "$tmp/x" --json
exits 0 "the report of what was begun"
is_json "$tmp/out" && grep -q '"samples_open": 1' "$tmp/out"
tap "one sample is open"
pm agent report --out "$tmp/x"
says "1 are open" "the same as a table"
says "pass@k" "the same as a table: pass@k"
! grep -rqF "$tmp/x" "$tmp/x/experiment.json" && ! grep -q 127.0.0.1 "$tmp/x/experiment.json"
tap "experiment.json holds no address and no path"

# Without libcurl the program starts, and this command says what is missing.
mkdir "$tmp/fake"
for lib in libcurl.so.4 libcurl-gnutls.so.4; do echo none >"$tmp/fake/$lib"; done
LD_LIBRARY_PATH=$tmp/fake agent --tasks t --mode single
exits 3 "no libcurl"
warns "libcurl is not on this machine" "no libcurl"

# One at a time.
if command -v flock >/dev/null; then
	flock "$tmp/x/lock" "$passmith" agent --base-url http://127.0.0.1:1/v1 --model m --db "$tmp/t.db" --out "$tmp/x" --tasks t \
		--mode single --quiet >"$tmp/out" 2>"$tmp/err" && code=0 || code=$?
	exits 4 "another process works in the folder"
	warns "Another passmith agent works in" "another process works in the folder"
else
	skip "another process works in the folder" "flock is not here"
fi
tap_done
