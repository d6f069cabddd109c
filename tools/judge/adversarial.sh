#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# adversarial.sh - runs the attacks of tests/adversarial/fixtures.tsv and prints, per family, how many end in their
# verdict. A fixture counts as caught when its case passes; one without a case is listed with its reason.
#
# Environment: BUILD (build). Exit 1 when a case fails.
set -u
cd "$(dirname "$0")/../.." || exit 5
build=${BUILD:-build}
list=tests/adversarial/fixtures.tsv
work=$(mktemp -d "${TMPDIR:-/tmp}/passmith-adversarial-XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT

names=$(awk -F'\t' '!/^#/ && $2 != "-" { print $2 }' "$list" | sort -u)
BUILD=$build tests/run.sh -v $names >"$work/out" 2>&1 </dev/null

# "ok 3 - D09_syscall" below the line of its program; a skipped case is no catch.
awk -F'\t' '
FNR == NR {
	if ($0 ~ /^(ok|FAILED) +tests\//) {
		split($0, w, " +")
		program = w[2]
		sub(/\.c$/, "", program)
	} else if (match($0, /\| ok [0-9]+ - /)) {
		name = substr($0, RSTART + RLENGTH)
		if (name !~ /# SKIP/)
			passed[program " " name] = 1
	} else if (match($0, /\| (not )?ok [0-9]+ # SKIP /)) {
		skipped[program " " substr($0, RSTART + RLENGTH)] = 1
	}
	next
}
/^#/ { next }
{
	family = substr($1, 1, 1)
	total[family]++
	if ($2 == "-") {
		absent = absent sprintf("  %-30s %s\n", $1, $3)
	} else if (passed[$2 " " $3]) {
		caught[family]++
	} else if (skipped[$2 " " $3]) {
		lacking = lacking sprintf("  %-30s %s\n", $1, $2 ": skipped here; tests/run.sh -v says why")
	} else {
		failed = failed sprintf("  %-30s %s: %s\n", $1, $2, $3)
		bad = 1
	}
}
END {
	printf "%-8s %s\n", "family", "caught / total"
	n = split("A B C D E F G", f, " ")
	for (i = 1; i <= n; i++) {
		printf "%-8s %d / %d\n", f[i], caught[f[i]], total[f[i]]
		c += caught[f[i]]
		t += total[f[i]]
	}
	printf "%-8s %d / %d\n", "all", c, t
	printf "%-8s %d / %d attacks of our own, in no catalogue\n", "X", caught["X"], total["X"]
	printf "%-8s %d / %d the second siege: by someone who has read the source\n", "S", caught["S"], total["S"]
	if (failed != "")
		printf "\nnot caught:\n%s", failed
	if (lacking != "")
		printf "\nnot run on this machine:\n%s", lacking
	if (absent != "")
		printf "\nwithout a case:\n%s", absent
	exit bad
}' "$work/out" "$list"
