#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# use.sh - apply --bank: conflicts are decided by what is saved, by measurements of this architecture where there are
# any, and a lock file gives the same bytes again.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

model=models/llama_block.gpt
bank=$tmp/bank
db=$tmp/w.db
passes="add_rms_norm fuse swiglu"

pm task from $model --db "$db" --shapes 1
for p in $passes; do
	pm eval llama_block --db "$db" --pass "$build/passes/$p.so" --hidden 0
	pm bank add "$bank" "$build/passes/$p.so" --db "$db"
	exits 0 "$p is in the bank"
done

# ---- choosing ----

pm apply $model --bank "$bank" -o "$tmp/f.onnx"
exits 0 "a model is rewritten with a bank"
grep -q 'conflict at node [0-9]*: swiglu.so lost against fuse.so, [0-9.]* against [0-9.]* us saved' "$tmp/out"
tap "a conflict says where, who lost, and by how much"
awk '/predicted/ { ok = $2 + 0 <= $NF + 0 } END { exit !ok }' "$tmp/out"
tap "it is not worse than the best order of the passes"
[ "$(grep -c 'gain modelled$' "$tmp/out")" -eq 3 ]
tap "where nothing was measured, that is said"
pm run "$tmp/f.onnx" --device emu --compare ref
exits 0 "the rewritten model gives the same results"
pm apply $model --bank "$bank" -o "$tmp/j.onnx" --json
json "apply --bank --json is JSON"
says '"conflicts"' "with the conflicts"
pm apply $model --bank "$bank" --plain -o "$tmp/p.onnx"
exits 0 "and without kernels"

# ---- the lock ----

[ -s "$tmp/f.onnx.lock" ] && is_json "$tmp/f.onnx.lock"
tap "a lock file is beside it"
pm apply $model --bank "$bank" --lock "$tmp/f.onnx.lock" -o "$tmp/again.onnx"
exits 0 "the lock is done again"
cmp -s "$tmp/f.onnx" "$tmp/again.onnx"
tap "it gives the same bytes"
pm apply $model --bank "$bank" --lock "$tmp/p.onnx.lock" -o "$tmp/again.onnx"
exits 0 "so is one of a plain model"
cmp -s "$tmp/p.onnx" "$tmp/again.onnx"
tap "with the same bytes"
rm "$tmp/again.onnx"

pm apply models/swin_block.gpt --bank "$bank" --lock "$tmp/f.onnx.lock" -o "$tmp/again.onnx"
exits 1 "another model is found"
says "The model is another one" "and it is said"
[ ! -e "$tmp/again.onnx" ]
tap "nothing is written"
sed '/"out"/,$ s/"sha256":[[:space:]]*"[0-9a-f]*"/"sha256": "00"/' "$tmp/f.onnx.lock" >"$tmp/other.lock"
pm apply $model --bank "$bank" --lock "$tmp/other.lock" -o "$tmp/again.onnx"
exits 1 "other bytes are found"
says "The rewritten model has the SHA-256" "and it is said"
[ ! -e "$tmp/again.onnx" ] && [ -z "$(find "$tmp" -name '.*again*')" ]
tap "nothing is left"
sed 's/"digest":[[:space:]]*"[0-9a-f]*"/"digest": "00"/' "$tmp/f.onnx.lock" >"$tmp/other.lock"
pm apply $model --bank "$bank" --lock "$tmp/other.lock" -o "$tmp/again.onnx"
exits 1 "other regions are found"
says "is not chosen any more" "and named"
mv "$bank"/swiglu-* "$tmp/"
pm apply $model --bank "$bank" --lock "$tmp/f.onnx.lock" -o "$tmp/again.onnx"
exits 1 "a pass that is gone is found"
says "Pass swiglu" "and named"
mv "$tmp"/swiglu-* "$bank/"
echo '{}' >"$tmp/no.lock"
pm apply $model --bank "$bank" --lock "$tmp/no.lock" -o "$tmp/again.onnx"
exits 4 "another file is no lock"
one_sentence "in one sentence"

# ---- what was measured ----

# The same evaluations as if a GPU had measured them: the pass saves half as much as it costs more there.
gpu='GPU=Test GPU, compute capability 9.0, 1 multiprocessors, 1 GB; CUDA driver=1'
pm db export --db "$db" -o "$tmp/w.jsonl"
sed -e 's/"device":"emu"/"device":"cuda"/' -e "s/\"machine\":\"C++[^\"]*\"/\"machine\":\"$gpu\"/" \
	-e 's/\\"time\\":\\"modelled\\"/\\"time\\":\\"measured\\"/' -e 's/\\"speedup\\":[0-9.]*/\\"speedup\\":0.5/' \
	"$tmp/w.jsonl" >"$tmp/c.jsonl"
pm db import "$tmp/c.jsonl" --db "$tmp/c.db"
exits 0 "measurements of a GPU"
pm bank add "$bank" "$build/passes/fuse.so" --db "$tmp/c.db"
exits 1 "a pass that is slower there is not accepted"
pm bank add "$bank" "$build/passes/fuse.so" --db "$tmp/c.db" --above 0
exits 0 "unless that is asked for"
pm bank list "$bank"
grep -qE 'fuse +0\.500x +sm_90 \(Test GPU\) +measured' "$tmp/out"
tap "the list names the GPU"
pm bank verify "$bank"
exits 0 "the bank holds"

pm apply $model --bank "$bank" --arch sm_80 -o "$tmp/g.onnx"
exits 0 "for another architecture"
says "measured on another architecture 1 time, which does not count" "that does not count"
grep -qE '^ *fuse.so +[1-9]' "$tmp/out"
tap "and the pass is used as modelled"
pm apply $model --bank "$bank" --arch sm_90 -o "$tmp/g.onnx"
exits 0 "for that architecture"
says "gain measured:" "it counts"
grep -qE '^ *fuse.so +0 ' "$tmp/out" && grep -qE '^ *add_rms_norm.so +2 ' "$tmp/out"
tap "the pass that is slower there is not used, and those that lost against it are"
pm apply $model --bank "$bank" --arch sm_80 --any-arch -o "$tmp/a.onnx"
exits 0 "with --any-arch"
cmp -s "$tmp/g.onnx" "$tmp/a.onnx"
tap "it counts everywhere"
pm apply $model --bank "$bank" --lock "$tmp/a.onnx.lock" -o "$tmp/b.onnx"
cmp -s "$tmp/a.onnx" "$tmp/b.onnx"
tap "and a lock keeps what counted"

# ---- mistakes ----

printf x >>"$(echo "$bank"/fuse-*/fuse.so)"
pm apply $model --bank "$bank" -o "$tmp/x.onnx"
exits 4 "an object that is not that of its entry is refused"
one_sentence "in one sentence"
mkdir "$tmp/empty"
pm apply $model --bank "$tmp/empty" -o "$tmp/x.onnx"
exits 4 "an empty bank is refused"
for args in "--bank $bank --pass $build/passes/silu.so" "--lock $tmp/f.onnx.lock --passes $build/passes" "--bank $bank --arch x" \
	"--bank $bank --lock $tmp/f.onnx.lock --plain" "--any-arch --pass $build/passes/silu.so"; do
	# shellcheck disable=SC2086
	pm apply $model -o "$tmp/x.onnx" $args
	exits 2 "apply $args is a mistake"
done
tap_done
