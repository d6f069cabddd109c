#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# collect.sh - how long `passmith cluster collect` takes: N results (10,000) of as many passes on one task.
#
# Passes are copies of one with other last bytes, which no program reads. One item is evaluated; the other results are made from it
# (tests/bench/bench_collect.c). BUILD is where the program and $BUILD/tests/bench/bench_collect are.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
n=${1:-10000}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

printf 'silu (float[8,64] x) => (float[8,64] y)\n{\n   s = Sigmoid (x)\n   y = Mul (x, s)\n}\n' >"$tmp/silu.gpt"
"$build/passmith" task from "$tmp/silu.gpt" --db "$tmp/w.db" --shapes 2 --quiet >"$tmp/out"
mkdir "$tmp/p"
i=0
while [ "$i" -lt "$n" ]; do
	cp "$build/passes/silu.so" "$tmp/p/$i.so"
	echo "$i" >>"$tmp/p/$i.so"
	echo "--pass $tmp/p/$i.so" >>"$tmp/args"
	i=$((i + 1))
done
"$build/passmith" doctor 2>/dev/null | grep -q '^no *[a-z_]*sandbox' && echo --weak-sandbox >>"$tmp/args"
# shellcheck disable=SC2046 # a word each
"$build/passmith" cluster plan --db "$tmp/w.db" --tasks 1 --hidden 1 --shards 1000 $(cat "$tmp/args") -o "$tmp/plan" >"$tmp/out"
"$build/passmith" cluster work "$tmp/plan" --once --quiet >"$tmp/out" &
worker=$!
while [ -z "$(ls "$tmp/plan/results")" ]; do sleep 0.2; done
kill "$worker" 2>/dev/null || true # it may have ended
wait "$worker" || true
first=$(find "$tmp/plan/results" -name '*.jsonl' | head -n 1)
"$build/tests/bench/bench_collect" "$tmp/plan" "$(basename "$first" .jsonl)"
/usr/bin/time -f "%e s, of which %U s user and %S s system" "$build/passmith" cluster collect "$tmp/plan"
