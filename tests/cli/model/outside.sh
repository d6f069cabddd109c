#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# outside.sh - files from outside that promise too much: lines without end, nodes that cannot be.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

pm extract models/llama_block.gpt --db "$tmp/a.db" --quiet
exits 0 "a database"

# 64 MiB and a piece without an end of line; the file has a hole in the place of its bytes.
truncate -s 68000000 "$tmp/long.jsonl"
pm db import "$tmp/long.jsonl" --db "$tmp/b.db"
exits 4 "a line that does not end"
warns "line 1 is longer than 64 MiB" "it is not read to its end"
pm db export --db "$tmp/a.db" -o "$tmp/a.jsonl"
exits 0 "an export"
pm db import "$tmp/a.jsonl" --db "$tmp/b.db"
exits 0 "is read again"
pm db export --db "$tmp/b.db" -o "$tmp/b.jsonl"
cmp -s "$tmp/a.jsonl" "$tmp/b.jsonl"
tap "and comes out the same"
printf '%s' "$(cat "$tmp/a.jsonl")" >"$tmp/open.jsonl"
pm db import "$tmp/open.jsonl" --db "$tmp/c.db"
exits 0 "a last line without an end of line"
pm db export --db "$tmp/c.db" -o "$tmp/c.jsonl"
cmp -s "$tmp/a.jsonl" "$tmp/c.jsonl"
tap "it counts too"

pm task make --db "$tmp/a.db" --top 1 --shapes 1 --quiet
exits 0 "a task"
pm task pack 1 --db "$tmp/a.db" -o "$tmp/packs" --quiet
exits 0 "a pack"
pack=$(find "$tmp/packs" -name task.json | head -n 1)
pack=${pack%/task.json}
pm task unpack "$pack" --db "$tmp/good.db"
exits 0 "the pack is good"
cp "$pack/task.json" "$tmp/task.json"
sha=$(printf '%064d' 7)
graph=$(sed -n 's/.*"graph": "\([0-9a-f]\{64\}\)".*/\1/p' "$tmp/task.json" | head -n 1)
name_node()
{
	source="{\"model\": \"m\", \"sha256\": \"$sha\", \"subgraph\": \"$graph\", \"nodes\": \"$1\"}"
	sed "s/\"sources\": \[\]/\"sources\": [$source]/" "$tmp/task.json" >"$pack/task.json"
}
name_node 3,7
pm task unpack "$pack" --db "$tmp/named.db"
exits 0 "a pack that says where its graph comes from"
pm db query "SELECT nodes FROM occurrences" --db "$tmp/named.db"
says "3,7" "its nodes are stored"
for nodes in 0 3,0 4294967299 -1 18446744073709551619; do
	name_node "$nodes"
	pm task unpack "$pack" --db "$tmp/bad.db"
	exits 4 "a pack with node $nodes"
	warns "a list of nodes is no list of numbers" "node $nodes: the sentence says so"
done
tap_done
