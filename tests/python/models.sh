#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# models.sh - packages for tests/python/load.py; sourced by tests/cli/python/load.sh.

# made NAME COMPILE-ARG...: compiles $tmp/NAME.gpt, whose text is on stdin, to $tmp/NAME.pmz.
made()
{
	name=$1
	shift
	cat >"$tmp/$name.gpt"
	pm compile "$tmp/$name.gpt" --arch emu --passes "$build/passes" -o "$tmp/$name.pmz" "$@"
	exits 0 "$name is compiled"
}

made gate --shape b=2 --shape b=5 <<'GRAPH'
gate (float[b,4] x, float[4,4] w) => (float[b,4] y)
{
   h = MatMul (x, w)
   s = Sigmoid (h)
   y = Mul (h, s)
}
GRAPH
made types <<'GRAPH'
types (float[3] f, double[3] d, float16[3] h, int64[2,2] i, uint8[4] u, bool[2] b) => (float[3] f1, double[3] d1, float16[3] h1, int64[2,2] i1, uint8[4] u1, bool[2] b1, float s)
{
   f1 = Add (f, f)
   d1 = Add (d, d)
   h1 = Add (h, h)
   i1 = Add (i, i)
   u1 = Add (u, u)
   b1 = Not (b)
   s = ReduceSum <axes = [0], keepdims = 0> (f)
}
GRAPH
made brain <<'GRAPH'
brain (bfloat16[4] x) => (bfloat16[4] y)
{
   y = Add (x, x)
}
GRAPH
made bias --made-up-weights <<'GRAPH'
bias (float[2,3] x) => (float[2,3] y) <float[3] c = {1, 2, 3}>
{
   y = Add (x, c)
}
GRAPH
made alone <<'GRAPH'
alone () => (float[3] y) <float[3] c = {1, 2, 3}>
{
   y = Add (c, c)
}
GRAPH
