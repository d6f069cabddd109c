#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cluster_sim.sh - the simulation of many workers: laws that it has to keep, whatever is drawn, and its page.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "cluster_sim" "python3 is not here"
	tap_done
fi

# law NAME: runs the text that follows; it has draw, items and sim (tools/bench/cluster_sim.py), and ends with an assertion that fails.
law()
{
	{
		cat <<-'PYTHON'
			import math, random, sys
			sys.path.insert(0, "tools/bench")
			sys.dont_write_bytecode = True
			import cluster_sim as sim
			from cluster_sim import Options, Server, deal, simulate

			def near(a, b):
			    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)

			def cases():
			    for seed in range(40):
			        draw = random.Random(seed)
			        items = [[draw.random() * 3 for _ in range(1 + int(draw.random() * 12))] for _ in range(1 + int(draw.random() * 60))]
			        yield seed, draw, items, deal(list(map(sum, items)), 1 + int(draw.random() * len(items)))

			def total(items):
			    return sum(map(sum, items))
		PYTHON
		cat
	} >"$tmp/law.py"
	code=0
	python3 "$tmp/law.py" >"$tmp/out" 2>"$tmp/err" || code=$?
	[ "$code" -eq 0 ]
	tap "$1"
}

law "every item is in one shard" <<'PYTHON'
for seed, draw, items, shards in cases():
    assert sorted(k for s in shards for k in s) == list(range(len(items)))
PYTHON
law "no shard has more than the least by more than an item" <<'PYTHON'
for seed, draw, items, shards in cases():
    costs = list(map(sum, items))
    loads = [sum(costs[k] for k in s) for s in shards]
    assert max(loads) - min(loads) <= max(costs) + 1e-9
PYTHON
law "one worker takes the sum of all times" <<'PYTHON'
for seed, draw, items, shards in cases():
    out = simulate(items, shards, Options(workers=1))
    assert near(out.seconds, total(items)) and out.claims == len([s for s in shards if s])
PYTHON
law "with the folder's operations, the sum of all" <<'PYTHON'
for seed, draw, items, shards in cases():
    out = simulate(items, shards, Options(workers=1, start_s=2.0, server=Server(0.25, 0.5)))
    assert near(out.seconds, 2.0 + total(items) + 0.75 * (out.claims + out.files)) and near(out.wait_s, 0.75 * (out.claims + out.files))
PYTHON
law "work is neither lost nor done twice" <<'PYTHON'
for seed, draw, items, shards in cases():
    every = int(draw.random() * 4)
    out = simulate(items, shards, Options(workers=1 + seed % 7, publish_every=every, server=Server(0.01, 0.02)))
    assert out.items == [1] * len(items) and near(out.work_s, total(items)) and out.variants == sum(map(len, items))
    assert out.files == sum(-(-len(i) // (every or len(i))) for i in items) and out.kills == 0 and out.lost_s == 0
PYTHON
law "N workers are not faster than the sum over N, nor than the longest shard" <<'PYTHON'
for seed, draw, items, shards in cases():
    for n in (2, 3, 8, 100):
        out = simulate(items, shards, Options(workers=n))
        longest = max(sum(sum(items[k]) for k in s) for s in shards)
        assert out.seconds >= total(items) / n - 1e-9 and out.seconds >= longest - 1e-9
        assert out.seconds <= total(items) / n + longest + 1e-9  # and no worker is idle while there is a shard
PYTHON
law "the server does one operation at a time" <<'PYTHON'
for seed, draw, items, shards in cases():
    out = simulate(items, shards, Options(workers=50, server=Server(1.0, 0.0)))
    assert out.seconds >= out.files + 1.0 - 1e-9
PYTHON
law "killed workers: each item is published once, and what was evaluated is published or counted as lost" <<'PYTHON'
kills = 0
for seed, draw, items, shards in cases():
    out = simulate(items, shards, Options(workers=1 + seed % 5, kills_per_hour=120.0, lease_s=3.0, back_s=5.0, start_s=0.5, server=Server(0.01, 0.01), seed=seed))
    assert out.items == [1] * len(items) and near(out.work_s, total(items)) and out.variants == sum(map(len, items))
    kills += out.kills
    assert out.most_lost_s <= max(max(i) for i in items) + 1e-9  # published after each variant: a kill loses the one it hits
    assert out.lost_s <= out.kills * out.most_lost_s + 1e-9
assert kills > 100
PYTHON
law "whole items only: a kill loses a part of an item" <<'PYTHON'
lost = 0
for seed, draw, items, shards in cases():
    out = simulate(items, shards, Options(workers=2, publish_every=0, kills_per_hour=60.0, lease_s=1.0, back_s=1.0, seed=seed))
    assert out.items == [1] * len(items) and out.files == len(items) and out.most_lost_s <= max(map(sum, items)) + 1e-9
    lost += out.lost_s
assert lost > 0
PYTHON
law "the same seed gives the same, another one does not" <<'PYTHON'
items = [[1.0 + k % 3] * 5 for k in range(40)]
a, b, c = (simulate(items, deal([1] * 40, 8), Options(workers=4, kills_per_hour=60.0, lease_s=1.0, back_s=1.0, seed=s)) for s in (5, 5, 6))
assert a == b and a != c
assert sim.workload(1, 1) == sim.workload(1, 1) and sim.workload(1, 1) != sim.workload(2, 1)
PYTHON
law "the workload is what the page says" <<'PYTHON'
items, costs = sim.workload(1, 1)
assert len(items) == len(costs) == 200 * 8 and sum(map(len, items)) == 2060 * 8
PYTHON
law "results are collected one by one, and not before they are there" <<'PYTHON'
for seed, draw, items, shards in cases():
    n = sum(map(len, items))
    a, b = (simulate(items, shards, Options(workers=3, collect_s=s)) for s in (0.0, 0.5))
    assert a.collected_s == a.seconds and b.seconds == a.seconds
    assert b.collected_s >= max(n * 0.5, b.seconds + 0.5) and b.collected_s <= b.seconds + n * 0.5 + 1e-9
PYTHON
law "by hand: two workers, three shards, a server that is busy for one second" <<'PYTHON'
# claims answered at 1 and 2; works 1-11 and 2-12; published 12 and 13; the third claimed at 13 or 14, asked for at 12: answered 14, works until 24, published 25
out = simulate([[10.0], [10.0], [10.0]], [[0], [1], [2]], Options(workers=2, server=Server(1.0, 0.0)))
assert out.seconds == 25.0, out.seconds
PYTHON

tools/bench/cluster_sim.py --check >"$tmp/out" 2>"$tmp/err"
tap "the page is what the numbers give"
mkdir -p "$tmp/tools/bench" "$tmp/docs/design"
cp tools/bench/cluster_sim.py "$tmp/tools/bench"
cp -r docs/results "$tmp/docs"
sed -n '/table growth/,/end of table/s/^| 10 | [^|]*|/| 10 | 1.0 kB |/; /table growth/,/end of table/p' docs/design/scale.md >"$tmp/docs/design/scale.md"
! "$tmp/tools/bench/cluster_sim.py" --check >"$tmp/out" 2>"$tmp/err"
tap "another number is seen"
warns "docs/design/scale.md is not what the numbers give" "and told"
tap_done
