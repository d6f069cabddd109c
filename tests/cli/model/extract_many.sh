#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# extract_many.sh - the tool that extracts a corpus many times over: copies are other files with equal graphs; it goes on where it was.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

if ! command -v python3 >/dev/null; then
	skip "extract_many" "python3 is not here"
	tap_done
fi

many()
{
	code=0
	tools/bench/extract_many.py --models "$tmp/m" --work "$tmp/w" --build "$build" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}

mkdir "$tmp/m"
for m in models/*.gpt; do
	pm import "$m" -o "$tmp/m/$(basename "$m" .gpt).onnx"
done

many --json "$tmp/j" --copies 3 --calls 1 --rename-every 2
exits 0 "3 copies of 6 models"
says "3 copies, 178 places each: 0 have other places; 0 of 3 calls left other graphs" "all have the same graphs in the same places"
pm db query "SELECT count(*), count(DISTINCT sha256) FROM models WHERE status = 'done'" --db "$tmp/w/many.db"
tail -n 1 "$tmp/out" | grep -q '^18[^0-9]*18$'
tap "which are 18 files"
is_json "$tmp/j" && [ "$(grep -c '"models": 6,' "$tmp/j")" -eq 3 ] && grep -q '"renamed": 1' "$tmp/j"
tap "the file has a line for each call"
[ ! -e "$tmp/w/copies" ]
tap "no copy is left behind"
cp "$tmp/j" "$tmp/before"
many --json "$tmp/j" --copies 3 --calls 1 --rename-every 2
cmp -s "$tmp/j" "$tmp/before"
tap "the same again measures nothing"
many --json "$tmp/j" --copies 5 --calls 1,2 --rename-every 2
exits 0 "two copies more"
says "5 of 5 copies: 12 models" "are one call"

# A renamed copy is a model of other names: nodes, inputs and results, and nothing else.
pm print "$tmp/m/llama_block.onnx"
cp "$tmp/out" "$tmp/one"
pm print "$tmp/w/renamed/llama_block.onnx"
exits 0 "a renamed model is read"
! cmp -s "$tmp/out" "$tmp/one"
tap "and prints otherwise"
sed 's/again_//g' "$tmp/out" | cmp -s - "$tmp/one"
tap "by its names alone"

# What is wrong with a database is seen: the places of one copy are taken away.
python3 - "$tmp/w/many.db" <<'PYTHON'
import sqlite3, sys
sq = sqlite3.connect(sys.argv[1])
sq.execute("DELETE FROM occurrences WHERE model = (SELECT id FROM models WHERE name = 'c0002_llama_block.onnx')")
sq.commit()
PYTHON
many --json "$tmp/j" --copies 5
exits 1 "a copy that lacks places"
says "1 have other places" "is told"
rm "$tmp/w/many.db"
many --json "$tmp/j" --copies 6
exits 1 "a database that is gone"
warns "is not there" "is told, and not begun anew"

many --json "$tmp/k" --memory 1,2
exits 0 "memory alone"
says "2 copies, 12 models: " "is told by copies"
mkdir "$tmp/none"
many --models "$tmp/none" --json "$tmp/k" --copies 1
exits 1 "a folder without models"
warns "has no .onnx file" "is told"
tap_done
