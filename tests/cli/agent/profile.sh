#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# profile.sh - passmith profile: what it says of the kernels of a pass, and of what is missing here.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu=$build/passes/silu.so
model=models/llama_block.gpt

# has TEXT: it is in what the last run wrote.
has()
{
	grep -qF -- "$1" "$tmp/out"
}

pm profile $model --pass "$silu"
[ $code -eq 0 ] && has 'kernel silu:silu  grid 8,1,1  block 256,1,1' && has 'NVIDIA H200, sm_90, 132 multiprocessors'
tap "a pass on a model"
has 'counted       8 of 8 blocks' && has 'global loads  64 requests, 4.00 sectors each (ideal 4.00), 100 % of the bytes used'
tap "its accesses, counted by warp"
pm profile $model --pass "$build/passes/fuse.so" --json
[ $code -eq 0 ] && [ "$(wc -c <"$tmp/out")" -lt 16384 ] && has '"sectors_per_request"' && has '"kernels_left_out"'
tap "a report fits where an agent reads it"
pm profile $model --pass "$silu" --arch sm_80
[ $code -eq 0 ] && has 'NVIDIA A100 80GB, sm_80, 108 multiprocessors'
tap "for another GPU"
pm profile $model --pass "$silu" --arch sm_12
[ $code -eq 4 ] && grep -qF 'give --arch sm_90 or --arch sm_80' "$tmp/err"
tap "for a GPU that nobody has described"
pm profile $model --pass "$silu" --alternative 7
[ $code -eq 4 ] && grep -qF 'No kernel has an alternative 7' "$tmp/err"
tap "an alternative that is not there"
pm profile $model --pass "$build/passes/grn.so" --json
[ $code -eq 1 ] && has '"verdict": "NO_MATCH"'
tap "a pass that does not match is an answer"
pm profile $model --pass "$silu" --variant 99
[ $code -eq 4 ] && grep -qF 'has no variant 99' "$tmp/err"
tap "a variant that is not there"

# A kernel that reads every 16th element, and what the report makes of it; JSON for an agent.
silu_graph 'float[1024,2048]'
cat >"$tmp/sixteen.c" <<'PASS'
#include "passmith/dsl.h"
enum { X };
static const char SRC[] = "extern \"C\" __global__ void sixteen(const T *x, T *y, int n)\n{\n"
	"	int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);\n"
	"	for (int j = 0; j < 16; j++)\n		y[first + j] = st(ld(x[first + j]) / (1.f + expf(-ld(x[first + j]))));\n}\n";
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "sixteen", .source = SRC, .grid = { pm_blocks(n, 2048) }, .block = { 128 },
		.in = PM_VALS(m->v[X]), .arg = PM_ARGS(IN(0), OUT(0), I32((int)n)));
}
PM_RULE(sixteen, .pattern = OP(Mul, V(X), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("sixteen", "1", &sixteen)
PASS
pm build "$tmp/sixteen.c" -o "$tmp/sixteen.so" --no-kernels
[ $code -eq 0 ]
tap "the pass is built"
pm profile "$tmp/silu.gpt" --pass "$tmp/sixteen.so" --json
[ $code -eq 0 ] && has '"sectors_per_request": 32' && has '"blocks": 32' && has '"of_blocks": 1024' && has '"line": 5' &&
	has 'y[first + j] = st(ld(x[first + j])'
tap "sectors, the blocks that were counted, and the line"
has 'Global loads touch 8 times the sectors that their bytes need' && has '"bound": "l2"' &&
	has '"excess_sectors": 57344' && has '"l1_hit_rate": 0.875'
tap "what limits it, sectors beyond those that the bytes need, and what L1 has again"
[ "$("$passmith" profile "$tmp/silu.gpt" --pass "$tmp/sixteen.so" --json)" = "$(cat "$tmp/out")" ]
tap "twice the same"
if ! "$passmith" doctor 2>/dev/null | grep -q '^yes GPU'; then
	pm profile $model --pass "$silu" --device cuda --json
	[ $code -eq 3 ] && has '"error": "'
	tap "without a GPU there is no time, and that is said"
fi
pm doctor --json
[ $code -eq 0 ] && has '"hardware"' && has 'multiprocessors and'
tap "doctor describes the GPU in words"
pm profile $model --pass "$silu" --json --ptx -
[ $code -eq 2 ]
tap "a listing and JSON do not go into one stream"

# The machine code, where NVRTC is.
if "$passmith" doctor 2>/dev/null | grep -q '^yes NVRTC'; then
	pm profile $model --pass "$silu"
	has 'machine code  sm_90:' && has 'occupancy     100 % (64 of 64 warps, 8 blocks), limited by warps' && has 'global_load 1 (1 x 4 B)'
	tap "registers, occupancy and instructions"
	pm profile $model --pass "$silu" --ptx "$tmp/silu.ptx"
	[ $code -eq 0 ] && grep -q '^.visible .entry silu' "$tmp/silu.ptx" && has 'machine code'
	tap "the PTX in a file"
	pm profile $model --pass "$silu" --json --listing
	[ $code -eq 0 ] && has '.visible .entry silu' && { has '"sass": ' || has 'There is no nvdisasm'; }
	tap "listings in the report, or what is missing for them"
fi
# A library without what NVRTC's has: it is not taken for one.
mkdir "$tmp/hidden"
echo 'int nothing_of_nvrtc;' | "${CC:-cc}" -shared -fPIC -o "$tmp/hidden/libnvrtc.so" -xc -
tap "a library that is no NVRTC is built"
export LD_LIBRARY_PATH="$tmp/hidden${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
pm profile $model --pass "$silu"
[ $code -eq 0 ] && has 'machine code: ' && has 'NVRTC' && has 'modelled '
tap "without NVRTC it says so, and the rest is there"

tap_done
