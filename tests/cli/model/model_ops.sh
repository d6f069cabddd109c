#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# model_ops.sh - every operator of the real models has a row with a reference function and a kernel.
#
# Needs the model graphs of $PASSMITH_SHARED/models (default ../shared): core/, and corpus.tar.xz, which is unpacked
# here unless $PASSMITH_CORPUS names the folder with its models; without them the script is skipped. Prints the
# operators that lack something, and the nodes that stay opaque.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

shared=${PASSMITH_SHARED:-../shared}/models
[ -d "$shared/core" ] || {
	echo "there is no $shared/core"
	exit 77
}
corpus=${PASSMITH_CORPUS:-$tmp/corpus}
if [ ! -d "$corpus" ] && [ -f "$shared/corpus.tar.xz" ]; then
	mkdir "$corpus"
	tar -xJf "$shared/corpus.tar.xz" -C "$corpus"
	tap "unpack the corpus"
fi

# Operators that occur, once each: of opaque nodes the name in quotes.
find "$shared/core" "$corpus" -name '*.onnx' 2>/dev/null >"$tmp/models"
while read -r m; do
	"$passmith" print "$m" --quiet --max-inline 8 2>>"$tmp/failed" |
		sed -n 's/^ .* = \("[^"]*"\|[A-Z][A-Za-z0-9]*\) [<(].*/\1/p' | sort -u
done <"$tmp/models" | sort | uniq -c >"$tmp/found"
: >"$tmp/out"
cp "$tmp/failed" "$tmp/err"
[ ! -s "$tmp/failed" ]
tap "$(wc -l <"$tmp/models") models print"

# Name, reference function and kernel of each row of the table.
"$passmith" doctor --ops-markdown | sed -n 's/^| \([A-Z][A-Za-z0-9]*\) |.* | \([a-z_0-9]*\) | \(yes\|no\) |.*/\1 \2 \3/p' \
	>"$tmp/table"
awk 'NR == FNR { row[$1] = $2 " " $3; next }
	$2 ~ /^"/ { print $2 " is opaque in " $1 " models"; next }
	!($2 in row) { print $2 " (" $1 " models) has no row"; next }
	row[$2] ~ /^none / { print $2 " (" $1 " models) has no reference function" }
	row[$2] ~ / no$/ { print $2 " (" $1 " models) has no kernel" }' "$tmp/table" "$tmp/found" >"$tmp/lacking"
sed 's/^/# /' "$tmp/lacking"
# One model squeezes an axis of 12 entries, which ONNX does not allow: docs/reference/onnx.md.
grep -v '^"Squeeze" is opaque in 1 models$' "$tmp/lacking" >"$tmp/out"
[ ! -s "$tmp/out" ]
tap "all $(grep -vc '"' "$tmp/found") operators have a rule, a reference function and a kernel"
tap_done
