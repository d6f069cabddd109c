#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# extract_memory.sh - what passmith extract holds in memory does not grow with the number of models of one structure.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "memory of extract" "python3 is not here"
	tap_done
fi

# models N: a list of N models of 1,000 operators each that differ in nothing but the graph's name.
models()
{
	mkdir -p "$tmp/m"
	awk -v n="$1" -v dir="$tmp/m" 'BEGIN {
		for (k = 0; k < n; k++) {
			f = dir "/" k ".gpt"
			printf "m%d (float[4] x) => (float[4] y)\n{\n v0 = Tanh (x)\n", k >f
			for (i = 1; i < 999; i++)
				printf " v%d = %s (v%d)\n", i, i % 3 ? "Relu" : "Exp", i - 1 >f
			printf " y = Tanh (v998)\n}\n" >f
			close(f)
			print f
		}
	}' >"$tmp/$1.txt"
}

# peak N: kilobytes of the largest process of an extraction that reads N models, of which it cuts one.
peak()
{
	models "$1"
	ASAN_OPTIONS=${ASAN_OPTIONS-}:quarantine_size_mb=1 python3 - "$passmith" extract --from "$tmp/$1.txt" --db "$tmp/$1.db" --shard "0/$1" -j 2 --quiet \
		--json >"$tmp/$1.json" <<-'PYTHON'
		import os, subprocess, sys
		child = subprocess.Popen(sys.argv[1:])
		_, status, usage = os.wait4(child.pid, 0)
		child.returncode = os.waitstatus_to_exitcode(status)
		print(usage.ru_maxrss, file=sys.stderr)
		sys.exit(child.returncode)
	PYTHON
}

few=$(peak 10 2>&1)
many=$(peak 1500 2>&1)
grep -q '"models_done": 1,' "$tmp/10.json" && grep -q '"structures_folded": 1,' "$tmp/10.json"
tap "one of 10 models is cut"
grep -q '"models_done": 1,' "$tmp/1500.json" && grep -q '"structures_folded": 1,' "$tmp/1500.json"
tap "one of 1500 models is cut"
echo "# largest process: $few KB for 10 models, $many KB for 1500"
# A skeleton of each would be 25 KB: 37 MB. What is left are a row for each model and what the system keeps of freed memory.
[ "$many" -lt $((few + 4096)) ]
tap "1490 models more take less than 4 MB"
tap_done
