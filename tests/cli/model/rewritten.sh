#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rewritten.sh - what apply writes: calls of functions of standard operators that this program takes for kernels; what
# was changed is read as operators; --plain writes those alone; ONNX Runtime, where it is installed, agrees.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/two.gpt" <<'GPT'
two (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)
 m = Mul(x, s)
 e = Exp(m)
 t = Sigmoid(e)
 y = Mul(e, t) }
GPT
pm apply "$tmp/two.gpt" --pass "$build/passes/silu.so" -o "$tmp/k.onnx"
exits 0 "apply"
grep -aq 'passmith\.kernel\.Kernel_[0-9a-f]\{16\}' "$tmp/k.onnx"
tap "the model's metadata has the kernels"
pm import "$tmp/k.onnx" -o "$tmp/k.gpt"
exits 0 "import"
says "3 of 2 kinds: Kernel 2, Exp 1" "two calls are two kernels"
grep -q '__global__' "$tmp/k.gpt" && grep -q 'launch_0 = \[".* grid=' "$tmp/k.gpt"
tap "with their sources and launches"
! grep -q 'passmith\.kernel' "$tmp/k.gpt"
tap "and they are no metadata of the graph"
pm import "$tmp/k.gpt" -o "$tmp/again.onnx"
cmp -s "$tmp/k.onnx" "$tmp/again.onnx"
tap "text and back gives the same bytes"
pm import "$tmp/k.onnx" --check
exits 0 "import --check"

# One letter of a source: the name of the function does not go with it any more.
sed 's/__global__/__globol__/' "$tmp/k.onnx" >"$tmp/changed.onnx"
pm import "$tmp/changed.onnx"
exits 0 "a model whose source was changed is read"
says "5 of 3 kinds: Sigmoid 2, Mul 2, Exp 1" "as standard operators"
warns "was changed after it was written. It is read as the standard operators in it." "and that is said"
sed 's/passmith\.kernel\./passmith.kermel./' "$tmp/k.onnx" >"$tmp/bare.onnx"
pm import "$tmp/bare.onnx"
says "5 of 3 kinds" "without metadata it is standard operators too"
warns "has no metadata with its sources. It is read as the standard operators in it." "which is said as well"

pm run "$tmp/two.gpt" --device ref
sed 's/^[^:]*: //' "$tmp/out" >"$tmp/want"
for m in k changed bare; do
	pm run "$tmp/$m.onnx" --device ref
	sed 's/^[^:]*: //' "$tmp/out" | cmp -s - "$tmp/want"
	tap "$m.onnx gives the same results"
done

pm apply "$tmp/two.gpt" --pass "$build/passes/silu.so" -o "$tmp/plain.onnx" --plain
exits 0 "apply --plain"
says "2 places rewritten, 5 nodes became 3" "says the same of the rewriting"
! grep -aq passmith\\. "$tmp/plain.onnx"
tap "and writes nothing of kernels"
pm import "$tmp/plain.onnx"
says "5 of 3 kinds: Sigmoid 2, Mul 2, Exp 1" "but the operators that they stand for"
pm import "$tmp/k.onnx" --plain -o "$tmp/plain2.onnx"
exits 0 "import --plain"
says "5 of 3 kinds: Sigmoid 2, Mul 2, Exp 1" "says what it writes"
cmp -s "$tmp/plain.onnx" "$tmp/plain2.onnx"
tap "and writes the same model"

name="ONNX's checker and ONNX Runtime take the rewritten model, which gives what the original gives"
if python3 -c 'import numpy, onnx, onnxruntime' 2>"$tmp/err"; then
	code=0
	python3 tools/check/check_rewritten.py --passmith "$passmith" --pass "$build/passes/silu.so" --out "$tmp/ort.jsonl" \
		"$tmp/plain.onnx" >"$tmp/out" 2>"$tmp/err" || code=$?
	[ $code -eq 0 ] && grep -q '^check-ort: 1 models, 1 equal$' "$tmp/out"
	tap "$name"
	# The check itself: this passmith rewrites a model that differs in one operator.
	sed 's/Exp/Sin/' "$tmp/plain.onnx" >"$tmp/other.onnx"
	cat >"$tmp/lying" <<EOF2
#!/bin/sh
[ "\$1" = apply ] || exec "$passmith" "\$@"
shift 2
exec "$passmith" apply "$tmp/other.onnx" "\$@"
EOF2
	chmod +x "$tmp/lying"
	code=0
	python3 tools/check/check_rewritten.py --passmith "$tmp/lying" --pass "$build/passes/silu.so" --out "$tmp/lie.jsonl" \
		"$tmp/plain.onnx" >"$tmp/out" 2>"$tmp/err" || code=$?
	[ $code -eq 1 ] && grep -q '^check-ort: 1 models, 1 differs$' "$tmp/out"
	tap "the comparison can fail"
else
	skip "$name" "python3 has no onnx and onnxruntime (pip install onnx onnxruntime)"
fi
tap_done
