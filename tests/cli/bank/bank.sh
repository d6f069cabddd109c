#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bank.sh - passmith bank: what is accepted and what is not, what is kept, and that a change is found.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu=$build/passes/silu.so
wrong=$build/tests/plugin/wrong_silu.so
fuse=$build/passes/fuse.so
bank=$tmp/bank

silu_graph 'float[5,67]'
pm task from "$tmp/silu.gpt" --db "$tmp/w.db" --shapes 1
exits 0 "a task"
pm eval silu --db "$tmp/w.db" --pass "$silu" --hidden 1
exits 0 "the pass is evaluated"
pm eval silu --db "$tmp/w.db" --pass "$wrong" --hidden 1
exits 1 "and a wrong one"

# ---- add ----

pm bank add "$bank" "$fuse" --db "$tmp/w.db"
exits 4 "an object that was not evaluated is refused"
one_sentence "in one sentence"
warns "no finished evaluation" "which says why"
pm bank add "$bank" "$wrong" --db "$tmp/w.db"
exits 1 "a wrong pass is not accepted"
says "is INCORRECT" "and its verdict is named"
pm bank add "$bank" "$silu" --db "$tmp/w.db" --above 100
exits 1 "a score that is not above the threshold is not accepted"
says "more than 100 is asked for" "which is said"
pm bank add "$bank" "$silu" --db "$tmp/w.db" --device cuda
exits 4 "evaluations on another device are none"
pm bank add "$bank" "$silu" --db "$tmp/none.db"
exits 4 "a database that is not there is refused"
pm bank add "$bank" "$silu" --db "$tmp/w.db" --tasks nothing
exits 4 "so is a task that is not there"
[ ! -e "$bank" ]
tap "nothing of that makes a bank"

cp passes/library/activation/silu.c "$tmp/silu.c"
pm bank add "$bank" "$silu" --db "$tmp/w.db" --tasks silu --device emu --source "$tmp/silu.c"
exits 0 "a pass that is right and faster is accepted"
says "added, 1 piece of evidence, 1 new" "with its evidence"
entry=$(echo "$bank"/silu-*)
cmp -s "$silu" "$entry/silu.so" && cmp -s "$tmp/silu.c" "$entry/source/silu.c"
tap "object and source are kept as they are"
page=$entry/entry.json
holds '"device": "emu"' "the evidence names the device"
holds '"modelled_speedup"' "the ratios of each variant"
holds '"C++ compiler"' "and the machine"
pm bank add "$bank" "$silu" --db "$tmp/w.db"
exits 0 "the same pass again"
says "it was there, 1 piece of evidence, 0 new" "is the same entry with the same evidence"

pm verify --new-key "$tmp/key"
key=$(grep -oE '[0-9a-f]{64}' "$tmp/out")
pm eval "$tmp/silu.gpt" --pass "$silu" --record "$tmp/r.record" --sign-key "$tmp/key"
sed '1s|"verdict":"OK"|"verdict":"NO_MATCH"|' "$tmp/r.record" >"$tmp/forged.record"
pm bank add "$bank" "$silu" --record "$tmp/forged.record"
exits 4 "a record that was changed is refused"
warns "The signature of" "and it is said why"
pm bank add "$bank" "$silu" --record "$tmp/r.record" --key 0000000000000000000000000000000000000000000000000000000000000000
exits 4 "so is one that another key signed"
pm bank add "$bank" "$fuse" --record "$tmp/r.record"
exits 4 "and one about another object"
pm bank add "$bank" "$silu" --record "$tmp/r.record" --key "$key"
exits 0 "a sealed record is evidence"
says "it was there, 2 pieces of evidence, 1 new" "beside what was there"
[ "$(find "$bank" -name entry.json | wc -l)" -eq 1 ] && cmp -s "$tmp/r.record" "$entry"/records/*.record
tap "one entry, with the record"
[ -z "$(find "$bank" -name '*.tmp*' -o -name '.*' -type f)" ]
tap "no temporary file is left"

# ---- list ----

pm bank list "$bank"
exits 0 "a bank is listed"
grep -qE '^ *silu +[0-9.]+x +h200 +modelled +20[0-9-]+ +silu, silu.gpt$' "$tmp/out"
tap "with pass, gain, architecture, how, date and tasks"
pm bank list "$bank" --json
json "list --json is JSON"
says '"time": "modelled"' "and says that the gain is modelled"
pm bank list "$tmp/none"
exits 4 "a bank that is not there is refused"

# ---- verify ----

pm bank verify "$bank"
exits 0 "a bank holds"
says "1 entry, 0 problems" "and says so"

# changed NAME TEXT: verify answers no and says TEXT; then the bank is as before.
cp -r "$bank" "$tmp/good"
changed()
{
	pm bank verify "$bank"
	exits 1 "$1"
	says "$2" "and it is said"
	rm -rf "$bank"
	cp -r "$tmp/good" "$bank"
}

printf x >>"$entry/silu.so"
changed "an object that was changed is found" "silu.so was changed"
cp "$wrong" "$entry/silu.so"
changed "another object is found" "silu.so was changed"
printf ' ' >>"$entry/source/silu.c"
changed "a source that was changed is found" "source/silu.c was changed"
rm "$entry/source/silu.c"
changed "a missing source is found" "source/silu.c is missing"
printf x >"$entry/source/more.c"
changed "a file that nobody added is found" "source/more.c is no file of this entry"
sed -i 's/"speedup": *[0-9.]*/"speedup": 9/' "$entry/entry.json"
changed "evidence that was changed is found" "The evidence on task 'silu' was changed"
sed -i 's/"above": 1/"above": 0/' "$entry/entry.json"
changed "an entry that was changed is found" "entry.json was changed"
echo '{}' >"$(echo "$entry"/records/*.record)"
changed "a record that was changed is found" "is no whole record"
sed -i 's/"format"/"other"/' "$entry/entry.json"
pm bank verify "$bank"
exits 4 "an entry.json of another format is refused"
one_sentence "in one sentence"
rm -rf "$bank"
cp -r "$tmp/good" "$bank"
sed -i 's|"file": "silu.so"|"file": "../../silu.so"|' "$entry/entry.json"
pm bank list "$bank"
exits 4 "a file outside of the entry is refused"
rm -rf "$bank"
cp -r "$tmp/good" "$bank"
pm bank verify "$bank" --json
exits 0 "the bank holds again"
json "verify --json is JSON"

# ---- mistakes ----

for args in "bank" "bank keep $bank" "bank add $bank" "bank add $bank $silu" "bank list $bank --db $tmp/w.db" \
	"bank add $bank $silu --db $tmp/w.db --above much" "bank add $bank $silu --db $tmp/w.db --device tpu"; do
	# shellcheck disable=SC2086
	pm $args
	exits 2 "$args is a mistake"
done
tap_done
