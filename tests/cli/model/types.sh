#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# types.sh - a model that states types which its definitions contradict: refused, or read with --types infer.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# y = Neg(h), h = Relu(x), x float[2]; h is stated as float[2,2] and y as float[3].
# shellcheck disable=SC2059
printf "\010\010\072U\012\014\012\001x\022\001h\042\004Relu\012\013\012\001h\022\001y\042\003Neg\022\001gZ\017\012\001x\022\012\012\010\010\001\022\004\012\002\010\002b\017\012\001y\022\012\012\010\010\001\022\004\012\002\010\003j\023\012\001h\022\016\012\014\010\001\022\010\012\002\010\002\012\002\010\002B\002\020\022" >"$tmp/wrong.onnx"

pm import "$tmp/wrong.onnx"
exits 4 "a contradicted type ends an import"
warns "rank 2 for the value 'h'" "the sentence names the value"
warns "let the definition decide with --types infer" "and the option"
pm import --types stated "$tmp/wrong.onnx"
exits 4 "stated is the default"

pm import --types infer "$tmp/wrong.onnx" -o "$tmp/right.gpt"
exits 0 "--types infer reads it"
warns "states the rank 2 for the value 'h'; its definition gives float[2]" "what was dropped is said"
warns "states the size 3 at dimension 0 for the value 'y'" "of results too"
[ "$(cat "$tmp/out" "$tmp/err" | grep -c "for the value 'y'")" = 1 ]
tap "once for each value"
grep -q "(float\[2\] x) => (float\[2\] y)" "$tmp/right.gpt"
tap "the definition's type is taken"
pm import --types infer --json "$tmp/wrong.onnx"
json "import --json is JSON"
says '"types_inferred"' "it has what was dropped"

pm run --types infer --device ref "$tmp/wrong.onnx"
exits 0 "run takes the option"
pm simplify --types infer "$tmp/wrong.onnx" -o "$tmp/simple.gpt"
exits 0 "simplify takes the option"
pm import --types=perhaps "$tmp/wrong.onnx"
exits 2 "another word is a usage error"
warns "takes stated or infer" "which names the two"

# y = x w k + b with x of float16, w and b of float and the number k of float: what mixed precision leaves behind.
# shellcheck disable=SC2059
printf "\010\010\072\223\001\012\021\012\001x\012\001w\022\001p\042\006MatMul\012\016\012\001p\012\001k\022\001s\042\003Mul\012\016\012\001s\012\001b\022\001y\042\003Add\022\001m\052\013\020\001B\001kJ\004\000\000\000\077Z\023\012\001x\022\016\012\014\010\012\022\010\012\002\010\002\012\002\010\002Z\023\012\001w\022\016\012\014\010\001\022\010\012\002\010\002\012\002\010\002Z\017\012\001b\022\012\012\010\010\001\022\004\012\002\010\002b\023\012\001y\022\016\012\014\010\001\022\010\012\002\010\002\012\002\010\002B\004\012\000\020\022" >"$tmp/mix.onnx"
pm import "$tmp/mix.onnx"
exits 4 "operands of two floating-point types end an import"
warns "operand 0 ('x') is float16[2,2] and operand 1 ('w') is float[2,2]" "which are named"
warns "have casts stated with --types infer" "and the option"
pm import --types infer "$tmp/mix.onnx" -o "$tmp/mix.gpt"
exits 0 "--types infer states casts"
warns "operand 1 ('w') is cast from float to float16" "a product takes the 16-bit type"
warns "operand 1 ('k') is cast from float to float16" "a number follows the tensor"
warns "is cast from float16 to float" "a sum takes the wider one"
[ "$(grep -c "= Cast <to = " "$tmp/mix.gpt")" = 3 ]
tap "each cast is a node"
pm run --types infer --device emu --compare ref "$tmp/mix.onnx"
exits 0 "and the model runs alike on two devices"
pm task from --types infer "$tmp/mix.onnx" "$tmp/wrong.onnx" --shapes 1 --db "$tmp/mix.db"
exits 0 "task from takes the option"
says "2 of 2 models are tasks" "both become tasks"
tap_done
