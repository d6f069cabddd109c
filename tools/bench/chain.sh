#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# chain.sh N [EVERY] - a model of N element-wise operators one behind the other, in the text form; with EVERY each so many-th is
# another operator. For times of what reads large models:
#   tools/bench/chain.sh 300000 >a.gpt; tools/bench/chain.sh 300000 70000 >b.gpt; time passmith view a.gpt b.gpt
set -eu
awk -v n="${1:?usage: chain.sh N [EVERY]}" -v every="${2:-0}" 'BEGIN {
	split("Tanh Exp Relu Sigmoid Abs Sin Neg", op, " ")
	print "chain (float[8,32] x) => (float[8,32] y) {"
	v = "x"
	for (i = 1; i <= n; i++) {
		name = i == n ? "y" : "v" i
		print name " = " (every && i % every == 0 ? "Cos" : op[(i * i + int(i / 7)) % 7 + 1]) "(" v ")"
		v = name
	}
	print "}"
}'
