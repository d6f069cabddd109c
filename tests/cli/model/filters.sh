#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# filters.sh - task gate --filters: for each published filter a graph that breaks it, and no other but those that it implies; weights and
# data apart; sizes that are cut.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# Breaks exactly the filters that are named: breaks NAME "FILTERS" GRAPH
breaks()
{
	printf '%s\n' "$3" >"$tmp/$1.gpt"
	pm task gate "$tmp/$1.gpt" --filters
	exits "$(if [ -n "$2" ]; then echo 1; else echo 0; fi)" "$1: the exit code says whether a filter is broken"
	got=$(sed -n 's/^  \([a-z]*\) .*BROKEN$/\1/p' "$tmp/out" | tr '\n' ' ')
	[ "$got" = "$2${2:+ }" ]
	tap "$1: broken are: ${2:-none}"
	[ "$got" = "$2${2:+ }" ] || cat "$tmp/out"
}

breaks honest "" 'g (float[16,24] x, float[24,40] w) => (float[16,40] y) { y = MatMul (x, w) }'
# Near zero: what is small varies little, so that range implies seeds and axes.
breaks range "range seeds axes" 'g (float[16,24] x) => (float[16,24] y) <float c = {0.0001}> { y = Mul (x, c) }'
# The data move the results by a thousandth; the weights are all that varies.
breaks seeds "seeds" 'g (float[16,24] x, float[16,24] "a.weight") => (float[16,24] y)
<float c = {0.001}> { t = Mul (x, c)
 y = Add (t, "a.weight") }'
# All columns are alike.
breaks axes "axes" 'g (float[16,24] x) => (float[16,8] y)
<int64[2] s = {16, 8}> { m = ReduceMax <axes = [1], keepdims = 1> (x)
 y = Expand (m, s) }'
# relu(x - 50): only wide data reach the positive side, so it is not constant by algebra. The weights are added.
breaks inputs "seeds inputs" 'g (float[64,96] x, float[64,96] "a.weight") => (float[64,96] y)
<float c = {20}> { t = Sub (x, c)
 r = Relu (t)
 y = Add (r, "a.weight") }'
# 0 * w
breaks weights "weights" 'g (float[16,24] x, float[16,24] "a.weight") => (float[16,24] y)
<float c = {0}> { t = Mul ("a.weight", c)
 y = Add (x, t) }'
# The mean of a softmax, and x - x: no data and no weights move them, however wide.
breaks mean "seeds inputs weights constant" 'g (float[16,24] x, float[24] "a.weight") => (float[16,24] y)
<float[1,24] c = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23},
 float[16,1] d = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}> { t = Mul (x, "a.weight")
 s = Softmax <axis = 1> (t)
 m = ReduceMean <axes = [1], keepdims = 1> (s)
 u = Add (m, c)
 y = Add (u, d) }'
breaks minus "range seeds axes inputs constant" 'g (float[16,24] x) => (float[16,24] y) { y = Sub (x, x) }'
# Of two outputs the worse one counts.
breaks second "range seeds axes" 'g (float[16,24] x) => (float[16,24] z, float[16,24] y)
<float c = {0.0001}> { z = Tanh (x)
 y = Mul (x, c) }'

pm task gate "$tmp/weights.gpt" --filters
says "inputs: 1 data, 1 weights" "weights are told from data by their names"
pm task gate "$tmp/honest.gpt" --filters
says "inputs: 1 data, 1 weights" "and by their role"
# Statistics of the model decide what it is given: relu(x - 2) has no influence on data in (0, 1).
printf '<ir_version: 8, opset_import: ["" : 18], metadata_props: ["tensor_stats": "%s"]>\n%s\n' \
	'{\"x\":{\"mean\":0.5,\"std\":0.29,\"min\":0,\"max\":1,\"source\":\"x\"}}' \
	'g (float[16,24] x) => (float[16,24] y) <float c = {2}> { t = Sub (x, c)
 y = Relu (t) }' >"$tmp/stats.gpt"
pm task gate "$tmp/stats.gpt" --filters
says "inputs     0 " "the statistics of a model are its inputs"
says "constant   1 " "which is not by algebra"

# A batch of a million rows is cut; the 4,096 terms of the mean are not.
printf 'g (float[1048576,4096] x) => (float[1048576] y) { y = ReduceMean <axes = [1], keepdims = 0> (x) }\n' >"$tmp/large.gpt"
pm task gate "$tmp/large.gpt" --filters
says "x4096 (cut, sums as they were)" "a large batch is cut, and sums are not"
# A softmax over channels keeps them: with fewer its results would be larger.
printf 'g (float[256,4096,64] x) => (float[256,4096,64] y) { y = Softmax <axis = 1> (x) }\n' >"$tmp/softmax.gpt"
pm task gate "$tmp/softmax.gpt" --filters
says "x4096x" "what a softmax is taken over is kept"
# Sums over all that there is have to be cut.
printf 'g (float[2048,4096] x, float[4096,256] w) => (float y) { t = MatMul (x, w)\n y = ReduceMean <axes = [0, 1], keepdims = 0> (t) }\n' >"$tmp/sums.gpt"
pm task gate "$tmp/sums.gpt" --filters
says "(cut, with shorter sums)" "a sum that is too long is cut, and that is said"
says "axes       - " "a single number has no axis"

echo 'm (float[1009,1009] x) => (float[1009,1009] y) { y = Relu(x) }' >"$tmp/odd.gpt"
pm task gate "$tmp/odd.gpt" --filters --max-mflop 1
exits 4 "sizes that cannot be halved, above --max-mflop"
warns "takes 3.05e+06 operations and elements at the smallest sizes found for it; 1e+06 are the most" "are named with the limit"
warns "or --max-mflop for more" "and what to do"
pm task gate "$tmp/odd.gpt" --filters --max-mflop 4
says "measured: 1009x1009" "with a higher limit they are measured"
pm task gate "$tmp/mean.gpt" --filters --json
json "--json is JSON"
cmp "$tmp/out" tests/golden/gate/filters.json
tap "and is the golden file"
printf 'g (float[0,4] x) => (float[0,4] y) { y = Tanh (x) }\n' >"$tmp/empty.gpt"
pm task gate "$tmp/empty.gpt" --filters
exits 4 "an empty graph has nothing to measure"
one_sentence "and that is said in one sentence"
tap_done
