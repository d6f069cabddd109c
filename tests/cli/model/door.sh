#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# door.sh - models come in and go out unchanged and their stated types follow from inference (import --check); bind
# and simplify write models that are right.
#
# The bundled models always; with $PASSMITH_SHARED/models/core (default ../shared) those 50, and with an unpacked corpus
# ($PASSMITH_MODELS, a folder, or $BUILD/corpus-models of make bench-import) all of that.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

matches()
{
	grep -qE -e "$1" "$tmp/out"
	tap "$2"
}

check_all()
{
	what=$1
	shift
	n=$#
	pm import --check "$@"
	exits 0 "$what: import --check"
	matches "print, parse, print: *$n of $n models unchanged" "$what: through text"
	matches "export, import, export: *$n of $n models unchanged" "$what: through ONNX"
	matches "stated types: *[1-9][0-9]* compared, .*, 0 not inferred as a whole, 0 differ" "$what: stated types"
	sed -n 's/^stated/# stated/p; s/^print,/# print,/p; s/^export,/# export,/p' "$tmp/out"
}

check_all "bundled models" "$build"/models/*.onnx
core=${PASSMITH_SHARED:-../shared}/models/core
if [ -d "$core" ]; then
	check_all "core models" "$core"/*.onnx
else
	skip "core models" "there is no $core"
fi
corpus=${PASSMITH_MODELS:-$build/corpus-models}
if [ -d "$corpus" ]; then
	find "$corpus" -name '*.onnx' >"$tmp/list"
	# shellcheck disable=SC2046 # no model has a space in its name
	check_all "corpus models" $(cat "$tmp/list")
else
	skip "corpus models" "there is no $corpus; make bench-import unpacks it"
fi

printf '\010\007garbage' >"$tmp/model.pb"
pm import "$tmp/model.pb"
exits 4 "a file that is neither text nor called .onnx"
warns "The file is not text; ONNX models are read when their name ends in" "it says what the name must be"

cat >"$tmp/open.gpt" <<'EOF'
open (float[batch,seq,8] x) => (float["batch*seq",8] y)
<int64[2] s = {-1, 8}> {
   i = Identity (x)
   r = Reshape (i, s)
   y = Relu (r)
}
EOF
pm import "$tmp/open.gpt"
matches "open sizes *batch, seq" "import names the open sizes"
pm bind "$tmp/open.gpt" --dim batch=2 -o "$tmp/two.onnx"
exits 0 "bind one size"
says "still open: seq" "bind says what is left"
pm bind "$tmp/two.onnx" --dim seq=5 -o "$tmp/all.gpt"
exits 0 "bind the other"
grep -q "float\[2,5,8\] x) => (float\[10,8\] y)" "$tmp/all.gpt"
tap "the bound model has the sizes"
example=$(pm bind --help && sed -n '/^example:/{n;s/^ *passmith \(.*\) -o .*/\1/p;}' "$tmp/out")
# shellcheck disable=SC2086 # the words are arguments
pm $example -o "$tmp/head.onnx"
exits 0 "the example of bind's help, $example"
says "every size of the inputs is fixed" "fixes every size"
pm run models/bge_pooling_head.gpt && sed -n 1p "$tmp/out" >"$tmp/closed" && pm run "$tmp/head.onnx"
grep -qF "$(cat "$tmp/closed")" "$tmp/out"
tap "and gives what the same model of these sizes gives"
cat >"$tmp/table.json" <<'EOT'
{"tables": [{"rules": {"r": {"symbols": ["S0", "S1"], "values": [[1, 2], [2, 5]]}}, "signatures": {"SIGNATURE": "r"}}]}
EOT
pm bind "$tmp/open.gpt" --table "$tmp/table.json" --row 1 -o "$tmp/row.gpt"
exits 4 "a table without the signature"
signature=$(sed -n 's/.*has no signature \(\[.*\]\);.*/\1/p' "$tmp/err")
sed -i "s/SIGNATURE/$signature/" "$tmp/table.json"
pm bind "$tmp/open.gpt" --table "$tmp/table.json" --row 1 -o "$tmp/row.gpt"
exits 0 "sizes from a table"
cmp -s "$tmp/all.gpt" "$tmp/row.gpt"
tap "are those of its row"
pm bind "$tmp/open.gpt" --dim other=5 -o "$tmp/no.onnx"
exits 4 "a size that is not there"
warns "has no open size 'other'; its inputs have: batch, seq." "bind names those that are"
pm bind "$tmp/open.gpt" --dim batch -o "$tmp/no.onnx"
exits 2 "a size without a number"

pm simplify "$tmp/all.gpt" -o "$tmp/simple.onnx"
exits 0 "simplify"
says "2 nodes, 3 before" "simplify counts"
pm simplify "$tmp/all.gpt" -o "$tmp/simple.gpt" --passes identity --dump-after identity
warns "after identity, round 1, 1 change:" "--dump-after shows the graph"
pm simplify --list
says "noop-transpose" "--list names the passes"
pm simplify "$tmp/all.gpt" -o "$tmp/simple.gpt" --passes nonsense
exits 2 "a pass that is not there"
pm run "$tmp/simple.onnx" --device emu --compare ref
exits 0 "the model that simplify wrote runs"
for m in models/*.gpt; do
	pm simplify "$m" -o "$tmp/simple.onnx"
	exits 0 "$(basename "$m" .gpt): simplify"
done
tap_done
