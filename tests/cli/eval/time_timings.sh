#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# time_timings.sh - passmith time --timings says where the time of the command went, also where there is no clock.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

model=$tmp/m.gpt
cat >"$model" <<'E'
<ir_version: 8, opset_import: ["" : 18]>
g (float[64,64] x) => (float[64,64] y)
{
   s = Sigmoid (x)
   y = Mul (x, s)
}
E

pm time "$model" --device emu --timings --json
grep -q '"timings": *{' "$tmp/out" && grep -q '"read":' "$tmp/out" && grep -q '"clock":' "$tmp/out"
tap "--json has the seconds of each stage"
tr -d ' \n\t' <"$tmp/out" | sed 's/.*"timings":{"seconds":\([0-9.e-]*\),"stages":{\([^}]*\)}.*/\1,\2/' |
	tr ',' '\n' | sed 's/.*://' | awk 'NR == 1 { all = $1 } NR > 1 { sum += $1 } END { exit !(NR == 9 && all > 0 && sum / all > 0.999 && sum / all < 1.001) }'
tap "the stages are all of the time"
pm time "$model" --device emu --timings
grep -q '^time: ' "$tmp/out" && grep -q '^  read ' "$tmp/out"
tap "the table names the stages"
pm time "$model" --device emu
! grep -q '^time: ' "$tmp/out"
tap "without --timings nothing is said"
tap_done
