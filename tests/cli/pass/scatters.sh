#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scatters.sh - the eager run's scatters: when updates are sorted first, that both devices agree.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# scatter LAUNCHES TYPE PLACES UPDATES REDUCTION: 40 lines, along the first axis.
scatter()
{
	echo "g ($2[$3,40] x, int64[$4,40] i, $2[$4,40] u) => ($2[$3,40] y) { y = ScatterElements <axis = 0, reduction = \"$5\"> (x, i, u) }" >"$tmp/g.gpt"
	pm run "$tmp/g.gpt" --device emu --compare ref --plan
	exits 0 "$4 updates of $3 places ($2, $5) agree with the reference"
	[ "$(grep -c 'launch eager ScatterElements' "$tmp/err")" = "$1" ]
	tap "in so many launches: $1"
}

# tuples LAUNCHES PLACES UPDATES REDUCTION: by two indices.
tuples()
{
	echo "g (float[$2,7] x, int64[$3,2] i, float[$3] u) => (float[$2,7] y) { y = ScatterND <reduction = \"$4\"> (x, i, u) }" >"$tmp/g.gpt"
	pm run "$tmp/g.gpt" --device emu --compare ref --plan
	exits 0 "$3 tuples into $2 rows ($4) agree with the reference"
	[ "$(grep -c 'launch eager ScatterND' "$tmp/err")" = "$1" ]
	tap "in so many launches: $1"
}

scatter 0 float 1031 0 add # a copy alone
scatter 1 float 1031 1 add
scatter 1 float 1031 61 add
scatter 2 float 1031 521 add
scatter 1 float16 1 521 add
scatter 2 float16 1031 521 mul
scatter 2 bfloat16 1031 521 max
scatter 2 int32 1031 521 min
scatter 1 float 1031 521 none
scatter 2 float 4099 3001 none
tuples 1 1031 5 add
tuples 2 1031 521 add

tap_done
