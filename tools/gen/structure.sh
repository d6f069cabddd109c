#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# structure.sh [--check | --sizes] - draws docs/design/structure.svg and writes the tables of folders in
# docs/design/architecture.md, from tools/check/layers.txt (the order in which data flow), tools/gen/folders.txt (purposes)
# and the files themselves.
#
# With --check it changes nothing, and fails when one of them is not fresh. With --sizes it prints how many sources each
# folder has, and changes nothing: such a number is not committed, so that a new source changes no page. In each case it
# fails when a folder has no purpose, or more than 30 sources without a reason in tools/gen/folders.txt.
#
# The drawing has a row for each first folder, with its subfolders, and an arrow for each use of one row by another that
# does not follow from the other arrows.
set -eu
cd "$(dirname "$0")/../.."
page=docs/design/architecture.md
picture=docs/design/structure.svg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tools/check/files.sh '*.c' '*.h' '*.cu' '*.cuh' '*.def' '*.sql' '*.py' '*.sh' | grep / >"$work/files"

# Who includes whom: FILE, tab, HEADER as it is written.
grep -vE '^(tests|tools)/' "$work/files" | grep -E '\.(c|h|cu|cuh)$' | xargs grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*/' |
	sed 's/:[^"]*"\([^"]*\)".*/\t\1/' >"$work/uses"

awk -v svg="$work/svg" -v now="$work/now" -v before="$work/before" -v sizes="$work/sizes" '
	function dir(path) { sub(/\/[^\/]*$/, "", path); return path }
	function top(path) { sub(/\/.*/, "", path); return path }
	function bad(text) { print "structure.sh: " text > "/dev/stderr"; failed = 1 }
	# A folder of the product, not of tests and tools, by where data reach it.
	function place(f, first) {
		if (f in placed)
			return
		placed[f] = 1
		order[++folders] = f
		if (!(first in rank)) {
			rank[first] = ++rows
			row[rows] = first
		}
	}
	function box(x, y, w, class, name) {
		printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"22\" rx=\"4\" class=\"%s\"/>\n", x, y, w, class >svg
		printf "<text x=\"%d\" y=\"%d\" class=\"sub\">%s</text>\n", x + 7, y + 15, name >svg
	}
	FILENAME ~ /folders.txt$/ {
		if (/^#/ || /^[ \t]*$/)
			next
		if ($1 == "old") {
			old[++olds] = $2
			next
		}
		name = $1 == "many" ? $2 : $1
		sub(/:$/, "", name)
		text = $0
		sub(/^[^:]*: */, "", text)
		if ($1 == "many")
			excuse[name] = text
		else {
			purpose[name] = text
			listed[++lists] = name
		}
		next
	}
	FILENAME ~ /layers.txt$/ {
		if ($1 != "folder")
			next
		name = $2
		sub(/:$/, "", name)
		layer[++layers] = name
		next
	}
	FILENAME ~ /files$/ {
		count[dir($0)]++
		next
	}
	{
		split($0, part, "\t")
		from = top(part[1])
		to = part[2] ~ /^passmith\// ? "include" : top(part[2])
		if (from != to)
			use[from, to] = 1
	}
	END {
		# Rows in the order of layers.txt; what it does not name (kernels) goes with its first folder.
		for (i = 1; i <= layers; i++) {
			f = layer[i] == "include" ? "include/passmith" : layer[i]
			if (f in count)
				place(f, top(f))
		}
		for (i = 1; i <= lists; i++)
			if (listed[i] in count)
				place(listed[i], top(listed[i]))
			else
				bad("tools/gen/folders.txt names " listed[i] ", which has no sources")
		for (f in count) {
			if (!(f in purpose) && top(f) != "tests" && top(f) != "tools")
				bad(f " has no purpose in tools/gen/folders.txt")
			if (count[f] > 30 && !(f in excuse))
				bad(f " has " count[f] " sources; a folder is a topic of at most 30: divide it")
		}
		for (f in excuse)
			if (count[f] <= 30)
				bad("tools/gen/folders.txt excuses " f ", which has only " count[f] " sources")
		# An arrow says what does not follow: a use through a third row is left out.
		for (a = 1; a <= rows; a++)
			for (b = 1; b <= rows; b++) {
				if (!((row[a], row[b]) in use))
					continue
				if (rank[row[b]] > rank[row[a]])
					bad(row[a] " uses " row[b] ", which stands below it in tools/check/layers.txt")
				arrow[a, b] = 1
				for (c = 1; c <= rows; c++)
					if (c != a && c != b && (row[a], row[c]) in use && (row[c], row[b]) in use)
						arrow[a, b] = 0
			}
		for (a = 1; a <= rows; a++)
			for (b = 1; b <= rows; b++)
				arrows += ((a, b) in arrow) && arrow[a, b]
		LEFT = 220
		WIDTH = 900
		y = 16
		for (r = 1; r <= rows; r++) {
			start[r] = y
			x = LEFT + 110
			lines = 1
			for (i = 1; i <= folders; i++) {
				if (top(order[i]) != row[r])
					continue
				name = order[i] == row[r] ? "." : substr(order[i], length(row[r]) + 2)
				w = 7 * length(name) + 16
				if (x + w > WIDTH - 10) {
					x = LEFT + 110
					lines++
				}
				X[i] = x
				Y[i] = y + 9 + (lines - 1) * 27
				W[i] = w
				N[i] = name
				x += w + 6
			}
			high[r] = lines * 27 + 12
			y += high[r] + 12
		}
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\"\n", WIDTH, y, WIDTH, y >svg
		print "  aria-label=\"The folders of Passmith in the order in which data flow, and which of them use which.\">" >svg
		print "<!-- Made by tools/gen/structure.sh. -->" >svg
		print "<style>" >svg
		print "text { font-family: monospace; font-size: 12px; fill: #222 } .top { font-weight: bold; font-size: 14px }" >svg
		print ".row { fill: #fafafa; stroke: #999 } .box { fill: #fff; stroke: #bbb }" >svg
		print ".use { fill: none; stroke: #777; stroke-width: 1.3 } .head { fill: #777 }" >svg
		print "</style>" >svg
		printf "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", WIDTH, y >svg
		for (r = 1; r <= rows; r++) {
			printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" class=\"row\"/>\n", LEFT, start[r], WIDTH - LEFT - 4, high[r] >svg
			printf "<text x=\"%d\" y=\"%d\" class=\"top\">%s</text>\n", LEFT + 10, start[r] + 25, row[r] >svg
		}
		for (i = 1; i <= folders; i++)
			box(X[i], Y[i], W[i], "box", N[i])
		# From the row that uses, left around, to the row that is used; near ones inside.
		for (span = 1; span < rows; span++)
			for (a = span + 1; a <= rows; a++) {
				b = a - span
				if (!(((a, b) in arrow) && arrow[a, b]))
					continue
				out = LEFT - 14 - span * 15
				y1 = start[a] + 12 + (++left[a] % 4) * 4
				y2 = start[b] + high[b] - 8 - (++came[b] % 5) * 4
				printf "<path d=\"M %d %d C %d %d %d %d %d %d\" class=\"use\"/>\n", LEFT, y1, out, y1, out, y2, LEFT - 6, y2 >svg
				printf "<path d=\"M %d %d l -7 -3.5 v 7 z\" class=\"head\"/>\n", LEFT, y2 >svg
			}
		print "</svg>" >svg

		print "| folder | purpose |\n| --- | --- |" >now
		for (i = 1; i <= folders; i++) {
			printf "| `%s` | %s |\n", order[i], purpose[order[i]] >now
			printf "%4d %s\n", count[order[i]], order[i] >sizes
		}
		print "| before | now |\n| --- | --- |" >before
		for (r = 1; r <= rows; r++) {
			a = b = ""
			for (i = 1; i <= olds; i++)
				if (top(old[i]) == row[r])
					a = a (a == "" ? "" : ", ") "`" old[i] "`"
			for (i = 1; i <= folders; i++)
				if (top(order[i]) == row[r])
					b = b (b == "" ? "" : ", ") "`" order[i] "`"
			printf "| %s | %s |\n", a != "" ? a : row[r] ~ /^(rt|ort)$/ ? "(new)" : "(in `cli`)", b >before
		}
		exit failed
	}
' tools/gen/folders.txt tools/check/layers.txt "$work/files" "$work/uses" || exit 1

# The page with its tables between their marks.
awk -v now="$work/now" -v before="$work/before" '
	/^<!-- structure.sh: / {
		print
		file = $3 == "folders" ? now : before
		print ""
		while ((getline line < file) > 0)
			print line
		print ""
		inside = 1
		next
	}
	/^<!-- end -->/ { inside = 0 }
	!inside
' "$page" >"$work/page"

case ${1:-} in
'')
	cp "$work/page" "$page"
	cp "$work/svg" "$picture"
	;;
--check)
	for f in "page $page" "svg $picture"; do
		cmp -s "$work/${f%% *}" "${f#* }" || {
			echo "structure.sh: ${f#* } is not fresh; run: tools/gen/structure.sh" >&2
			exit 1
		}
	done
	;;
--sizes)
	cat "$work/sizes"
	;;
*)
	echo "structure.sh [--check | --sizes]" >&2
	exit 2
	;;
esac
