#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ort.sh - apply --ort-kernels: the kernels of a rewritten model as a file for libpassmith_ort. What ONNX Runtime makes of
# it is checked where it is installed; tests/unit/ort runs the same library in a host of ours.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/two.gpt" <<'GPT'
two (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)
 m = Mul(x, s)
 e = Exp(m)
 t = Sigmoid(e)
 y = Mul(e, t) }
GPT
silu=$build/passes/silu.so
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/k.onnx" --ort-kernels "$tmp/k.kernels"
exits 0 "apply --ort-kernels"
says "k.kernels: 1 kernel of 1 source compiled, 0." "says what it compiled: two calls of one kernel"
name=$(grep -ao 'Kernel_[0-9a-f]\{16\}' "$tmp/k.onnx" | head -n 1)
grep -aq "$name" "$tmp/k.kernels"
tap "the file has the kernel by the name of the model's function"
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/again.onnx" --ort-kernels "$tmp/again.kernels"
cmp -s "$tmp/k.kernels" "$tmp/again.kernels" && cmp -s "$tmp/k.onnx" "$tmp/again.onnx"
tap "the same model and passes give the same bytes"
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/other.onnx"
cmp -s "$tmp/k.onnx" "$tmp/other.onnx"
tap "the model is the one that is written without"
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/k.onnx" --ort-kernels "$tmp/k.kernels" --json
grep -q '"kernels":[[:space:]]*1,' "$tmp/out" && grep -q '"sources":[[:space:]]*1,' "$tmp/out"
tap "--json has it too"

# Code for GPUs: a compiler that is made up gives PTX alone.
mkdir -p "$tmp/cuda/include"
: >"$tmp/cuda/include/cuda_fp16.h"
: >"$tmp/cuda/include/cuda_bf16.h"
(
	export LD_LIBRARY_PATH="$build/tests/machine" CUDA_HOME="$tmp/cuda" PASSMITH_CACHE="$tmp/cache"
	"$passmith" apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/g.onnx" --ort-kernels "$tmp/g.kernels" --arch sm_90,emu,sm_80
) >"$tmp/out" 2>"$tmp/err"
tap "--arch with GPUs"
[ "$(grep -ac '^\.target sm_' "$tmp/g.kernels")" -eq 2 ]
tap "the file has PTX for each, since there is no machine code"
[ "$(wc -c <"$tmp/g.kernels")" -gt "$(wc -c <"$tmp/k.kernels")" ]
tap "beside the code for this CPU"

if "$passmith" doctor 2>/dev/null | grep -q '^yes NVRTC'; then
	pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/g.onnx" --ort-kernels "$tmp/r.kernels" --arch sm_90,sm_80
	exits 0 "--arch with GPUs, by NVRTC"
	[ "$(grep -ac '^\.target sm_80' "$tmp/r.kernels")" -eq 1 ] && ! grep -aq '^\.target sm_90' "$tmp/r.kernels"
	tap "the file has PTX once, for the lowest of them"
else
	skip "PTX of two architectures" "NVRTC is not installed"
fi

pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/k.onnx" --ort-kernels "$tmp/k.kernels" --arch emu,sm_9x
exits 2 "an architecture that is none"
warns "--arch takes emu and up to 16 names as sm_90 with commas between them, and 'emu,sm_9x' is not that." "is named"
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/k.onnx" --arch emu
exits 2 "--arch alone"
warns "--arch goes with --ort-kernels FILE or --bank DIR." "is refused"
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/k.onnx" --plain --ort-kernels "$tmp/k.kernels"
exits 2 "--plain with --ort-kernels"
warns "--plain writes no kernels, so that --ort-kernels has none." "is refused"
echo 'none (float[4] x) => (float[4] y) { y = Exp(x) }' >"$tmp/none.gpt"
pm apply "$tmp/none.gpt" --pass "$silu" -o "$tmp/n.onnx" --ort-kernels "$tmp/n.kernels"
exits 1 "a model that no rule matches"
[ ! -e "$tmp/n.kernels" ]
tap "has no file of kernels"
pm apply "$tmp/two.gpt" --pass "$silu" -o "$tmp/k.onnx" --ort-kernels "$tmp/nowhere/k.kernels"
exits 3 "a folder that is not there"
warns "nowhere/k.kernels" "is named"

# The library: what it needs and what it shows.
library=$build/libpassmith_ort.so
ldd "$library" | grep -vE 'linux-vdso|libc\.so|libm\.so|ld-linux|lib(a|t|ub)san|libpthread|libdl|libgcc_s|libstdc' >"$tmp/out"
[ ! -s "$tmp/out" ]
tap "libpassmith_ort.so needs no library but the C library's"
nm -D --defined-only "$library" | sed 's/^[0-9a-f]* . //; s/@.*//' | sort | tr '\n' ' ' >"$tmp/out"
[ "$(cat "$tmp/out")" = "PASSMITH_ORT_1 RegisterCustomOps passmith_ort_launches " ]
tap "and shows two functions"

name="ONNX Runtime runs the kernels with the library, and the functions without, to the same results"
if python3 -c 'import numpy, onnx, onnxruntime' 2>"$tmp/err"; then
	code=0
	python3 tools/check/check_ort_library.py --passmith "$passmith" --library "$library" --pass "$silu" --out "$tmp/ort.jsonl" \
		--probe "$build/tests/ort/ort_probe.so" "$tmp/two.gpt" >"$tmp/out" 2>"$tmp/err" || code=$?
	[ $code -eq 0 ] && grep -q '^check-ort: library: 2 launches of 2 kernels' "$tmp/out"
	tap "$name"
else
	skip "$name" "python3 has no onnx and onnxruntime (pip install onnx onnxruntime)"
fi
tap_done
