#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# time_gpus.sh - time --gpus on GPUs that are made up (tests/machine), whose events take no time: which GPU gets which
# model, which one is left, and who is to blame.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/machine.sh
. tests/lib/machine.sh

for k in 1 2 3; do
	silu_graph "float[$k,64]"
	mv "$tmp/silu.gpt" "$tmp/m$k.gpt"
done
models="$tmp/m1.gpt $tmp/m2.gpt $tmp/m3.gpt"
out=$tmp/out err=$tmp/err

begin()
{
	gpus=$1
	shift
	: >"$err"
	# shellcheck disable=SC2086 # a list of files
	"$passmith" time ${models} --gpus "$gpus" --blocks 1 "$@" >"$out" 2>"$err" </dev/null &
	pid=$!
}
both_have_one()
{
	until_lines 1 "$fake/$a/log"
	until_lines 1 "$fake/$b/log"
}
# records N PATTERN: so many records of the answer hold it.
records()
{
	[ "$(flat | grep -oE "$2" | wc -l)" -eq "$1" ]
}

# ---- which GPU gets what ----

fresh
touch "$fake/$a/gate" "$fake/$b/gate"
begin 0,1 --json -o "$tmp/times.json"
both_have_one
rm "$fake/$a/gate"
until_lines 2 "$fake/$a/log"
rm "$fake/$b/gate"
finish
exits 0 "three models on two GPUs"
did 0 2
did 1 1
is_json "$out" && records 3 '"gpu":\{"index":[01],"uuid":"GPU-aa(aa0000|bb1111)"\},"times":' && records 1 '"gpu":{"index":1,"uuid":"GPU-aabb1111"},"times":'
tap "each record says on which GPU"
[ "$(flat | grep -o '"target":"[^"]*/m[123].gpt"' | sed 's,.*/,,' | tr '\n' ' ')" = 'm1.gpt" m2.gpt" m3.gpt" ' ]
tap "in the order of the command line"
[ "$(cut -d ' ' -f 2 "$fake/$a/log" | sort -u)" = "$first" ] && [ "$(cut -d ' ' -f 2 "$fake/$b/log" | sort -u)" = "$last" ]
tap "processes run on the processors nearest to their GPU"
[ ! -e "$fake/$c/log" ]
tap "nobody opened the GPU that was not named"
grep -q '"uuid": "GPU-aabb1111"' "$tmp/times.json"
tap "the file of -o says so, too"
fresh
begin 0,1 --json -o "$tmp/times.json" --resume
finish
exits 0 "a file that has all"
records 3 '"times":\{' && [ ! -e "$fake/$a/log" ] && [ ! -e "$fake/$b/log" ]
tap "nothing is timed again"
fresh
begin 0,1 --pass "$build/passes/silu.so"
finish
exits 0 "with a pass, as text"
[ "$(grep -o '^/.*/m[123].gpt$\|4 launches\|[0-9] launches' "$out" | sed 's,.*/,,' | tr '\n' ' ')" = "m1.gpt 2 launches m2.gpt 2 launches m3.gpt 2 launches " ]
tap "each model stands above its times"
begin 0 --json --seconds 0.000001
finish
exits 0 "no time"
flat | grep -q '"left_out":3,'
tap "what was left out is counted"

# ---- which GPU is left ----

fresh
echo 64 >"$fake/$a/slowed"
begin 0,1 --json
finish
exits 0 "one is slow from the beginning"
told_once 0 "it is slowed down (hardware heat slowdown)"
left 0 slowed
did 1 3
fresh
touch "$fake/$a/gate" "$fake/$b/gate"
begin 0,1 --json
both_have_one
echo 32 >"$fake/$b/slowed"
rm "$fake/$b/gate"
until_says "is left" "$err"
rm "$fake/$a/gate"
finish
exits 0 "one gets hot while it has a model"
left 1 slowed
did 0 3
did 1 0
records 3 '"gpu":{"index":0,"uuid":"GPU-aaaa0000"},"times"'
tap "nothing counts that was measured there"
fresh
touch "$fake/$a/gate" "$fake/$b/gate" "$fake/$a/breaks"
begin 0,1 --json
both_have_one
rm "$fake/$a/gate"
until_says "is left" "$err"
rm "$fake/$b/gate"
finish
exits 0 "a GPU that breaks under a kernel that another one runs"
left 0 failing
did 1 3
fresh
echo 8 >"$fake/$a/slowed"
echo 32 >"$fake/$b/slowed"
begin 0,1 --json
finish
exits 3 "no GPU is left"
warns "m2.gpt was not timed: No GPU is left for it: GPU 0: it is slowed down (hardware slowdown); GPU 1: it is slowed down (heat)." \
	"each model is named, with the reasons"
records 3 '"target":"[^"]*","error":"NoGPUisleftforit'
tap "and has a record"

# ---- who is to blame ----

fresh
touch "$fake/$a/faults" "$fake/$b/faults"
begin 0,1 --json
finish
exits 1 "kernels that fault, on GPUs that work on"
records 3 '"error":"' && records 0 '"left"' && records 0 '"times"'
tap "are the models' fault"
models=$tmp/m1.gpt
fresh
touch "$fake/$a/breaks" "$fake/$b/breaks"
begin 0,1 --json
finish
exits 1 "a kernel that breaks every GPU"
records 1 '"error":"' && records 0 '"left"'
tap "is to blame itself, and the GPUs are not"

# ---- what is refused ----

pm time "$tmp/m1.gpt" --gpus 0 --device emu
exits 2 "--gpus is for --device cuda"
pm time "$tmp/m1.gpt" --gpus 0 --timings
exits 2 "and not with --timings"
pm time "$tmp/m1.gpt" --gpus 0,7
exits 4 "a GPU that is not there"
warns "there is no GPU 7 for this command; it can use 0, 1, 2" "is named"

tap_done
