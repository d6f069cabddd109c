#!/bin/sh
# store.sh - results that a database keeps: what they are resumed for, what is kept with them, and what they are worth.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

silu=$build/passes/silu.so
cat >"$tmp/silu.gpt" <<'GRAPH'
silu (float[8,64] x) => (float[8,64] y) { s = Sigmoid(x)
 y = Mul(x, s) }
GRAPH
pm extract "$tmp/silu.gpt" --db "$tmp/w.db" --quiet
pm task make --db "$tmp/w.db" --top 1 --name t --shapes 1 --quiet
exits 0 "a task"

# value KEY FILE: the first thing that stands at a key of a report.
value()
{
	sed -n "s/^ *\"$1\": *\(.*[^,]\),*$/\1/p" "$2" | head -n 1
}

# A clock's figures are put into stored results, as a measured run would have stored them: `measured LO HI DB`.
pm eval t --db "$tmp/w.db" --pass "$silu" --hidden 0 -o "$tmp/modelled" --quiet
exits 0 "modelled results are stored"
pm db export --db "$tmp/w.db" -o "$tmp/w.jsonl"
measured()
{
	sed 's/\\"time\\":\\"modelled\\"/\\"time\\":\\"measured\\",\\"clock\\":{\\"blocks\\":50,\\"speedup_lo\\":'"$1"',\\"speedup_hi\\":'"$2"'}/
		s/\\"speedup\\":[0-9.e+-]*/\\"speedup\\":1.5/' "$tmp/w.jsonl" >"$tmp/$3.jsonl"
	pm db import "$tmp/$3.jsonl" --db "$tmp/$3.db"
	pm eval t --db "$tmp/$3.db" --pass "$silu" --hidden 0 -o "$tmp/$3" --quiet
	[ "$code" -eq 0 ] && [ "$(value time "$tmp/$3")" = '"measured"' ] && [ "$(value speedup_lo "$tmp/$3")" = "$1" ]
	tap "measured, 1.5 times as fast, between $1 and $2"
}
measured 1.4 1.6 sure
measured 0.9 1.9 unsure
measured 1.1 1.9 between
es()
{
	sed -n '/"ES": {/,/}/s/^ *"-5": *\([0-9.]*\),*$/\1/p' "$1"
}
[ "$(es "$tmp/unsure")" = 1 ] && [ "$(value fast_1 "$tmp/unsure")" = 0 ]
tap "an interval that covers 1 counts as 1, and as not faster"
es "$tmp/sure" | grep -qE '^1\.(4|39999)' && [ "$(value fast_1 "$tmp/sure")" = 1 ]
tap "one above 1 counts as its lower end"
es "$tmp/between" | grep -qE '^1\.(1|09999)'
tap "also where it is wide"
tap_done
