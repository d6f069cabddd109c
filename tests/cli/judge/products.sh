#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# products.sh - large products of the reference on a device, through passmith eval: the emulated one stands for a GPU.
# Whatever the process that computes them does, verdicts, inputs and scores are those of the processor.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$tmp/right.gpt" <<'GRAPH'
right (float[96,48] x, float[48,33] w) => (float[96,1] y)
{
   p = MatMul (x, w)
   r = Relu (p)
   y = ReduceSum <axes = [1], keepdims = 1> (r)
}
GRAPH
pass=$build/passes/fuse.so
unset PASSMITH_TEST_PRODUCTS

# verdict FILE: what a report says that must not depend on who computes.
verdict()
{
	tr -d ' \n\t' <"$1" | grep -o '"verdict":"[^"]*"\|"inputs":"[^"]*"\|"smallest_t":[^,]*\|"ES":[^]]*\]\|"max":[^,]*\|"rms":[^,]*'
}

pm eval "$tmp/right.gpt" --pass "$pass" --hidden 0 -o "$tmp/first.json"
pm eval "$tmp/right.gpt" --pass "$pass" --hidden 0 --replay "$tmp/first.json" -o "$tmp/cpu.json"
exits 0 "the processor alone"
! grep -q '"products"' "$tmp/cpu.json"
tap "and the report says nothing of a device"

export PASSMITH_TEST_PRODUCTS=emu,1000
pm eval "$tmp/right.gpt" --pass "$pass" --hidden 0 --replay "$tmp/first.json" --reference auto --timings -o "$tmp/device.json"
exits 0 "the device computes products"
says "products of the reference on the device: " "--timings says how many, and how long that took"
tr -d ' \n\t' <"$tmp/device.json" | grep -q '"products":{"on_device":[1-9][0-9]*,"refused":0,'
tap "the report counts them"
verdict "$tmp/cpu.json" >"$tmp/cpu" && verdict "$tmp/device.json" >"$tmp/device"
[ -s "$tmp/cpu" ] && cmp -s "$tmp/cpu" "$tmp/device"
tap "verdict, inputs and bound are the same to the digit"

for fault in wrong dies; do
	export PASSMITH_TEST_PRODUCTS=emu,1000,$fault
	pm eval "$tmp/right.gpt" --pass "$pass" --hidden 0 --replay "$tmp/first.json" --reference auto -o "$tmp/$fault.json"
	exits 0 "a process that $fault: the pass is right"
	warns "computes no products for the reference from now on" "one sentence says so"
	verdict "$tmp/$fault.json" >"$tmp/$fault"
	cmp -s "$tmp/cpu" "$tmp/$fault"
	tap "and nothing is another"
	tr -d ' \n\t' <"$tmp/$fault.json" | grep -q '"products":{"on_device":0,"refused":1,'
	tap "and the report says that it was refused"
done

export PASSMITH_TEST_PRODUCTS=emu,1000
pm eval "$tmp/right.gpt" --pass "$pass" --hidden 0 -o "$tmp/option.json"
exits 0 "without --reference auto"
! grep -q '"products"' "$tmp/option.json"
tap "the processor alone"
pm eval "$tmp/right.gpt" --pass "$pass" --reference gpu
exits 2 "another word"
warns "There is no reference 'gpu'; auto and cpu exist." "is refused"
tap_done
