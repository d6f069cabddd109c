#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# record.sh - a sealed record holds for what was evaluated and signed, says what was changed, and is evaluated again.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu_graph "float[5,67]"
silu=$build/passes/silu.so
wrong=$build/tests/plugin/wrong_silu.so
record=$tmp/silu.record

# The record with one text replaced by another; the second line stays.
forge()
{
	sed "1s|$1|$2|" "$record" >"$tmp/forged"
	! cmp -s "$record" "$tmp/forged"
}

pm verify --new-key "$tmp/key"
exits 0 "a key is made"
key=$(grep -oE '[0-9a-f]{64}' "$tmp/out")
pm verify --new-key "$tmp/other"
other=$(grep -oE '[0-9a-f]{64}' "$tmp/out")
[ "$key" != "$other" ]
tap "two keys differ"
pm verify --new-key "$tmp/key"
exits 3 "a key is not replaced"

pm eval "$tmp/silu.gpt" --pass "$silu" --record "$record" --sign-key "$tmp/key"
exits 0 "eval writes a record"
says "Record: $record" "and says so"
grep -qE '"secret":"[0-9a-f]{64}"' "$record" && grep -qE '"sources":"[0-9a-f]{64}"' "$record" &&
	grep -qE '"pass_sha256":"[0-9a-f]{64}"' "$record" && grep -qE '"inputs":"[0-9a-f]{64}"' "$record"
tap "the record has the secret and the digests of object, sources and inputs"

pm verify "$record" --key "$key" --pass "$silu"
exits 0 "it holds, evaluated again"
says "all are the same" "what was drawn then gives the same"
pm verify "$record" --key "$key" --pass "$silu" --json
json "verify --json is JSON"
says '"holds": true' "and says that it holds"
pm verify "$record" --key "$other"
exits 1 "another signer is not the one asked for"
says "not the key asked for" "and is named"
pm verify "$record" --pass "$wrong"
exits 4 "another object is no pass of the record"

forge '"verdict":"OK"' '"verdict":"NO_MATCH"'
tap "a verdict is forged"
pm verify "$tmp/forged"
exits 1 "a forged verdict breaks the signature"
says "does not hold" "and it is said"
# Without its signature, or signed by somebody else, only the evaluation tells.
head -n 1 "$tmp/forged" >"$tmp/unsigned"
pm verify "$tmp/unsigned" --pass "$silu"
exits 1 "a forged verdict is not what evaluating again gives"
says "verdict is OK, the record says NO_MATCH" "and both are named"
pm verify "$tmp/unsigned" --key "$key"
exits 1 "what is not signed was not signed by a key"
forge '"inputs":"[0-9a-f]*"' '"inputs":"0"'
head -n 1 "$tmp/forged" >"$tmp/unsigned"
pm verify "$tmp/unsigned" --pass "$silu"
exits 1 "other inputs are found"
forge '"sources":"[0-9a-f]*"' '"sources":"0"'
head -n 1 "$tmp/forged" >"$tmp/unsigned"
pm verify "$tmp/unsigned" --pass "$silu"
exits 1 "other sources are found"
forge 'Sigmoid' 'Tanh'
head -n 1 "$tmp/forged" >"$tmp/unsigned"
pm verify "$tmp/unsigned"
exits 4 "a graph that is not that of its hash is refused"
warns "its hash is" "and it is said why"

head -c 1000 "$record" >"$tmp/cut"
pm verify "$tmp/cut"
exits 4 "a record that was cut off is refused"
one_sentence "in one sentence"
pm verify "$tmp/silu.gpt"
exits 4 "another file is no record"
pm verify "$tmp/none"
exits 4 "a record that is not there is named"
pm eval "$tmp/silu.gpt" --pass "$silu" --sign-key "$tmp/key"
exits 2 "a key without a record is a mistake"
pm eval "$tmp/silu.gpt" --pass "$silu" --record "$tmp/r" --sign-key "$tmp/silu.gpt"
exits 4 "a file that is no key is refused"
[ ! -e "$tmp/r" ]
tap "and nothing is written"

# A pass that is wrong has a record like any other.
pm eval "$tmp/silu.gpt" --pass "$wrong" --record "$tmp/wrong.record"
exits 1 "a wrong pass has a record"
pm verify "$tmp/wrong.record" --pass "$wrong"
exits 0 "which is wrong again"
says "Not signed" "and is not signed"
tap_done
