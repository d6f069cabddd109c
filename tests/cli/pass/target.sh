#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# target.sh - the GPU that a rewrite is for: it reaches the pass, decides launches and times, and keeps results apart.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

model=models/llama_block.gpt
fuse=$build/passes/fuse.so

# ---- which there are ----

pm doctor --targets
exits 0 "doctor --targets"
for name in h200 h100 a100 rtx4090 l4; do
	grep -q "^$name " "$tmp/out"
	tap "there is $name"
done
[ "$(grep -c 'costs fitted' "$tmp/out")" -eq 1 ]
tap "the costs of one are fitted, those of the others are not"
pm doctor --targets --json
[ "$(grep -c '"launch_us":' "$tmp/out")" -eq 5 ]
tap "as JSON all have all constants"

# ---- it reaches the pass, in its own process ----

# A pass that declines with what it is told of the GPU.
cat >"$tmp/says.c" <<'C'
#include "passmith/dsl.h"
enum { X };
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	const PmTarget *t = pm_target();
	PmText text = pm_text(256);
	double us = 0;
	(void)rw;
	pm_text_add(&text, t->name);
	pm_text_add(&text, ", ");
	pm_text_int(&text, t->sm_count);
	pm_text_add(&text, " SMs, launch_us ");
	pm_text_int(&text, pm_target_number(t, "launch_us", &us) ? (int64_t)(us * 1000) : -1);
	pm_text_add(&text, pm_target_number(t, "nothing_us", &us) ? "!" : " ns");
	return pm_decline(m, text.s);
}
PM_RULE(says, .pattern = OP(Mul, V(X), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("says", "1", &says)
C
pm build "$tmp/says.c"
exits 0 "a pass that asks for the target"
says=$tmp/says.so

# The template as it was built for version 1.3, whose host ended before target().
{
	printf '#include "passmith/pass.h"\n#define PM_ABI_MINOR 3\n'
	cat passes/TEMPLATE.c
} >"$tmp/older.c"
pm build "$tmp/older.c"
exits 0 "a pass that says it was built for version 1.3"

silu_graph 'float[8,64]'
pm explain "$tmp/silu.gpt" --pass "$says"
says "h200, 132 SMs, launch_us 1450 ns" "a pass is told of h200 when nobody says otherwise"
pm explain "$tmp/silu.gpt" --pass "$says" --target l4
says "l4, 58 SMs, launch_us 1450 ns" "and of the one that is named"
cat >"$tmp/sum.gpt" <<'G'
sum (float[8,64] a, float[8,64] b) => (float[8,64] y)
{
   s = Add (a, b)
   y = Relu (s)
}
G
pm eval "$tmp/sum.gpt" --pass "$tmp/older.so" --hidden 0 --check-only
exits 0 "a plugin of version 1.3 of the interface still loads, applies and is right"

# ---- it decides launches and modelled times ----

# apply TARGET: rewrites the model for it, into $tmp/TARGET.gpt and .json
block=models/mobilenetv3_se_block.gpt # of which some launches depend on the target
apply()
{
	pm apply $block --pass "$fuse" --target "$1" -o "$tmp/$1.gpt" --json
	exits 0 "apply --target $1"
	mv "$tmp/out" "$tmp/$1.json"
}

pm apply $block --pass "$fuse" -o "$tmp/default.gpt" --json
exits 0 "apply without a target"
mv "$tmp/out" "$tmp/default.json"
apply h200
apply l4
apply rtx4090
cmp -s "$tmp/default.gpt" "$tmp/h200.gpt"
tap "h200 is the default"
launches()
{
	grep -o 'launch_[0-9]* = \["[^"]*"' "$tmp/$1.gpt"
}
launches h200 >"$tmp/a"
launches l4 >"$tmp/b"
[ -s "$tmp/a" ] && [ -s "$tmp/b" ] && ! cmp -s "$tmp/a" "$tmp/b"
tap "a launch for l4 differs from that for h200"
grep -q '"target": "l4"' "$tmp/l4.json" && grep -q '"target": "h200"' "$tmp/default.json"
tap "the answer names the target"
time_of()
{
	grep -o '"modelled_seconds_before": *[^,]*' "$tmp/$1.json" | sed 's/.*: *//;q'
}
awk "BEGIN { exit !($(time_of l4) > $(time_of h200)) }"
tap "the same run is modelled slower on l4"

# A kernel for another GPU is right here too.
pm eval $model --pass "$fuse" --target l4 --hidden 0 --check-only
exits 0 "kernels for l4 are right"

# ---- what is wrong ----

pm apply $model --pass "$fuse" --target abacus -o "$tmp/x.gpt"
exits 2 "a target that there is not"
warns "There is no target 'abacus'; there are h200 h100 a100 rtx4090 l4" "the sentence names those that there are"
if pm doctor --json && grep -q '"present": true' "$tmp/out"; then
	skip "device without a GPU" "there is a GPU here"
else
	pm apply $model --pass "$fuse" --target device -o "$tmp/x.gpt"
	exits 3 "device where there is no GPU"
	warns "There is no GPU here that could be the target" "and a sentence about it"
fi

# ---- results of two targets are two runs ----

pm task from "$tmp/silu.gpt" --db "$tmp/w.db" --shapes 1
exits 0 "a task"
pm eval 1 --db "$tmp/w.db" --pass "$build/passes/silu.so" --hidden 0 --quiet
exits 0 "evaluated for h200"
pm eval 1 --db "$tmp/w.db" --pass "$build/passes/silu.so" --hidden 0 --quiet --target l4
exits 0 "and for l4"
pm db query --db "$tmp/w.db" "select options from runs"
grep -q 'profile=h200' "$tmp/out" && grep -q 'profile=l4' "$tmp/out"
tap "two runs are stored, each with its target"

# ---- a lock keeps it ----

pm task from $model --db "$tmp/b.db" --shapes 1
pm eval 1 --db "$tmp/b.db" --pass "$fuse" --hidden 0 --quiet
pm bank add "$tmp/bank" "$fuse" --db "$tmp/b.db"
exits 0 "a bank with fuse"
pm apply $model --bank "$tmp/bank" --target l4 -o "$tmp/bank.gpt"
exits 0 "a model rewritten with it for l4"
grep -q '"target": "l4"' "$tmp/bank.gpt.lock"
tap "the lock names the target"
cp "$tmp/bank.gpt.lock" "$tmp/lock"
pm apply $model --bank "$tmp/bank" --lock "$tmp/lock" -o "$tmp/bank.gpt"
exits 0 "the lock gives the same again, for l4"
pm apply $model --bank "$tmp/bank" --lock "$tmp/lock" --target h200 -o "$tmp/bank2.gpt"
exits 2 "another target beside a lock is refused"

# ---- no number of a GPU stands in the code ----

! grep -nE '\b132\b' passes/fuse/*.c passes/fuse/*.h passes/fuse/*/*.c passes/fuse/*/*.h runtime/eager/*.c runtime/eager/*.h
tap "the multiprocessors of an H200 are no number in fusion or in the eager run"
# Those of the modelled clock are no part of what fusion decides by. include/passmith has what reads those of calls and scatters.
clock='^(call_.*|plain_.*|pool_loads_per_us|scatter_.*|sm_bytes_per_us|start_us|wait_(barrier|collective|request)_cycles)$'
sed -n 's/^XX(\([a-z0-9_]*\),.*/\1/p' targets/costs.def | grep -vE "$clock" >"$tmp/a"
sed -n 's/^\tXX(\([a-z0-9_]*\)).*/\1/p' passes/fuse/cost/target.h >"$tmp/b"
[ -s "$tmp/a" ] && cmp -s "$tmp/a" "$tmp/b"
tap "fusion reads every constant of targets/costs.def but those of the modelled clock, and no other"
tap_done
