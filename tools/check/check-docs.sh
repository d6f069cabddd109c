#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-docs.sh [FILE.md...] - documents: every link leads to a file and a heading that are there, no sentence has 40
# words or more, code stands between fences; docs/README.md lists every page.
#
# Without files: those in the first folder and all of docs/, in a git checkout or below a folder without one. Code blocks, tables'
# rules and generated pages (their first line is a comment that says so) are not counted as sentences. Words of code inside a
# sentence count: a reader reads them too.
set -eu
cd "$(dirname "$0")/../.."
if [ $# -eq 0 ]; then
	for f in docs/*/*.md; do
		grep -qF "](${f#docs/})" docs/README.md || { echo "$f: docs/README.md does not list it" >&2; failed=1; }
	done
	# shellcheck disable=SC2046 # names of documents have no blanks
	set -- *.md $(find docs -name '*.md' | sort)
fi

for f; do
	awk -v file="$f" -v most=39 '
	function anchor(s)
	{
		s = tolower(s)
		gsub(/[^a-z0-9_ -]/, "", s)
		gsub(/ /, "-", s)
		return s
	}
	function bad(line, why)
	{
		printf "%s:%d: %s\n", file, line, why > "/dev/stderr"
		failed = 1
	}
	function headings(path, text, open)
	{
		if (path in read_already)
			return
		read_already[path] = 1
		while ((getline text < path) > 0) {
			if (text ~ /^```/)
				open = !open
			if (!open && text ~ /^#+ /) {
				sub(/^#+ /, "", text)
				heading[path, anchor(text)] = 1
			}
		}
		close(path)
	}
	# A path without "." and "..".
	function plain(path, n, i, out, part)
	{
		n = split(path, part, "/")
		out = ""
		for (i = 1; i <= n; i++) {
			if (part[i] == "." || part[i] == "")
				continue
			if (part[i] == "..") {
				if (!sub(/\/[^\/]*$/, "", out))
					out = ""
			} else {
				out = out == "" ? part[i] : out "/" part[i]
			}
		}
		return out
	}
	function links(text, line, link, hash, path, name)
	{
		while (match(text, /\]\([^) ]+\)/)) {
			link = substr(text, RSTART + 2, RLENGTH - 3)
			text = substr(text, RSTART + RLENGTH)
			if (link ~ /^[a-z]+:/)
				continue
			hash = index(link, "#")
			name = hash ? substr(link, hash + 1) : ""
			path = hash ? substr(link, 1, hash - 1) : link
			path = path == "" ? file : plain(folder path)
			if (system("test -e \"" path "\"")) {
				bad(line, "the link " link " leads to no file")
				continue
			}
			if (name != "") {
				headings(path)
				if (!((path, name) in heading))
					bad(line, "the link " link " leads to no heading")
			}
		}
	}
	# Words of the sentences of what has been gathered.
	function sentences(n, i, words, w)
	{
		if (!generated) {
			gsub(/\]\([^) ]*\)/, "]", para)
			n = split(para, w, /[ \t]+/)
			words = 0
			for (i = 1; i <= n; i++) {
				if (w[i] ~ /[A-Za-z0-9]/)
					words++
				if (w[i] ~ /[.!?]["\047)*]*$/ || in_table && w[i] ~ /[;:]$/ || i == n) {
					if (words > most)
						bad(start, "a sentence of " words " words")
					words = 0
				}
			}
		}
		para = ""
	}
	BEGIN {
		folder = file
		if (!sub(/[^\/]*$/, "", folder))
			folder = ""
	}
	NR == 1 && /^<!-- generated/ { generated = 1 }
	/^```/ { sentences(); open = !open; next }
	open { next }
	{ links($0, NR) }
	/^#/ || /^[ \t]*$/ { sentences(); if (/^#/) in_list = 0; next }
	/^    / && para == "" && !in_list { bad(NR, "code without fences: put it between lines of ```"); next }
	/^\|/ {
		sentences()
		# In a cell of a table a semicolon ends what it says.
		in_table = 1
		n = split($0, cell, /\|/)
		for (c = 1; c <= n; c++) {
			para = cell[c]
			start = NR
			sentences()
		}
		in_table = 0
		next
	}
	/^ *([*-]|[0-9]+\.) / { sentences(); in_list = 1 }
	/^[^ *-]/ && !/^[0-9]+\. / && para == "" { in_list = 0 }
	{
		if (para == "")
			start = NR
		para = para " " $0
	}
	END { sentences(); exit failed }' "$f" || failed=1
done
exit "${failed:-0}"
