#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# weights.sh - a model without its weights: they are made up and that is said; materialize writes them down; what is
# written computes the same; ONNX Runtime, where it is installed, agrees.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

at() # BYTES
{
	printf '["location": "not-here.bin", "offset": "0", "length": "%s"]' "$1"
}
cat >"$tmp/net.gpt" <<EOF
<ir_version: 8, opset_import: ["" : 18], metadata_props: ["tensor_stats":
"{\"w\":{\"mean\":0.0,\"std\":0.2,\"source\":\"W\"},\"var\":{\"mean\":2.0,\"std\":1.0,\"min\":0},\"ids\":{\"data\":[3,1,4,1,5]},\"b\":{\"mean\":1,\"std\":1,\"source\":\"another\"}}"]>
net (float[2,3,9,7] x, int64[5] ids) => (float[2,8,9,7] y, float[5,6] e)
<float[8,3,3,3] w = $(at 864), float[8] gamma = $(at 32), float[8] beta = $(at 32), float[8] mean = $(at 32),
 float[8] var = $(at 32), float[11,6] table = $(at 264), float[6] b = $(at 24)>
{
 c = Conv <dilations = [1, 1], group = 1, pads = [1, 1, 1, 1], strides = [1, 1]> (x, w)
 n = BatchNormalization <epsilon = 1e-5, momentum = 0.9, training_mode = 0> (c, gamma, beta, mean, var)
 y = Relu (n)
 r = Gather <axis = 0> (table, ids)
 e = Add (r, b)
}
EOF

pm import "$tmp/net.gpt" -o "$tmp/net.onnx"
exits 0 "import"
says "7 weights synthesised" "import says how many weights are made up"
says "table 1" "by role"
says "by role, statistics are another tensor's: 1" "and how"
pm import "$tmp/net.onnx" --json
json "import --json"
says '"synthesised": 7' "the JSON has their number"
pm print "$tmp/net.onnx"
exits 0 "print"
warns "7 weights (0.00128 MB) are not at hand and are synthesised" "print says it beside the text"
pm run "$tmp/net.onnx" --device emu --compare ref
exits 0 "emu and ref agree on made-up weights"
warns "are synthesised" "run says it"

for how in "" --external; do
	# shellcheck disable=SC2086 # no argument when empty
	pm materialize "$tmp/net.onnx" -o "$tmp/full.onnx" $how
	exits 0 "materialize $how"
	says "7 weights written" "materialize $how says what was written"
	cp "$tmp/full.onnx" "$tmp/first.onnx"
	[ -n "$how" ] || cp "$tmp/full.onnx" "$tmp/inline.onnx"
	# shellcheck disable=SC2086
	pm materialize "$tmp/net.onnx" -o "$tmp/full.onnx" $how --json
	json "materialize $how --json"
	cmp -s "$tmp/full.onnx" "$tmp/first.onnx"
	tap "materialize $how: twice the same bytes"
	pm import "$tmp/full.onnx" --json
	says '"synthesised": 0' "materialize $how: nothing is missing any more"
	pm run "$tmp/net.gpt" --device ref --quiet
	cp "$tmp/out" "$tmp/before"
	pm run "$tmp/full.onnx" --device ref --quiet
	[ -s "$tmp/out" ] && cmp -s "$tmp/out" "$tmp/before"
	tap "materialize $how: the outputs are the same"
done
[ -s "$tmp/full.onnx.data" ]
tap "--external writes a data file beside the model"
pm materialize "$tmp/full.onnx" -o "$tmp/again.onnx" --json
says '"made": 0' "materialize copies a data file that is there"
cmp -s "$tmp/again.onnx" "$tmp/inline.onnx"
tap "and gives the file with the weights inside"
pm materialize "$tmp/net.onnx" -o "$tmp/no/such/folder.onnx" --quiet
exits 3 "materialize into a folder that is not there"
one_sentence "is one sentence"

pm run "$tmp/net.onnx" --device ref --save "$tmp/case" --quiet
exits 0 "run --save"
cp "$tmp/out" "$tmp/before"
[ -s "$tmp/case/model.onnx" ] && [ -s "$tmp/case/test_data_set_0/input_1.pb" ] &&
	[ -s "$tmp/case/test_data_set_0/output_1.pb" ]
tap "run --save writes model, inputs and outputs"
pm conform "$tmp" --device emu
says "total                         1       1       0            0         0" "what was saved is a conformance case that emu passes"
pm run "$tmp/net.gpt" --device ref --seed 9 --quiet
! cmp -s "$tmp/out" "$tmp/before"
tap "another seed gives other outputs"
pm run "$tmp/net.gpt" --device ref --seed 9 --inputs "$tmp/case" --quiet
cmp -s "$tmp/out" "$tmp/before"
tap "run --inputs takes the saved ones"
pm run models/llama_block.gpt --device ref --inputs "$tmp/case"
exits 4 "run --inputs with another model's"
one_sentence "is one sentence"

name="ONNX Runtime agrees on the bundled models and the materialised one"
if python3 -c 'import numpy, onnx, onnxruntime' 2>"$tmp/err"; then
	code=0
	python3 tools/bench/check_ort.py "$build"/models/*.onnx "$tmp/net.onnx" --passmith "$passmith" --device ref,emu \
		--out "$tmp/ort.jsonl" >"$tmp/out" 2>"$tmp/err" || code=$?
	[ $code -eq 0 ] && grep -q '^7 models, 7 agrees$' "$tmp/out"
	tap "$name"
	# The check itself: this passmith runs a model that differs in one operator.
	pm materialize "$tmp/net.onnx" -o "$tmp/other.onnx" --quiet
	python3 - "$tmp/other.onnx" <<'EOF'
import sys, onnx
m = onnx.load(sys.argv[1])
for n in m.graph.node:
    if n.op_type == "Relu":
        n.op_type = "Softplus"
onnx.save(m, sys.argv[1])
EOF
	cat >"$tmp/lying" <<EOF
#!/bin/sh
[ "\$1" = run ] || exec "$passmith" "\$@"
shift 2
"$passmith" run "$tmp/other.onnx" "\$@" || exit
cp "$tmp/inline.onnx" "\$(echo "\$*" | sed 's/.*--save //; s/ .*//')/model.onnx"
EOF
	chmod +x "$tmp/lying"
	code=0
	python3 tools/bench/check_ort.py "$tmp/net.onnx" --passmith "$tmp/lying" --out "$tmp/lie.jsonl" >"$tmp/out" \
		2>"$tmp/err" || code=$?
	[ $code -eq 1 ] && grep -q '^1 models, 1 differs$' "$tmp/out"
	tap "the comparison with ONNX Runtime can fail"
else
	skip "$name" "python3 has no onnx and onnxruntime (pip install onnx onnxruntime)"
fi
# A row chosen by an index that is not at hand is gathered, as a run does it: it was a view, as if the index were 0.
printf '%s' "one (float[11,6] table) => (float[1,6] e) <int64[1] id = $(at 8)> { r = Gather<axis = 0>(table, id) e = Neg(r) }" >"$tmp/one.gpt"
pm apply "$tmp/one.gpt" --pass "$build/passes/silu.so" -o "$tmp/one.onnx" --json
exits 1 "apply to a model without its weights, where no rule matches"
says '"launches_before": 2' "launches are those of a run"
tap_done
