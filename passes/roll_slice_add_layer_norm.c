/* roll_slice_add_layer_norm.c - the end of a shifted-window attention block as one kernel.
 *
 *   s = residual + reshape(cut(roll(x)));  y = LayerNormalization(s);  s is used later too
 *
 * Exporters write roll over two axes as Slice, Slice, Concat, twice; the cut that drops padding as up to two
 * Slices. With E bytes per element: apart, the two Concats move 4 E, Slice and Reshape are views or one copy
 * (2 E), Add 3 E, norm 2 E: 4 or 5 launches and 9 to 11 E. Here 1 launch reads 2 E and writes 2 E.
 */
#include "passmith/dsl.h"

#include "roll_slice_add_layer_norm.cu.h"

enum { X, ROLLED_H, RES, SCALE, BIAS, SUM };

enum {
	MAX_ROW = 1 << 30,
	MAX_CACHED = 48 * 1024 / 4, /* floats of shared memory that every device has */
	MAX_DOUBLE = 64             /* rows up to here are worked out in double when the elements are float */
};

/* Where the window lies: element (i, j) of the result is element (i + move) mod size of x. */
typedef struct Window {
	int64_t size[2], out[2], move[2];
} Window;

/* [start, end) of a Slice with step 1 over the one axis it has; 0 when it is another kind of Slice. */
static int slice_range(PmVal slice, int64_t *axis, int64_t *start, int64_t *end)
{
	int64_t step;
	int64_t size;
	int32_t rank = pm_rank(slice);

	if (pm_attr_ints(slice, "axes", axis, 1) != 1 || pm_attr_ints(slice, "starts", start, 1) != 1 ||
	    pm_attr_ints(slice, "ends", end, 1) != 1 || pm_attr_ints(slice, "steps", &step, 1) != 1 ||
	    step != 1)
		return 0;
	if (*axis < 0)
		*axis += rank;
	size = *axis < 0 || *axis >= rank ? -1 : pm_dim(pm_in(slice, 0), (int32_t)*axis);
	if (size < 0)
		return 0;
	*start = *start < 0 ? *start + size : *start;
	*end = *end < 0 ? *end + size : *end;
	*start = *start < 0 ? 0 : *start > size ? size : *start;
	*end = *end < *start ? *start : *end > size ? size : *end;
	return 1;
}

/* concat([k:], [:k]) over the axis: k, else -1. */
static int64_t roll_of(PmVal concat, int64_t axis)
{
	int64_t a0, a1, s0, s1, e0, e1, size = pm_dim(concat, (int32_t)axis);

	if (!slice_range(pm_in(concat, 0), &a0, &s0, &e0) || !slice_range(pm_in(concat, 1), &a1, &s1, &e1) ||
	    a0 != axis || a1 != axis)
		return -1;
	return e0 == size && s1 == 0 && e1 == s0 && s0 < size ? s0 : -1;
}

/* Rows of v when it repeats along the leading axes of sum; 0 when it does not line up with it. */
static int64_t row_period(PmVal v, PmVal sum)
{
	int32_t r = pm_rank(v), k;
	int64_t rows = 1;
	int repeats = 0;

	if (r < 1 || r > pm_rank(sum) || pm_dim(v, -1) != pm_dim(sum, -1))
		return 0;
	for (k = 2; k <= r; k++) {
		int64_t d = pm_dim(v, -k), s = pm_dim(sum, -k);

		if (d < 1 || (d != s && d != 1) || (repeats && d != 1))
			return 0;
		repeats |= d != s;
		rows *= d;
	}
	return rows;
}

/* From the Reshape down to x. Returns NULL, or why the window is none. */
static const char *find_window(PmMatch *m, Window *w)
{
	PmVal sum = m->v[SUM], x = m->v[X], flat, v;
	int64_t axis, start, end, k;

	flat = pm_in(sum, pm_same(pm_in(sum, 0), m->v[RES]) ? 1 : 0);
	v = pm_in(flat, 0);
	for (k = 0; k < 2; k++) {
		w->size[k] = pm_dim(x, (int32_t)k + 1);
		w->out[k] = pm_dim(v, (int32_t)k + 1);
		w->move[k] = 0;
	}
	if (pm_dim(flat, -1) != pm_dim(x, 3) || pm_dim(v, 3) != pm_dim(x, 3) || pm_dim(v, 0) != pm_dim(x, 0))
		return "the reshape changes the rows, or a slice cuts batch or channels";
	while (pm_is_op(v, Slice)) {
		if (!slice_range(v, &axis, &start, &end) || axis < 1 || axis > 2)
			return "a slice after the roll is not a plain range of one of the rolled axes";
		w->move[axis - 1] += start;
		v = pm_in(v, 0);
	}
	for (k = 0; k < 2; k++) {
		int64_t roll = roll_of(k ? v : m->v[ROLLED_H], k + 1);

		if (roll < 0)
			return "a concatenation is not a roll: it does not swap the two parts of its axis";
		w->move[k] = (w->move[k] + roll) % w->size[k];
	}
	return 0;
}

static PmStatus check(PmMatch *m)
{
	PmVal x = m->v[X], sum = m->v[SUM];
	int64_t c = pm_dim(x, 3), n = pm_numel(sum);
	const char *why;
	uint32_t i;
	Window w;

	if (n <= 0 || c < 1 || pm_numel(x) <= 0)
		return pm_decline(m, "x or the sum is empty or its size is not known");
	if (c > MAX_ROW || n / c > INT32_MAX || pm_dim(x, 1) > MAX_ROW || pm_dim(x, 2) > MAX_ROW)
		return pm_decline(m, "an axis is longer, or rows are more, than the kernel can index");
	why = find_window(m, &w);
	if (why)
		return pm_decline(m, why);
	if (pm_dim(sum, -1) != c || n != pm_dim(x, 0) * w.out[0] * w.out[1] * c ||
	    !row_period(m->v[RES], sum))
		return pm_decline(m, "the residual does not line up with the rows of the window");
	if (!pm_same_dtype(m->v[SCALE], sum) || !pm_same_dtype(m->v[BIAS], sum))
		return pm_decline(m, "scale or bias has another element type than the sum");
	if (pm_numel(m->v[SCALE]) != c || pm_numel(m->v[BIAS]) != c)
		return pm_decline(m, "scale or bias does not have one element per column");
	if (pm_attr_i(m->root, "stash_type", 1) != 1)
		return pm_decline(m, "mean and variance are asked for in another precision than float");
	for (i = 0; i < m->out.n; i++)
		if (!pm_same(m->out.v[i], m->root) && !pm_same(m->out.v[i], sum))
			return pm_decline(m, "a value other than the sum is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal x = m->v[X], sum = m->v[SUM];
	int64_t c = pm_dim(x, 3), rows = pm_numel(sum) / c;
	int keep = m->out.n > 1, cache = c <= MAX_CACHED;
	int dbl = c <= MAX_DOUBLE && pm_dtype(sum) == PM_F32;
	uint32_t threads = c > 2048 ? 256 : c > 512 ? 128 : c > 64 ? 64 : 32;
	Window w;

	if (find_window(m, &w) || (keep && pm_replace_slot(rw, m, SUM)))
		return PM_DECLINED;
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "roll_norm_block", .source = roll_slice_add_layer_norm_cu,
		.grid = { (uint32_t)rows }, .block = { threads },
		.smem = cache ? (uint32_t)c * (dbl ? 8 : 4) : 0,
		.in = PM_VALS(x, m->v[RES], m->v[SCALE], m->v[BIAS]),
		.arg = PM_ARGS(IN(0), IN(1), IN(2), IN(3), OUT(0), OUT(keep ? 1 : 0),
			       I64(row_period(m->v[RES], sum)), I32(w.size[0]), I32(w.size[1]), I32(c),
			       I32(w.out[0]), I32(w.out[1]), I32(w.move[0]), I32(w.move[1]),
			       F32(pm_attr_f(m->root, "epsilon", 1e-5))),
		.define = PM_DEFINES(DEF(KEEP, keep), DEF(CACHE, cache), DEF(DOUBLE, dbl)), .like = m->root);
}

/* ranges are check()'s business */
#define PART(p)      ANYATTR(OP(Slice, p))
#define ROLL_H       AS(ROLLED_H, WITH(OP(Concat, PART(TYPED(V(X), FLOATS, 4)), PART(V(X))), INT(axis, 1)))
#define ROLL_W       WITH(OP(Concat, PART(ROLL_H), PART(V(ROLLED_H))), INT(axis, 2))
#define CUT(p)       ANYATTR(OPT(Slice, ANYATTR(OPT(Slice, p))))
#define LAST_AXIS(p) WITH(ANYATTR(p), INT(axis, -1))

PM_RULE(roll_slice_add_layer_norm,
	.doc = "LayerNormalization(residual + cut of a two-axis roll), and the sum -> one kernel",
	.pattern = LAST_AXIS(OP(LayerNormalization,
				AS(SUM, OP(Add, ANYATTR(OP(Reshape, CUT(ROLL_W), ANY)), V(RES))), V(SCALE),
				V(BIAS))),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("roll_slice_add_layer_norm", "1", &roll_slice_add_layer_norm)
