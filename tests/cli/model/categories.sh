#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# categories.sh - import names the category of a graph: of graphs of our own, and of exported problems whose publishers say it.
#
# The second part needs $PASSMITH_SHARED/models/kernelbench.tar.xz and spec/kernelbench.csv (default ../shared); without them
# it is left out, and a comment says so.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# categories OF: lines "FILE CATEGORY" of an answer of import --json.
categories()
{
	sed -n 's/^ *"file": "\(.*\)",$/\1/p; s/^ *"category": "\(.*\)",$/\1/p' "$1" |
		awk '/\// { file = $0; sub(/.*\//, "", file); sub(/\.[a-z]*$/, "", file); next } { print file, $0 }'
}

# CATEGORY-WHAT.gpt is of that category.
pm import tests/cli/model/categories/*.gpt --json
exits 0 "import of graphs of each category"
categories "$tmp/out" >"$tmp/found"
for f in tests/cli/model/categories/*.gpt; do
	name=$(basename "$f" .gpt)
	grep -qx "$name ${name%%-*}" "$tmp/found"
	tap "$name is of the category ${name%%-*}"
done
for c in $(sed -n 's/^CATEGORY(\([a-z]*\),.*/\1/p' ir/category/categories.def); do
	ls tests/cli/model/categories/"$c"-*.gpt >/dev/null 2>&1
	tap "a graph stands for $c"
done
pm import tests/cli/model/categories/loss-squares.gpt
says "category   loss: a reduction of several inputs to one number" "people read the rule, too"

# Of the published problems that can be read, 97 in 100 are what their publishers call them.
shared=${PASSMITH_SHARED:-../shared}
exports=$shared/models/kernelbench.tar.xz
csv=$shared/spec/kernelbench.csv
if [ -e "$exports" ] && [ -e "$csv" ]; then
	mkdir "$tmp/exports" && tar xJf "$exports" -C "$tmp/exports"
	tap "the exported problems are unpacked"
	find "$tmp/exports" -name '*.onnx' | sort >"$tmp/files"
	xargs "$passmith" import --json <"$tmp/files" >"$tmp/answer" 2>"$tmp/err"
	categories "$tmp/answer" >"$tmp/found"
	awk -F '[ ,]' 'NR == FNR { is[$1] = $2; next }
		{ n++; if (is[$1] == $2) same++; else print $1 " is " $2 ", published as " is[$1] }
		END { print same + 0, n > "'"$tmp/counts"'" }' "$csv" "$tmp/found" | sed 's/^/# /'
	read -r same n <"$tmp/counts"
	echo "# $same of $n agree, of $(wc -l <"$tmp/files") files"
	[ "$n" -ge 150 ] && [ $((same * 100)) -ge $((n * 97)) ]
	tap "97 in 100 agree"
else
	echo "# there is no $exports: the published problems are left out"
fi
tap_done
