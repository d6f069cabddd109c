/* bias_gelu.c - GELU in the spellings of exporters, with the bias addition in front of it, as one kernel.
 *
 * Spelled with Div, Erf, Add, Mul, Mul, GELU is 5 launches that move 12 elements per output element, 6 and 14
 * with the bias (by tanh up to 9 and 24). The kernel reads x and writes y: 1 launch, 2 elements.
 *
 *   x * (0.5 * G(x))    0.5 * (x * G(x))    (0.5 * x) * G(x)      with G(x) = 1 + erf(x / sqrt(2))
 *                                                            or 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))
 *
 * The constants of half-precision models are rounded; the kernel takes them from the graph.
 */
#include "passmith/dsl.h"

#include "bias_gelu.cu.h"

/* S is the argument of GELU: the sum of X and BIAS, or, without bias, any value. */
enum { S, X, BIAS };

/* ---- the patterns ---- */

/* A constant, and what half-precision models round it to; a model keeps that when its type is changed later.
 */
#define SQRT_2    ALT(NUM(1.4142135623730951), NUM(1.4140625))
#define SQRT_HALF ALT(NUM(0.7071067811865476), NUM(0.70703125))
#define SQRT_2_PI ALT(NUM(0.7978845608028654), NUM(0.7978515625), NUM(0.796875))
#define CUBIC     ALT(NUM(0.044715), NUM(0.0447082519), NUM(0.0446777344))

#define ERF  OP(Erf, ALT(OP(Div, V(S), SQRT_2), OP(Mul, V(S), SQRT_HALF)))
#define CUBE ALT(OP(Pow, V(S), NUM(3)), OP(Mul, V(S), OP(Mul, V(S), V(S))))
#define TANH                                                                                                 \
	OP(Tanh,                                                                                             \
	   ALT(OP(Mul, SQRT_2_PI, OP(Add, V(S), OP(Mul, CUBIC, CUBE))),                                      \
	       OP(Mul, OP(Mul, V(S), SQRT_2_PI), OP(Add, NUM(1), OP(Mul, OP(Mul, V(S), CUBIC), V(S))))))
#define GATE(f) OP(Add, NUM(1), f)

#define ALONE     TYPED(V(S), FLOATS, -1)
#define WITH_BIAS AS(S, OP(Add, TYPED(V(X), FLOATS, -1), V(BIAS)))

/* p is x, f is erf or tanh of it. */
#define HALF_GATE(p, f) OP(Mul, p, OP(Mul, NUM(0.5), GATE(f)))
#define HALF_LAST(p, f) OP(Mul, NUM(0.5), OP(Mul, p, GATE(f)))
#define HALF_X(p, f)    OP(Mul, ALT(OP(Mul, p, NUM(0.5)), OP(Div, p, NUM(2))), GATE(f))

/* ---- where the bias of an element is ---- */

typedef struct Band {
	int64_t inner, n; /* bias of element i: i / inner % n */
} Band;

/* b as a band of axes of y: axes of size 1, then axes of y's size, then axes of size 1. */
static int find_band(PmVal b, PmVal y, Band *band)
{
	int32_t r = pm_rank(b), k;
	int inside = 0, over = 0;

	band->inner = band->n = 1;
	if (r < 0 || r > pm_rank(y))
		return 0;
	for (k = 1; k <= r; k++) {
		int64_t d = pm_dim(b, -k), size = pm_dim(y, -k);

		if (d == size && size != 1) {
			if (over)
				return 0;
			inside = 1;
			band->n *= d;
		} else if (d == 1) {
			over |= inside && size != 1;
			if (!inside)
				band->inner *= size;
		} else {
			return 0;
		}
	}
	return 1;
}

/* The operand of the sum that has its shape, and the band of the other one. */
static int find_operands(PmMatch *m, PmVal *x, PmVal *bias, Band *band)
{
	int k;

	for (k = 0; k < 2; k++) {
		*x = m->v[k ? BIAS : X];
		*bias = m->v[k ? X : BIAS];
		if (pm_same_shape(*x, m->root) && find_band(*bias, m->root, band))
			return 1;
	}
	return 0;
}

/* ---- constants ---- */

/* The matched operator of this name: the first, or none. */
static PmVal find_op(PmMatch *m, const char *name)
{
	uint32_t i;

	for (i = 0; i < m->node.n; i++)
		if (pm_str_same(pm_op(m->node.v[i]), name))
			return m->node.v[i];
	return (PmVal){ 0 };
}

/* The constant among the operands that is x, up to the rounding of a half-precision model. */
static float constant_near(PmMatch *m, double x)
{
	uint32_t i;
	double c;

	for (i = 0; i < m->in.n; i++)
		if (pm_scalar(m->in.v[i], &c) && c > 0.99 * x && c < 1.01 * x)
			return (float)c;
	return (float)x;
}

/* ---- the rules ---- */

static PmStatus check(PmMatch *m)
{
	PmVal x, bias;
	Band band;

	if (pm_numel(m->root) <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	if (m->out.n > 1)
		return pm_decline(m, "the sum of x and bias is used outside");
	if (!pm_same_shape(m->v[S], m->root))
		return pm_decline(m, "a constant of the spelling broadcasts x to a larger shape");
	if (m->n_slots > BIAS && !find_operands(m, &x, &bias, &band))
		return pm_decline(m, "neither operand of the sum is a bias along a run of axes of the other");
	return PM_OK;
}

static PmStatus replace(PmRewriter *rw, PmMatch *m, int by_tanh, float c0, float c1)
{
	int has_bias = m->n_slots > BIAS;
	PmVal x = m->v[S], bias = x;
	Band band = { 1, 1 };
	int64_t n = pm_numel(m->root), vec;
	PmVal in[2];

	if (has_bias)
		find_operands(m, &x, &bias, &band);
	in[0] = x;
	in[1] = bias;
	vec = 16 / pm_dtype_bytes(pm_dtype(m->root));

	PmArgs arg = PM_ARGS(IN(0), IN(has_bias ? 1 : 0), OUT(0), I64(n), I64(band.inner), I64(band.n),
			     F32(c0), F32(c1));
	PmDefines define = PM_DEFINES(DEF(HAS_BIAS, has_bias), DEF(BY_TANH, by_tanh),
				      DEF(LONG, n > INT32_MAX));

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "bias_gelu_vec", .source = bias_gelu_cu,
				      .grid = { pm_blocks((n - 1) / vec + 1, 256) }, .block = { 256 },
				      .in = { in, has_bias ? 2 : 1 }, .arg = arg, .define = define,
				      .like = m->root,
				      .alt = PM_ALTERNATIVE(.entry = "bias_gelu", .source = bias_gelu_cu,
							    .grid = { pm_blocks(n, 256) }, .block = { 256 },
							    .arg = arg, .define = define));
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal erf = find_op(m, "Erf");

	if (erf.id == 0)
		return replace(rw, m, 1, constant_near(m, 0.7978845608028654), constant_near(m, 0.044715));
	if (pm_is_op(pm_in(erf, 0), Div))
		return replace(rw, m, 0, 1.f / constant_near(m, 1.4142135623730951), 0.f);
	return replace(rw, m, 0, constant_near(m, 0.7071067811865476), 0.f);
}

#define SPELLING(name_, form_, says_)                                                                        \
	PM_RULE(erf_##name_, .doc = "GELU as " says_ ", by erf -> one kernel", .pattern = form_(ALONE, ERF), \
		.check = check, .rewrite = rewrite);                                                         \
	PM_RULE(tanh_##name_, .doc = "GELU as " says_ ", by tanh -> one kernel",                             \
		.pattern = form_(ALONE, TANH), .check = check, .rewrite = rewrite);                          \
	PM_RULE(bias_erf_##name_, .doc = "GELU of x + bias as " says_ ", by erf -> one kernel",              \
		.pattern = form_(WITH_BIAS, ERF), .check = check, .rewrite = rewrite);                       \
	PM_RULE(bias_tanh_##name_, .doc = "GELU of x + bias as " says_ ", by tanh -> one kernel",            \
		.pattern = form_(WITH_BIAS, TANH), .check = check, .rewrite = rewrite)

SPELLING(half_gate, HALF_GATE, "x * (0.5 * (1 + f(x)))");
SPELLING(half_last, HALF_LAST, "0.5 * (x * (1 + f(x)))");
SPELLING(half_x, HALF_X, "(0.5 * x) * (1 + f(x))");

/* The operator itself, where an exporter writes it, is worth a kernel only together with the bias. */

static PmStatus rewrite_op(PmRewriter *rw, PmMatch *m)
{
	if (pm_str_same(pm_attr_s(m->root, "approximate", "none"), "tanh"))
		return replace(rw, m, 1, 0.7978845608028654f, 0.044715f);
	return replace(rw, m, 0, 0.7071067811865476f, 0.f);
}

PM_RULE(bias_gelu_op, .doc = "Gelu(x + bias) -> one kernel", .pattern = ANYATTR(OP(Gelu, WITH_BIAS)),
	.check = check, .rewrite = rewrite_op);

PM_PLUGIN("bias_gelu", "1", &bias_gelu_op, &bias_erf_half_gate, &bias_erf_half_last, &bias_erf_half_x,
	  &bias_tanh_half_gate, &bias_tanh_half_last, &bias_tanh_half_x, &erf_half_gate, &erf_half_last,
	  &erf_half_x, &tanh_half_gate, &tanh_half_last, &tanh_half_x)
