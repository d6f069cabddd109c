/* SPDX-License-Identifier: Apache-2.0 */
/* split_heads.c - queries and keys of attention: bias, heads in front of the sequence, scale, as one kernel
 * each.
 *
 *   q = transpose(reshape(x + bias), 0213) * s               [B, S, H D] -> [B, H, S, D]
 *   k = transpose(reshape(x + bias), 0231) * s               [B, S, H D] -> [B, H, D, S], often by two
 * Transposes
 *
 * With E bytes per element: apart, Add 2 E, Mul 2 E, for k a transposed copy 2 E: 2 or 3 launches and 4 or 6
 * E; here 1 launch and 2 E. k is a plain transposition of [S, H D], which goes through shared memory.
 *
 * Mined: 8371 places in 277 of 811 models; in 2 of the 400 structures with most time at stake, the first
 * of rank 13. Measured on an H200: 1x197x12x64 queries float16 5.7 to 2.7 us (2.09x), PyTorch 8.0,
 * TorchInductor 2.7; 1x197x12x64 keys float16 6.2 to 3.1 us (1.97x), PyTorch 7.3, TorchInductor 2.7.
 */
#include "heads.cu.h"

#include "../../common/tiles.h"

enum { X, BIAS, SCALE, FOUR, MOVED };

/* x + bias with one element of bias per column; the Reshape splits the columns only. */
static const char *read_sum(PmMatch *m, PmVal *x, PmVal *bias)
{
	PmVal four = m->v[FOUR], sum = pm_in(four, 0);
	double s;
	int k;

	if (pm_numel(m->root) <= 0 || pm_numel(m->root) > INT32_MAX / 2)
		return "x is empty, its size is not known, or it has more elements than the kernel can index";
	if (!pm_scalar(m->v[SCALE], &s) || !pm_same_shape(m->v[MOVED], m->root))
		return "the scale is not one constant number";
	if (pm_rank(four) != 4 || pm_dim(four, 2) * pm_dim(four, 3) != pm_dim(sum, -1))
		return "the reshape does not split the columns into heads";
	for (k = 0; k < 2; k++) {
		*x = m->v[k ? BIAS : X];
		*bias = m->v[k ? X : BIAS];
		if (pm_same_type(*x, sum) && is_column_vector(*bias, sum))
			return m->out.n > 1 ? "the sum is used outside" : 0;
	}
	return "what is added is not one row";
}

static PmStatus check_queries(PmMatch *m)
{
	static const int64_t perm[4] = { 0, 2, 1, 3 };
	PmVal x, bias;
	const char *why = read_sum(m, &x, &bias);

	if (!why && !has_perm(m->v[MOVED], 4, perm))
		why = "the transpose does not move heads before the sequence";
	return why ? pm_decline(m, why) : PM_OK;
}

static PmStatus rewrite_queries(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->root), d = pm_dim(m->root, 3), each = load_size(d, m->root);
	PmVal x, bias;
	double s = 1;

	read_sum(m, &x, &bias);
	pm_scalar(m->v[SCALE], &s);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "heads", .source = heads_cu,
				      .grid = { pm_blocks(n / each, 128) }, .block = { 128 },
				      .in = PM_VALS(x, bias), .define = PM_DEFINES(DEF(N, each)),
				      .arg = PM_ARGS(I32(n), DIVISOR(d / each), DIVISOR(pm_dim(m->root, 2)),
						     DIVISOR(pm_dim(m->root, 1)), F32(s)),
				      .like = m->root);
}

static Tiles keys(PmMatch *m, PmVal x, PmVal bias)
{
	PmVal four = m->v[FOUR];
	Tiles t = { .x = x,
		    .bias = bias,
		    .bias_per = 2,
		    .batch = pm_dim(four, 0),
		    .r = pm_dim(four, 1),
		    .q = pm_dim(four, 2) * pm_dim(four, 3) };

	pm_scalar(m->v[SCALE], &t.scale);
	return t;
}

/* Whether the operators between the Reshape and the root come down to [B, S, H, D] -> [B, H, D, S]. */
static int moves_keys(PmMatch *m)
{
	static const int64_t at_once[4] = { 0, 2, 3, 1 }, first[4] = { 0, 2, 1, 3 }, second[3] = { 0, 2, 1 };
	PmVal four = m->v[FOUR], moved = m->v[MOVED], three;
	int32_t k;

	if (pm_same(pm_in(moved, 0), four))
		return has_perm(moved, 4, at_once);
	three = pm_in(pm_in(moved, 0), 0); /* by way of [B H, S, D] */
	if (!has_perm(pm_in(moved, 0), 3, second) || !has_perm(pm_in(three, 0), 4, first))
		return 0;
	for (k = 0; k < 4; k++)
		if (pm_dim(moved, k) != pm_dim(four, k == 0 ? 0 : k == 1 ? 2 : k == 2 ? 3 : 1))
			return 0;
	return pm_dim(three, 1) == pm_dim(four, 1) && pm_dim(three, 2) == pm_dim(four, 3);
}

static PmStatus check_keys(PmMatch *m)
{
	PmVal x, bias;
	const char *why = read_sum(m, &x, &bias);
	Tiles t;

	if (!why) {
		t = keys(m, x, bias);
		why = moves_keys(m) ? tiles_refuse(&t) : "the transposes do not move the sequence last";
	}
	return why ? pm_decline(m, why) : PM_OK;
}

static PmStatus rewrite_keys(PmRewriter *rw, PmMatch *m)
{
	PmVal x, bias;

	read_sum(m, &x, &bias);
	Tiles t = keys(m, x, bias);
	return tiles_replace(rw, m, &t);
}

#define SPLIT   AS(FOUR, ANYATTR(OP(Reshape, OP(Add, TYPED(V(X), FLOATS, -1), V(BIAS)), ANY)))
#define TURN(p) ANYATTR(OP(Transpose, p))
#define FOLD(p) ANYATTR(OP(Reshape, p, ANY))

PM_RULE(queries, .doc = "(x + bias), heads moved in front, * s -> one kernel",
	.pattern = OP(Mul, AS(MOVED, TURN(SPLIT)), V(SCALE)), .check = check_queries,
	.rewrite = rewrite_queries);
PM_RULE(keys_at_once, .doc = "(x + bias), heads in front and sequence last, * s -> one kernel",
	.pattern = OP(Mul, AS(MOVED, TURN(SPLIT)), V(SCALE)), .check = check_keys, .rewrite = rewrite_keys);
PM_RULE(keys_in_two, .doc = "(x + bias), heads in front, then sequence last, * s -> one kernel",
	.pattern = OP(Mul, AS(MOVED, FOLD(TURN(FOLD(TURN(SPLIT))))), V(SCALE)), .check = check_keys,
	.rewrite = rewrite_keys);

PM_PLUGIN("split_heads", "1", &keys_in_two, &queries, &keys_at_once)
