#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exemplars.sh BUILD [OUT [OBJECTS]] - builds each pass of exemplars/, and writes what is made from it: NAME.pattern, and in NAME.md
# the line below "<!-- modelled -->". OUT (exemplars) may be another folder; tests/cli/agent/exemplars.sh compares it,
# and goes on with the shared objects in OBJECTS.
# On the way each pass has to build without a message, pass `check`, and be right on its graph (`eval` on emu).
set -eu
cd "$(dirname "$0")/../.."
build=${1:?usage: tools/gen/exemplars.sh BUILD [OUT]}
out=${2:-exemplars}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: "${PASSMITH_ROOT:=$PWD}"
export PASSMITH_ROOT
mkdir -p "$out"

# number KEY: of the first record of the report.
number()
{
	sed -n "s/^ *\"$1\": *\([0-9.e+-]*\),*\$/\1/p" "$work/report" | tail -n 1
}

bad=0
for c in exemplars/*.c; do
	name=${c##*/}
	name=${name%.c}
	so=${3:-$work}/$name.so
	if ! "$build/passmith" build "$c" -o "$so" >"$work/said" 2>&1 || ! "$build/passmith" check "$so" >"$work/check" 2>&1 ||
		! "$build/passmith" eval "exemplars/$name.gpt" --pass "$so" --hidden 1 -o "$work/report" --quiet >"$work/said" 2>&1; then
		echo "exemplars.sh: $c is not right:" >&2
		cat "$work/said" "$work/check" >&2
		bad=1
		continue
	fi
	awk '/^  [^ ]/ { rule = $1 } /^    / { sub(/^ */, ""); print rule, $0 }' "$work/check" >"$out/$name.pattern.tmp"
	mv "$out/$name.pattern.tmp" "$out/$name.pattern"
	said=$(awk -v la="$(number baseline_launches)" -v lb="$(number candidate_launches)" -v a="$(number baseline_bytes)" \
		-v b="$(number candidate_bytes)" -v s="$(number speedup)" \
		'BEGIN { printf "Modelled (`emu`, h200) on this graph: %d launches and %d bytes before, %d and %d after; %.2f times as fast.", la, a, lb, b, s }')
	awk -v said="$said" '
		drop { drop = 0; if (/^Modelled /) next }
		{ print }
		/^<!-- modelled -->$/ { print said; drop = 1 }' "exemplars/$name.md" >"$out/$name.md.tmp"
	mv "$out/$name.md.tmp" "$out/$name.md"
done
exit $bad
