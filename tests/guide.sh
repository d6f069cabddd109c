#!/usr/bin/env bash
# guide.sh - compiles and runs every block of docs/pass-guide.md, in order, in one temporary folder.
#
#   c NAME.c       written; must build with the published line and pass `passmith check`
#   cu NAME.cu     written, for the NAME.c that follows
#   gpt NAME.gpt   written; must parse
#   c pattern      one pattern a line; each must compile and pass `passmith check`
#   sh             run; compared with the text block that follows at once, otherwise it must succeed
# In a text block "..." stands for anything, within a line, or, alone on a line, for any lines. How many blanks
# stand between two words does not matter.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=${PASSMITH_BUILD:-${BUILD:-build}}
case $build in /*) ;; *) build=$root/$build ;; esac
guide=${1:-$root/docs/pass-guide.md}
work=$(mktemp -d "${TMPDIR:-/tmp}/passmith-guide-XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT
export PATH=$build:$PATH PASSMITH_ROOT=$root PASSMITH_BUILD=$build PASSMITH_CACHE=${PASSMITH_CACHE:-$build/test-cache} LC_ALL=C

if [ ! -x "$build/passmith" ]; then
	echo "not ok 1 - there is no $build/passmith; run make"
	echo "1..1"
	exit 1
fi

# Blocks become numbered files: N.info (line number, info string) and N.body.
mkdir "$work/blocks" "$work/run"
awk -v dir="$work/blocks" '
	/^```/ && !open { open = 1; n++; info = substr($0, 4); print NR, info > (dir "/" n ".info"); body = dir "/" n ".body"
		printf "" > body; next }
	/^```$/ && open { open = 0; close(body); next }
	open { print > body }
	END { print n + 0 > (dir "/count") }' "$guide"
count=$(cat "$work/blocks/count")
cd "$work/run" || exit 5

tests=0 failed=0

# ok|not ok, name, file with details
report()
{
	tests=$((tests + 1))
	echo "$1 $tests - $2"
	if [ "$1" != ok ]; then
		failed=$((failed + 1))
		sed 's/^/# /' "$3"
	fi
}

build_and_check()
{
	passmith build "$1" && passmith check "${1%.c}.so"
}

# A pass with one rule per pattern line.
pattern_pass()
{
	local line n=0 rules=
	echo '/* patterns.c - the patterns of the guide. */'
	echo '#include "passmith/dsl.h"'
	echo 'enum { X, Y, Z };'
	echo 'static PmStatus rewrite(PmRewriter *rw, PmMatch *m)'
	echo '{ (void)rw; return pm_decline(m, "only compiled"); }'
	while IFS= read -r line; do
		[ -n "$line" ] || continue
		n=$((n + 1))
		echo "PM_RULE(line_$n, .pattern = $line, .rewrite = rewrite);"
		rules="$rules, &line_$n"
	done <"$1"
	echo "PM_PLUGIN(\"patterns\", \"1\"${rules})"
}

# Whether file $2 is what $1 shows: "..." alone on a line skips lines, inside one skips characters.
matches()
{
	awk '
		function fits(pat, s,    at, k, part, n) {
			n = split(pat, part, "[.][.][.]")
			if (n < 2) return pat == s
			if (substr(s, 1, length(part[1])) != part[1]) return 0
			s = substr(s, length(part[1]) + 1)
			for (k = 2; k < n; k++) {
				at = index(s, part[k])
				if (!at) return 0
				s = substr(s, at + length(part[k]))
			}
			return length(s) >= length(part[n]) && substr(s, length(s) - length(part[n]) + 1) == part[n]
		}
		function match_from(i, j) {
			for (; i <= n_want; i++) {
				if (want[i] == "...") {
					for (; j <= n_got + 1; j++)
						if (match_from(i + 1, j)) return 1
					return 0
				}
				if (j > n_got || !fits(want[i], got[j])) return 0
				j++
			}
			return j == n_got + 1
		}
		{ gsub(/[ \t]+/, " ") }
		FNR == NR { want[++n_want] = $0; next }
		{ got[++n_got] = $0 }
		END { exit !match_from(1, 1) }' "$1" "$2"
}

for ((i = 1; i <= count; i++)); do
	read -r line lang name <"$work/blocks/$i.info"
	body=$work/blocks/$i.body log=$work/log
	case "$lang $name" in
	"c pattern")
		pattern_pass "$body" >patterns.c
		if build_and_check patterns.c >"$log" 2>&1; then
			report ok "line $line: patterns"
		else
			report "not ok" "line $line: patterns" "$log"
		fi
		;;
	"c "*.c)
		cp "$body" "$name"
		if build_and_check "$name" >"$log" 2>&1; then
			report ok "line $line: $name"
		else
			report "not ok" "line $line: $name" "$log"
		fi
		;;
	"cu "*.cu) cp "$body" "$name" ;;
	"gpt "*.gpt)
		cp "$body" "$name"
		if passmith print "$name" >"$log" 2>&1; then
			report ok "line $line: $name"
		else
			report "not ok" "line $line: $name" "$log"
		fi
		;;
	"sh ")
		bash "$body" >out 2>&1 </dev/null
		rc=$?
		# Compilers quote names in several ways, after the locale.
		sed "s/‘/'/g; s/’/'/g" out >"$log"
		next=$((i + 1))
		if [ "$(cut -d' ' -f2 "$work/blocks/$next.info" 2>/dev/null)" = text ]; then
			if matches "$work/blocks/$next.body" "$log"; then
				report ok "line $line: commands"
			else
				{ echo "expected:"; cat "$work/blocks/$next.body"; echo "got:"; cat "$log"; } >both
				report "not ok" "line $line: commands" both
			fi
		elif [ $rc = 0 ]; then
			report ok "line $line: commands"
		else
			report "not ok" "line $line: commands end with status $rc" "$log"
		fi
		;;
	"text ") ;;
	*)
		echo "unknown kind of block" >"$log"
		report "not ok" "line $line: $lang $name" "$log"
		;;
	esac
done
echo "1..$tests"
[ "$tests" -gt 0 ] && [ "$failed" = 0 ]
