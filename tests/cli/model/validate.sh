#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# validate.sh - passmith validate: each constraint can be broken, and says why.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# model NAME TEXT writes a model; checks NAME CODE VERDICT CONSTRAINT WHY runs it.
model()
{
	printf '%b' "$2" >"$tmp/$1.gpt"
}

finds()
{
	pm validate "$tmp/$1.gpt" --quiet
	exits "$2" "$1: exit code"
	grep -E "^ +$4 +$3 .*$5" "$tmp/out" >/dev/null
	tap "$1: $4 is $3, and why"
}

pm validate models/*.gpt --quiet -j 2
exits 0 "the bundled models are valid"
says "6 models, 6 valid, 0 not" "all six"
says "decomposable                 holds 6, broken 0, undecided 0" "run in parts they give the same bits"
says "serializable                 holds 6, broken 0, undecided 0" "written and read back too"

model infinite 'm (float[4] x) => (float[4] y)\n<float[1] zero = {0}> {\n a = Exp (x)\n y = Div (a, zero)\n}\n'
finds infinite 1 broken runnable "'y' is not finite"
finds infinite 1 undecided decomposable "It does not run"

model index 'm (float[4,2] x) => (float[1,2] y)\n<int64[1] k = {9}> {\n y = Gather <axis = 0> (x, k)\n}\n'
finds index 1 broken runnable "9"

model custom '<ir_version: 8, opset_import: ["" : 18, "com.acme" : 1]>\nm (float[4] x) => (float[4] y)\n<float[4] o> {\n o = "com.acme:Thing" (x)\n a = Relu (o)\n y = Exp (a)\n}\n'
finds custom 1 broken "custom operators accessible" "com.acme"
finds custom 1 broken "statically analyzable" "Thing"

model computed 'm (float[N,6] x, int64[2] to) => (float[A,B] c) {\n a = Relu (x)\n c = Reshape (a, to)\n}\n'
finds computed 1 broken "statically analyzable" "1 of 2 nodes"

# shellcheck disable=SC2016
model heavy 'm (float[999,999] x) => (float[999,999] y) {\n y = MatMul (x, x)\n}\n'
finds heavy 0 undecided runnable "within 20000000 flops"
pm validate models/swin_block.gpt --json
exits 0 "as JSON"
says '"custom operators accessible"' "every constraint by name"

# stored by content, shown, not checked twice, and carried by an export
pm validate models/swin_block.gpt "$tmp/custom.gpt" --db "$tmp/v.db" --quiet
exits 1 "stored in a database"
pm validate models/swin_block.gpt "$tmp/custom.gpt" --db "$tmp/v.db" --quiet
exits 1 "what is stored is not checked again, and still not valid"
says "2 done before, 1 of them not valid" "and that is said"
pm validate models/swin_block.gpt "$tmp/custom.gpt" --seeds 2 --db "$tmp/v.db" --quiet
exits 1 "with other options it is"
pm validate --db "$tmp/v.db"
exits 0 "what is stored is shown"
says "custom operators accessible  holds 1, broken 1, undecided 0" "and counted"
pm db export --db "$tmp/v.db" -o "$tmp/v.jsonl"
pm db import "$tmp/v.jsonl" --db "$tmp/w.db"
pm db export --db "$tmp/w.db" -o "$tmp/w.jsonl"
cmp "$tmp/v.jsonl" "$tmp/w.jsonl" && [ "$(grep -c '"row":"constraint"' "$tmp/w.jsonl")" = 10 ]
tap "an export carries all ten verdicts"
sed 's/"verdict":"holds"/"verdict":"perhaps"/' "$tmp/v.jsonl" >"$tmp/x.jsonl"
pm db import "$tmp/x.jsonl" --db "$tmp/x.db"
exits 4 "a verdict that there is not is refused"
pm db query "SELECT verdict, count(*) FROM constraints WHERE name = 'runnable' GROUP BY 1" --db "$tmp/v.db"
exits 0 "in SQL too"

echo "no model" >"$tmp/bad.gpt"
pm validate "$tmp/bad.gpt" --quiet
exits 4 "a broken file is bad input"
pm validate
exits 2 "no model"
tap_done
