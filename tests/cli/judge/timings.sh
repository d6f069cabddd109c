#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timings.sh - passmith eval --timings says where the time went, in the table and in JSON; without it nothing is said.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

model=models/llama_block.gpt
pass=$build/passes/silu.so
pm eval $model --pass "$pass" --timings -o "$tmp/r.json"
exits 0 "an evaluation with --timings"
says "pass silu, time: " "the table begins with the sum"
says "  reference " "the reference is a stage"
says "  hidden " "hidden shapes are one"
says "  normal " "classes of inputs have lines of their own"
grep -q '"timings":' "$tmp/r.json" && grep -q '"replay_verify":' "$tmp/r.json"
tap "the report has them too"
pm eval $model --pass "$pass" --timings --json
exits 0 "with --json"
[ "$(grep -o '"timings": *{' "$tmp/out" | wc -l)" -eq 2 ]
tap "the report and its one record have their times"
# The stages of a record are all of it: their sum is what the evaluation took.
tr -d ' \n\t' <"$tmp/out" | sed 's/.*"wall_seconds":\([0-9.e-]*\).*"timings":{"seconds":\([0-9.e-]*\).*/\1 \2/' |
	awk 'NF == 2 && $1 > 0 && $2 > 0.999 * $1 && $2 < 1.001 * $1 { ok = 1 } END { exit !ok }'
tap "the stages of a record add up to what it took"
pm eval $model --pass "$pass" --json
! grep -q '"timings"' "$tmp/out"
tap "without --timings nothing is said"
tap_done
