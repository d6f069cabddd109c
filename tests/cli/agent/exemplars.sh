#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exemplars.sh - every exemplar goes through build, check, eval and explain: it is right and faster by the model, what is made
# from it is fresh, it matches in the variants of its graph, and leaves the graph alone that it says it leaves alone.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# What `make gen` writes; on the way all are built, checked and evaluated. The objects stay in $tmp/so.
mkdir "$tmp/so"
: >"$tmp/err"
code=0
tools/gen/exemplars.sh "$build" "$tmp/made" "$tmp/so" >"$tmp/out" 2>&1 || code=$?
exits 0 "all exemplars build, pass check, and are right on their graphs"
[ "$(ls "$tmp/made" | wc -l)" -eq $((2 * $(ls exemplars/*.c | wc -l))) ]
tap "and something is made of each"
# Which accesses a kernel makes is up to the compiler, and how much faster it is with it.
masked()
{
	sed 's/; [0-9.]* times as fast\.$/; ... times as fast./' "$1"
}
for f in "$tmp"/made/*; do
	masked "exemplars/${f##*/}" >"$tmp/committed"
	masked "$f" | diff -u "$tmp/committed" - >"$tmp/out" 2>&1
	tap "${f##*/} is what make gen makes"
done

for c in exemplars/*.c; do
	name=${c##*/}
	name=${name%.c}
	so=$tmp/so/$name.so
	awk '/^Modelled/ { found = 1; sub(/.*; /, ""); if ($1 + 0 < 1.2) slow = 1 } END { exit !found || slow }' "$tmp/made/$name.md" 2>/dev/null
	tap "$name is 1.2 times as fast by the model, or more"
	pm eval "exemplars/$name.gpt" --pass "$so" --quick --variants --shape 0 --dtype float16 --quiet
	exits 0 "$name: eval --quick in float16"
	# What it does not apply to has its reason.
	pm explain "exemplars/$name.gpt" --pass "$so" --variants
	[ "$(grep -c '^variant ' "$tmp/out")" -ge 24 ] && [ "$(grep -c "$name.so: OK\$" "$tmp/out")" -ge 12 ] &&
		[ "$(grep -c "$name.so: " "$tmp/out")" -eq "$(grep -cE "($name.so: OK|^  declined  1 x .*)\$" "$tmp/out")" ]
	tap "$name applies to the variants of its graph, or declines"
	pm explain "exemplars/$name.near.gpt" --pass "$so"
	[ "$code" -eq 1 ] && grep -q ': NO_MATCH$' "$tmp/out" && grep -qE '(near miss|declined  1 x)' "$tmp/out" && grep -qF "$name.near.gpt" "exemplars/$name.md"
	tap "$name leaves its near miss alone, and says so"
done

# A pass of one's own begins with one.
pm new my_range --like reduce --dir "$tmp"
exits 0 "new --like with a category"
pm build "$tmp/my_range.c" -o "$tmp/my_range.so"
exits 0 "what it writes builds"
pm explain exemplars/row_range.gpt --pass "$tmp/my_range.so"
says "rule my_range: " "and matches, under its own name"
! grep -qE 'SPDX|row_range' "$tmp/my_range.c"
tap "it is its author's"
pm new former --like reduction --dir "$tmp"
sed 's/my_range/former/g' "$tmp/my_range.c" | cmp -s - "$tmp/former.c"
tap "the category's name of before gives the same"
pm new block --like arch --dir "$tmp"
exits 0 "a network's block is taught by the exemplars of fuse"
pm new other --like row_range --dir "$tmp"
[ "$code" -eq 0 ] && grep -q 'PM_PLUGIN("other"' "$tmp/other.c"
tap "new --like with a name"
pm new third --like layout --dir "$tmp"
exits 4 "new --like with what is neither"
one_sentence "has one sentence"
[ ! -e "$tmp/third.c" ]
tap "and writes nothing"

tap_done
