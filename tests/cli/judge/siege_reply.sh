#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# siege_reply.sh - a pass whose file is exchanged, whose process answers what it likes, and limits of an answer, through
# `passmith eval`: a program that stands in for the one that runs passes ($PASSMITH_BUILD) says what is written here.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

real=$(cd "$build" && pwd)
mkdir "$tmp/bin"
silu_graph "float[4,8]"

# stands_in: what comes on stdin is the program that is started for a pass.
stands_in()
{
	cat >"$tmp/bin/passmith-host"
	chmod +x "$tmp/bin/passmith-host"
}

# ---- the object is read once ----

cp "$real/passes/silu.so" "$tmp/p.so"
echo "this is no shared object" >"$tmp/other.so"
first=$(sha256sum <"$tmp/p.so" | cut -d' ' -f1)
second=$(sha256sum <"$tmp/other.so" | cut -d' ' -f1)
stands_in <<PROGRAM
#!/bin/sh
[ ! -e "$tmp/other.so" ] || /bin/mv "$tmp/other.so" "$tmp/p.so"
exec "$real/passmith-host"
PROGRAM
PASSMITH_BUILD=$tmp/bin pm eval "$tmp/silu.gpt" --pass "$tmp/p.so" --variants --device emu --json
[ "$(sha256sum <"$tmp/p.so" | cut -d' ' -f1)" = "$second" ] && [ ! -e "$tmp/other.so" ]
tap "S96_exchanged_object: the file is another when the first run begins"
grep -q "\"pass_sha256\":[[:space:]]*\"$first\"" "$tmp/out"
tap "S96_exchanged_object: the digest is the first object's"
[ "$code" -eq 0 ] && grep -q '"verdict":[[:space:]]*"OK"' "$tmp/out" && ! grep -q 'REJECT_ELF\|NONDET' "$tmp/out"
tap "S96_exchanged_object: and so are all verdicts, on other and on hidden shapes too"

# ---- forged replies ----

stands_in <<PROGRAM
#!/bin/sh
/bin/cat >/dev/null
exec /bin/cat "$tmp/reply"
PROGRAM

# reply JSON: the graph is in $tmp/graph.
reply()
{
	printf '%s' "$1" >"$tmp/json"
	{
		printf 'PMPASS1 %d %d\n' "$(wc -c <"$tmp/json")" "$(wc -c <"$tmp/graph")"
		cat "$tmp/json" "$tmp/graph"
	} >"$tmp/reply"
}

# gives VERDICT SENTENCE NAME: eval of what is in $tmp/reply.
gives()
{
	PASSMITH_BUILD=$tmp/bin pm eval "$tmp/silu.gpt" --pass "$real/passes/silu.so" --device emu --hidden 0 --json
	grep -q "\"verdict\":[[:space:]]*\"$1\"" "$tmp/out" && grep -qF -e "$2" "$tmp/out"
	tap "$3"
}

body='b (float[4,8] u) => (float[4,8] o) { t = Sigmoid(u)
 o = Mul(u, t) }'
cuda='extern \"C\" __global__ void k(const T *x, T *y) {\n int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i < 32) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n}\n'
launch='k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0'
head='g (float[4,8] x) => (float[4,8] y)'
applied='{"end":"applied","applied":1}'

# kernel LAUNCHES [SOURCE [MORE]]: one fused node's text.
kernel()
{
	printf 'Kernel <alts = 1, body = %s, launch_0 = [%s], name = "r", source_0 = "%s", type_0 = "float"%s>' \
		"$body" "$1" "${2:-$cuda}" "${3:-}"
}

# whole LAUNCHES [SOURCE]: the graph of an answer with one kernel.
whole()
{
	printf '%s\n{ y = %s (x)\n}\n' "$head" "$(kernel "$@")" >"$tmp/graph"
}

whole "\"$launch\""
reply "$applied"
gives OK "" "an answer that is right is OK, whoever gives it"
reply '{"end":"applied","applied":2}'
gives REJECT_API "applied 2 times" "S97_wrong_count: rules that applied more often than there are kernels"
reply '{"end":"applied","applied":1e300}'
gives REJECT_API "applied" "S97_huge_count: so often that no integer holds it"
reply '{"end":"applied","applied":NaN}'
gives REJECT_API "" "S97_nan: NaN in JSON"
reply '{"end":"OK","verdict":"OK","applied":1}'
gives REJECT_API "" "S97_claims_ok: a verdict that says that it is OK"
reply "$(printf '{"end":"appl\377ied","applied":1}')"
gives REJECT_API "" "S97_not_utf8: bytes that are no UTF-8"
reply "$applied"
printf 'x' >>"$tmp/reply"
gives REJECT_API "another length" "S97_trailing_bytes: a byte behind the answer"
reply "$applied"
head -c 200 "$tmp/reply" >"$tmp/cut"
mv "$tmp/cut" "$tmp/reply"
gives REJECT_API "another length" "S97_cut: an answer that ends early"
printf 'PMPASS1 18446744073709551615 18446744073709551615\n%s' "$applied" >"$tmp/reply"
gives REJECT_API "another length" "S97_huge_length: lengths that wrap around"
printf 'PMPASS1 -1 -1\n' >"$tmp/reply"
gives REJECT_API "another length" "S97_negative_length: lengths below 0"
whole '"k grid=4294967297,1,1 block=32,1,1 smem=0 args=i0,o0"'
reply "$applied"
gives REJECT_API "malformed at character" "S97_huge_grid: a grid that wraps around"
whole "\"$launch\""
sed 's/\[4,8\]/[5,67]/g' "$tmp/graph" >"$tmp/g" && mv "$tmp/g" "$tmp/graph"
reply "$applied"
gives REJECT_MATCH "" "S98_replay: the answer to another request"
whole "\"$launch\""
sed 's/Sigmoid/Tanh/' "$tmp/graph" >"$tmp/g" && mv "$tmp/g" "$tmp/graph"
reply "$applied"
gives REJECT_MATCH "" "S98_other_task: the graph of another task"
printf '%s\n{ y = %s (x)\n d = %s (x)\n}\n' "$head" "$(kernel "\"$launch\"")" "$(kernel "\"$launch\"")" >"$tmp/graph"
reply '{"end":"applied","applied":2}'
gives REJECT_MATCH "" "S98_twice: a kernel that nothing reads, to be counted"
printf '%s\n{ y = %s (x)\n y = %s (x)\n}\n' "$head" "$(kernel "\"$launch\"")" "$(kernel "\"$launch\"")" >"$tmp/graph"
reply '{"end":"applied","applied":2}'
gives REJECT_API "defined twice" "S98_defined_twice: a value with two kernels"

# ---- limits: as many as are allowed, and one more ----

# many N TEXT [BETWEEN]: N of it.
many()
{
	awk -v n="$1" -v t="$2" -v b="${3:-, }" 'BEGIN { for (i = 0; i < n; i++) printf "%s%s", i ? b : "", t }'
}

for n in 16 17; do
	whole "$(many $n "\"$launch\"")"
	reply "$applied"
	if [ $n = 16 ]; then
		gives OK "" "S99_launches: 16 of a kernel"
	else
		gives REJECT_API "more than 16 launches" "S99_launches: and not 17"
	fi
done
for n in 128 129; do
	args=$(awk -v n=$n 'BEGIN { for (i = 2; i < n; i++) printf ", int a%d", i }')
	whole "\"k grid=1,1,1 block=32,1,1 smem=0 args=i0,o0,$(many $((n - 2)) i32:1 ,)\"" \
		"$(printf '%s' "$cuda" | sed "s/T \*y)/T *y$args)/")"
	reply "$applied"
	if [ $n = 128 ]; then
		gives OK "" "S99_arguments: 128 of a launch"
	else
		gives REJECT_API "more than 128 arguments" "S99_arguments: and not 129"
	fi
done
for n in 8 9; do
	alts=$(awk -v n=$n -v l="$launch" 'BEGIN { for (i = 1; i < n; i++) printf ", source_%d = \"@\", type_%d = \"float\", launch_%d = [\"%s\"]", i, i, i, l }')
	whole "\"$launch\"" "$cuda" "$(printf '%s' "$alts" | sed "s|@|$(printf '%s' "$cuda" | sed 's/[\\&|]/\\&/g')|g")"
	sed "s/alts = 1/alts = $n/" "$tmp/graph" >"$tmp/g" && mv "$tmp/g" "$tmp/graph"
	reply "$applied"
	if [ $n = 8 ]; then
		gives OK "" "S99_alternatives: 8 of a kernel"
	else
		gives REJECT_API "from 1 to 8" "S99_alternatives: and not 9"
	fi
done
plain=$(printf '%b' "$(printf '%s' "$cuda" | sed 's/\\"/"/g')" | wc -c)
for n in 1048576 1048577; do
	awk -v n=$((n - plain - 2)) 'BEGIN { printf "//"; for (i = 0; i < n; i++) printf "." }' >"$tmp/dots"
	{
		printf '%s\n{ y = Kernel <alts = 1, body = %s, launch_0 = ["%s"], name = "r", source_0 = "%s' "$head" "$body" "$launch" "$cuda"
		cat "$tmp/dots"
		printf '", type_0 = "float"> (x)\n}\n'
	} >"$tmp/graph"
	reply "$applied"
	if [ $n = 1048576 ]; then gives OK "" "S99_source: 1 MiB"; else gives REJECT_API "is longer than 1 MiB" "S99_source: and no byte more"; fi
done
for n in 65535 65536; do
	whole "\"k grid=1,$n,1 block=32,1,1 smem=0 args=i0,o0\""
	reply "$applied"
	if [ $n = 65535 ]; then
		gives OK "" "S99_grid: 65,535 blocks in y"
	else
		gives REJECT_API "malformed at character" "S99_grid: and not 65,536"
	fi
done
for n in 1024 1025; do
	whole "\"k grid=1,1,1 block=$n,1,1 smem=0 args=i0,o0\""
	reply "$applied"
	if [ $n = 1024 ]; then
		gives OK "" "S99_block: 1,024 threads"
	else
		gives REJECT_API "numbers from 1 to 1024" "S99_block: and not 1,025"
	fi
done
for n in 232448 232449; do
	whole "\"k grid=1,1,1 block=32,1,1 smem=$n args=i0,o0\""
	reply "$applied"
	if [ $n = 232448 ]; then
		gives OK "" "S99_shared: 227 KiB"
	else
		gives REJECT_API "a number up to 232448" "S99_shared: and no byte more"
	fi
done
whole "\"$launch\""
for n in 256 257; do
	reply "{\"end\":\"applied\",\"applied\":1,\"rules\":[$(many $n '{"name":"r"}' ,)]}"
	if [ $n = 256 ]; then
		gives OK "" "S99_rules: 256 of a plugin"
	else
		gives REJECT_API "lists 257 rules; a plugin has at most 256" "S99_rules: and not 257"
	fi
done
for n in 3 4; do
	reply "{\"end\":\"applied\",\"applied\":1,\"rules\":[{\"name\":\"r\",\"misses\":[$(many $n '{"depth":1,"of":2,"text":"t"}' ,)]}]}"
	if [ $n = 3 ]; then
		gives OK "" "S99_misses: 3 of a rule"
	else
		gives REJECT_API "has 4 misses for one rule; at most 3" "S99_misses: and not 4"
	fi
done
for n in 8 9; do
	reply "{\"end\":\"applied\",\"applied\":1,\"rules\":[{\"name\":\"r\",\"reasons\":[$(many $n '{"count":1,"text":"t"}' ,)]}]}"
	if [ $n = 8 ]; then
		gives OK "" "S99_reasons: 8 of a rule"
	else
		gives REJECT_API "has 9 reasons for one rule; at most 8" "S99_reasons: and not 9"
	fi
done
one=$(kernel "$(many 16 "\"$launch\"")" "extern \\\"C\\\" __global__ void k(const T *x, T *y) {}" | tr '\n' ';' | sed 's/;/\\n/g')
for n in 4096 4097; do
	{
		printf '%s\n{\n' "$head"
		awk -v n=$n -v k="$(printf '%s' "$one" | sed 's/\\/\\\\/g; s/\\\\n o/\\n o/')" 'BEGIN { for (i = 0; i < n; i++) printf "v%d = %s (x)\n", i, k; }'
		printf ' y = Relu(x)\n}\n'
	} >"$tmp/graph"
	reply "$applied"
	if [ $n = 4096 ]; then
		gives REJECT_MATCH "" "S99_all_launches: 65,536 of all kernels are read"
	else
		gives REJECT_API "at most 16384 and 65536 are read" "S99_all_launches: and no more"
	fi
done
one=$(kernel "\"$launch\"" "extern \\\"C\\\" __global__ void k(const T *x, T *y) {}" | tr '\n' ';' | sed 's/;/\\n/g')
for n in 16384 16385; do
	{
		printf '%s\n{\n' "$head"
		awk -v n=$n -v k="$(printf '%s' "$one" | sed 's/\\/\\\\/g; s/\\\\n o/\\n o/')" 'BEGIN { for (i = 0; i < n; i++) printf "v%d = %s (x)\n", i, k; }'
		printf ' y = Relu(x)\n}\n'
	} >"$tmp/graph"
	reply "$applied"
	if [ $n = 16384 ]; then
		gives REJECT_MATCH "" "S99_kernels: 16,384 are read"
	else
		gives REJECT_API "It has 16385 kernels" "S99_kernels: and no more"
	fi
done
for n in 400000 1400000; do
	awk -v n=$n 'BEGIN { print "g (float[4,8] x) => (float[4,8] y) {"; for (i = 0; i < n; i++) print "v" i "=Relu(x)"; print "y=Relu(x)}" }' >"$tmp/graph"
	reply "$applied"
	if [ $n = 400000 ]; then
		gives REJECT_MATCH "" "S99_memory: 400,000 nodes are read"
	else
		gives REJECT_API "more than its budget" "S99_memory: and not so many that they take more than 128 MiB"
	fi
done
awk 'BEGIN { printf "g"; for (i = 0; i < 24 * 1024; i++) for (j = 0; j < 16; j++) printf "%64s", ""; for (i = 0; i < 2000; i++) printf " " }' >"$tmp/graph"
reply "$applied"
gives REJECT_API "bytes of graph; at most" "S99_bytes: 24 MiB of text and eight times the original's, and no more"
# ---- sources beside the graph ----

# with_sources JSON SOURCES
with_sources()
{
	printf '%s' "$1" >"$tmp/json"
	printf '%b' "$2" >"$tmp/sources"
	{
		printf 'PMPASS1 %d %d %d\n' "$(wc -c <"$tmp/json")" "$(wc -c <"$tmp/graph")" "$(wc -c <"$tmp/sources")"
		cat "$tmp/json" "$tmp/graph" "$tmp/sources"
	} >"$tmp/reply"
}

silu='extern "C" __global__ void k(const T *x, T *y) { for (int i = 0; i < 32; i++) y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i])))); }'
for source in @0 @1 @ @00000000000000000001 extern; do
	printf '%s\n{\n y = %s (x)\n}\n' "$head" "$(kernel "\"k grid=1,1,1 block=1,1,1 smem=0 args=i0,o0\"" "$source")" >"$tmp/graph"
	with_sources "$applied" "${#silu}\\n$silu"
	if [ $source = @0 ]; then
		gives OK "" "S100_sources: a source that the graph names"
	else
		gives REJECT_API "is to name one of 1 sources" "S100_sources: not $source"
	fi
done
printf '%s\n{\n y = %s (x)\n}\n' "$head" "$(kernel "\"k grid=1,1,1 block=1,1,1 smem=0 args=i0,o0\"" "@0")" >"$tmp/graph"
for sources in '9\nextern' '18446744073709551617\nx' '\nx' '-1\nx' 'x'; do
	with_sources "$applied" "$sources"
	gives REJECT_API "has another length than it says" "S100_sources: a length that is not the source's: $(printf %s "$sources" | tr '\\' ' ')"
done
for sources in '0\n' '3\na\0000b'; do
	with_sources "$applied" "$sources"
	gives REJECT_API "none of them zero" "S100_sources: no text: $(printf %s "$sources" | tr '\\' ' ')"
done
{
	printf '1048577\n'
	awk 'BEGIN { for (i = 0; i < 16384; i++) printf "%64s", ""; printf "x" }'
} >"$tmp/large"
printf 'PMPASS1 %d %d %d\n' "$(wc -c <"$tmp/json")" "$(wc -c <"$tmp/graph")" "$(wc -c <"$tmp/large")" >"$tmp/first"
cat "$tmp/first" "$tmp/json" "$tmp/graph" "$tmp/large" >"$tmp/reply"
gives REJECT_API "1 to 1048576 are allowed" "S100_sources: one that is too long"
for first in "PMPASS1 2 2x" "PMPASS1 2 2 0 0" "PMPASS1 2 2 "; do
	printf '%s\n{}gg' "$first" >"$tmp/reply"
	gives REJECT_API "malformed first line" "S100_sources: $first"
done
tap_done
