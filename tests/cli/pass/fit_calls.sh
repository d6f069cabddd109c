#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fit_calls.sh - tools/fit_calls.py says how well the constants of library calls foretell the committed times, and finds constants
# again that times were made by.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "tools/fit_calls.py" "python3 is not here"
	tap_done
	exit 0
fi

# fit FILE...: what the tool says, in $tmp/out.
fit()
{
	python3 tools/fit_calls.py "$@" --passmith "$passmith" --pass "$build/passes/fuse.so" >"$tmp/out" 2>"$tmp/err"
	code=$?
}

fit docs/results/h200_products.json docs/results/h200_long_sums.json
exits 0 "the committed times are read"
awk '$1 == "row" { ok = $2 >= 100 && $(NF - 1) >= 80 } END { exit !ok }' "$tmp/out"
tap "products of one row are foretold as targets/h200.def says they were fitted"
for kind in f32 half odd image_f32 image_half uneven; do
	grep -q "^$kind  *[0-9]* graphs, ratio " "$tmp/out"
	tap "$kind is told"
done

fit docs/results/h200_one_by_one.json
exits 0 "and those of convolutions of 1 by 1"
awk '$1 == "uneven" { ok = $2 >= 30 && $(NF - 1) >= 85 } END { exit !ok }' "$tmp/out"
tap "uneven ones are foretold as targets/h200.def says they were fitted"

fit docs/results/modelled_times.json
exits 0 "and those of modelled times"
awk '/left out/ { left += $1 } $1 == "half" { all = $2 } END { exit !(left > 100 && all > 100) }' "$tmp/out"
tap "of which a quarter is left out"

# Times that the formula made with other constants: 3 us a call and 0.002 us a term, 1 us of start left out, and 1.45 us of Relu, whose begin
# the call hides.
python3 - >"$tmp/made.json" <<'END'
import json
graphs = []
for k in (64, 128, 256, 512, 1024, 2048, 4096, 8192):
    for n in (256, 1024):
        us = 3 + 0.002 * k / (1 + k / 3800) + 2 * (k + k * n + n) / 4.5e6 + 1.45
        graphs.append({"name": f"k{k}n{n}/float16", "eager_us": us,
                       "text": f"g (float16[1,{k}] x, float16[{k},{n}] w) => (float16[1,{n}] y) {{ p = MatMul (x, w) y = Relu (p) }}"})
print(json.dumps({"graphs": graphs}))
END
fit "$tmp/made.json"
exits 0 "times that were made are read"
awk '/fitted/ { for (i = 1; i < NF; i++) { if ($i == "call_row_us") us = $(i + 3); if ($i == "call_row_term_us") term = $(i + 3) } }
	END { exit !(us > 2.7 && us < 3.3 && term > 0.0018 && term < 0.0022) }' "$tmp/out"
tap "the constants that made them are found"

echo '[]' >"$tmp/empty.json"
fit "$tmp/empty.json"
exits 1 "a file without graphs"
grep -q "empty.json has no graphs" "$tmp/err"
tap "is named"
echo 'g (float[2] x) => (float[2] x) { }' >"$tmp/g.gpt"
fit "$tmp/g.gpt"
exits 1 "a graph in the place of a file of times"
[ "$(wc -l <"$tmp/err")" = 1 ] && grep -q "g.gpt cannot be read as JSON" "$tmp/err"
tap "is a sentence"
fit "$tmp/none.json"
exits 1 "a file that is not there"
[ "$(wc -l <"$tmp/err")" = 1 ] && grep -q "none.json cannot be read" "$tmp/err"
tap "is a sentence"
tap_done
