#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# renamed.sh - old names of options and JSON keys work, say so, and mean the same as the new ones
# (base/core/renamed.def; a database of the last version: tests/plugin/test_renamed.c).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

def=base/core/renamed.def

# Every option of the table, with a value that no option takes: the sentence names the new option, and the old one is
# no word of the help's list.
sed -n 's/^OPTION(\([a-z]*\), "\([^"]*\)", "\([^"]*\)", "\([^"]*\)")$/\1 \2 \3 \4/p' $def >"$tmp/options"
[ -s "$tmp/options" ]
tap "there are renamed options"
while read -r command old new version; do
	pm "$command" --help
	grep -q "^  $new " "$tmp/out" && ! grep -q "^  $old " "$tmp/out" &&
		grep -qF "old name: $old is $new, and works until version $version" "$tmp/out"
	tap "passmith $command --help lists $new, and says what $old is"
	pm "$command" "$old" no-such-value
	warns "Option '$old' is called '$new' now; version $version drops the old name." "passmith $command $old says so"
	! grep -q "There is no option" "$tmp/err"
	tap "passmith $command takes it"
	pm "$command" "$new" no-such-value
	! grep -q "old name" "$tmp/err"
	tap "passmith $command $new says nothing of it"
done <"$tmp/options"

pm eval models/llama_block.gpt --pass "$build/passes/silu.so" --hidden 0 --check-only --quiet --lane bf16 --json
exits 0 "an evaluation with the old option"
cp "$tmp/out" "$tmp/old"
[ "$(wc -l <"$tmp/err")" -eq 1 ]
tap "one sentence, and no other"
says '"error": null' "which is no error"
pm eval models/llama_block.gpt --pass "$build/passes/silu.so" --hidden 0 --check-only --quiet --precision bf16 --json
exits 0 "the same with the new one"
[ ! -s "$tmp/err" ]
tap "without a word"
# Both mean the tier; both keys hold it.
for f in "$tmp/old" "$tmp/out"; do
	[ "$(grep -c '"precision": "bf16"' "$f")" -ge 1 ] &&
		[ "$(grep -c '"precision": ' "$f")" -eq "$(grep -c '"lane": ' "$f")" ] &&
		[ "$(sed -n 's/.*"precision": //p' "$f")" = "$(sed -n 's/.*"lane": //p' "$f")" ]
	tap "the report says the precision under both keys"
done
pm eval models/llama_block.gpt --pass "$build/passes/silu.so" --lane=wide
exits 2 "a tier that does not exist"
warns "There is no precision 'wide'" "is named"

# same KEY OLD: every value of KEY in the answer stands there under OLD, too.
same()
{
	[ "$(grep -c "\"$1\": [^[]" "$tmp/out")" -ge 1 ] &&
		[ "$(sed -n "s/.*\"$1\": \([^,]*\),*/\1/p" "$tmp/out")" = "$(sed -n "s/.*\"$2\": \([^,]*\),*/\1/p" "$tmp/out")" ]
	tap "$3: $1 is $2"
}
db=$tmp/w.db
pm extract models/llama_block.gpt models/swin_block.gpt --db "$db" --quiet
pm task make --db "$db" --top 1 --shapes 2 --name one --json
exits 0 "a task"
same variants members "task make"
pm task list --db "$db" --json
same variants members "task list"
pm db stats --db "$db" --json
same variants members "db stats"
pm task export one --db "$db" --torch "$tmp/torch" --json
same variant member "task export"
pm task build --db "$db" --eval 1 --ratio 1 --stride 1 --honest 0 --rebuild --json
same eval_variants eval_members "task build"
same train_variants train_members "task build"
same eval_ref_proxy eval_ref_twin "task build"
# JSON Lines that only have the old key, as the last version wrote them.
pm db export --db "$db" -o "$tmp/new.jsonl"
sed 's/"variants":\[[^]]*\],"members":/"members":/' "$tmp/new.jsonl" >"$tmp/old.jsonl"
! cmp -s "$tmp/new.jsonl" "$tmp/old.jsonl" && ! grep -q '"variants":' "$tmp/old.jsonl" && grep -q '"members":' "$tmp/old.jsonl"
tap "rows of the last version"
pm db import "$tmp/old.jsonl" --db "$tmp/again.db"
exits 0 "are read"
pm db export --db "$tmp/again.db" -o "$tmp/again.jsonl"
cmp -s "$tmp/again.jsonl" "$tmp/new.jsonl"
tap "and give the same rows"
# A run on a proxy was stored as one on a twin.
sed 's/"ref":"[a-z]*"/"ref":"twin"/' "$tmp/new.jsonl" >"$tmp/twin.jsonl"
grep -q '"ref":"twin"' "$tmp/twin.jsonl"
tap "rows of runs on twins"
pm db import "$tmp/twin.jsonl" --db "$tmp/twin.db"
exits 0 "are read"
pm db query "SELECT DISTINCT how FROM ref_runs" --db "$tmp/twin.db"
says "proxy" "and are runs on proxies"
! grep -q twin "$tmp/out"
tap "and nothing else"
tap_done
