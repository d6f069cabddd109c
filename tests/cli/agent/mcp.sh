#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mcp.sh - passmith mcp as a command: standard output is the protocol's alone, where the workspace is, what options do.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# serve NAME ARG...: says the lines of $tmp/in to the server.
serve()
{
	name=$1
	shift
	code=0
	"$passmith" mcp "$@" <"$tmp/in" >"$tmp/out" 2>"$tmp/err" || code=$?
	exits 0 "$name"
}

# lines_are_answers N NAME: stdout is N lines, each an answer.
lines_are_answers()
{
	[ "$(wc -l <"$tmp/out")" -eq "$1" ] && [ "$(grep -c '^{"jsonrpc":"2.0",.*}$' "$tmp/out")" -eq "$1" ]
	tap "$2"
}

# call ID NAME ARGS: a line that calls a tool, in the newer era.
call()
{
	printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"%s","arguments":%s}}\n' "$@"
}

PASSMITH_CACHE=$tmp/cache
export PASSMITH_CACHE
: >"$tmp/in"
serve "no input"
lines_are_answers 0 "no input, no output"
warns "$tmp/cache/workspaces/session-" "stderr says where the workspace is"
[ -z "$(ls "$tmp/cache/workspaces")" ]
tap "a workspace that stayed empty is gone"

call 1 write_file '{"path":"a/b.txt","text":"one"}' >"$tmp/in"
serve "a file is written" --quiet
lines_are_answers 1 "one call, one line"
[ ! -s "$tmp/err" ]
tap "--quiet: nothing on stderr"
[ "$(cat "$tmp"/cache/workspaces/session-*/a/b.txt)" = one ]
tap "it is in the workspace, which stays"
serve "another session"
set -- "$tmp"/cache/workspaces/session-*
[ $# -eq 2 ]
tap "each session has a workspace of its own"
serve "a workspace that is named" --workspace "$tmp/mine/space"
[ "$(cat "$tmp/mine/space/a/b.txt")" = one ]
tap "the folder is made and written to"
{
	call 1 read_file '{"path":"a/b.txt"}'
	call 2 read_file '{"path":"../../err"}'
	echo 'no JSON'
} >"$tmp/in"
serve "--json" --workspace "$tmp/mine/space" --json
lines_are_answers 3 "--json changes nothing of the protocol"
says '"text":"one"' "what an earlier session wrote is there"
says '"isError":true' "what is outside is not"
says '"code":-32700' "what is no JSON is answered"

silu_graph 'float[4,8]'
mkdir -p "$tmp/steps"
cp "$tmp/silu.gpt" "$build/passes/silu.so" "$tmp/steps"
call 1 evaluate '{"pass":"silu.so","model":"silu.gpt","level":"quick","wait_s":60}' >"$tmp/in"
serve "--steps 0" --workspace "$tmp/steps" --steps 0
says '"isError":true' "no evaluation is left"

pm mcp --tools
exits 0 "--tools"
says "write_file" "--tools names them"
pm mcp --tools --json
exits 0 "--tools --json"
says '"inputSchema"' "--tools --json has their schemas"
pm mcp --tools-markdown --json
exits 2 "--tools-markdown is text"
pm mcp word
exits 2 "an argument"
pm mcp --steps -1
exits 2 "--steps takes a number from 0"
pm mcp --device ref
exits 2 "a device that runs no kernels"
pm mcp --db "$tmp/none.db"
exits 4 "a database that is not there"
[ ! -s "$tmp/out" ]
tap "and nothing on stdout"
pm mcp --workspace "$tmp/in"
[ "$code" -ne 0 ] && [ "$code" -le 4 ]
tap "a workspace that is a file"

# A deadline reaches the evaluation: of a kernel that never ends, after the 120 seconds of eval without it. The input
# stays open until the answer is there.
cp "$build/tests/plugin/hanging_silu.so" "$tmp/steps"
mkfifo "$tmp/pipe"
"$passmith" mcp --quiet --workspace "$tmp/steps" --deadline 2 <"$tmp/pipe" >"$tmp/out" 2>"$tmp/err" &
server=$!
exec 9>"$tmp/pipe"
call 1 evaluate '{"pass":"hanging_silu.so","model":"silu.gpt","level":"quick","wait_s":60}' >&9
while ! grep -q '}$' "$tmp/out" && kill -0 $server 2>/dev/null; do
	sleep 0.1
done
exec 9>&-
wait $server
code=$?
exits 0 "--deadline"
says '"verdict":"' "--deadline ends the evaluation, and there is a verdict"
tap_done
