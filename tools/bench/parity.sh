#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# parity.sh make MODELS SET [N] | run SET OUT [SECONDS] - our eager baseline beside PyTorch's on subgraphs of real models.
#
#   tools/bench/parity.sh make ~/models build/parity 160      # anywhere: cuts the models, N tasks, modules for PyTorch
#   tools/bench/parity.sh run build/parity out 100            # on a GPU with PyTorch: times both, compares
#
# MODELS is a folder of .onnx files, or a file with one path a line. The tasks are of fusible and classical subgraphs, as
# many for each operator that dominates one, at their original sizes in three element types. SET receives set.db,
# tasks.txt and torch/. TUNING_MODELS says which models: kept (default; held_out.py says which are not), held-out or all.
# A run spends at most SECONDS (100) on each side and 40 on compiling and starting, and leaves
# ours.json, torch.json, parity.json and parity.md in OUT. In a bundle (docs/reference/gpu.md) this is tools/bench/parity.sh too.
set -eu
usage()
{
	sed -n '2,12s/^# \{0,1\}//p' "$0"
	exit 2
}
here=$(cd "$(dirname "$0")/../.." && pwd)
if [ -x "$here/run.sh" ]; then
	passmith="$here/run.sh"
else
	passmith=${PASSMITH:-$here/build/passmith}
fi
max_mflop=${PARITY_MFLOP:-4000} blocks=${PARITY_BLOCKS:-7}

make_set()
{
	mkdir -p "$2"
	if [ -d "$1" ]; then
		find "$1" -maxdepth 1 -name '*.onnx' | LC_ALL=C sort
	else
		cat "$1"
	fi | python3 "$here/tools/bench/common/held_out.py" "${TUNING_MODELS:-kept}" >"$2/models.txt"
	rm -rf "$2/torch" "$2/set.db"
	xargs "$passmith" extract --db "$2/set.db" --quiet <"$2/models.txt" >"$2/extract.txt"
	"$passmith" task make --db "$2/set.db" --even --top "$3" --shapes 1 --max-mflop "$max_mflop" --json --quiet >"$2/tasks.json"
	: >"$2/tasks.txt"
	# What has no words in PyTorch is left out: export.txt says why.
	python3 -c 'import json, sys; print("\n".join(str(t["id"]) for t in json.load(open(sys.argv[1]))["results"] if t["variants"] == 3))' \
		"$2/tasks.json" | while read -r task; do
		"$passmith" task export "$task" --db "$2/set.db" --torch "$2/torch/$task" --max-check 4096 --quiet >>"$2/export.txt" 2>&1 &&
			echo "$task" >>"$2/tasks.txt"
	done
	echo "$2: $(wc -l <"$2/tasks.txt") tasks, $(find "$2/torch" -name model.py | wc -l) modules"
}

run_set()
{
	mkdir -p "$2"
	# shellcheck disable=SC2046
	"$passmith" time $(cat "$1/tasks.txt") --db "$1/set.db" --blocks "$blocks" --seconds "$3" -o "$2/ours.json" >"$2/ours.txt" ||
		tail -n 3 "$2/ours.txt"
	python3 "$here/tools/bench/torch_bench.py" "$1/torch" -o "$2/torch.json" --modes eager --blocks "$blocks" --seconds "$3" \
		--only "$2/ours.json" >"$2/torch.txt" || tail -n 3 "$2/torch.txt"
	python3 "$here/tools/bench/parity.py" "$2/ours.json" "$2/torch.json" -o "$2/parity.json" --md "$2/parity.md"
}

[ $# -ge 3 ] || usage
case $1 in
make) make_set "$2" "$3" "${4:-160}" ;;
run) run_set "$2" "$3" "${4:-100}" ;;
*) usage ;;
esac
