#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# late_ops.sh - operators of the newest opsets through the commands: what they become, and that both devices agree.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# y = FlexAttention(q, k, v) with a score_mod of one Tanh; y = BitCast(x float) to int32; y = BatchNormalization in training.
# shellcheck disable=SC2059
printf "\010\010\072\203\002\012\211\001\012\001q\012\001k\012\001v\022\001y\042\015FlexAttention\052\133\012\011score\137mod2K\012\014\012\001s\022\001t\042\004Tanh\022\001mZ\033\012\001s\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\001\012\002\010\002\012\002\010\003b\033\012\001t\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\001\012\002\010\002\012\002\010\003\240\001\005\072\017ai\056onnx\056preview\022\001gZ\033\012\001q\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\001\012\002\010\002\012\002\010\002Z\033\012\001k\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\001\012\002\010\003\012\002\010\002Z\033\012\001v\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\001\012\002\010\003\012\002\010\002b\033\012\001y\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\001\012\002\010\002\012\002\010\002B\004\012\000\020\032B\023\012\017ai\056onnx\056preview\020\001" >"$tmp/flex.onnx"
# shellcheck disable=SC2059
printf "\010\010\072C\012\034\012\001x\022\001y\042\007BitCast\052\011\012\002to\030\006\240\001\002\072\000\022\001gZ\017\012\001x\022\012\012\010\010\001\022\004\012\002\010\002b\017\012\001y\022\012\012\010\010\006\022\004\012\002\010\002B\004\012\000\020\032" >"$tmp/bits.onnx"
# shellcheck disable=SC2059
printf "\010\010\072\261\001\012\076\012\001x\012\001s\012\001b\012\001m\012\001v\022\001y\042\022BatchNormalization\052\024\012\015training\137mode\030\001\240\001\002\072\000\022\001gZ\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\004\012\002\010\002Z\017\012\001s\022\012\012\010\010\001\022\004\012\002\010\002Z\017\012\001b\022\012\012\010\010\001\022\004\012\002\010\002Z\017\012\001m\022\012\012\010\010\001\022\004\012\002\010\002Z\017\012\001v\022\012\012\010\010\001\022\004\012\002\010\002b\023\012\001y\022\016\012\014\010\001\022\010\012\002\010\004\012\002\010\002B\004\012\000\020\017" >"$tmp/norm.onnx"

pm import "$tmp/flex.onnx" -o "$tmp/flex.gpt"
exits 0 "FlexAttention is read"
[ "$(grep -c "= Tanh (" "$tmp/flex.gpt")" = 1 ] && [ "$(grep -c "= Softmax " "$tmp/flex.gpt")" = 1 ]
tap "it is its products, its Softmax and the node of its score_mod"
! grep -q "FlexAttention (" "$tmp/flex.gpt"
tap "and no opaque node"
pm run "$tmp/flex.onnx" --device emu --compare ref
exits 0 "both devices agree"

pm import "$tmp/bits.onnx" -o "$tmp/bits.gpt"
exits 0 "BitCast is read"
grep -q "y = BitCast <to = 6> (x)" "$tmp/bits.gpt"
tap "it is an operator of the table"
pm run "$tmp/bits.onnx" --device emu --compare ref
exits 0 "both devices see the same bits"
pm import "$tmp/bits.gpt" -o "$tmp/again.onnx"
exits 0 "it is written"
pm import --json "$tmp/again.onnx"
says '"opset": 26' "in the opset that has it"

pm import "$tmp/norm.onnx" -o "$tmp/norm.gpt"
exits 0 "BatchNormalization in training is read"
[ "$(grep -c "= ReduceMean " "$tmp/norm.gpt")" = 2 ]
tap "it takes the mean and the variance"
pm run "$tmp/norm.onnx" --device emu --compare ref
exits 0 "which kernels compute too"
tap_done
