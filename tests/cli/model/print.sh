#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# print.sh - a model as text without what nobody asked for, and its parts as JSON.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/net.gpt" <<'TEXT'
<ir_version: 8, opset_import: ["" : 18], metadata_props: ["author": "me", "tensor_stats": "{\"w\":{\"mean\":0.1,\"std\":0.5}}"]>
net (float[N,4] x) => (float[N,3] y)
<float[4,3] w = ["location": "gone.bin", "offset": "0", "length": "48"]>
{
   h = MatMul (x, w)
   y = Softmax <axis = 0> (h)
}
TEXT
pm print "$tmp/net.gpt"
exits 0 "print"
! grep -q tensor_stats "$tmp/out"
tap "no statistics unless asked for"
says '"author": "me"' "other metadata stays"
cp "$tmp/out" "$tmp/bare.gpt"
pm print "$tmp/bare.gpt"
cmp -s "$tmp/out" "$tmp/bare.gpt"
tap "the text prints itself"
pm print "$tmp/net.gpt" --stats
says tensor_stats "--stats prints them"
cp "$tmp/out" "$tmp/full.gpt"
pm print "$tmp/full.gpt" --stats
cmp -s "$tmp/out" "$tmp/full.gpt"
tap "and they are read again"
printf '<ir_version: 8, opset_import: ["" : 18], metadata_props: ["tensor_stats": "{}"]>\ng (float[2] x) => (float[2] y) { y = Relu(x) }\n' \
	>"$tmp/only.gpt"
pm print "$tmp/only.gpt"
exits 0 "print of a model with nothing but statistics"
[ "$(head -n 1 "$tmp/out")" = '<ir_version: 8, opset_import: ["" : 18]>' ]
tap "its header is whole"

pm print "$tmp/net.gpt" --json
exits 0 "print --json"
json "print --json is JSON"
for part in '"graph": "net"' '"name": "x"' '"type": "float[N,4]"' '"op": "MatMul"' '"op": "Softmax"' '"type": "float[N,3]"' '"text": "'; do
	says "$part" "it has $part"
done
tr -d ' \n' <"$tmp/out" | grep -qF '"inputs":["x","w"]'
tap "the operands of a node are a list of names"
tr -d ' \n' <"$tmp/out" | grep -qF '"attributes":{"axis":{"int":0}}'
tap "attributes have kind and value"

# What a failed build leaves.
cp passes/TEMPLATE.c "$tmp/mine.c"
pm build "$tmp/mine.c"
exits 0 "a build"
[ -s "$tmp/mine.so" ]
tap "the object is there"
echo 'int x = ;' >>"$tmp/mine.c"
pm build "$tmp/mine.c"
exits 1 "a build that fails"
[ ! -e "$tmp/mine.so" ]
tap "the object of the source before is gone"
warns "mine.so of an earlier build is removed" "which is said"
tap_done
