#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gen-cast.sh - prints docs/reference/cast.md: the page as it is, with the table between its two marks made from app/cast/cast.def.
set -eu
cd "$(dirname "$0")/../.."
page=docs/reference/cast.md
awk '
	# The table: reasons in the order of the file, each with the operators that stay for it.
	NR == FNR && /^REASON\(/ {
		name = $0; sub(/^REASON\(/, "", name); sub(/,.*/, "", name)
		text = $0; sub(/^[^"]*"/, "", text); sub(/"\)$/, "", text)
		order[++n] = name; says[name] = text
		next
	}
	NR == FNR && /^KEEP\(/ {
		line = $0; sub(/^KEEP\(/, "", line); sub(/\)$/, "", line)
		split(line, k, /, */)
		what = k[1]
		if (k[3] != "ALL" || k[4] != "ALL")
			what = what " (" which(k[3], "operand") (k[3] + 0 != 0 || k[3] ~ /^0x/ ? (k[4] != "0" ? ", " : "") : "") which(k[4], "result") ")"
		key = k[5] SUBSEP k[2]
		list[key] = list[key] (list[key] == "" ? "" : ", ") what
		next
	}
	NR == FNR && /^BACK\(/ { op = $0; sub(/^BACK\(/, "", op); sub(/\)$/, "", op); back = back (back == "" ? "" : ", ") op; next }
	NR == FNR { next }
	/<!-- gen-cast.sh -->/ { print; print ""; table(); skipping = 1; next }
	/<!-- end -->/ { skipping = 0; print "" }
	!skipping { print }
	# Bits of a mask as numbers, "operands 1, 2".
	function which(mask, word,    v, bit, s, many) {
		if (mask == "0")
			return ""
		v = hex(mask)
		for (bit = 0; v; bit++) {
			if (v % 2) { s = s (s == "" ? "" : ", ") bit; many++ }
			v = int(v / 2)
		}
		return word (many > 1 ? "s " : " ") s
	}
	function hex(s,    v, i) {
		for (i = 3; i <= length(s); i++)
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	function cell(name,    s) {
		s = list[name, "BOTH"]
		if (list[name, "F16"] != "")
			s = s (s == "" ? "" : "; ") "float16: " list[name, "F16"]
		if (list[name, "BF16"] != "")
			s = s (s == "" ? "" : "; ") "bfloat16: " list[name, "BF16"]
		return s
	}
	function table(    i) {
		print "| reason | why | operators; where not the whole node stays, the numbers of operands and results from 0 on |"
		print "| --- | --- | --- |"
		for (i = 1; i <= n; i++)
			printf "| `%s` | %s | %s |\n", order[i], says[order[i]], cell(order[i])
		printf "\nBack to ordinary numbers (`WIDE` ends there), beside products, pooling, softmax and normalisations: %s.\n", back
	}
' app/cast/cast.def "$page"
