/* SPDX-License-Identifier: Apache-2.0 */
/* bad_specs.c - one rule per malformed kernel description; tests pick one with only_rule. All: REJECT_API. */
#include "passmith/dsl.h"

enum { X, S };

#define SILU OP(Mul, V(X), AS(S, OP(Sigmoid, V(X))))
#define SRC  "extern \"C\" __global__ void f(const T *x, T *y, long long n) {}\n"

#define BAD(name_, ...)                                                                                      \
	static PmStatus name_##_rewrite(PmRewriter *rw, PmMatch *m)                                          \
	{                                                                                                    \
		return PM_REPLACE_WITH_KERNEL(rw, m, __VA_ARGS__);                                           \
	}                                                                                                    \
	PM_RULE(name_, .pattern = SILU, .rewrite = name_##_rewrite)

BAD(no_source, .entry = "f", .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]));
BAD(no_entry, .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(1)));
BAD(wrong_entry, .entry = "g", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .arg = PM_ARGS(I64(1)));
BAD(missing_arg, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]));
BAD(arg_too_many, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .arg = PM_ARGS(I64(1), I64(2)));
BAD(arg_kind, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .arg = PM_ARGS(F32(1)));
BAD(arg_width, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .arg = PM_ARGS(I32(1)));
BAD(pointer_for_scalar, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .arg = PM_ARGS(IN(0), OUT(0), IN(0)));
BAD(no_such_input, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .arg = PM_ARGS(IN(1), OUT(0), I64(1)));
BAD(zero_grid, .entry = "f", .source = SRC, .grid = { 0 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .arg = PM_ARGS(I64(1)));
BAD(big_block, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32, 64 }, .in = PM_VALS(m->v[X]),
    .arg = PM_ARGS(I64(1)));
BAD(big_smem, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .smem = 1 << 20,
    .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(1)));
BAD(interior_input, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[S]),
    .arg = PM_ARGS(I64(1)));
BAD(no_root, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .outs = PM_VALS(m->v[S]), .arg = PM_ARGS(I64(1)));
BAD(outside_output, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .outs = PM_VALS(m->root, m->v[X]), .arg = PM_ARGS(I64(1)));
BAD(none_input, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS((PmVal){ 0 }),
    .arg = PM_ARGS(I64(1)));
BAD(empty_scratch, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .scratch = PM_SCRATCH(0), .arg = PM_ARGS(I64(1)));
BAD(alternative_input, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
    .arg = PM_ARGS(I64(1)),
    .alt = PM_ALTERNATIVE(.entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 }, .in = PM_VALS(m->v[X]),
			  .arg = PM_ARGS(I64(1))));

static PmStatus twice_rewrite(PmRewriter *rw, PmMatch *m)
{
	PM_REPLACE_WITH_KERNEL(rw, m, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 },
			       .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(1)));
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "f", .source = SRC, .grid = { 1 }, .block = { 32 },
				      .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(1)));
}

PM_RULE(twice, .pattern = SILU, .rewrite = twice_rewrite);

PM_PLUGIN("bad_specs", "1", &no_source, &no_entry, &wrong_entry, &missing_arg, &arg_too_many, &arg_kind,
	  &arg_width, &pointer_for_scalar, &no_such_input, &zero_grid, &big_block, &big_smem, &interior_input,
	  &no_root, &outside_output, &none_input, &empty_scratch, &alternative_input, &twice)
