#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# machine.sh - three GPUs that are made up (tests/machine/fake.h), for tests of --gpus; sourced after tap.sh. GPUs 0 and 1,
# $a and $b, are of one model, and GPU 2, $c, is of another one. Commands in the background have $pid, and their streams
# in $out and $err.

fake=$tmp/fake
a=GPU-aaaa0000 b=GPU-aabb1111 c=GPU-cccc2222
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
first=${cpus%%[-,]*} last=${cpus##*[-,]}
mkdir -p "$fake/$a" "$fake/$b" "$fake/$c" "$tmp/locks" "$tmp/cuda/include"
: >"$tmp/cuda/include/cuda_fp16.h"
: >"$tmp/cuda/include/cuda_bf16.h"
cat >"$fake/gpus" <<GPUS
0 $a 0000:01:00.0 $first Fake One
1 $b 0000:02:00.0 $last Fake One
2 $c 0000:03:00.0 $first Fake Two
GPUS
export FAKE_GPUS="$fake" LD_LIBRARY_PATH="$build/tests/machine" CUDA_HOME="$tmp/cuda" PASSMITH_LOCKS="$tmp/locks"
export PASSMITH_CACHE="$tmp/cache"
unset CUDA_VISIBLE_DEVICES

# fresh: nothing is the matter with any GPU.
fresh()
{
	for gpu in $a $b $c; do
		rm -f "$fake/$gpu"/*
	done
}
# until_lines N FILE and until_says TEXT FILE: waits for it, or for the end of the command.
until_lines()
{
	while [ "$(cat "$2" 2>/dev/null | wc -l)" -lt "$1" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
}
until_says()
{
	while ! grep -qF -e "$1" "$2" && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
}
finish()
{
	code=0
	wait "$pid" || code=$?
}
flat()
{
	tr -d ' \n\t' <"$tmp/out"
}
# did INDEX N: so the answer says how many graphs or tasks a GPU did.
did()
{
	flat | grep -qE "\"index\":$1,\"uuid\":\"GPU-[0-9a-f]*\",\"name\":\"Fake(One|Two)\",\"items\":$2[,}]"
	tap "GPU $1 did $2"
}
left()
{
	flat | grep -qE "\"index\":$1,[^}]*\"left\":\"$2\",\"why\":\"[^\"]"
	tap "the answer says that GPU $1 is left: $2"
}
told_once()
{
	[ "$(grep -c "^passmith: GPU $1 (GPU-[0-9a-f]*) is left for the rest of this command: " "$tmp/err")" = 1 ] && grep -qF -e "$2" "$tmp/err"
	tap "told once: $2"
}
