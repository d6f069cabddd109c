#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# json.sh - is a file JSON; sourced by tests/lib/tap.sh and tests/guide.sh, for machines without a parser at hand.

# is_json FILE: it holds one well-formed JSON value. Strings and numbers become "s" and "v"; then objects and
# arrays of them shrink to "v" until one value is left.
is_json()
{
	awk '
	{ text = text $0 " " }
	END {
		gsub(/"([^"\\]|\\.)*"/, "s", text)
		gsub(/[ \t]/, "", text)
		gsub(/-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?|true|false|null/, "v", text)
		do {
			before = length(text)
			gsub(/\{(s:[sv](,s:[sv])*)?\}/, "v", text)
			gsub(/\[([sv](,[sv])*)?\]/, "v", text)
		} while (length(text) < before)
		exit text != "v" && text != "s"
	}' "$1"
}
