#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-cycles.sh - fails when files need each other in a circle that tools/check/cycles.txt does not name with a reason, or
# when that list names a circle that is no longer there.
#
# A file is NAME.c with its NAME.h. It needs another when its object uses a symbol that the other's object defines (nm),
# or when its header includes the other's header. A header without a .c of its name (X_priv.h, types) is nobody's.
# A circle is a strongly connected component of more than one file. A pass is compiled in one go and has no objects
# to look into: its folders are not read here.
#
# Environment: BUILD (build): a build of the library and the program; CYCLES (tools/check/cycles.txt). With -v, prints who needs whom in each circle.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
list=${CYCLES:-tools/check/cycles.txt}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find base ir simplify extract dataset matcher runtime integrity bench rt app cli -name '*.c' | LC_ALL=C sort >"$work/sources"
# Objects of sources that are gone may lie there: only those of today's are read.
while read -r c; do
	o=$build/obj/${c%.c}.o
	[ -e "$o" ] || { echo "check-cycles: $o is not there; run: make BUILD=$build" >&2; exit 3; }
	echo "$o"
done <"$work/sources" >"$work/objects"
xargs nm -A -P <"$work/objects" >"$work/symbols"
{
	xargs grep -nE '^#[[:space:]]*include "' /dev/null <<-LIST || true
		$(sed 's/\.c$/.h/' "$work/sources" | while read -r h; do [ ! -e "$h" ] || echo "$h"; done)
	LIST
} >"$work/includes"

awk -v build="$build/obj/" -v list="$list" -v verbose="$([ "${1:-}" = -v ] && echo 1 || echo 0)" '
	function edge(a, b, why) {
		if (a == b || !(a in file) || !(b in file))
			return
		if (!((a, b) in reason)) {
			next_of[a, ++degree[a]] = b
			reason[a, b] = why
		} else if (split(reason[a, b], parts, " ") < 4)
			reason[a, b] = reason[a, b] " " why
	}
	# Tarjan 1972, with the calls on a stack of its own.
	function component(root,    top, v, w, n, k) {
		top = 1
		call[1] = root
		while (top > 0) {
			v = call[top]
			if (!(v in number)) {
				number[v] = low[v] = ++counter
				stack[++depth] = v
				on[v] = 1
				at[v] = 0
			}
			for (k = 0; at[v] < degree[v]; ) {
				w = next_of[v, ++at[v]]
				if (!(w in number)) {
					call[++top] = w
					k = 1
					break
				}
				if (on[w] && number[w] < low[v])
					low[v] = number[w]
			}
			if (k)
				continue
			if (low[v] == number[v]) {
				n = 0
				do {
					w = stack[depth--]
					on[w] = 0
					member[++n] = w
				} while (w != v)
				if (n > 1)
					circle(n)
			}
			if (--top > 0 && low[v] < low[call[top]])
				low[call[top]] = low[v]
		}
	}
	function circle(n,    i, k, t, name) {
		for (i = 2; i <= n; i++)
			for (k = i; k > 1 && member[k] < member[k - 1]; k--) {
				t = member[k]
				member[k] = member[k - 1]
				member[k - 1] = t
			}
		name = member[1]
		for (i = 2; i <= n; i++)
			name = name " " member[i]
		found[name] = 1
		circles++
		if (!(name in allowed)) {
			print "files need each other: " name
			failed = 1
		}
		if (verbose || !(name in allowed))
			for (i = 1; i <= n; i++)
				for (k = 1; k <= n; k++)
					if ((member[i], member[k]) in reason)
						print "    " member[i] " needs " member[k] ": " reason[member[i], member[k]]
	}
	FILENAME ~ /sources$/ {
		sub(/\.c$/, "")
		file[$0] = 1
		order[++files] = $0
		next
	}
	FILENAME ~ /symbols$/ {
		unit = $1
		sub(/\.o:$/, "", unit)
		unit = substr(unit, length(build) + 1)
		if ($3 == "U")
			wants[++n_wants] = unit SUBSEP $2
		else if ($3 ~ /^[TDBRVWCGS]$/)
			home[$2] = unit
		next
	}
	{
		unit = $0
		sub(/\.h:.*/, "", unit)
		match($0, /"[^"]*"/)
		to = substr($0, RSTART + 1, RLENGTH - 2)
		if (to ~ /\.h$/)
			header[++n_headers] = unit SUBSEP substr(to, 1, length(to) - 2)
	}
	END {
		while ((got = (getline line < list)) > 0) {
			if (line ~ /^#/ || line ~ /^[ \t]*$/)
				continue
			if (line !~ /^[a-z0-9_\/ ]+: ./) {
				print list ": cannot read (FILE FILE...: REASON): " line
				exit failed = 1
			}
			sub(/:.*/, "", line)
			allowed[line] = 1
		}
		if (got < 0 || !n_wants) {
			print "check-cycles: cannot read " list " or the objects"
			exit failed = 1
		}
		for (i = 1; i <= n_wants; i++) {
			split(wants[i], p, SUBSEP)
			if (p[2] in home)
				edge(p[1], home[p[2]], p[2])
		}
		for (i = 1; i <= n_headers; i++) {
			split(header[i], p, SUBSEP)
			edge(p[1], p[2], "#include")
		}
		for (i = 1; i <= files; i++)
			if (!(order[i] in number))
				component(order[i])
		for (name in allowed)
			if (!(name in found)) {
				print list " names a circle that is not there: " name
				failed = 1
			}
		if (!failed)
			printf "%d files, %d circles, each named in %s\n", files, circles, list
		exit failed
	}
' "$work/sources" "$work/symbols" "$work/includes"
