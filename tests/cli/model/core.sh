#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# core.sh - real models: they come in and round-trip unchanged, and the devices agree on them (passes: core_passes.sh).
#
# Needs the model graphs in $PASSMITH_SHARED/models/core (default ../shared); without them the script is skipped.
# Weights are not in those files: what enters the part that is run becomes a seeded input.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

core=${PASSMITH_SHARED:-../shared}/models/core
[ -d "$core" ] || {
	echo "there is no $core"
	exit 77
}
agreed=0
for m in "$core"/*.onnx; do
	name=$(basename "$m" .onnx)
	pm import "$m"
	exits 0 "$name: import"
	pm print "$m"
	cp "$tmp/out" "$tmp/first.gpt"
	pm print "$tmp/first.gpt"
	[ -s "$tmp/first.gpt" ] && cmp -s "$tmp/out" "$tmp/first.gpt"
	tap "$name: print, parse, print is the same text"
	pm import "$m" -o "$tmp/again.onnx"
	pm print "$tmp/again.onnx"
	cmp -s "$tmp/out" "$tmp/first.gpt"
	tap "$name: import, export, import is the same graph"
	pm run "$m" --device emu --compare ref --cut "${PM_CORE_MFLOP:-100}" --quiet
	grep -q ILL-CONDITIONED "$tmp/out" || {
		exits 0 "$name: emu and ref agree on its largest part"
		agreed=$((agreed + 1))
	}
done
[ "$agreed" -ge 45 ]
tap "at most five models are too ill-conditioned to compare ($agreed were compared)"

tap_done
