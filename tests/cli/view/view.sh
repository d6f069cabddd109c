#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# view.sh - passmith view: a model as a page whose groups open, and one level as SVG.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

page=$tmp/v.html

# layers N SCOPE: a model of N layers of 8 operators, whose names begin with SCOPE.
layers()
{
	echo "tower (float[8,32] x) => (float[8,32] y)"
	echo "{"
	awk -v n="$1" -v scope="$2" 'BEGIN {
		last = "x"
		for (i = 0; i < n; i++) {
			for (k = 0; k < 7; k++) {
				out = "h" i "_" k
				printf "[\"%slayer.%d/block/op%d\"] %s = %s (%s)\n", scope, i, k, out, k % 2 ? "Exp" : "Tanh", last
				last = out
			}
			out = i == n - 1 ? "y" : "h" i
			printf "[\"%slayer.%d/block/add\"] %s = Add (h%d_0, %s)\n", scope, i, out, i, last
			last = out
		}
	}'
	echo "}"
}

pm view models/resnet_bottleneck.gpt -o "$page" --layout own
exits 0 "a small model"
says "12 nodes, 0 groups; 1 level drawn" "is one level"
holds '>Conv</text>' "its operators are drawn"
holds '[1,64,' "with types"
holds "Content-Security-Policy" "in a page that loads nothing"
cp "$page" "$tmp/again.html"
pm view models/resnet_bottleneck.gpt -o "$page" --layout own
cmp -s "$page" "$tmp/again.html"
tap "the same model gives the same bytes"
if command -v tidy >/dev/null; then
	tidy -q -e --drop-empty-elements no "$page" >"$tmp/out" 2>"$tmp/err" && ! grep -q '^line' "$tmp/err"
	tap "the page is HTML by tidy's rules"
else
	skip "the page is HTML by tidy's rules" "tidy is not here"
fi

page=$tmp/v.svg
pm view models/resnet_bottleneck.gpt -o "$page" --layout own
exits 0 "as SVG"
holds '<style>' "with its style in it"
if command -v xmllint >/dev/null; then
	xmllint --noout "$page" 2>"$tmp/err"
	tap "which is XML"
else
	skip "which is XML" "xmllint is not here"
fi

# A chain of narrow boxes is as wide as its types, which stand beside it.
printf 'm (float[1,2,3,4,5000,6000] x) => (float[1,2,3,4,5000,6000] z)\n{\ny = Tanh (x)\nz = Exp (y)\n}\n' >"$tmp/wide.gpt"
pm view "$tmp/wide.gpt" -o "$page" --layout own
sed 's/>/>\n/g' "$page" | awk '/^<svg/ { split($0, a, "[ \"]+"); for (i in a) if (a[i] == "width=") width = a[i + 1] }
	/class="shape"/ { split($0, a, "\""); at = a[4] } /^float.*text/ { text = length($0) - length("</text>") }
	at && text && !done { done = 1; good = at + text * 6 <= width } END { exit !good }'
tap "a type beside an edge lies in the drawing"

page=$tmp/v.html
layers 20 "/" >"$tmp/tower.gpt"
pm view "$tmp/tower.gpt" -o "$page" --layout own --json
exits 0 "a model of 20 layers"
says '"nodes": 160' "has all its nodes"
says '"groups": 20' "a group for each scope"
says '"levels": 2' "and equal layers are drawn once"
holds '>layer.19</text>' "the last layer is on the first level"
holds 'href="#g1"' "and opens"
holds 'id="g1"' "a level that is there"
holds "one of 20 groups that differ in names and weights alone" "which it says"
pm view "$tmp/tower.gpt" -o "$page" --layout own --group 3
exits 0 "one group alone"
holds 'class="sheet first"' "is the first level"
lacks '>layer.19</text>' "without the others"
pm view "$tmp/tower.gpt" -o "$page" --layout own --flat --json
says '"groups": 0' "--flat makes no groups"
says '"boxes": 160' "and draws every node"

layers 500 "" | sed 's/^\["[^"]*"\] //' >"$tmp/tall.gpt"
pm view "$tmp/tall.gpt" -o "$page" --layout own --json
exits 0 "a model without names of nodes"
says '"nodes": 4000' "has all its nodes"
holds '>part 1 of ' "in parts"
rm "$page"
pm view "$tmp/tall.gpt" -o "$page" --flat
exits 4 "too many nodes for one level"
one_sentence "are refused in one sentence"
[ ! -e "$page" ]
tap "and nothing is written"
pm view "$tmp/tower.gpt" -o "$page" --group 21
exits 4 "a group that there is not"
one_sentence "is refused in one sentence"
pm view "$tmp/tower.gpt" -o "$tmp/v.png"
exits 2 "a file of another kind"
pm view "$tmp/tower.gpt" -o "$page" --layout pretty
exits 2 "a layout that there is not"

silu_graph 'float[8,32]'
pm apply "$tmp/silu.gpt" --pass "$build/passes/silu.so" -o "$tmp/fused.gpt"
pm view "$tmp/fused.gpt" -o "$page" --layout own
exits 0 "a rewritten model"
holds 'class="item node kernel"' "its kernel has a class of its own"
holds '>silu</text>' "and the name of its rule"

# Names of strangers are text and nothing else, on a page and in a drawing.
long=$(awk 'BEGIN { for (i = 0; i < 10000; i++) printf "w" }')
printf 'm (float[4] x) => (float[4] z)\n{\n["</title><script>alert(1)</script>"] y = Tanh (x)\n["\342\200\256evil\033[31m%s"] z = Exp (y)\n}\n' \
	"$long" >"$tmp/evil.gpt"
for page in "$tmp/e.html" "$tmp/e.svg"; do
	pm view "$tmp/evil.gpt" -o "$page" --layout own
	exits 0 "hostile names in ${page##*.}"
	lacks '<script>alert' "open no element"
	holds '&lt;script&gt;' "they are escaped"
	! LC_ALL=C grep -q "$(printf '\342\200\256\|\033')" "$page"
	tap "no mark of direction and no terminal escape is left"
	! grep -q '>[^<]*wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww[^<]*</text>' "$page"
	tap "a long name is cut where it is drawn"
done
tap_done
