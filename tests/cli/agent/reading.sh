#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reading.sh - what an agent reads through passmith mcp before it writes: a task with its graphs, sections of documents, names,
# exemplars, and the resources that these name.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

db=$tmp/t.db
silu_graph "float[8,64]"
pm extract "$tmp/silu.gpt" --db "$db" -j 1
pm task make --db "$db" --top 1 --name silu --shapes 2 --max-elements 2000
exits 0 "a task"

meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'

# ask METHOD PARAMETERS: one request to a server of its own; the answer is in $tmp/out.
ask()
{
	printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":{%s%s}}\n' "$1" "$meta" "$2" >"$tmp/in"
	code=0
	"$passmith" mcp --quiet --db "$db" --workspace "$tmp/work" <"$tmp/in" >"$tmp/out" 2>"$tmp/err" || code=$?
}

# tool NAME ARGUMENTS
tool()
{
	ask tools/call ",\"name\":\"$1\",\"arguments\":$2"
}

# lacks TEXT NAME
lacks()
{
	! grep -qF "$1" "$tmp/out"
	tap "$2"
}

# ---- a task ----

tool show_task '{"task":"silu"}'
says '"graphs":[{"variants":"0-' "show_task has the distinct graphs, with their variants"
says '"inputs":"v0: T"' "and the element type of each input"
says '"dtypes":"float, float16, bfloat16"' "the types of a line of shapes"
says '"shapes":["0-2: 8x64"' "and a line for three variants"
lacks '"label"' "no line for each variant"
says 'passmith://docs/reference/modelled-times.md' "how times are modelled is told by its address"
ask resources/read ',"uri":"passmith://docs/reference/modelled-times.md"'
says '# How times are modelled' "which can be read"
ask resources/read ',"uri":"passmith://task/1"'
says '# graph 1 of 1: variants 0-' "the graph can be read, once"
says '\n2 bfloat16: 8x64\n' "with the type and the shapes of each variant"

# ---- documents ----

tool search_docs '{"query":"error bound standard deviation","limit":5}'
says '"uri":"passmith://docs/design/error-bounds.md"' "search_docs finds pages of the design"
ask resources/read ',"uri":"passmith://docs/design/error-bounds.md"'
says 'What an author has to do' "which can be read"
tool search_docs '{"query":"pattern words","limit":10}'
[ "$(grep -o '"heading":"[^"]*> Pattern words"' "$tmp/out" | wc -l)" -eq 1 ]
tap "what two pages say is found once"
tool search_docs '{"query":"Sigmoid reads x and writes a temporary, Mul reads both","limit":3}'
says '"uri":"passmith://passes/library/activation/silu.c"' "and it finds complete passes"
ask resources/read ',"uri":"passmith://passes/library/activation/silu.c"'
says 'PM_PLUGIN(' "whose sources can be read"
ask resources/list ''
says 'passmith://passes/common/norm_rows.cu' "what passes share is listed"
says 'passmith://docs/design/error-bounds.md' "and pages of the design"

# ---- names ----

tool show_api '{"name":"Conv"}'
says 'A place in the padding counts as 0' "show_api of Conv says what padding is"
says 'left out at the end does not count' "and how a pattern leaves an operand out"
tool show_api '{"name":"PRECISION"}'
says 'does not say that the pass is right' "show_api of PRECISION says what a score makes of it"
tool show_api '{"name":"NO_MATCH"}'
says 'as little as for a wrong answer' "and of NO_MATCH"

# ---- exemplars ----

tool exemplars '{"task":"silu"}'
says '"what":"' "an exemplar says what it is"
lacks '<!--' "its thoughts have no comment for programs"
says '"others":[{' "and there are others"
tool exemplars '{"task":"silu","name":"conv_bn_elu"}'
says '"name":"conv_bn_elu"' "which come by name"
tool exemplars '{"task":"silu","name":"none_such"}'
says 'There is no exemplar none_such for this graph' "one that is not there is said so"

tap_done
