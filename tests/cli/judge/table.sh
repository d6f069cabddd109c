#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# table.sh - passmith eval charges a fused Gather for the rows that it reads, not for the table they are in.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# 16 rows of a table of 4 MiB, which takes 1 us to read; a run takes 1 us, one of several launches 2.25, and a launch 1.45.
cat >"$tmp/table.gpt" <<'MODEL'
g (float[16384,64] table, int64[16] rows, float[64] scale) => (float[16,64] y)
{ e = Gather<axis=0>(table, rows)
 y = Mul(e, scale) }
MODEL
pm eval "$tmp/table.gpt" --pass "$build/passes/fuse.so" --device emu
exits 0 "a fused Gather is right"
grep -qE '^ *as written .*2 -> 1 +2\.0[0-9]x' "$tmp/out"
tap "and saves one launch of two"
tap_done
