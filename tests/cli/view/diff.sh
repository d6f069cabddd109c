#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# diff.sh - passmith view A B: what differs between two models; and view of tasks and packs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

page=$tmp/d.html

# chain N NAME OP: N operators, of which number N/2 is OP, with values called NAME0, NAME1, ...
chain()
{
	echo "m (float[8,32] x) => (float[8,32] y)"
	echo "{"
	awk -v n="$1" -v name="$2" -v op="$3" 'BEGIN {
		last = "x"
		for (i = 0; i < n; i++) {
			out = i == n - 1 ? "y" : name i
			printf "%s = %s (%s)\n", out, i == int(n / 2) ? op : i % 2 ? "Exp" : "Tanh", last
			last = out
		}
	}'
	echo "}"
}

chain 400 a "Relu" >"$tmp/a.gpt"
chain 400 b "Relu" >"$tmp/renamed.gpt"
pm view "$tmp/a.gpt" "$tmp/renamed.gpt"
exits 0 "a model and a copy with other names"
says "400 nodes are in both, 0 removed, 0 added, 0 changed" "have no difference"
pm view "$tmp/a.gpt" "$tmp/renamed.gpt" -o "$page" --layout own
holds "The models have no difference." "which a page says too"

chain 400 b "LeakyRelu <alpha = 0.5>" >"$tmp/b.gpt"
chain 400 c "LeakyRelu <alpha = 0.25>" >"$tmp/c.gpt"
pm view "$tmp/b.gpt" "$tmp/c.gpt" -o "$page" --layout own
exits 0 "another attribute"
says "399 nodes are in both, 0 removed, 0 added, 1 changed" "is one changed node"
says "attribute alpha: 0.5 became 0.25" "and what changed is said"
holds 'class="item node ew changed"' "the node is marked"
holds '>changed' "with a word, too"
holds '>unchanged</text>' "what is far from it is folded"
holds '<td>changed</td><th scope="row"><a href="#g0">' "a row of the table leads to it"
[ "$(grep -o '<section' "$page" | wc -l)" -ge 2 ]
tap "folded parts open"
cp "$page" "$tmp/again.html"
pm view "$tmp/b.gpt" "$tmp/c.gpt" -o "$page" --layout own
cmp -s "$page" "$tmp/again.html"
tap "the same models give the same bytes"
if command -v tidy >/dev/null; then
	# Links of SVG are none that it knows.
	tidy -q -e --drop-empty-elements no "$page" >"$tmp/out" 2>"$tmp/err"
	! grep '^line' "$tmp/err" | grep -v '<a> proprietary attribute' >"$tmp/out"
	tap "the page is HTML by tidy's rules"
else
	skip "the page is HTML by tidy's rules" "tidy is not here"
fi

pm view "$tmp/a.gpt" "$tmp/b.gpt" --json
exits 0 "another operator"
says '"removed": 1' "is one node removed"
says '"added": 1' "one added"
says '"changed": 1' "and what reads it changed"
says '"where": "LeakyRelu of b200"' "each with its name"
pm view "$tmp/b.gpt" "$tmp/a.gpt" --json
says '"where": "LeakyRelu of b200"' "and the other way round"

# A rewritten model against its original: what a kernel stands for.
silu_graph 'float[8,32]'
pm apply "$tmp/silu.gpt" --pass "$build/passes/silu.so" -o "$tmp/fused.gpt"
pm view "$tmp/silu.gpt" "$tmp/fused.gpt" -o "$page" --layout own
exits 0 "a rewritten model"
says "stands for 2 removed nodes: Sigmoid" "its kernel names what it replaced"
holds 'node kernel added"' "the kernel is added"
holds 'removed"' "and what it replaced is removed"

# Levels of a drawing are as wide as their marks: SVG of a difference.
page=$tmp/d.svg
pm view "$tmp/silu.gpt" "$tmp/fused.gpt" -o "$page" --layout own
exits 0 "a difference as SVG"
holds 'node kernel added"' "has the marks"

# Names of strangers are text.
page=$tmp/e.html
printf 'm (float[4] x) => (float[4] z)\n{\n["</title><script>alert(1)</script>"] y = Tanh (x)\nz = Exp (y)\n}\n' >"$tmp/evil.gpt"
printf 'm (float[4] x) => (float[4] z)\n{\n["\342\200\256<img src=x>\033[31m"] y = Relu (x)\nz = Exp (y)\n}\n' >"$tmp/evil2.gpt"
pm view "$tmp/evil.gpt" "$tmp/evil2.gpt" -o "$page" --layout own
exits 0 "hostile names"
! LC_ALL=C grep -q "$(printf '\342\200\256\|\033')" "$tmp/out"
tap "are cleaned where they are printed"
lacks '<script>alert' "open no element"
lacks '<img' "not even in what was added"
! LC_ALL=C grep -q "$(printf '\342\200\256\|\033')" "$page"
tap "no mark of direction and no terminal escape is left"

pm view "$tmp/a.gpt"
exits 2 "one model without -o"
pm view "$tmp/a.gpt" "$tmp/b.gpt" "$tmp/c.gpt" -o "$page"
exits 2 "three models"
rm -f "$page"
pm view "$tmp/a.gpt" "$tmp/none.gpt" -o "$page"
exits 4 "a second model that is not there"
one_sentence "is refused in one sentence"
[ ! -e "$page" ]
tap "and nothing is written"

# ---- tasks and packs ----
page=$tmp/t.html
pm extract "$tmp/silu.gpt" --db "$tmp/w.db" --quiet
pm task make --db "$tmp/w.db" --top 1 --name t --shapes 2 --quiet
pm view t --db "$tmp/w.db" -o "$page" --layout own
exits 0 "a task by its name"
holds '>Sigmoid</text>' "is drawn"
cp "$page" "$tmp/first.html"
pm view t --db "$tmp/w.db" --variant 1 -o "$page" --layout own
exits 0 "another variant of it"
! cmp -s "$page" "$tmp/first.html"
tap "has other types"
pm view t --db "$tmp/w.db" --variant 99 -o "$page"
exits 4 "a variant that there is not"
one_sentence "is refused in one sentence"
pm view nobody --db "$tmp/w.db" -o "$page"
exits 4 "a task that there is not"
pm view t --db "$tmp/none.db" -o "$page"
[ "$code" -ne 0 ]
tap "a database that is not there"
pm task pack t --db "$tmp/w.db" -o "$tmp/packs" --quiet
pm view "$(find "$tmp/packs" -name task.json -printf "%h")" -o "$page" --layout own
exits 0 "a pack"
holds '>Sigmoid</text>' "is drawn, too"
# The chains that times are taken of.
tools/bench/chain.sh 700 >"$tmp/a.gpt"
tools/bench/chain.sh 700 300 >"$tmp/b.gpt"
pm view "$tmp/a.gpt" "$tmp/b.gpt"
exits 0 "two long chains"
says "696 nodes are in both, 2 removed, 2 added, 2 changed" "differ in the two operators that were put in, and in those behind them"
tap_done
