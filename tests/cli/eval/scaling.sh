#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scaling.sh - tools/bench/scaling.py: on GPUs that are made up (tests/machine), and with answers that are written here,
# for kernels of made-up GPUs do nothing and so have no speedups. No time is looked at.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "scaling" "python3 is not here"
	tap_done
fi
# shellcheck source=tests/lib/machine.sh
. tests/lib/machine.sh
sed -i /Two/d "$fake/gpus" # all GPUs that there are: 0 and 1
mkdir "$tmp/graphs"
for k in 1 2 3 4; do
	silu_graph "float[$k,64]"
	mv "$tmp/silu.gpt" "$tmp/graphs/g$k.gpt"
done

scaling()
{
	code=0
	rm -f "$tmp/s.json"
	TMPDIR=$tmp tools/bench/scaling.py --pass "$build/passes/silu.so" --json "$tmp/s.json" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}
# holds EXPRESSION NAME: of the JSON, d.
holds()
{
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($1))" "$tmp/s.json"
	tap "$2"
}

# ---- passmith itself ----

scaling "$tmp/graphs" --gpus 0,1 --passmith "$passmith" --jobs 1 --first 3 --cycles 2 --seconds 5000 --with "--hidden 0 --check-only"
exits 0 "graphs on two made-up GPUs"
holds "d['of'] == 'eval' and d['graphs'] == 3 and all(r['n'] == 3 and len(r['found']) == 3 for r in d['commands'])" \
	"as many graphs as were asked for"
holds "[r['gpus'] for r in d['commands'][:6]] == [['0'], ['0', '1'], ['0', '1'], ['1'], ['0'], ['0', '1']]" "in turn"
holds "all({f['gpu'] for f in r['found'].values()} <= {int(g) for g in r['gpus']} for r in d['commands'])" "on the GPUs that were asked for"
holds "d['ratio'] > 0 and d['all']['commands'] == 4 and d['one']['0']['commands'] == d['one']['1']['commands'] == 2" "all of them count"
holds "len(d['between_gpus']) == 2 and all(p['graphs'] == 3 and p['timed'] == 0 for p in d['between_gpus'])" "what has no speedup is not compared"
scaling "$tmp/graphs/g1.gpt" "$tmp/graphs/g2.gpt" --passmith "$passmith" --jobs 1 --warm --cycles 2 --seconds 5000 --with "--hidden 0 --check-only"
exits 0 "all GPUs that there are, and a cache that is not empty"
holds "d['gpus'] == ['0', '1'] and d['warm']" "are told"
echo 64 >"$fake/$b/slowed"
scaling "$tmp/graphs" --gpus 0,1 --passmith "$passmith" --jobs 1 --cycles 2 --seconds 5000 --with "--hidden 0 --check-only"
exits 2 "a GPU that is left"
warns "GPU 1 was left: it is slowed down (hardware heat slowdown)" "is named, with its reason"
rm "$fake/$b/slowed"

# ---- tasks ----

"$passmith" extract "$tmp"/graphs/g1.gpt --db "$tmp/w.db" >"$tmp/out" 2>"$tmp/err" &&
	"$passmith" task make --db "$tmp/w.db" --top 1 --name t --shapes 2 >"$tmp/out" 2>"$tmp/err"
tap "a task"
scaling "$tmp/w.db" --gpus 0,1 --passmith "$passmith" --jobs 1 --cycles 2 --seconds 5000 --with "--hidden 0"
exits 0 "tasks of a database"
holds "d['of'] == 'bench' and d['given'] == 1 and d['graphs'] > 0 and all(r['found'] for r in d['commands'])" "each command evaluates anew"
"$passmith" db query --db "$tmp/w.db" "select count(*) from results" >"$tmp/out" 2>"$tmp/err"
grep -qw 0 "$tmp/out"
tap "and the database is left as it was"

# ---- speedups ----

# A stand-in for passmith: each graph's speedup is 2 with an interval of +-1 %, and as files say on GPU 1.
cat >"$tmp/says" <<'SAYS'
#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == '--version':
    sys.exit(0)
here = os.path.dirname(os.path.abspath(__file__))
args = sys.argv[2:]
gpus = args[args.index("--gpus") + 1].split(",")
graphs = args[:args.index("--pass")]
there = lambda name: os.path.exists(os.path.join(here, name))
results = []
for k, g in enumerate(graphs):
    gpu = gpus[k % len(gpus)]
    s = 2.0 * (1.5 if there("faster") and gpu == "1" and k == 0 else 1)
    bad = there("other") and gpu == "1" and k == 1
    record = {"variant": "v", "verdict": "INCORRECT"} if bad else \
        {"variant": "v", "verdict": "OK", "speedup": s, "clock": {"speedup_lo": s * 0.99, "speedup_hi": s * 1.01}}
    results.append({"task": g, "gpu": {"index": int(gpu), "uuid": ""}, "records": [record]})
print(json.dumps({"error": None, "results": results, "gpus": [{"index": int(g), "items": 1} for g in gpus]}))
SAYS
chmod +x "$tmp/says"
scaling "$tmp/graphs" --gpus 0,1 --passmith "$tmp/says" --cycles 2 --seconds 5000
exits 0 "speedups that agree"
holds "all(p['timed'] == 4 and not p['apart'] and p['ratio'] == 1 for p in d['between_gpus'] + d['same_gpu'] + d['alone_and_all'])" \
	"are compared between GPUs, on one, and with all"
says "between GPUs: 8 pairs of speedups, 0 with intervals apart (0.0 %); 0 other verdicts" "and told"
touch "$tmp/faster"
scaling "$tmp/graphs" --gpus 0,1 --passmith "$tmp/says" --cycles 2 --seconds 5000
exits 1 "a graph that is faster on one GPU"
holds "all(len(p['apart']) == 1 and abs(p['ratio'] - 1.5 ** 0.25) < 1e-9 and p['ratio_lo'] < p['ratio'] < p['ratio_hi'] and abs(p['largest'] - 1.5) < 1e-9 for p in d['between_gpus'])" \
	"is named, with the mean of all"
holds "all(not p['apart'] for p in d['same_gpu'])" "and the same GPU twice agrees"
rm "$tmp/faster"
touch "$tmp/other"
scaling "$tmp/graphs" --gpus 0,1 --passmith "$tmp/says" --cycles 2 --seconds 5000
exits 1 "another verdict on one GPU"
holds "all(len(p['verdicts']) == 1 and p['timed'] == 3 for p in d['between_gpus'])" "is named"
rm "$tmp/other"
scaling "$tmp/graphs" --gpus 0 --passmith "$tmp/says" --cycles 2 --seconds 5000
exits 2 "one GPU is not several"
cat >"$tmp/never" <<'NEVER'
#!/bin/sh
[ "$1" = --version ] || exec sleep 1000
NEVER
chmod +x "$tmp/never"
scaling "$tmp/graphs" --gpus 0,1 --passmith "$tmp/never" --seconds 1
exits 2 "what does not end in its time is stopped"
warns "the time was over" "and the reason told"

tap_done
