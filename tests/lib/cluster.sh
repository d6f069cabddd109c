#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cluster.sh - words for tests of passmith cluster; sourced after tests/lib/tap.sh.

# tasks_db DB: a database of two tasks of small graphs, which a variant takes a fraction of a second on.
tasks_db()
{
	silu_graph "float[8,64]"
	cat >"$tmp/relu.gpt" <<-'GRAPH'
		relu (float[8,32] x) => (float[8,32] y)
		{
		   s = Sigmoid (x)
		   z = Mul (x, s)
		   y = Relu (z)
		}
	GRAPH
	pm extract "$tmp/silu.gpt" "$tmp/relu.gpt" --db "$1" --quiet -j 1
	pm task make --db "$1" --top 2 --shapes 2 --quiet
}

# plan_of DIR ARG...: a plan of both tasks for two passes.
plan_of()
{
	plan_dir=$1
	shift
	pm cluster plan --db "$tmp/w.db" --tasks 1,2 --pass "$build/passes/silu.so" --pass "$build/passes/fuse.so" \
		--hidden 1 -o "$plan_dir" "$@"
}

# evidence DB: what was found, in an order of its own, without times, dates, hosts and paths.
evidence()
{
	"$passmith" db export --evidence --quiet --db "$1"
}

# n_files FOLDER...: how many files there are.
n_files()
{
	find "$@" -type f ! -name '*.tmp' 2>/dev/null | wc -l
}
