#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-api.sh [HEADER...] - every function that a public header declares has a comment that belongs to it.
#
# A comment belongs to a function that stands directly below it, or on the line on which it begins. It counts for
# several when they follow each other without an empty line or a struct, or when it names them. What a file begins
# with is about the file. Of include/passmith/ the macros
# with arguments are looked at, too. Without arguments: all headers but *_priv.h, and but those of
# runtime/emu/include, whose functions are CUDA's.
set -eu
cd "$(dirname "$0")/../.."
if [ $# = 0 ]; then
	# shellcheck disable=SC2046 # no name of a header has a space
	set -- $(find app base bench cli dataset extract include integrity ir matcher passes rt runtime simplify tests \
		-name '*.h' ! -name '*_priv.h' ! -path 'runtime/emu/include/*' | LC_ALL=C sort)
fi

awk '
	function is_word(text, name)
	{
		return (" " text " ") ~ ("[^A-Za-z0-9_]" name "[^A-Za-z0-9_]")
	}

	# What stands directly below a comment, or is named by it, is documented.
	function judge(name)
	{
		n++
		if (near || trailing || is_word(doc, name))
			return
		printf "%s:%d: %s has no comment; say what it does above it\n", FILENAME, start, name > "/dev/stderr"
		bad++
	}

	# The name that a declaration declares as a function, or "".
	function function_name(text,   head)
	{
		gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?[^()]*\)\)/, "", text)
		gsub(/_Noreturn|extern|[[:blank:]]+/, " ", text)
		sub(/^ +/, "", text)
		if (text ~ /^(typedef|_Static_assert|static_assert|using|namespace) ?/ || !index(text, "("))
			return ""
		head = substr(text, 1, index(text, "(") - 1)
		if (head ~ /=/ || head ~ /^ *[A-Za-z0-9_]* *$/)
			return ""
		sub(/ +$/, "", head)
		return match(head, /[A-Za-z_][A-Za-z0-9_]*$/) ? substr(head, RSTART) : ""
	}

	# The statement is complete.
	function declared(   name)
	{
		name = function_name(statement)
		if (name != "")
			judge(name)
		else if (FNR > start)
			near = 0 # it was about a struct
		statement = ""
		trailing = 0
	}

	# One line of code; comments are blanked.
	function code(line,   i, c)
	{
		for (i = 1; i <= length(line); i++) {
			c = substr(line, i, 1)
			if (depth) {
				depth += c == "{" ? 1 : c == "}" ? -1 : 0
				if (!depth && is_body) {
					statement = ""
					is_body = 0
				}
			} else if (c == "{") {
				if (statement ~ /extern *"C" *$/) {
					statement = ""
					continue
				}
				if (function_name(statement) != "") {
					declared()
					is_body = 1
				}
				depth = 1
			} else if (c == "}") {
				statement = ""
			} else if (c == ";") {
				declared()
			} else {
				if (statement == "" && c ~ /[ \t]/)
					continue
				if (statement == "") {
					start = FNR
					trailing = beside
				}
				statement = statement c
			}
		}
		statement = statement == "" ? "" : statement " "
	}

	# Takes comments out of a line, and remembers them.
	function strip(line,   out, at)
	{
		out = ""
		beside = 0
		for (;;) {
			if (in_comment) {
				at = index(line, "*/")
				doc = doc " " (at ? substr(line, 1, at - 1) : line)
				if (!at)
					return out
				in_comment = 0
				if (doc ~ /^ *([a-z0-9_]+\.h - |SPDX-)/) {
					doc = "" # about the file
					near = 0
				}
				line = substr(line, at + 2)
				continue
			}
			at = index(line, "/*")
			if (!at)
				return out line
			out = out substr(line, 1, at - 1)
			line = substr(line, at + 2)
			in_comment = 1
			if (out ~ /[^ \t]/) {
				beside = !depth && !pp
			} else if (!depth && statement == "") {
				doc = ""
				near = 1
			}
		}
	}

	FNR == 1 {
		statement = doc = ""
		near = in_comment = depth = is_body = pp = trailing = 0
		sdk = FILENAME ~ /(^|\/)include\/passmith\//
	}
	{
		raw = $0
		gsub(/"([^"\\]|\\.)*"/, raw ~ /extern *"C"/ ? "\"C\"" : "\"\"", raw)
		gsub(/\047[{}();]\047/, "0", raw)
		if (!in_comment)
			sub(/^[ \t]*\/\/.*/, "", raw)
		was_pp = pp
		if (!in_comment && raw ~ /^[ \t]*#/)
			pp = was_pp = 1
		line = strip(raw)
		if (was_pp) {
			if (sdk && match(line, /^[ \t]*#[ \t]*define[ \t]+[A-Za-z0-9_]+\(/)) {
				name = substr(line, RSTART, RLENGTH - 1)
				sub(/.*[ \t]/, "", name)
				start = FNR
				trailing = $0 ~ /\/\*/
				if (name !~ /_$/ && name != "XX")
					judge(name)
				trailing = 0
			}
			pp = line ~ /\\$/
			next
		}
		if ($0 ~ /^[ \t]*$/ && !depth && !in_comment)
			near = 0
		code(line)
	}
	END {
		if (!n) {
			print "check-api: there is no function in these headers" > "/dev/stderr"
			exit 1
		}
		if (bad)
			printf "check-api: %d of %d functions have no comment\n", bad, n > "/dev/stderr"
		else
			printf "check-api: %d functions\n", n
		exit bad > 0
	}' "$@"
