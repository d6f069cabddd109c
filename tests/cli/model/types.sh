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
tap_done
