#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-layers.sh - fails when a source file includes a header that its folder may not (tools/check/layers.txt).
set -eu
cd "$(dirname "$0")/../.."

tools/check/files.sh '*.c' '*.h' '*.cu' '*.cuh' |
	xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' /dev/null |
	awk -v rules=tools/check/layers.txt '
	# Turns a shell pattern into a regular expression for a whole string.
	function glob(s)
	{
		gsub(/[.+()^$|]/, "\\\\&", s)
		gsub(/\*/, ".*", s)
		return "^" s "$"
	}
	# The longest folder of a path that the rules know; "" when they know none.
	function layer(path,    w, n, i, p, best)
	{
		n = split(path, w, "/")
		for (i = 1; i < n; i++) {
			p = p (i > 1 ? "/" : "") w[i]
			if (p in known)
				best = p
		}
		return best
	}
	# May `from` use `to`, or a folder that `to` lies in?
	function allowed_in(from, to,    w, n, i, p)
	{
		n = split(to, w, "/")
		for (i = 1; i <= n; i++) {
			p = p (i > 1 ? "/" : "") w[i]
			if ((from, p) in may)
				return 1
		}
		return 0
	}
	# The path without ".." and ".".
	function plain(path)
	{
		while (sub(/[^\/.]+\/\.\.\//, "", path) || sub(/\/\.\//, "/", path))
			;
		return path
	}
	function top(path)
	{
		sub(/\/.*/, "", path)
		return path
	}
	function bad(why)
	{
		printf "%s:%s: includes \"%s\": %s\n", file, line, header, why
		failed = 1
	}
	BEGIN {
		while ((got = (getline text < rules)) > 0) {
			if (text ~ /^#/ || text ~ /^[ \t]*$/)
				continue
			n = split(text, w, /[ \t]+/)
			sub(/:$/, "", w[2])
			if (w[1] == "folder") {
				# With two rows both would count, and nobody would see which is meant.
				if (w[2] in known) {
					print rules ": the folder " w[2] " has two rows; join them to one"
					exit failed = 1
				}
				known[w[2]] = 1
				for (i = 3; i <= n; i++)
					may[w[2], w[i]] = 1
			} else if (w[1] == "only") {
				only[++n_only] = glob(w[2])
				allowed[n_only] = places[n_only] = ""
				for (i = 3; i <= n; i++) {
					allowed[n_only] = allowed[n_only] (i > 3 ? "|" : "") glob(w[i])
					places[n_only] = places[n_only] " " w[i]
				}
			} else {
				print rules ": cannot read: " text
				exit failed = 1
			}
		}
		if (got < 0 || n_only == 0) {
			print "cannot read " rules
			exit failed = 1
		}
	}
	{
		split($0, part, ":")
		file = part[1]
		line = part[2]
		match($0, /[<"][^>"]*[>"]/)
		quoted = substr($0, RSTART, 1) == "\""
		header = substr($0, RSTART + 1, RLENGTH - 2)
		if (top(file) == "tests")
			next
		from = layer(file)
		if (from == "") {
			bad("its folder is not in " rules)
			next
		}
		for (i = 1; i <= n_only; i++)
			if (header ~ only[i]) {
				if (file !~ allowed[i])
					bad("this header is confined to" places[i])
				next
			}
		if (!quoted || index(header, "/") == 0) # of the system, or generated beside the file
			next
		if (header ~ /^\.\.?\//) {
			path = file
			sub(/[^\/]*$/, "", path)
			header = plain(path header)
		}
		to = header ~ /^passmith\// ? "include" : layer(header)
		if (top(header) == "tests")
			bad("only tests may")
		else if (to == "")
			bad("its folder is not in " rules)
		else if (to != from && !allowed_in(from, to))
			bad(from "/ may not use " to "/")
		else if (top(to) != top(from) && header ~ /_priv\.h$/)
			bad("a private header of " top(to) "/")
	}
	END {
		if (!failed && NR == 0) {
			print "no sources found"
			failed = 1
		}
		exit failed
	}
	' || {
	echo "check-layers: see tools/check/layers.txt for the rules" >&2
	exit 1
}
