#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# accesses.sh - on emu the modelled time of a kernel is that of the accesses that it makes: eval, profile, alternatives, and what
# is said where accesses cannot be counted.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# build NAME FIRST [SECOND]: a SiLU whose kernel is FIRST, with the alternative SECOND. SIXTEEN: each thread has 16 elements side
# by side; EACH: the threads of a block go through its elements together.
build()
{
	other=
	[ $# -lt 3 ] || other=", .alt = PM_ALTERNATIVE(.entry = \"k\", .source = $3, .grid = { pm_blocks(n, 2048) }, .block = { 128 },
		.arg = PM_ARGS(IN(0), OUT(0), I32((int)n)))"
	cat >"$tmp/$1.c" <<PASS
#include "passmith/dsl.h"
enum { X };
#define SIXTEEN "extern \"C\" __global__ void k(const T *x, T *y, int n)\n{\n" \\
	"	int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);\n" \\
	"	for (int j = 0; j < 16; j++) { float v = ld(x[first + j]); y[first + j] = st(v / (1.f + expf(-v))); }\n}\n"
#define EACH "extern \"C\" __global__ void k(const T *x, T *y, int n)\n{\n" \\
	"	int first = 16 * blockIdx.x * blockDim.x + threadIdx.x;\n" \\
	"	for (int j = 0; j < 16; j++) { int i = first + j * blockDim.x; float v = ld(x[i]); y[i] = st(v / (1.f + expf(-v))); }\n}\n"
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = $2, .grid = { pm_blocks(n, 2048) }, .block = { 128 },
		.in = PM_VALS(m->v[X]), .arg = PM_ARGS(IN(0), OUT(0), I32((int)n))$other);
}
PM_RULE(rule, .pattern = OP(Mul, V(X), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("$1", "1", &rule)
PASS
	pm build "$tmp/$1.c" -o "$tmp/$1.so" --no-kernels
	exits 0 "$1 is built"
}

# of FILE MEMBER: the first such number.
of()
{
	sed -n "s/^ *\"$2\": *\([-0-9.e+]*\),*\$/\1/p" "$1" | head -n 1
}

# same FILE OTHER MEMBER: both have it, and it is the same.
same()
{
	[ -n "$(of "$1" "$3")" ] && [ "$(of "$1" "$3")" = "$(of "$2" "$3")" ]
}

# less A B
less()
{
	[ -n "$1" ] && [ -n "$2" ] && awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'
}

silu_graph "float[1024,1024]"
build sixteen SIXTEEN
build each EACH
build both SIXTEEN EACH
for p in sixteen each both; do
	pm eval "$tmp/silu.gpt" --pass "$tmp/$p.so" --hidden 0 --quiet -o "$tmp/$p.json"
	exits 0 "$p is evaluated"
	[ "$(of "$tmp/$p.json" counted_launches)" = 1 ] && [ "$(of "$tmp/$p.json" candidate_bytes)" = 8388608 ]
	tap "its launch is counted, and its bytes are each element once"
done
# Of 2^20 floats: 2 * 4 MB at 3.97 TB/s, a start of 1 us, a launch of 1.45 us, and 32 requests of a warp at 26 cycles.
[ "$(awk -v s="$(of "$tmp/each.json" candidate_seconds)" 'BEGIN { printf "%.3f", s * 1e6 }')" = 4.983 ]
tap "side by side: start, launch, waits, and the bytes by the bandwidth of a copy"
# A warp's store goes to 32 sectors where 4 would do: 32 MB beside the 4 MB that are read, at 4.5 TB/s.
[ "$(awk -v s="$(of "$tmp/sixteen.json" candidate_seconds)" 'BEGIN { printf "%.3f", s * 1e6 }')" = 11.259 ]
tap "sixteen each: the sectors that L2 is asked for, by its bandwidth"
less "$(of "$tmp/sixteen.json" speedup)" 1 && less 1.8 "$(of "$tmp/each.json" speedup)"
tap "so that one is slower than the plain run, and the other nearly twice as fast"
[ "$(of "$tmp/both.json" alternative)" = 1 ] && same "$tmp/both.json" "$tmp/each.json" speedup
tap "of both the better alternative is taken"
pm eval "$tmp/silu.gpt" --pass "$tmp/sixteen.so" --hidden 0 --quiet -o "$tmp/again.json"
same "$tmp/again.json" "$tmp/sixteen.json" candidate_seconds
tap "the next evaluation, with other secrets, has the same time"
pm eval "$tmp/silu.gpt" --pass "$tmp/sixteen.so" --quick --quiet -o "$tmp/quick.json"
same "$tmp/quick.json" "$tmp/sixteen.json" speedup
tap "and so has a first answer"
pm profile "$tmp/silu.gpt" --pass "$tmp/sixteen.so" --json
grep -q '"bound": "l2"' "$tmp/out" && [ "$(sed -n '/"kernels"/,$p' "$tmp/out" | sed -n 's/^ *"seconds": *\([0-9.e-]*\),*$/\1/p' | head -n 1 |
	awk '{ printf "%.3f", $1 * 1e6 }')" = 10.260 ]
tap "profile has the same, and says that it is L2"

# A compiler that cannot count.
cat >"$tmp/cxx" <<'CXX'
#!/bin/sh
for a; do
	[ "$a" != -fsanitize-coverage=trace-pc ] || exit 1
done
exec g++ "$@"
CXX
chmod +x "$tmp/cxx"
PASSMITH_CXX=$tmp/cxx pm eval "$tmp/silu.gpt" --pass "$tmp/sixteen.so" --hidden 0 --quiet -o "$tmp/without.json"
exits 0 "without a compiler that counts"
says "by bytes and operations alone, since accesses were not counted: " "the table says so"
grep -q '"not_counted": *"' "$tmp/without.json" && ! grep -q counted_launches "$tmp/without.json" &&
	[ "$(awk -v s="$(of "$tmp/without.json" candidate_seconds)" 'BEGIN { printf "%.3f", s * 1e6 }')" = 4.563 ]
tap "so does the report, and the time is that of bytes and operations"

tap_done
