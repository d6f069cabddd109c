#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scatters.sh - the eager run's scatters: when updates are sorted first, that both devices agree, and what fuse expects of
# them: near what was measured, and more of more.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# agrees LAUNCHES OPERATOR WHAT: $tmp/g.gpt.
agrees()
{
	pm run "$tmp/g.gpt" --device emu --compare ref --plan
	exits 0 "$3 agree with the reference"
	[ "$(grep -c "launch eager $2" "$tmp/err")" = "$1" ]
	tap "in so many launches: $1"
}

# scatter LAUNCHES TYPE PLACES UPDATES REDUCTION: 40 lines, along the first axis.
scatter()
{
	echo "g ($2[$3,40] x, int64[$4,40] i, $2[$4,40] u) => ($2[$3,40] y) { y = ScatterElements <axis = 0, reduction = \"$5\"> (x, i, u) }" >"$tmp/g.gpt"
	agrees "$1" ScatterElements "$4 updates of $3 places ($2, $5)"
}

# tuples LAUNCHES PLACES UPDATES REDUCTION: by two indices.
tuples()
{
	echo "g (float[$2,7] x, int64[$3,2] i, float[$3] u) => (float[$2,7] y) { y = ScatterND <reduction = \"$4\"> (x, i, u) }" >"$tmp/g.gpt"
	agrees "$1" ScatterND "$3 tuples into $2 rows ($4)"
}

scatter 0 float 1031 0 add # a copy alone
scatter 1 float 1031 1 add
scatter 1 float 1031 61 add
scatter 1 float 1031 521 add
scatter 2 float 30011 521 add
scatter 1 float16 1 521 add
scatter 2 float16 30011 521 mul
scatter 2 bfloat16 30011 521 max
scatter 2 int32 30011 521 min
scatter 1 float 1031 521 none
scatter 1 float 4099 3001 none
scatter 2 float 100003 521 none
tuples 1 1031 5 add
tuples 2 1031 521 add

# ---- indices of all lines at once ----

cat >"$tmp/g.gpt" <<'EOF'
g (float[1000,64] z, float[1100,64] u, float[1000,1] a, int64[1100] to) => (float[1000,64] y) <int64[2] c = {1100, 1}, int64[2] e = {1100, 64}>
{ b = Gather <axis = 0> (a, to) v = Div (u, b) r = Reshape <allowzero = 0> (to, c) i = Expand (r, e) y = ScatterElements <axis = 0, reduction = "add"> (z, i, v) }
EOF
agrees 1 ScatterElements "messages of nodes"
grep -q "launch eager ScatterElements float  grid=125,1,1" "$tmp/err"
tap "a block has eight places of all lines"
pm apply "$tmp/g.gpt" --pass "$build/passes/fuse.so" --target h200 -o "$tmp/fused.gpt"
exits 0 "what makes the messages is fused"
pm run "$tmp/fused.gpt" --device emu --compare ref --plan
exits 0 "it agrees with the reference"
grep -q "2 launches, 2 views" "$tmp/out" && grep -q "view Expand" "$tmp/err"
tap "indices that the scatter alone reads stay a view"
cat >"$tmp/g.gpt" <<'EOF'
g (float[1000,64] z, float[1100,64] u, float[1000,1] a, int64[500] p, int64[600] q) => (float[1000,64] y) <int64[2] c = {1100, 1}, int64[2] e = {1100, 64}>
{ to = Concat <axis = 0> (p, q) b = Gather <axis = 0> (a, to) v = Div (u, b) r = Reshape <allowzero = 0> (to, c) i = Expand (r, e) y = ScatterElements <axis = 0, reduction = "add"> (z, i, v) }
EOF
pm apply "$tmp/g.gpt" --pass "$build/passes/fuse.so" --target h200 -o "$tmp/fused.gpt"
pm run "$tmp/fused.gpt" --device emu --compare ref --plan
exits 0 "indices that the kernel makes: it agrees"
grep -q "2 launches, 1 views" "$tmp/out" && grep -q "view Expand" "$tmp/err"
tap "and writes them once"

# ---- what is expected ----

if ! command -v python3 >/dev/null; then
	skip "what is expected" "there is no python3"
	tap_done
	exit 0
fi
cat >"$tmp/expect.py" <<'PY'
import json, os, subprocess
PASSMITH, FUSE, TMP = (os.environ[k] for k in ("PASSMITH", "FUSE", "TMP"))
TRIALS, GRAPH = os.path.join(TMP, "trials.json"), os.path.join(TMP, "g.gpt")
DEAR = 1e6   # microseconds of a launch, so that nothing is sorted first

def ask(*args):
    r = subprocess.run([PASSMITH, *args, "--json"], capture_output=True, text=True, check=False)
    return json.loads(r.stdout)

COSTS = next(t["costs"] for t in ask("doctor", "--targets")["targets"] if t["name"] == "h200")
with open(TRIALS, "w") as f:
    json.dump([{"launch_us": DEAR}], f)

def graph(how, places, updates, lines, op, t="float"):
    idx, axis = (f"{updates},{lines}", "axis = 0, ") if op == "ScatterElements" else (f"{updates},1", "")
    return (f'g ({t}[{places},{lines}] x, int64[{idx}] i, {t}[{updates},{lines}] u) => ({t}[{places},{lines}] y) '
            f'{{ y = {op} <{axis}reduction = "{how}"> (x, i, u) }}')

def expect(text):
    """Microseconds: as the target is, and where updates are always looked for."""
    with open(GRAPH, "w") as f:
        f.write(text)
    us = ask("explain", GRAPH, "--pass", FUSE, "--target", "h200", "--trials", TRIALS)["results"][0]["expected"][0]["us"]
    return us[0], us[1] - DEAR + COSTS["launch_us"]

def modelled(text):
    """Microseconds of the plain run by the modelled clock."""
    with open(GRAPH, "w") as f:
        f.write(text)
    return ask("apply", GRAPH, "--pass", FUSE, "--target", "h200", "-o", GRAPH + ".out")["modelled_seconds_before"] * 1e6
PY
# claim SENTENCE: what python3 is given holds.
claim()
{
	code=0
	PASSMITH=$passmith FUSE=$build/passes/fuse.so TMP=$tmp PYTHONPATH=$tmp python3 - >"$tmp/out" 2>"$tmp/err" || code=$?
	exits 0 "$1"
}

claim "scatters are expected, and modelled, within a factor of 1.5 of what an H200 took" <<'PY'
import json
from expect import COSTS, expect, modelled
j = json.load(open("docs/results/h200_scatter.json"))
assert len(j["alone"]) == 48, len(j["alone"])
for op, how, axis, t, places, updates, lines, us, _ in j["alone"]:
    idx = f"{updates},{lines}" if axis == 0 else f"{lines},{updates}"
    xs = f"{places},{lines}" if axis == 0 else f"{lines},{places}"
    text = (f'g ({t}[{xs}] x, int64[{idx if op == "ScatterElements" else f"{updates},1"}] i, {t}[{idx}] u) => ({t}[{xs}] y) '
            f'{{ y = {op} <{f"axis = {axis}, " if op == "ScatterElements" else ""}reduction = "{how}"> (x, i, u) }}')
    is_expected = expect(text)[0] + COSTS["start_us"]
    assert 1 / 1.5 < is_expected / us < 1.5, (op, how, places, updates, lines, is_expected, us)
    assert 1 / 1.5 < modelled(text) / us < 1.5, (op, how, places, updates, lines, modelled(text), us)
PY

claim "the same of indices that are repeated for all lines, within a factor of 1.5" <<'PY'
import json
from expect import COSTS, expect, modelled
j = json.load(open("docs/results/h200_scatter.json"))
assert len(j["same"]) == 19, len(j["same"])
for t, places, updates, lines, us, _ in j["same"]:
    xs, us_ = f"{places},{lines}", f"{updates},{lines}"
    text = (f'g ({t}[{xs}] x, int64[{updates},1] i, {t}[{us_}] u) => ({t}[{xs}] y) <int64[2] e = {{{updates}, {lines}}}> '
            f'{{ j = Expand (i, e) y = ScatterElements <axis = 0, reduction = "add"> (x, j, u) }}')
    is_expected = expect(text)[0] + COSTS["start_us"]
    assert 1 / 1.5 < is_expected / us < 1.5, (places, updates, lines, is_expected, us)
    assert 1 / 1.5 < modelled(text) / us < 1.5, (places, updates, lines, modelled(text), us)
PY

claim "more updates never take less" <<'PY'
from expect import expect, graph
for how in ("add", "none"):
    for op in ("ScatterElements", "ScatterND"):
        for lines in (1, 64, 96):
            for p in (1100, 4096, 10007, 65536):
                row = [expect(graph(how, p, k, lines, op))[0] for k in (1, 16, 128, 250, 1000, 4096, 30000)]
                assert all(a <= b for a, b in zip(row, row[1:])), (how, op, lines, p, row)
PY

claim "sorting is expected where looking takes longer, and never to rise with places times updates" <<'PY'
from expect import expect, graph
small, large = (expect(graph("add", p, p // 16, 64, "ScatterElements")) for p in (4096, 65536))
assert large[1] > 20 * small[0] and large[0] < large[1] / 1.5, (small, large)
# Sixteen times the places and updates: sixteen times, at most, and not 256.
assert large[0] < 16 * small[0], (small, large)
PY
tap_done
