#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu.sh - packages for GPUs, compiled, tuned and opened on GPUs that are made up (tests/machine), whose kernels do
# nothing: which images and choices a package has, and which device opens it.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/machine.sh
. tests/lib/machine.sh

fresh
pm compile models/llama_block.gpt --arch sm_90,sm_80 -o "$tmp/gpu.pmz" --json
exits 0 "compile for two architectures"
# Libraries do not start on such a GPU; the product of few rows has an algorithm without one.
cat >"$tmp/rows.gpt" <<'GRAPH'
rows (float[4,16] x, float[16,8] w) => (float[4,8] y)
{
   t = MatMul (x, w)
   y = Relu (t)
}
GRAPH
pm compile "$tmp/rows.gpt" --arch emu,sm_90 --tune -o "$tmp/both.pmz" --json
exits 0 "compile for emu and a GPU, tuned"
grep -q '"tuned":[[:space:]]*1,' "$tmp/out"
tap "the algorithm that was the fastest is kept"
PASSMITH_LIBRARIES=off pm compile "$tmp/rows.gpt" --arch sm_90 --tune -o "$tmp/off.pmz" --json
exits 0 "without libraries"
grep -q '"tuned":[[:space:]]*0,' "$tmp/out"
tap "there is nothing to tune"
pm serve-bench "$tmp/both.pmz" --runs 3 --json --quiet
exits 0 "without --device a package that has both"
says '"device": "cuda:0 Fake One"' "is opened on the GPU"
pm serve-bench "$tmp/both.pmz" --runs 3 --graph --device cuda:2 --device-tensors --json --quiet
exits 0 "on another GPU, as graphs, with tensors of the device"
says '"device": "cuda:2 Fake Two"' "says which"
says '"launch_seconds"' "says what the host's part of a bare launch is"
pm serve-bench "$tmp/both.pmz" --runs 3 --graph --device cuda --device-tensors --warm
exits 0 "with sessions that are warm"
grep -q 'opened in .*; warm in .* ms; first run' "$tmp/out" && grep -q 'a bare launch of its graph .* us: .* times' "$tmp/out"
tap "says what that took, and what a run costs the host"
# The choice is that of one GPU (and of versions of libraries: tests/unit/rt/test_rt_cuda).
why='1 of the 1 library calls of .*both.pmz run by the first algorithm that is suggested: it was tuned on Fake One with .*, and this is Fake Two with .*; compile it with --tune'
pm serve-bench "$tmp/both.pmz" --runs 3 --device cuda:2
exits 0 "on a GPU that it was not tuned on"
grep -q "  $why" "$tmp/out"
tap "says that it is not tuned there"
pm serve-bench "$tmp/both.pmz" --runs 3 --device cuda
! grep -q 'was tuned on' "$tmp/out"
tap "and nothing where it is"
if command -v python3 >/dev/null; then
	PASSMITH_BUILD=$build PYTHONPATH=python python3 -W always -c 'import sys, passmith
for device in "cuda", "cuda:2":
	passmith.load(sys.argv[1], device).close()
	print(device, file=sys.stderr)' "$tmp/both.pmz" 2>"$tmp/err"
	head -n 1 "$tmp/err" | grep -q '^cuda$' && grep -q "RuntimeWarning: $why" "$tmp/err" && tail -n 1 "$tmp/err" | grep -q '^cuda:2$'
	tap "the Python package warns on the other GPU, and on its own not"
else
	skip "the Python package warns" "there is no python3"
fi
pm serve-bench "$tmp/both.pmz" --runs 3 --device emu --json --quiet
exits 0 "on emu"
says '"device": "emu"' "says so"
pm serve-bench "$tmp/gpu.pmz" --runs 3 --device emu
exits 3 "emu without kernels for it"
warns "has no kernels for the device emu; compile it with --arch emu among others" "a sentence"
pm serve-bench "$tmp/gpu.pmz" --runs 3 --device cuda:7
exits 3 "a GPU that there is not"
warns "There is no GPU number 7; this process can use 3 of them" "a sentence"
# The GPUs are sm_90: code of a newer kind is none for them.
pm compile models/llama_block.gpt --arch sm_100 -o "$tmp/newer.pmz"
pm serve-bench "$tmp/newer.pmz" --runs 3 --device cuda
exits 3 "kernels for newer GPUs alone"
warns "has kernels for sm_100, and none for Fake One (sm_90); compile it with --arch sm_90 among others" "a sentence"
# A launch that does not give what the kernel takes: the driver would not look.
cat >"$tmp/two.gpt" <<'GRAPH'
two (float[8,32] x) => (float[8,32] y, float[8,32] z)
{
   s = Sigmoid (x)
   y = Mul (x, s)
   t = Tanh (x)
   z = Relu (t)
}
GRAPH
"$passmith" apply "$tmp/two.gpt" --pass "$build/passes/silu.so" -o "$tmp/fused.gpt" >"$tmp/out" 2>"$tmp/err" &&
	sed 's/i64:/i32:/' "$tmp/fused.gpt" >"$tmp/wrong.gpt" && ! cmp -s "$tmp/fused.gpt" "$tmp/wrong.gpt"
tap "a model whose launch gives a smaller number"
pm compile "$tmp/wrong.gpt" --arch sm_90 -o "$tmp/wrong.pmz"
exits 4 "compile refuses it"
warns "parameter 2 is of another type than the argument that the launch gives" "and says where"
touch "$fake/$a/faults"
pm serve-bench "$tmp/gpu.pmz" --runs 3 --device cuda
[ "$code" -ne 0 ] && grep -q 'The GPU cannot' "$tmp/err"
tap "a kernel that fails is a sentence"
fresh
pm compile models/llama_block.gpt --arch sm_90 -o "$tmp/x.pmz"
exits 0 "compile without a GPU at hand works"
LD_LIBRARY_PATH=/nowhere pm serve-bench "$tmp/gpu.pmz" --device cuda
exits 3 "a machine without a driver"
tap_done
