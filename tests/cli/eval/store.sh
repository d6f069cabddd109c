#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# store.sh - results that a database keeps: what they are resumed for, what is kept with them, and what they are worth.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

silu=$build/passes/silu.so
silu_graph "float[8,64]"
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
pm db query "SELECT count(*) AS n FROM results JOIN measurements USING (run, task, ordinal) JOIN origins o ON o.id = origin
	WHERE o.node <> '' AND at > 1000000000" --db "$tmp/w.db"
says 3 "each result says on which host it was measured, and when"
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

# Hidden shapes: a pass that is right on the sizes of the task alone.
knows=$build/tests/adversarial/passes/S04_hidden.so
sed 's/8,64/5,67/g' "$tmp/silu.gpt" >"$tmp/h.gpt"
pm extract "$tmp/h.gpt" --db "$tmp/h.db" --quiet
pm task make --db "$tmp/h.db" --top 1 --name h --shapes 1 --quiet
cp "$tmp/h.db" "$tmp/b.db"
pm eval h --db "$tmp/h.db" --pass "$knows" -o "$tmp/h1" --quiet
exits 1 "eval finds it wrong on a hidden shape"
pm eval h --db "$tmp/h.db" --pass "$knows" -o "$tmp/h2" --quiet
exits 1 "so does eval with stored results"
hidden()
{
	sed -n '/"hidden": {/,/}/p' "$1"
}
[ -n "$(hidden "$tmp/h1")" ] && [ "$(hidden "$tmp/h1")" = "$(hidden "$tmp/h2")" ] && [ "$(value AS "$tmp/h1")" = "$(value AS "$tmp/h2")" ]
tap "which keep the verdict on hidden shapes: no other ones are drawn"
pm mine --db "$tmp/h.db" --json
[ "$code" -eq 0 ] && ! grep -q S04_hidden "$tmp/out"
tap "and no table of best passes names it"
pm eval h --db "$tmp/h.db" --pass "$knows" --hidden 0 -o "$tmp/h0" --quiet
exits 0 "without hidden shapes it is another run"
right()
{
	sed -n "s/^  $1 *[0-9]* *\([0-9]*\) .*/\1/p" "$tmp/out"
}
pm bench h --db "$tmp/h.db" --stored --baselines eager,knows="$knows"
[ "$(right knows)" = 0 ]
tap "bench --stored has it right nowhere"
pm db export --db "$tmp/h.db" -o "$tmp/h.jsonl"
pm db import "$tmp/h.jsonl" --db "$tmp/h3.db"
pm bench h --db "$tmp/h3.db" --stored --baselines eager,knows="$knows"
[ "$(right knows)" = 0 ]
tap "nor has it in a database that was exported and imported"
pm bench h --db "$tmp/b.db" --baselines eager,silu,knows="$knows"
[ "$code" -eq 0 ] && [ "$(right knows)" = 0 ] && [ "$(right silu)" -gt 0 ]
tap "bench draws hidden shapes, too"
pm bench h --db "$tmp/b.db" --baselines eager,knows="$knows" --hidden 0
[ "$(right knows)" -gt 0 ]
tap "unless it is told not to"
pm bench h --db "$tmp/b.db" --hidden 65
exits 2 "--hidden has a limit"

# Runs: what a result depends on is part of what it is resumed for.
runs()
{
	pm db query "SELECT count(*) FROM runs" --db "$tmp/r.db" --json
	tr -dc '0-9' <"$tmp/out"
}
cp "$tmp/w.db" "$tmp/r.db"
before=$(runs)
pm eval t --db "$tmp/r.db" --pass "$silu" --hidden 0 -o "$tmp/same" --quiet
[ "$(value secret "$tmp/same")" = "$(value secret "$tmp/modelled")" ] && [ "$(runs)" = "$before" ]
tap "the same command is resumed"
cat >"$tmp/cxx" <<'CXX'
#!/bin/sh
[ "$1" = --version ] && echo "g++ of another machine 99.1" && exit
exec g++ "$@"
CXX
chmod +x "$tmp/cxx"
other()
{
	name=$1
	shift
	pm "$@" --quiet
	[ "$code" -eq 0 ] && [ "$(runs)" = $((before + 1)) ]
	tap "$name: a run of its own"
	before=$(runs)
}
PASSMITH_CXX=$tmp/cxx
export PASSMITH_CXX
other "another compiler" eval t --db "$tmp/r.db" --pass "$silu" --hidden 0
unset PASSMITH_CXX
# Something kills processes here: one that was asked for its version is asked again.
cat >"$tmp/dies" <<'CXX'
#!/bin/sh
[ "$1" = --version ] && [ ! -e "$DIED" ] && : >"$DIED" && kill -9 $$
rm -f "$DIED"
exec g++ "$@"
CXX
chmod +x "$tmp/dies"
DIED=$tmp/died PASSMITH_CXX=$tmp/dies pm eval t --db "$tmp/r.db" --pass "$silu" --hidden 0 --quiet
[ "$code" -eq 0 ] && [ "$(runs)" = "$before" ]
tap "a compiler that is killed when it is asked for its version is no other one: the run is resumed"
pm db query "SELECT machine FROM runs" --db "$tmp/r.db"
says "C++ compiler=g++ of another machine 99.1; NVRTC=" "which says what it was made with"
other "hidden shapes" eval t --db "$tmp/r.db" --pass "$silu"
other "confirming runs" eval t --db "$tmp/r.db" --pass "$silu" --confirm
other "other seconds" bench t --db "$tmp/r.db" --baselines eager,silu --seconds 7
pm bench t --db "$tmp/r.db" --baselines eager,silu --seconds 20 --quiet
[ "$(runs)" = "$before" ]
tap "bench goes on with what eval stored: 20 seconds are what is meant by none"

# A table of what is stored is made wherever the database is; nothing is added to it.
pm db export --db "$tmp/w.db" -o "$tmp/far.jsonl"
sed -i 's/"machine":"[^"]*"/"machine":"far away"/; s/\(^.*"row":"run".*"key":"\)......../\100000000/; s/"run":"......../"run":"00000000/' "$tmp/far.jsonl"
pm db import "$tmp/far.jsonl" --db "$tmp/far.db"
exits 0 "a database of another machine"
pm bench t --db "$tmp/far.db" --stored --hidden 0 --baselines eager,silu
[ "$(right silu)" -gt 0 ]
tap "its results make a table"
pm eval t --db "$tmp/far.db" --pass "$silu" --hidden 0 -o "$tmp/near" --quiet
[ "$(value secret "$tmp/near")" != "$(value secret "$tmp/modelled")" ]
tap "and are not resumed here"

# A library that tells when it is opened: on the emulated device none of cuBLASLt decides anything, and none is mapped,
# for every later fork to copy.
mkdir "$tmp/tells"
cat >"$tmp/tells.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void opened(void)
{
	FILE *f = fopen(getenv("OPENED"), "w");

	if (f)
		fclose(f);
}
END
for name in libcublasLt.so.13 libcudnn.so.9; do
	"${CC:-cc}" -shared -fPIC -o "$tmp/tells/$name" "$tmp/tells.c"
done
OPENED=$tmp/opened
export OPENED
with_lib=${LD_LIBRARY_PATH-}
LD_LIBRARY_PATH=$tmp/tells
export LD_LIBRARY_PATH
pm eval t --db "$tmp/far.db" --pass "$silu" --hidden 0 --seed 3 --quiet
[ "$code" -eq 0 ] && [ ! -e "$OPENED" ]
tap "an evaluation on emu that is stored opens neither cuBLASLt nor cuDNN"
pm doctor
[ -e "$OPENED" ]
tap "doctor opens them"
LD_LIBRARY_PATH=$with_lib

# The driver's own version, by libraries that answer like a driver's.
mkdir "$tmp/lib"
cp "$build/tests/plugin/fake_cuda.so" "$tmp/lib/libcuda.so.1"
cp "$build/tests/plugin/fake_nvml.so" "$tmp/lib/libnvidia-ml.so.1"
LD_LIBRARY_PATH=$tmp/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
pm doctor
grep -q '^yes CUDA driver *999.12.03, CUDA 13.0, ' "$tmp/out"
tap "doctor says the driver's version, not its interface's alone"
cat >"$tmp/dies.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int cuDriverGetVersion(int *version)
{
	FILE *f = fopen(getenv("DIED"), "wx");

	if (f)
		raise(SIGKILL);
	*version = 13000;
	return 0;
}
END
"${CC:-cc}" -shared -fPIC -o "$tmp/lib/libcuda.so.1" "$tmp/dies.c"
DIED=$tmp/died.driver pm doctor
grep -q '^yes CUDA driver *999.12.03, CUDA 13.0, ' "$tmp/out" && [ -e "$tmp/died.driver" ]
tap "a driver whose process is killed is asked again"
cp "$build/tests/plugin/fake_cuda.so" "$tmp/lib/libcuda.so.1"
pm eval "$tmp/silu.gpt" --pass "$silu" --record "$tmp/silu.record" --quiet
grep -q '"CUDA driver":"999.12.03, CUDA 13.0, ' "$tmp/silu.record"
tap "so does a record"
tap_done
