#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fit_cost.sh - what a pass expects of its kernels, and the fit of the cost model: from the emulated device's modelled
# times it has to find the constants of that model.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

fuse=$build/passes/fuse.so

# ---- what a pass expects ----

# A pass that expects numbers of the target: 2.7 us and 132 multiprocessors, or 58.
pm new expects --dir "$tmp"
sed -i 's/^\tint64_t n = pm_numel(m->root);$/&\n\n\tpm_expect(m->root, 1, 0, pm_target()->launch_seconds * 1e6 + pm_target()->sm_count);/' "$tmp/expects.c"
pm build "$tmp/expects.c"
exits 0 "a pass that says what it expects"
pm explain models/resnet_bottleneck.gpt --pass "$tmp/expects.so"
exits 0 "explain"
says "  expected  134.70 us for the kernel that makes " "explain says what each kernel is expected to take"
pm explain models/resnet_bottleneck.gpt --pass "$tmp/expects.so" --target l4
says "  expected  60.70 us for the kernel that makes " "for another GPU it is another time"
echo '[{"launch_us": 2.45}, {"copy_bytes_per_us": 1e6, "launch_us": 1.45}]' >"$tmp/trials.json"
pm explain models/swin_block.gpt --pass "$fuse" --trials "$tmp/trials.json" --json
exits 0 "with trials"
if command -v python3 >/dev/null; then
	python3 - "$tmp/out" <<'PY'
import json, sys
said = [e for e in json.load(open(sys.argv[1]))["results"][0]["expected"]]
fused = [e["us"] for e in said if e["fused"]]
alone = [e["us"] for e in said if not e["fused"]]
assert fused and alone and all(len(us) == 3 for us in fused + alone), said
# One microsecond more for each launch; fewer bytes in a microsecond never take less.
assert all(abs(us[1] - us[0] - round(us[1] - us[0])) < 1e-9 and us[1] - us[0] >= 1 for us in fused), fused
assert all(us[2] >= us[0] for us in fused + alone)
PY
	tap "it expects what a launch takes more, and never less of fewer bytes in a microsecond"
else
	skip "what it expects under trials" "there is no python3"
fi
echo '[{"lunch_us": 2.7}]' >"$tmp/bad.json"
pm explain models/swin_block.gpt --pass "$fuse" --trials "$tmp/bad.json"
exits 4 "a constant that there is not"
warns "bad.json: 'lunch_us' is no constant of the target h200" "is named, with its file"
echo '{"launch_us": 2.7}' >"$tmp/bad.json"
pm explain models/swin_block.gpt --pass "$fuse" --trials "$tmp/bad.json"
exits 4 "trials that are no list"
pm explain models/swin_block.gpt --pass "$fuse" --trials "$tmp/none.json"
exits 4 "trials that are not there"

# ---- the fit ----

if ! command -v python3 >/dev/null; then
	skip "the fit" "there is no python3"
	tap_done
	exit 0
fi
tools=--passmith=$passmith
code=0
python3 tools/bench/fit_graphs.py --step element-wise --device emu --fit emu "$tools" --fuse "$fuse" -o "$tmp/times.json" \
	>"$tmp/out" 2>"$tmp/err" || code=$?
exits 0 "graphs timed on the emulated device, and fitted, by one command"
# constant NAME VALUE SHARE: what was fitted is within SHARE of it.
constant()
{
	awk -v name="$1" -v value="$2" -v share="$3" '
	$0 ~ "^COST\\(" name "," { sub(/.*, /, ""); found = $1 + 0 }
	END { exit !(found > value * (1 - share) && found < value * (1 + share)) }' "$tmp/emu.def.costs"
	tap "$1 is that of the emulated device, $2, within $3 of it"
}
constant launch_us 1.45 0.01
constant copy_bytes_per_us 3.97e6 0.02
# It has no cost for operations beside memory: of work beside bytes next to nothing is left.
awk '/^COST\(beside_share,/ { sub(/.*, /, ""); share = $1 + 0 } /^COST\(work_per_us,/ { sub(/.*, /, ""); work = $1 + 0 }
END { exit !(share > 0 && work > 0 && share / work < 0.1 * 0.1 / 23e6) }' "$tmp/emu.def.costs"
tap "and operations cost a tenth of what they did, at most"
grep -q '^fitted, left out .* 100 % within 1.3$' "$tmp/out"
tap "graphs that were left out are foretold within 1.3"
python3 tools/fit_cost.py "$tmp/times.json" --check "$tools" --fuse "$fuse" >"$tmp/again" 2>"$tmp/err"
grep '^h200 as it is' "$tmp/out" >"$tmp/a"
grep '^h200 as it is' "$tmp/again" >"$tmp/b"
[ -s "$tmp/a" ] && cmp -s "$tmp/a" "$tmp/b"
tap "the same graphs are left out every time"
! python3 tools/fit_cost.py docs/results/h200_large.json "$tools" --fuse "$fuse" >"$tmp/out" 2>"$tmp/err"
tap "a file of other times is refused"
grep -q 'is no file of tools/bench/fit_graphs.py' "$tmp/err"
tap "in a sentence"
# What choices cost: of every 40th graph with both times, as it is, and with the two exchanged.
python3 - "$tmp/both.json" "$tmp/turned.json" <<'PY'
import json, sys
j = json.load(open("docs/results/h200_products.json"))
j["graphs"] = j["graphs"][::40]
json.dump(j, open(sys.argv[1], "w"))
j["graphs"] = [{**g, "us": g["eager_us"], "eager_us": g["us"]} for g in j["graphs"]]
json.dump(j, open(sys.argv[2], "w"))
PY
for f in both turned; do
	python3 tools/fit_cost.py "$tmp/$f.json" --check "$tools" --fuse "$fuse" --json "$tmp/$f.out" >"$tmp/out" 2>"$tmp/err"
done
python3 - "$tmp/both.out" "$tmp/turned.out" >"$tmp/out" 2>"$tmp/err" <<'PY'
import json, sys
both, turned = (json.load(open(p))["choices"] for p in sys.argv[1:])
assert sum(s["graphs"] for s in both.values()) == 9, both
for part, s in both.items():
    assert 1 <= s["cost"] < turned[part]["cost"] and s["ones"] == turned[part]["ones"], (s, turned[part])
assert sum(s["slower"] for s in turned.values()) > sum(s["slower"] for s in both.values())
PY
tap "what the choices cost is told, and is more where the other choice is the better one"
python3 tools/bench/fit_graphs.py --list >"$tmp/out"
python3 - <<'PY'
import re, sys
sys.path.insert(0, "tools/bench")
import fit_graphs
known = set(re.findall(r"^XX\((\w+)", open("targets/costs.def").read(), re.M))
named = {n for g in fit_graphs.graphs() for n in g["for"]} | {n for v in fit_graphs.FREE.values() for n in v}
decide = {"large_bytes", "longest_f32_flops", "slice_most_bytes", "split_launch_us", "split_thread_work_per_us", "split_turns",
          "strided_lane_us", "wait_us"}
# What counts bytes and turns of a nest is asked when it is built, and not again under trials.
decide |= {"again_share", "beyond_share", "sector_missed_share", "unrolled_share"}
assert named <= known, named - known
free = {n for v in fit_graphs.FREE.values() for n in v}
clock = {n for n in known if re.fullmatch("call_.*|plain_.*|(pool_loads|sm_bytes)_per_us|(start|several)_us|wait_(barrier|collective|request)_cycles", n)}
missing = known - free - decide - clock
assert not missing, missing
PY
tap "every constant is free in a step of the fit, or only decides"

# ---- modelled times beside measured ones ----

# Five calls and three graphs of the committed times, without what was modelled: this version says the same of plain runs.
python3 - "$tmp/times.json" <<'PY'
import json, sys
j = json.load(open("docs/results/modelled_times.json"))
calls = [g for g in j["graphs"] if g["call"]][::160]
graphs = [g for g in j["graphs"] if not g["call"] and g["modelled_pass_us"]][:3]
j["graphs"] = [{k: g[k] for k in ("name", "text", "eager_us", "pass_us")} for g in calls + graphs]
json.dump(j, open(sys.argv[1], "w"))
PY
python3 tools/bench/modelled.py model "$tmp/times.json" --passmith "$build/passmith" --pass "$fuse" >"$tmp/out" 2>"$tmp/err"
exits 0 "modelled times of a file of measured ones"
grep -qE '^call .* [345] graphs, rank correlation ' "$tmp/out"
tap "the summary tells calls, of one part or of both"
python3 - "$tmp/times.json" <<'PY'
import json, sys
known = {g["name"]: g for g in json.load(open("docs/results/modelled_times.json"))["graphs"]}
got = json.load(open(sys.argv[1]))["graphs"]
assert len(got) == 8 and sum(g["call"] for g in got) == 5
for g in got:
    assert abs(g["modelled_eager_us"] - known[g["name"]]["modelled_eager_us"]) < 0.002, g["name"]
    assert g["call"] or g["modelled_pass_us"] > 0, g["name"]
PY
tap "plain runs are what is committed, and the pass's have a time"
tap_done
