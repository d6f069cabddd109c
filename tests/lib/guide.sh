#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# guide.sh - runs the blocks of one guide; sourced by tests/guide.sh, which says what the blocks are.

# run_guide FILE.md FOLDER: prints a line of TAP without a number for each block.
run_guide()
{
	local guide=$1 dir=$2 needs need name body i

	name=$(basename "$guide")
	mkdir -p "$dir/blocks" "$dir/run"
	needs=$(sed -n 's/^<!-- files of: \(.*\) -->$/\1/p' "$guide")
	for need in $needs; do
		if [ ! -e "$(dirname "$guide")/$need" ]; then
			echo "not ok - $name: there is no $need beside it"
			return
		fi
		mkdir -p "$dir/$need"
		split_blocks "$(dirname "$guide")/$need" "$dir/$need"
		for body in "$dir/$need"/*.body; do
			read -r _ lang file <"${body%.body}.info"
			case "$lang $file" in *" "*.c | *" "*.cu | *" "*.gpt) cp "$body" "$dir/run/$file" ;; esac
		done
	done
	split_blocks "$guide" "$dir/blocks"
	cd "$dir/run" || return
	for ((i = 1; i <= $(cat "$dir/blocks/count"); i++)); do
		run_block "$name" "$dir/blocks" $i "$dir/log"
	done
	[ "$i" -gt 1 ] || echo "not ok - $name: it has no block"
}

# split_blocks FILE.md FOLDER: blocks become numbered files, N.info (line number, info string) and N.body.
split_blocks()
{
	awk -v dir="$2" '
		/^```/ && !open { open = 1; n++; info = substr($0, 4); print NR, info > (dir "/" n ".info"); body = dir "/" n ".body"
			printf "" > body; next }
		/^```$/ && open { open = 0; close(body); next }
		open { print > body }
		END { print n + 0 > (dir "/count") }' "$1"
}

# report ok|not-ok NAME [FILE with details]
report()
{
	if [ "$1" = ok ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		sed 's/^/# /' "$3"
	fi
}

# run_block GUIDE FOLDER NUMBER LOG: what one block stands for, in the present folder.
run_block()
{
	local line lang file body=$2/$3.body log=$4 what

	read -r line lang file <"$2/$3.info"
	what="$1:$line: ${file:-commands}"
	case "$lang $file" in
	"c pattern")
		pattern_pass "$body" >patterns.c
		must_succeed "$what" "$log" build_and_check patterns.c
		;;
	"c "*.c)
		cp "$body" "$file"
		must_succeed "$what" "$log" build_and_check "$file"
		;;
	"cu "*.cu) cp "$body" "$file" ;;
	"gpt "*.gpt)
		cp "$body" "$file"
		must_succeed "$what" "$log" passmith print "$file"
		;;
	"json ") must_succeed "$what" "$log" is_json "$body" ;;
	"sh gpu") run_unless "$no_gpu" "$1:$line: commands for a GPU" "$2" "$3" "$log" ;;
	"sh python") run_unless "$no_python" "$1:$line: commands for Python" "$2" "$3" "$log" ;;
	"sh ort") run_unless "$no_ort" "$1:$line: commands for ONNX Runtime" "$2" "$3" "$log" ;;
	"sh torch") run_unless "$no_torch" "$1:$line: commands for PyTorch" "$2" "$3" "$log" ;;
	"sh ") run_commands "$what" "$2" "$3" "$log" ;;
	"text ") ;;
	*)
		echo "a block of an unknown kind: '$lang $file'" >"$log"
		report not-ok "$what" "$log"
		;;
	esac
}

# must_succeed NAME LOG COMMAND...
must_succeed()
{
	local what=$1 log=$2

	shift 2
	if "$@" >"$log" 2>&1; then
		report ok "$what"
	else
		report not-ok "$what" "$log"
	fi
}

# run_unless REASON NAME FOLDER NUMBER LOG: as run_commands; skipped when there is a reason.
run_unless()
{
	local reason=$1

	shift
	if [ -n "$reason" ]; then
		echo "ok - $1 # SKIP $reason"
	else
		run_commands "$@"
	fi
}

# run_commands NAME FOLDER NUMBER LOG: a block of commands, and the text block behind it.
run_commands()
{
	local what=$1 next=$2/$(($3 + 1)) log=$4 rc=0

	bash "$2/$3.body" >"$log.out" 2>&1 </dev/null || rc=$?
	# Compilers quote names in several ways, after the locale. Lines of progress appear on a slow machine only.
	sed "s/‘/'/g; s/’/'/g; /^evaluating [0-9]*\/[0-9]*, /d" "$log.out" >"$log"
	if [ "$(cut -d' ' -f2 "$next.info" 2>/dev/null)" = text ]; then
		if matches "$next.body" "$log"; then
			report ok "$what"
		else
			{ echo "expected:"; cat "$next.body"; echo "got:"; cat "$log"; } >"$log.both"
			report not-ok "$what" "$log.both"
		fi
	elif [ $rc = 0 ]; then
		report ok "$what"
	else
		report not-ok "$what end with status $rc" "$log"
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
