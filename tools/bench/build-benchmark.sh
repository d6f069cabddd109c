#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build-benchmark.sh MODELS OUT [OPTION...] - a benchmark of a folder of models, whole: extract,
# validate, build, check, pack, verify, export.
#
#   tools/bench/build-benchmark.sh ~/models build/benchmark --stride 4
#
# MODELS is a folder with .onnx files (or several, separated by ':'); OUT receives dataset.db, packs/, dataset.jsonl and times.txt.
# OPTIONs go to `passmith task build`. TUNING_MODELS says which models: kept (default), held-out or all. Passes are developed on a
# benchmark, so that held-out models (tools/bench/common/held_out.py) are not in it unless they are asked for.
# Every step goes on where an interrupted one stopped: run it again.
# The times of this run are printed and appended to OUT/times.txt.
set -eu
[ $# -ge 2 ] || {
	sed -n '2,12s/^# \{0,1\}//p' "$0"
	exit 2
}
models=$1
out=$2
shift 2
passmith=${PASSMITH:-$(cd "$(dirname "$0")/../.." && pwd)/build/passmith}
db=$out/dataset.db
mkdir -p "$out"
list=$out/models.txt
echo "$models" | tr ':' '\n' | while read -r dir; do
	find "$dir" -maxdepth 1 -name '*.onnx'
done | LC_ALL=C sort | python3 "$(dirname "$0")/common/held_out.py" "${TUNING_MODELS:-kept}" >"$list"
[ -s "$list" ] || {
	echo "build-benchmark.sh: there is no .onnx file in $models (models: ${TUNING_MODELS:-kept})" >&2
	exit 4
}

# step NAME COMMAND...: runs it, shows what it says, and notes the time.
step()
{
	name=$1
	shift
	from=$(date +%s)
	"$@" >"$out/$name.out" || {
		status=$?
		cat "$out/$name.out"
		echo "build-benchmark.sh: $name failed; run the same line again to go on" >&2
		exit $status
	}
	printf '%-8s %6d s  %s\n' "$name" "$(($(date +%s) - from))" "$(tail -n 1 "$out/$name.out")" | tee -a "$out/times.txt"
}

# Models that cannot be read are noted in the database (status 4, which xargs reports as 123); the others go on.
extract()
{
	xargs "$passmith" extract --db "$db" <"$list" || [ $? -eq 123 ]
}

# Models that are not valid are noted too (status 1 or 4, which xargs reports as 123).
validate()
{
	xargs "$passmith" validate --db "$db" <"$list" || [ $? -eq 123 ]
}

step extract extract
step validate validate
step build "$passmith" task build --db "$db" "$@"
step check "$passmith" task check --db "$db"
step pack "$passmith" task pack --db "$db" -o "$out/packs"
step verify "$passmith" task verify "$out/packs"
step export "$passmith" db export --db "$db" -o "$out/dataset.jsonl"
step stats "$passmith" db stats --db "$db"
cat "$out/build.out" "$out/stats.out"
