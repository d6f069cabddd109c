#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# depthwise.sh - convolutions of each channel by itself agree with the reference, by strips and by tiles in shared memory.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# conv WHAT HOW TYPE X W BIAS Y ATTRIBUTES: Conv of x and w of these sizes.
conv()
{
	bias=
	[ -z "$6" ] || bias=", $3[$6] b"
	cat >"$tmp/g.gpt" <<GRAPH
<opset_import: ["" : 22]>
conv ($3[$4] x, $3[$5] w$bias) => ($3[$7] y)
{
   y = Conv <$8> (x, w${6:+, b})
}
GRAPH
	runs "$1" "$2"
}

# runs WHAT HOW: $tmp/g.gpt on emu, as the reference has it.
runs()
{
	pm run "$tmp/g.gpt" --device emu --compare ref --plan
	exits 0 "$1 agrees with the reference"
	grep -q "eager depthwise$2 Conv" "$tmp/err"
	tap "by${2:- strips}"
}

for type in float float16 bfloat16 double; do
	how=' tile'
	case $type in
	float | double) how= ;;
	esac
	conv "$type, rows of four elements at once" ' tile' $type 1,3,40,72 3,1,7,7 '' 1,3,40,72 'group = 3, strides = [1, 1], dilations = [1, 1], pads = [3, 3, 3, 3]'
	conv "$type, two at once, a bias" ' tile' $type 2,2,31,50 2,1,7,6 2 2,2,31,48 'group = 2, strides = [1, 1], dilations = [1, 1], pads = [4, 1, 2, 2]'
	conv "$type, one at once, a stride of many taps" ' tile' $type 1,2,70,67 2,1,9,9 '' 1,2,35,34 'group = 2, strides = [2, 2], dilations = [1, 1], pads = [4, 4, 4, 4]'
	conv "$type, a dilation, two filters a channel" "$how" $type 1,2,33,44 4,1,5,5 4 1,4,33,36 'group = 2, strides = [1, 1], dilations = [3, 2], pads = [6, 0, 6, 0]'
	conv "$type, images of a few elements" ' tile' $type 3,300,5,6 300,1,8,8 '' 3,300,5,6 'group = 300, strides = [1, 1], dilations = [1, 1], pads = [3, 4, 4, 3]'
	conv "$type, a stride" '' $type 1,2,70,68 2,1,7,7 '' 1,2,35,34 'group = 2, strides = [2, 2], dilations = [1, 1], pads = [3, 3, 3, 3]'
	conv "$type, small images" '' $type 1,40,14,14 40,1,7,7 '' 1,40,14,14 'group = 40, strides = [1, 1], dilations = [1, 1], pads = [3, 3, 3, 3]'
	conv "$type, windows of one row" '' $type 1,4,60,60 4,1,1,30 '' 1,4,60,60 'group = 4, strides = [1, 1], dilations = [1, 1], pads = [0, 15, 0, 14]'
done
conv "small windows of large images" ' tile' float16 1,70,128,128 70,1,3,3 '' 1,70,128,128 'group = 70, strides = [1, 1], dilations = [1, 1], pads = [1, 1, 1, 1]'
cat >"$tmp/g.gpt" <<'GRAPH'
<opset_import: ["" : 22]>
empty (float[0,3,40,40] x, float[3,1,7,7] w) => (float[0,3,40,40] y)
{
   y = Conv <group = 3, strides = [1, 1], dilations = [1, 1], pads = [3, 3, 3, 3]> (x, w)
}
GRAPH
pm run "$tmp/g.gpt" --device emu --compare ref
exits 0 "no images"

# Of views: from an odd place on, and across memory.
cat >"$tmp/g.gpt" <<'GRAPH'
<opset_import: ["" : 22]>
odd (float16[1,2,33,41] v, float16[2,1,7,7] w) => (float16[1,2,32,40] y)
{
   x = Slice <starts = [1, 1], ends = [33, 41], axes = [2, 3], steps = [1, 1]> (v)
   y = Conv <group = 2, strides = [1, 1], dilations = [1, 1], pads = [3, 3, 3, 3]> (x, w)
}
GRAPH
runs 'a view from an odd place on' ' tile'
cat >"$tmp/g.gpt" <<'GRAPH'
<opset_import: ["" : 22]>
across (float[1,40,36,3] v, float[3,1,7,7] w) => (float[1,3,40,36] y)
{
   x = Transpose <perm = [0, 3, 1, 2]> (v)
   y = Conv <group = 3, strides = [1, 1], dilations = [1, 1], pads = [3, 3, 3, 3]> (x, w)
}
GRAPH
runs 'a view across memory' ' tile'
tap_done
