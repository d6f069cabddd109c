#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cast.sh - passmith cast: what is cast, what stays and why, and that quantised models keep their integers.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

half=$tmp/half.onnx

pm cast models/bert_encoder_layer.gpt --to float16 -o "$half"
exits 0 "a model is cast"
says "inputs, 4 weights and" "it says how many values are"
says "a constant that it reads is out of the range of the half type; the first is 'lowest'" "and why others are not"
pm import "$half"
says "layer_output float16[2,16,64]" "the output has the type"
pm run "$half" --device emu --compare ref
exits 0 "devices agree on it"
pm cast models/bert_encoder_layer.gpt --to bfloat16 --keep-io -o "$tmp/io.onnx" --json
json "cast --json is JSON"
says '"reason": "kept_io"' "with the reasons"
pm import "$tmp/io.onnx"
says "layer_output float[2,16,64]" "with --keep-io the output keeps its type"
pm cast "$half" --to float -o "$tmp/back.onnx"
exits 0 "and back"
pm import "$tmp/back.onnx"
says "layer_output float[2,16,64]" "the output is float again"

# ---- quantised models: digests of integers stay, whatever is done to the model ----

cat >"$tmp/qdq.gpt" <<'GRAPH'
qdq (float[4,8] x) => (int8[4,8] q, int8[4,8] r, float[4,8] y)
<float s = {0.017}, int8 z = {3}, float t = {0.031}, int8 w0 = {0}, float one = {1},
 int8[8,8] w = {1, -2, 3, -4, 5, -6, 7, -8, 9, 10, -11, 12, 13, -14, 15, 16, 17, 18, -19, 20, 21, 22, -23, 24,
 25, -26, 27, 28, 29, 30, -31, 32, 33, 34, 35, -36, 37, 38, 39, -40, 41, 42, -43, 44, 45, 46, 47, -48,
 49, 50, 51, -52, 53, 54, 55, 56, 57, -58, 59, 60, 61, 62, -63, 64}>
{
   q = QuantizeLinear (x, s, z)
   d = DequantizeLinear (q, s, z)
   wd = DequantizeLinear (w, s, w0)
   m = MatMul (d, wd)
   a = Add (m, one)
   h = Relu (a)
   r = QuantizeLinear (h, t, z)
   e = DequantizeLinear (r, t, z)
   g = Sigmoid (e)
   f = Mul (e, g)
   y = Tanh (f)
}
GRAPH
integers()
{
	"$passmith" run "$1" --device "$2" 2>>"$tmp/err" | grep -E '^[qr] int8' | cut -d' ' -f1-3
}
for device in ref emu; do
	integers "$tmp/qdq.gpt" $device >"$tmp/ints.$device"
	[ "$(wc -l <"$tmp/ints.$device")" -eq 2 ]
	tap "the integers of a quantised model on $device"
done
pm apply "$tmp/qdq.gpt" --pass "$build/passes/fuse.so" -o "$tmp/q_apply.onnx"
exits 0 "a pass fuses what is between"
pm apply "$tmp/qdq.gpt" --pass "$build/passes/fuse.so" --plain -o "$tmp/q_plain.onnx"
exits 0 "and plain"
for to in float16 bfloat16; do
	pm cast "$tmp/qdq.gpt" --to $to -o "$tmp/q_$to.onnx"
	exits 0 "it is cast to $to"
	says "it is quantised: other integers would come out" "what is quantised stays"
	pm apply "$tmp/q_$to.onnx" --pass "$build/passes/fuse.so" -o "$tmp/q_apply_$to.onnx"
	exits 0 "and a pass fuses the rest"
	pm import "$tmp/q_$to.onnx"
	says "y $to[4,8]" "the rest has the type"
done
for model in apply plain float16 bfloat16 apply_float16 apply_bfloat16; do
	for device in ref emu; do
		integers "$tmp/q_$model.onnx" $device | cmp -s - "$tmp/ints.$device"
		tap "q_$model: the same integers on $device"
	done
done


# ---- mistakes ----

pm cast models/llama_block.gpt --to float32 -o "$tmp/x.onnx"
exits 2 "a type is named as in text"
pm cast models/llama_block.gpt --to int8 -o "$tmp/x.onnx"
exits 2 "no integers"
pm cast models/llama_block.gpt -o "$tmp/x.onnx"
exits 2 "--to has to be given"
pm cast "$tmp/none.onnx" --to float16 -o "$tmp/x.onnx"
exits 4 "a model that is not there is refused"
one_sentence "in one sentence"

# A fused model keeps its kernels, which are written for float.
pm apply models/llama_block.gpt --pass "$build/passes/silu.so" -o "$tmp/f.onnx"
pm cast "$tmp/f.onnx" --to float16 -o "$tmp/fh.onnx"
exits 0 "a model with fused kernels is cast"
says "a fused kernel is written for its element types" "and they stay"
pm run "$tmp/fh.onnx" --device emu --compare ref
exits 0 "and run"

# ---- real models, where they are ----

core=../shared/models/core
if [ -d $core ]; then
	n=0
	bad=
	for m in "$core"/*.onnx; do
		for to in float16 bfloat16; do
			pm cast "$m" --to $to -o "$tmp/core.onnx" --quiet
			[ "$code" -eq 0 ] && pm import "$tmp/core.onnx" --quiet
			[ "$code" -eq 0 ] || bad="$bad $to:$m"
			n=$((n + 1))
		done
	done
	echo "# $n casts of models; failed:${bad:- none}"
	[ "$n" -gt 0 ] && [ -z "$bad" ]
	tap "every core model is cast and read again"
else
	skip "every core model is cast and read again" "there is no $core"
fi
tap_done
