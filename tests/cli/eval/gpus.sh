#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpus.sh - eval --gpus on GPUs that are made up (tests/machine): which GPU gets what, which one is left, who is to
# blame, and what two commands do with one GPU. A GPU's `gate` holds whoever opens it, so that the order is known.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/machine.sh
. tests/lib/machine.sh

silu=$build/passes/silu.so
for k in 1 2 3 4; do
	silu_graph "float[$k,64]"
	mv "$tmp/silu.gpt" "$tmp/g$k.gpt"
done
echo 'm (float[8,32] x, float[8,32] z) => (float[8,32] y) { a = Add(x, z) y = Relu(a) }' >"$tmp/none.gpt"
graphs="$tmp/g1.gpt $tmp/g2.gpt $tmp/g3.gpt $tmp/g4.gpt $tmp/none.gpt"

# begin GPUS ARG...: eval of $graphs in the background: $pid, its streams in $out and $err.
begin()
{
	out=$tmp/out err=$tmp/err
	begin_as "$@"
}
begin_as()
{
	gpus=$1
	shift
	: >"$err"
	# shellcheck disable=SC2086 # a list of files
	"$passmith" eval ${graphs} --pass "$silu" --device cuda --gpus "$gpus" --hidden 0 --check-only -j 1 --quiet --json \
		"$@" >"$out" 2>"$err" </dev/null &
	pid=$!
}
# ---- which GPU gets what ----

fresh
touch "$fake/$a/gate" "$fake/$b/gate"
begin 0,1
until_lines 1 "$fake/$a/log"
until_lines 1 "$fake/$b/log"
rm "$fake/$a/gate"
until_lines 4 "$fake/$a/log"
rm "$fake/$b/gate"
finish
exits 1 "five graphs, on kernels that do nothing"
did 0 4
did 1 1
is_json "$tmp/out" && [ "$(flat | grep -o '"gpu":{"index":0,"uuid":"GPU-aaaa0000"}' | wc -l)" = 4 ] &&
	[ "$(flat | grep -o '"gpu":{"index":1,"uuid":"GPU-aabb1111"}' | wc -l)" = 1 ]
tap "each result says on which GPU"
[ "$(cut -d ' ' -f 2 "$fake/$a/log" | sort -u)" = "$first" ] && [ "$(cut -d ' ' -f 2 "$fake/$b/log" | sort -u)" = "$last" ]
tap "processes run on the processors nearest to their GPU"
[ ! -e "$fake/$c/log" ]
tap "nobody opened the GPU that was not named"

fresh
touch "$fake/$a/gate" "$fake/$b/gate"
out=$tmp/out err=$tmp/err
# shellcheck disable=SC2086
taskset -c "$first" "$passmith" eval $graphs --pass "$silu" --device cuda --gpus $b,GPU-aaaa --hidden 0 --check-only -j 1 --quiet --json \
	>"$out" 2>"$err" </dev/null &
pid=$!
until_lines 1 "$fake/$a/log"
until_lines 1 "$fake/$b/log"
rm "$fake/$a/gate" "$fake/$b/gate"
finish
exits 1 "named by UUID, and by the beginning of one"
[ "$(cat "$fake"/*/log | cut -d ' ' -f 2 | sort -u)" = "$first" ]
tap "nobody leaves the processors that the user gave"

begin all
finish
exits 4 "GPUs of different models"
grep -q 'GPU 0 is Fake One and GPU 2 is Fake Two' "$tmp/err" && [ "$(wc -l <"$tmp/err")" = 1 ]
tap "are refused in one sentence"
begin 0,7
finish
exits 4 "a GPU that is not there"
warns "there is no GPU 7 for this command; it can use 0, 1, 2" "is named, with those that are there"
begin GPU-aa
finish
exits 2 "too short for a UUID"
begin GPU-aa00
finish
exits 4 "a UUID that nothing has"
for bad in "" , 0,, x -1 GPU-; do
	begin "$bad"
	finish
	[ $code -eq 2 ]
	tap "--gpus '$bad' is no list"
done
pm eval "$tmp/g1.gpt" --pass "$silu" --gpus 0
exits 2 "--gpus is for --device cuda"
pm eval "$tmp/g1.gpt" --pass "$silu" --gpus 0 --device cuda --record "$tmp/r"
exits 2 "and not for a record"
begin 0,1 --progress "$tmp/p"
finish
exits 2 "--progress is of one graph, with several GPUs too"
CUDA_VISIBLE_DEVICES=$b
export CUDA_VISIBLE_DEVICES
begin 0
finish
exits 4 "a GPU that CUDA_VISIBLE_DEVICES hides"
fresh
begin all
finish
exits 1 "all that it leaves"
did 1 5
unset CUDA_VISIBLE_DEVICES

# ---- which GPU is left ----

# leaves INDEX UUID OTHER FAULT TEXT: what the files say before the command begins.
leaves()
{
	touch "$fake/$3/gate"
	begin 0,1
	until_says "is left" "$err"
	rm "$fake/$3/gate"
	finish
	exits 1 "all graphs are judged where GPU $1 is left: $4"
	told_once "$1" "$5"
	left "$1" "$4"
	did $((1 - $1)) 5
}
fresh
echo 64 >"$fake/$a/slowed"
leaves 0 $a $b slowed "it is slowed down (hardware heat slowdown)"
fresh
echo 128 >"$fake/$b/slowed"
leaves 1 $b $a slowed "it is slowed down (power brake)"
fresh
sleep 1000 &
stranger=$!
echo $stranger >"$fake/$a/processes"
leaves 0 $a $b strangers "process $stranger (sleep) of another program uses it"
kill $stranger
fresh
touch "$fake/$b/rows"
leaves 1 $b $a memory "a damaged row of its memory could not be replaced"
fresh
touch "$fake/$a/broken"
leaves 0 $a $b failing "a new process cannot use it either"
fresh
echo 4 >"$fake/$a/slowed"
begin 0
finish
exits 1 "a power cap leaves nobody"
did 0 5

# during FILE TEXT FAULT...: it happens while GPU 1 has a graph, which GPU 0 does again.
during()
{
	fresh
	echo 3 >"$fake/$b/errors" # of before
	touch "$fake/$a/gate" "$fake/$b/gate"
	begin 0,1
	until_lines 1 "$fake/$a/log"
	until_lines 1 "$fake/$b/log"
	echo "$2" >"$fake/$b/$1"
	rm "$fake/$b/gate"
	until_says "is left" "$err"
	rm "$fake/$a/gate"
	finish
	exits 1 "GPU 1 is left while it has a graph: $3"
	told_once 1 "$4"
	left 1 "$3"
	did 1 0
	did 0 5
}
during slowed 32 slowed "it is slowed down (heat)"
during errors 5 memory "its memory had 2 errors that could not be corrected"
during broken "" failing "a new process cannot use it either" # it is open already; the next one is not
fresh
echo 8 >"$fake/$a/slowed"
echo 32 >"$fake/$b/slowed"
begin 0,1
finish
exits 3 "no GPU is left"
warns "g1.gpt was not evaluated: No GPU is left for it: GPU 0: it is slowed down (hardware slowdown); GPU 1: it is slowed down (heat)." \
	"with the reasons"

all=$graphs
graphs=$tmp/g1.gpt
fresh
echo 64 >"$fake/$a/slowed"
begin 0,1
finish
exits 1 "fewer graphs than GPUs, of which the first is left"
did 1 1
graphs=$all

# One graph, of which a part is evaluated: it begins again on the other GPU.
graphs=$tmp/g2.gpt
fresh
touch "$fake/$a/gate" "$fake/$b/gate"
begin 0,1 --variants --only 0 --only 3 --progress "$tmp/p"
until [ -s "$fake/$a/log" ] || [ -s "$fake/$b/log" ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
had=0 it=$a
[ -s "$fake/$a/log" ] || had=1 it=$b
echo 32 >"$fake/$it/slowed"
rm "$fake/$a/gate" "$fake/$b/gate"
finish
exits 1 "one graph whose GPU is left"
left $had slowed
did $((1 - had)) 1
[ "$(grep -c '^{"event":"begin"' "$tmp/p")" = 2 ]
tap "--progress says that it begins again"
[ "$(sed '1d; /"begin"/,$!d' "$tmp/p" | sed -n 's/^{"event":"variant","number":\([0-9]*\),.*/\1/p' | sort -n | tr '\n' ' ')" = "0 3 " ]
tap "and then has each of the variants that were asked for"
fresh
echo 32 >"$fake/$b/slowed"
begin 1
finish
exits 3 "one graph that no GPU is left for"
flat | grep -q '"error":"NoGPUisleftforit:GPU1:itissloweddown(heat)."'
tap "the command's error says why"
pm eval "$tmp/g1.gpt" --pass "$silu" --device cuda --gpus 0 --hidden 0 --check-only --quiet
says "1 graph: 1 " "one graph is counted as one"
graphs=$all

# ---- who is to blame ----

fresh
touch "$fake/$a/faults" "$fake/$b/faults"
begin 0,1
finish
exits 1 "a kernel that faults, on GPUs that work on"
flat | grep -o '"verdict":"DEVICE_FAULT"' | wc -l | grep -qx 4 && ! flat | grep -q '"left"' && [ ! -s "$tmp/err" ]
tap "is the pass's fault, and no GPU is left"
fresh
touch "$fake/$a/breaks" "$fake/$b/breaks" "$fake/$a/gate" "$fake/$b/gate"
all=$graphs
graphs="$tmp/g1.gpt $tmp/none.gpt"
begin 0,1
until_lines 1 "$fake/$a/log" # each has one of the two graphs
until_lines 1 "$fake/$b/log"
rm "$fake/$a/gate" "$fake/$b/gate"
finish
exits 1 "a kernel that breaks every GPU"
flat | grep -q '"verdict":"DEVICE_FAULT"' && flat | grep -q '"verdict":"NO_MATCH"' && ! flat | grep -q '"left"'
tap "is to blame itself, and the GPUs are not"
graphs=$all
fresh
touch "$fake/$a/gate" "$fake/$b/gate" "$fake/$a/breaks"
begin 0,1
until_lines 1 "$fake/$a/log"
until_lines 1 "$fake/$b/log"
rm "$fake/$a/gate"
until_says "is left" "$err"
rm "$fake/$b/gate"
finish
exits 1 "a GPU that breaks under a kernel that another one runs"
left 0 failing
did 0 0
did 1 5
flat | grep -q DEVICE_FAULT
[ $? -ne 0 ]
tap "is left, and nothing counts that was found there"

# ---- two commands ----

fresh
touch "$fake/$a/gate"
out=$tmp/out.first err=$tmp/err.first
begin_as 0 # has GPU 0
holder=$pid
until_lines 1 "$fake/$a/log"
begin 0,1
finish
exits 1 "a command beside one that has a GPU"
did 0 0
did 1 5
flat | grep -q '"left"'
[ $? -ne 0 ]
tap "does its work on the other GPU"
out=$tmp/out.second err=$tmp/err.second
begin_as 0
until_says "GPU 0 is taken by process" "$err"
tap "one that has no other GPU waits"
worker=$(sed -n 's/.*GPU 0 is taken by process \([0-9]*\), of another command.*/\1/p' "$err")
[ "$(cat "/proc/$worker/comm")" = passmith ] && [ "$(sed 's/.*) //' "/proc/$worker/stat" | cut -d ' ' -f 2)" = "$holder" ]
tap "and names the process that has it"
second=$pid
lines=$(wc -l <"$fake/$a/log")
kill -9 "$worker"
until_lines $((lines + 1)) "$fake/$a/log"
tap "a killed process has the GPU no more"
opener=$(tail -n 1 "$fake/$a/log" | cut -d ' ' -f 1)
up=$opener
while [ -n "$up" ] && [ "$up" -gt 1 ] && [ "$up" != "$second" ]; do
	up=$(sed 's/.*) //' "/proc/$up/stat" 2>/dev/null | cut -d ' ' -f 2)
done
[ "$up" = "$second" ]
tap "and the command that waited goes first"
rm "$fake/$a/gate"
pid=$second
finish
exits 1 "the one that waited comes to its end"
pid=$holder
finish
exits 5 "and so does the other, but for what was killed"
[ "$(find "$tmp/locks" -name 'GPU-*.lock' | wc -l)" -ge 2 ] && [ -z "$(find "$tmp/locks" -name 'GPU-*.lock' ! -perm 666)" ]
tap "the lock files are for everybody"
ln -sf "$tmp/elsewhere" "$tmp/locks/$c.lock"
begin 2
finish
exits 3 "a lock file that is a link is not followed"
[ ! -e "$tmp/elsewhere" ]
tap "and nothing is made where it leads"

# ---- bench, and what is stored ----

fresh
cat >"$tmp/m1.gpt" <<'GRAPH'
m1 (float[4,32] x, float[4,32] z) => (float[4,32] y) { s = Sigmoid (x) t = Mul (x, s) u = Add (t, z) y = Relu (u) }
GRAPH
cat >"$tmp/m2.gpt" <<'GRAPH'
m2 (float[4,32] x, float[4,32] z) => (float[4,32] y) { s = Sigmoid (x) t = Mul (x, s) u = Sub (t, z) y = Tanh (u) }
GRAPH
"$passmith" extract "$tmp/m1.gpt" "$tmp/m2.gpt" --db "$tmp/w.db" >"$tmp/out" 2>"$tmp/err" &&
	"$passmith" task make --db "$tmp/w.db" --top 2 --name t --shapes 2 >"$tmp/out" 2>"$tmp/err"
tap "two tasks"
touch "$fake/$a/gate" "$fake/$b/gate" "$fake/$a/breaks"
out=$tmp/out err=$tmp/err
: >"$err"
"$passmith" bench --db "$tmp/w.db" --baselines eager --pass "$silu" --device cuda --gpus 0,1 --hidden 0 -j 1 --weak-sandbox --quiet --json \
	>"$out" 2>"$err" </dev/null &
pid=$!
until_lines 1 "$fake/$a/log"
until_lines 1 "$fake/$b/log"
rm "$fake/$a/gate"
until_says "is left" "$err"
rm "$fake/$b/gate"
finish
exits 0 "bench on two GPUs, of which one breaks"
told_once 0 "a new process cannot use it either"
left 0 failing
did 0 0
did 1 2
"$passmith" db query --db "$tmp/w.db" "select verdict, count(*) from results group by verdict" >"$tmp/out" 2>"$tmp/err"
grep -q UNWRITTEN "$tmp/out" && ! grep -q DEVICE_FAULT "$tmp/out"
tap "nothing is stored of what it gave"
[ "$("$passmith" db query --db "$tmp/w.db" "select distinct o.gpu_id from measurements m join origins o on o.id = m.origin" | sed 1d | tr -d ' ')" = "$b" ]
tap "and what is stored names the GPU that it comes from"
fresh
echo 64 >"$fake/$a/slowed"
: >"$err"
"$passmith" bench --db "$tmp/w.db" --view kernelbench --pass "$silu" --seed 1 --device cuda --gpus 0 --hidden 0 -j 1 --weak-sandbox --quiet --json \
	>"$out" 2>"$err" </dev/null &
pid=$!
finish
exits 3 "bench where no GPU is left"
left 0 slowed
is_json "$out"
tap "and that is an answer"
"$passmith" bench --db "$tmp/w.db" --pass "$silu" --gpus 0 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ]
tap "--gpus of bench is for --device cuda, too"

# ---- stored results of two drivers ----

# bench_with DRIVER PASS...: stores results of these passes, measured with this version of CUDA's driver.
bench_with()
{
	FAKE_DRIVER=$1
	export FAKE_DRIVER
	pm bench --db "$tmp/d.db" --device cuda --gpus 0 --hidden 0 -j 1 --weak-sandbox --quiet --pass "$2"
	exits 0 "bench with the driver $1"
	unset FAKE_DRIVER
}
stored()
{
	pm bench --db "$tmp/d.db" --device cuda --hidden 0 --stored --pass "$silu" --pass "$build/passes/fuse.so" --json "$@"
}
fresh
PASSMITH_LIBRARIES=off
export PASSMITH_LIBRARIES
"$passmith" extract "$tmp/m1.gpt" --db "$tmp/d.db" >"$tmp/out" 2>"$tmp/err" &&
	"$passmith" task make --db "$tmp/d.db" --top 1 --name t --shapes 1 >"$tmp/out" 2>"$tmp/err"
tap "a task"
bench_with 12090 "$silu"
stored
exits 0 "bench --stored of the results of one driver"
grep -q '"status": "' "$tmp/out"
tap "on a machine that has another one"
bench_with 13000 "$build/passes/fuse.so"
stored
exits 4 "results of two drivers are in no table"
grep -q "'GPU=Fake One[^']*CUDA 12.9[^']*', 'GPU=Fake One[^']*CUDA 13.0[^']*'. Give --machine" "$tmp/err"
tap "both are named, with the option that chooses"
stored --view kernelbench --runs
exits 4 "nor in that of a published benchmark"
for driver in 12.9 13.0; do
	stored --machine "CUDA $driver"
	exits 0 "--machine 'CUDA $driver'"
	cp "$tmp/out" "$tmp/of.$driver"
done
cmp -s "$tmp/of.12.9" "$tmp/of.13.0"
[ $? -eq 1 ]
tap "are two tables"
stored --machine "CUDA 1"
exits 4 "words that both have"
stored --machine "CUDA 11"
exits 4 "and words that none has"
grep -q "Nothing with these options was measured where 'CUDA 11' is said of the machine; there is: 'GPU=Fake One" "$tmp/err"
tap "say so"
pm bench --db "$tmp/d.db" --device cuda --pass "$silu" --machine "CUDA 12.9"
exits 2 "--machine is for --stored"

tap_done
