#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# time_list.sh - one bad model in a list of passmith time does not stop the others: a model that leaves the GPU no memory, a file that
# is none, one that is not there. The GPU is made up: tests/machine has a libcuda.so.1 of its own.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/machine.sh
. tests/lib/machine.sh

# model NAME K: a product with a weight of 4 * K * K bytes.
model()
{
	cat >"$tmp/$1.gpt" <<GRAPH
$1 (float[4,$2] x) => (float[4,$2] y)
<float[$2,$2] w = ["location": "weights.bin"]>
{
   h = MatMul (x, w)
   y = Add (h, x)
}
GRAPH
}
model small 8
model large 2048
echo "this is no model" >"$tmp/junk.gpt"

# rows NAMES: the targets of the records that have times, in order.
rows()
{
	[ "$(flat | grep -oE '"target":"[^"]*","name":"[^"]*","graph":"[^"]*","class":"[^"]*",[^{]*"times":' | grep -oE '[a-z]+\.gpt"' | tr '\n' ' ')" = "$1" ]
	tap "rows of $1"
}

# The area by which caches are emptied has 256 MiB, and a graph's weights are there twice: large has no room for both.
fresh
echo 290000000 >"$fake/$a/room"
pm time "$tmp/large.gpt" "$tmp/small.gpt" --blocks 1
exits 1 "a model for which there is no memory, and one for which there is"
says "make room for emptying its caches" "the first one's row says so"
[ "$(grep -c ' launches ' "$tmp/out")" = 1 ]
tap "the second one is timed"
pm time "$tmp/large.gpt" "$tmp/small.gpt" --blocks 1 --json -o "$tmp/times.json"
exits 1 "the same as JSON"
is_json "$tmp/out" && flat | grep -q '"target":"[^"]*large.gpt"[^{}]*"error":"[^"]*emptying'
tap "its record has the sentence"
rows 'small.gpt" '
grep -q '"times"' "$tmp/times.json"
tap "and the file has the other's times"

pm time "$tmp/small.gpt" "$tmp/junk.gpt" "$tmp/none.gpt" "$tmp/large.gpt" "$tmp/small.gpt" --blocks 1 --json
exits 4 "files that cannot be read are bad input"
is_json "$tmp/out" && [ "$(flat | grep -oE '"target":"[^"]*(junk|none).gpt","error":' | wc -l)" = 2 ]
tap "each has a record"
rows 'small.gpt" small.gpt" '

# A device that is gone ends the command: nothing else can be timed.
fresh
: >"$fake/$a/broken"
pm time "$tmp/small.gpt" "$tmp/small.gpt" --blocks 1
exits 3 "no process can open the GPU"
[ "$(grep -c ' launches ' "$tmp/out")" = 0 ]
tap "nothing is timed"
tap_done
