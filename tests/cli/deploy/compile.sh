#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compile.sh - passmith compile and serve-bench: packages give the bits of `passmith run --device emu`, also rewritten,
# in several shapes and half types; what cannot be compiled is a sentence; a kill leaves no half package; the library
# needs nothing but the C library and shows nothing but its interface.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# hashes KEY FILE: the SHA-256 of outputs that an answer holds, in order.
run_hashes()
{
	grep -o '"sha256": *"[0-9a-f]*"' "$1" | grep -o '[0-9a-f]\{64\}'
}
bench_hashes()
{
	sed -n '/"outputs":/,/\]/p' "$1" | grep -o '[0-9a-f]\{64\}'
}

# same MODEL PACKAGE NAME ARG...: the model run on emu, and the package on the same inputs, have the same outputs.
same()
{
	model=$1 package=$2 name=$3
	shift 3
	rm -rf "$tmp/data"
	pm run "$model" --device emu --seed 7 --save "$tmp/data" --json
	run_hashes "$tmp/out" >"$tmp/want"
	pm serve-bench "$package" --device emu --inputs "$tmp/data" --runs 3 --threads 2 --json --quiet "$@"
	bench_hashes "$tmp/out" >"$tmp/got"
	[ "$code" -eq 0 ] && [ -s "$tmp/want" ] && cmp -s "$tmp/want" "$tmp/got"
	tap "$name"
}

# ---- the same bits ----

for m in llama_block bert_encoder_layer resnet_bottleneck mobilenetv3_se_block swin_block bge_pooling_head; do
	pm compile "models/$m.gpt" -o "$tmp/$m.pmz"
	exits 0 "compile $m"
	same "models/$m.gpt" "$tmp/$m.pmz" "$m: the bits of run --device emu"
done
for m in llama_block resnet_bottleneck; do
	pm apply "models/$m.gpt" --passes "$build/passes" -o "$tmp/fused.onnx"
	pm compile "models/$m.gpt" --passes "$build/passes" --arch emu -o "$tmp/fused.pmz"
	exits 0 "compile $m with all passes"
	same "$tmp/fused.onnx" "$tmp/fused.pmz" "$m, rewritten: the bits of the rewritten model"
done
pm compile "$tmp/fused.onnx" --arch emu -o "$tmp/again.pmz"
same "$tmp/fused.onnx" "$tmp/again.pmz" "a model that was rewritten before is compiled as it is"

head=models/open/bge_pooling_head.gpt
pm compile "$head" --shape batch=1,tokens=8 --shape batch=4,tokens=16 --shape tokens=3,batch=2 -o "$tmp/head.pmz"
exits 0 "three shapes"
says "shape batch=4, tokens=16: 0 fused nodes" "each is told"
n=0
for sizes in "1 8" "4 16" "2 3"; do
	# shellcheck disable=SC2086 # two words
	set -- $sizes
	pm bind "$head" --dim "batch=$1" --dim "tokens=$2" -o "$tmp/bound.gpt"
	same "$tmp/bound.gpt" "$tmp/head.pmz" "shape $n: the bits of the bound model" --shape $n
	n=$((n + 1))
done
for t in float16 bfloat16; do
	cat >"$tmp/half.gpt" <<GRAPH
half ($t[4,16] x, $t[16,8] w) => ($t[4,8] y)
{
   t = MatMul (x, w)
   y = Softmax <axis = 1> (t)
}
GRAPH
	pm compile "$tmp/half.gpt" -o "$tmp/half.pmz"
	same "$tmp/half.gpt" "$tmp/half.pmz" "$t: the bits of run --device emu"
done

# A scalar, no elements, an input and a constant that are results, other types.
cat >"$tmp/odd.gpt" <<'GRAPH'
<ir_version: 8, opset_import: ["" : 18]>
odd (float s, float[0,4] z, float[3] x, bool[3] b, int64[2] i) => (float[3] y, float[0,4] zz, float[3] x2, float[3] k, bool[3] nb, float[2] g)
<float[3] c = {1, 2, 3}>
{
   y = Mul (x, s)
   zz = Exp (z)
   x2 = Identity (x)
   k = Identity (c)
   nb = Not (b)
   g = Gather <axis = 0> (c, i)
}
GRAPH
pm compile "$tmp/odd.gpt" -o "$tmp/odd.pmz"
same "$tmp/odd.gpt" "$tmp/odd.pmz" "a scalar, no elements, results that are inputs or constants: the bits of run --device emu"

# ---- weights ----

cat >"$tmp/net.gpt" <<'GRAPH'
<ir_version: 8, opset_import: ["" : 18]>
net (float[n,8] x) => (float[n,4] y)
<float[8,4] w = ["location": "not-here.bin", "offset": "0", "length": "128"]>
{
   y = MatMul (x, w)
}
GRAPH
pm compile "$tmp/net.gpt" --shape n=3 -o "$tmp/net.pmz"
exits 4 "a weight that is not here"
warns "Weight 'w' of $tmp/net.gpt has no data here (it lies in 'not-here.bin'); put that file beside the model, or give --made-up-weights" "a sentence"
[ ! -e "$tmp/net.pmz" ]
tap "and no package"
pm compile "$tmp/net.gpt" --shape n=3 --made-up-weights -o "$tmp/net.pmz"
exits 0 "--made-up-weights"
says "1 of them made up" "says how many"
pm bind "$tmp/net.gpt" --dim n=3 -o "$tmp/bound.gpt"
same "$tmp/bound.gpt" "$tmp/net.pmz" "made-up weights are those of run"
pm materialize "$tmp/net.gpt" -o "$tmp/full.onnx" --external
pm compile "$tmp/full.onnx" --shape n=3 --external-weights -o "$tmp/full.pmz" --json
exits 0 "--external-weights"
grep -q '"external_bytes": *128' "$tmp/out" && grep -q '"weight_bytes": *0' "$tmp/out"
tap "weights stay where they are"
pm bind "$tmp/full.onnx" --dim n=3 -o "$tmp/bound.onnx"
same "$tmp/bound.onnx" "$tmp/full.pmz" "and are read from there"
mv "$tmp/full.onnx.data" "$tmp/gone"
pm serve-bench "$tmp/full.pmz" --device emu --runs 1
exits 4 "their file is gone"
warns "full.onnx.data\", which cannot be opened" "a sentence"
printf x >"$tmp/full.onnx.data"
pm serve-bench "$tmp/full.pmz" --device emu --runs 1
exits 4 "their file is another one"
warns "compile the model again" "a sentence"

# ---- what cannot be ----

pm compile "$head" -o "$tmp/x.pmz"
exits 4 "an open size without a shape"
warns "has the open size 'batch', and a shape does not say what it is; give --shape batch=SIZE" "a sentence"
pm compile "$head" --shape batch=4 -o "$tmp/x.pmz"
exits 4 "a shape that lacks one"
pm compile "$head" --shape batch=4,tokens=8,seq=3 -o "$tmp/x.pmz"
exits 4 "a size that the model does not have"
warns "has no open size 'seq'; its inputs have: batch, tokens" "a sentence"
pm compile "$head" --shape batch=four -o "$tmp/x.pmz"
exits 2 "a shape that is none"
pm compile models/llama_block.gpt --arch sm_90,tpu -o "$tmp/x.pmz"
exits 2 "an architecture that is none"
pm compile models/llama_block.gpt --tune -o "$tmp/x.pmz"
exits 2 "--tune without a GPU's architecture"
pm compile "$head" --shape batch=2,tokens=4 --pieces tokens -o "$tmp/x.pmz"
exits 4 "--pieces of a size that is not the first"
warns "cannot be run in pieces of 'tokens': input" "a sentence"
pm compile "$head" --shape batch=1,tokens=4 --shape batch=4,tokens=4 --pieces batch -o "$tmp/pieces.pmz"
exits 0 "--pieces of batch"
pm compile models/llama_block.gpt -o "$tmp/none/x.pmz"
exits 3 "a folder that is not there"
warns "Cannot write" "a sentence"
[ ! -e "$tmp/x.pmz" ]
tap "none of them leaves a package"
pm serve-bench "$tmp/none.pmz"
exits 4 "serve-bench of a package that is not there"
pm serve-bench models/llama_block.gpt
exits 4 "serve-bench of a model"
warns "is not a package of Passmith" "a sentence"
pm serve-bench "$tmp/head.pmz" --shape 9 --device emu
exits 4 "serve-bench of a shape that there is not"
pm serve-bench "$tmp/head.pmz" --device tpu
exits 3 "serve-bench on a device that there is not"
pm serve-bench "$tmp/head.pmz" --device emu --device-tensors
exits 4 "tensors on a device without memory of its own"

# ---- kills ----

# Whenever the end comes, the name has the old package or the whole new one.
cp "$tmp/head.pmz" "$tmp/target.pmz"
old=$(cksum <"$tmp/target.pmz")
pm compile models/bge_pooling_head.gpt -o "$tmp/new.pmz"
bad=0
for after in 0 0.01 0.02 0.03 0.05 0.08 0.1 0.15 0.2 0.3; do
	"$passmith" compile models/bge_pooling_head.gpt -o "$tmp/target.pmz" >/dev/null 2>&1 &
	pid=$!
	sleep "$after"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	now=$(cksum <"$tmp/target.pmz")
	[ "$now" = "$old" ] || cmp -s "$tmp/target.pmz" "$tmp/new.pmz" || bad=1
	"$passmith" serve-bench "$tmp/target.pmz" --device emu --runs 1 --quiet >"$tmp/out" 2>"$tmp/err" || bad=1
done
[ $bad -eq 0 ]
tap "ten kills leave the old package or the new one"

# ---- the library ----

if command -v ldd >/dev/null; then
	LD_PRELOAD='' ldd "$build/libpassmith_rt.so" >"$tmp/out"
	! grep -vE 'linux-vdso|/ld-linux|libc\.so|libm\.so|libdl\.so|libpthread\.so|libasan|libubsan|libgcc_s|libstdc|librt\.so' "$tmp/out" >"$tmp/err"
	tap "libpassmith_rt needs the C library alone"
fi
if command -v nm >/dev/null; then
	nm -D --defined-only "$build/libpassmith_rt.so" | awk '{ print $3 }' | sed 's/@.*//' | sort >"$tmp/shown"
	{ grep -o 'pm_rt_[a-z_]*(' rt/passmith_rt.h | tr -d '(' && echo PASSMITH_RT_1; } | sort -u >"$tmp/public"
	# What the interface declares, and the name of its version.
	cmp -s "$tmp/shown" "$tmp/public" && [ "$(wc -l <"$tmp/shown")" -ge 15 ]
	tap "it shows what its header declares, and nothing else"
	nm -g --defined-only "$build/libpassmith_rt.a" | awk 'NF == 3 { print $3 }' | grep -v '^pm_rt_' >"$tmp/out"
	[ ! -s "$tmp/out" ]
	tap "so does the archive"
else
	skip "what the library shows" "nm is not installed here"
fi
tap_done
