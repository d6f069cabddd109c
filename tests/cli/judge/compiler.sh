#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compiler.sh - passmith eval blames a pass for a kernel that knows the time, and not for a compiler that wavers.
# Needs NVRTC; without it the script is skipped.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

REAL_NVRTC=$("$passmith" doctor | sed -n 's/^yes NVRTC .*, //p')
if [ -z "$REAL_NVRTC" ]; then
	echo "there is no NVRTC"
	exit 77
fi
PASSMITH_CACHE=$tmp/cache # nothing has been compiled
export REAL_NVRTC PASSMITH_CACHE
mkdir "$tmp/lib"
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -shared -fPIC -o "$tmp/lib/libnvrtc.so" tests/cli/judge/wavering_nvrtc.c -ldl
tap "a compiler that wavers is built"

silu_graph "float[5,67]"

# pass NAME FACTOR: silu times an expression; pasted tokens make the compiler look twice.
pass()
{
	cat >"$tmp/$1.c" <<PASS
#include "passmith/dsl.h"
enum { X };
static const char SRC[] = "#define P(a, b) a##b\n"
	"extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n"
	"long long i = blockIdx.x * (long long)P(block, Dim).x + threadIdx.x;\n"
	"if (i < n) y[i] = st(($2) * ld(x[i]) / (1.f + expf(-ld(x[i]))));\n}\n";
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { pm_blocks(n, 64) }, .block = { 64 },
		.in = PM_VALS(m->v[X]), .arg = PM_ARGS(IN(0), OUT(0), I64(n)));
}
PM_RULE($1, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("$1", "1", &$1)
PASS
	pm build "$tmp/$1.c" -o "$tmp/$1.so"
	exits 0 "$1 is built"
}

# judged NAME: evaluated with nothing in the cache.
judged()
{
	rm -rf "$tmp/cache/nvrtc"
	pm eval "$tmp/silu.gpt" --pass "$tmp/$1.so" --device emu
}

pass honest "1.f"
pass knows_today "__DATE__[5] & 1 ? 1.f : 1.0000001f"
judged honest
exits 0 "with the compiler as it is the honest pass is right"
judged knows_today
says "COMPILE_FAIL" "a kernel that has __DATE__ is refused, though it gives the same all day"
says "at another time" "and told why"

LD_LIBRARY_PATH=$tmp/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
for WAVER in once always; do
	export WAVER
	judged honest
	exits 0 "with a compiler that gives other code $WAVER the honest pass is right"
	! grep -q COMPILE_FAIL "$tmp/out"
	tap "and is not blamed"
done
WAVER=once
judged knows_today
says "at another time" "and the other is still found"
tap_done
