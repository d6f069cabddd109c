#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# harness.sh - what the harness cannot judge is no fault of a pass, and ends nothing.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# graph ROWS: positions that are counted from a mask, from 1 on, in a table of so many rows.
graph()
{
	cat >"$tmp/places.gpt" <<END
g (int64[2,4] mask, float[$1,8] places, float[2,4,8] x) => (float[2,4,8] y, float[2,4,8] z)
<int64 one = {1}, int64 axis = {1}>
{
   c = CumSum (mask, axis)
   m = Mul (c, mask)
   t = Add (m, one)
   e = Gather <axis = 0> (places, t)
   s = Sigmoid (x)
   y = Mul (x, s)
   z = Add (e, x)
}
END
}

graph 1
pm eval "$tmp/places.gpt" --pass "$build/passes/silu.so" --json
exits 1 "a graph that no inputs are legal for is not judged, and eval goes on"
says '"verdict": "HARNESS_FAIL"' "the verdict says whose fault it is"
says "node 4 (Gather -> 'e'): index " "and names node and value"
says '"not_judged": 1' "and the record is counted"
says '"AS": null' "and scores nothing"
pm eval "$tmp/places.gpt" --pass "$build/passes/silu.so"
says "Not judged, and no part of the score: 1 of 1 variants." "the table says so too"

# A full mask would count to 5, which a table of 4 rows does not have: less is drawn.
graph 4
pm eval "$tmp/places.gpt" --pass "$build/passes/silu.so" --hidden 0
exits 0 "inputs are drawn so that indices stay on their axis"

# An error of the harness itself, not a refusal of the reference.
cat >"$tmp/huge.gpt" <<'END'
g (float[3000000,1000000] x) => (float[3000000,1000000] y) { s = Sigmoid (x) y = Mul (x, s) }
END
pm eval "$tmp/huge.gpt" --pass "$build/passes/silu.so" --json
exits 1 "a graph that the harness has no room for is not judged, and eval goes on"
says '"verdict": "HARNESS_FAIL"' "that is not the pass's fault"
says "No fault of the pass, which is not judged here: An evaluation of this graph needs 84000.0 GB of memory (inputs 12000.0, " "and says what was too much"

tap_done
