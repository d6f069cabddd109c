/* SPDX-License-Identifier: Apache-2.0 */
/* dsl.h - short names for authors of passes. For plugins only: the names are short and many.
 *
 * A pass needs nothing from the C library. The functions below call the host through a pointer that
 * PM_PLUGIN() sets; handles given to them that are not valid read as "none".
 */
#ifndef PASSMITH_DSL_H
#define PASSMITH_DSL_H

#include "passmith/ops.h" /* PM_OP_<name> for each operator: a misspelt one does not compile */
#include "passmith/pass.h"
#include "passmith/target.h"

/* ---- pattern words ---- */

#define PM_PAT_(...) (&(const PmPat){ .struct_size = sizeof(PmPat), __VA_ARGS__ })
#define PM_ONE_(p)                                                                                           \
	.in = (const PmPat *const[])                                                                         \
	{                                                                                                    \
		p, NULL                                                                                      \
	}
#define PM_LIST_(...)                                                                                        \
	.in = (const PmPat *const[])                                                                         \
	{                                                                                                    \
		__VA_ARGS__, NULL                                                                            \
	}

/* First result of the operator, with exactly these operands: OP(Mul, V(X), OP(Sigmoid, V(X))). */
#define OP(name_, ...)                                                                                       \
	PM_PAT_(.kind = PM_PAT_OP, .op = #name_, .opcheck = PM_OP_##name_, PM_LIST_(__VA_ARGS__))
/* Any value, captured; the same slot again asks for the same value. */
#define V(slot_) PM_PAT_(.kind = PM_PAT_VAR, .slot = (slot_))
/* Any value, not captured. An operand that is left out is none. */
#define ANY PM_PAT_(.kind = PM_PAT_ANY)
/* A constant of one element, equal to x to the precision of its element type. */
#define NUM(x_) PM_PAT_(.kind = PM_PAT_NUM, .num = (x_))
/* p itself, or the operator applied to p (further operands of it are free). */
#define OPT(name_, p) PM_PAT_(.kind = PM_PAT_OPT, .op = #name_, .opcheck = PM_OP_##name_, PM_ONE_(p))
/* The first of these patterns that leads to a match. */
#define ALT(...) PM_PAT_(.kind = PM_PAT_ALT, PM_LIST_(__VA_ARGS__))
/* All remaining operands, also left-out ones or none, as last operand of OP. */
#define REST PM_PAT_(.kind = PM_PAT_REST)
/* Names the value that p stands for; V(slot) elsewhere asks for it again. It may be replaced too. */
#define AS(slot_, p) PM_PAT_(.kind = PM_PAT_AS, .slot = (slot_), PM_ONE_(p))
/* Attributes: WITH(OP(ReduceSum, p), INTS(axes, -1), INT(keepdims, 0)). Those not mentioned must hold their
 * defaults, and those without default must be mentioned (but `to` of Cast: say it with TYPED). */
#define WITH(p, ...)                                                                                         \
	PM_PAT_(.kind = PM_PAT_WITH, PM_ONE_(p), .attr = (const PmPatAttr *const[]){ __VA_ARGS__, NULL })
#define PM_PATTR_(...) (&(const PmPatAttr){ .struct_size = sizeof(PmPatAttr), __VA_ARGS__ })
/* The attribute is this integer. In `axis` a negative number counts from the end. */
#define INT(name_, x_)                                                                                       \
	PM_PATTR_(.kind = PM_PATTR_INT, .name = #name_, .ints = (const int64_t[]){ x_ }, .n_ints = 1)
/* The attribute is this list of integers. In `axes` negative numbers count from the end. */
#define INTS(name_, ...)                                                                                     \
	PM_PATTR_(.kind = PM_PATTR_INTS, .name = #name_, .ints = (const int64_t[]){ __VA_ARGS__ },           \
		  .n_ints = sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))
/* The attribute is an empty list. */
#define NO_INTS(name_) PM_PATTR_(.kind = PM_PATTR_INTS, .name = #name_)
/* The attribute is this number. */
#define FLOAT(name_, x_) PM_PATTR_(.kind = PM_PATTR_FLOAT, .name = #name_, .f = (x_))
/* The attribute is this text. */
#define STR(name_, s_) PM_PATTR_(.kind = PM_PATTR_STR, .name = #name_, .s = (s_))
/* Element type one of a set (FLOATS, INTEGERS, TYPE(F16) | TYPE(BF16), 0: any, ...) and rank (-1: any). */
#define TYPED(p, types_, rank_) PM_PAT_(.kind = PM_PAT_TYPED, .dtypes = (types_), .rank = (rank_), PM_ONE_(p))
/* The value may be used outside the match; the node that makes it then stays beside the kernel. */
#define KEEP(p) PM_PAT_(.kind = PM_PAT_KEEP, PM_ONE_(p))
/* The operator of p does not try its operands swapped. */
#define ORDERED(p) PM_PAT_(.kind = PM_PAT_ORDERED, PM_ONE_(p))
/* Attributes of the operator of p that are not mentioned may have any value. */
#define ANYATTR(p) PM_PAT_(.kind = PM_PAT_ANYATTR, PM_ONE_(p))
/* Result number k of the operator: RESULT(1, OP(Split, V(X))). */
#define RESULT(k_, p) PM_PAT_(.kind = PM_PAT_RESULT, .slot = (k_), PM_ONE_(p))

/* A set of one element type; sets are joined with |. */
#define TYPE(t_) (1u << PM_##t_)
/* The types that kernels compute in float; double is not among them. */
#define FLOATS (TYPE(F32) | TYPE(F16) | TYPE(BF16))
/* All integer types. */
#define INTEGERS (TYPE(I64) | TYPE(I32) | TYPE(I8) | TYPE(U8) | TYPE(I16) | TYPE(U16) | TYPE(U32) | TYPE(U64))
/* All types. */
#define ALL_TYPES (FLOATS | INTEGERS | TYPE(F64) | TYPE(BOOL))

/* ---- rules ---- */

/* PM_RULE(silu, .doc = "...", .pattern = ..., .check = ..., .rewrite = ...); defines the rule `silu`. */
#define PM_RULE(name_, ...)                                                                                  \
	static const PmRule name_ = { .struct_size = sizeof(PmRule), .name = #name_, __VA_ARGS__ }
/* The same with `.region = ...` in place of a pattern. */
#define PM_REGION_RULE(name_, ...) PM_RULE(name_, __VA_ARGS__)

/* PM_PLUGIN("name", "version", &rule, ...): once, at the end of the file. */
#define PM_PLUGIN(name_, version_, ...)                                                                      \
	PM_HOST_HERE_                                                                                        \
	static const PmRule *const pm_rules_[] = { __VA_ARGS__ };                                            \
	static const PmPlugin pm_plugin_ = { .struct_size = sizeof(PmPlugin),                                \
					     .abi_major = PM_ABI_MAJOR,                                      \
					     .abi_minor = PM_ABI_MINOR,                                      \
					     .n_rules = sizeof pm_rules_ / sizeof pm_rules_[0],              \
					     .name = (name_),                                                \
					     .version = (version_),                                          \
					     .rules = pm_rules_ };                                           \
	const PmPlugin *passmith_plugin_v1(const PmHost *host)                                               \
	{                                                                                                    \
		pm_host_ = host;                                                                             \
		return &pm_plugin_;                                                                          \
	}

/* A pass of several files: each defines PM_SEVERAL_FILES before it includes this header, one has PM_PLUGIN.
 */
#ifdef PM_SEVERAL_FILES
extern PM_HIDDEN const PmHost *pm_host_;
#define PM_HOST_HERE_ const PmHost *pm_host_;
#else
static const PmHost *pm_host_ PM_UNUSED;
#define PM_HOST_HERE_
#endif

/* ---- kernels ---- */

/* CUDA source as a string. One long line: for short kernels, without # directives and of at most 4,095
 * characters. Longer ones go into NAME.cu beside NAME.c: #include "NAME.cu.h" gives the string NAME_cu. */
#define PM_CUDA(...) #__VA_ARGS__

#define PM_SEQ_(seq_, type_, ...)                                                                            \
	((seq_){ .v = (const type_[]){ __VA_ARGS__ },                                                        \
		 .n = (uint32_t)(sizeof((const type_[]){ __VA_ARGS__ }) / sizeof(type_)) })
/* A list of values: .in = PM_VALS(m->v[X], m->v[W]). */
#define PM_VALS(...) PM_SEQ_(PmVals, PmVal, __VA_ARGS__)
/* A list of arguments: .arg = PM_ARGS(I64(n), F32(eps)). */
#define PM_ARGS(...) PM_SEQ_(PmArgs, PmArg, __VA_ARGS__)
/* Bytes of each scratch buffer. */
#define PM_SCRATCH(...) PM_SEQ_(PmSizes, int64_t, __VA_ARGS__)
/* PM_DEFINES(DEF(TILE, 64), DEF(VEC, 4)): integer macros for the source. */
#define PM_DEFINES(...) PM_SEQ_(PmDefines, PmDefine, __VA_ARGS__)
/* One of PM_DEFINES: #define name x in front of the source. */
#define DEF(name_, x_)                                                                                       \
	{                                                                                                    \
		.name = #name_, .value = (x_)                                                                \
	}

/* A 64-bit integer as an argument. Without IN, OUT and SCR in the list, all pointers come first: inputs,
 * outputs, scratch. */
#define I64(x_)                                                                                              \
	{                                                                                                    \
		.kind = PM_ARG_I64, .i = (x_)                                                                \
	}
/* A 32-bit integer: the parameter is an int. */
#define I32(x_)                                                                                              \
	{                                                                                                    \
		.kind = PM_ARG_I32, .i = (x_)                                                                \
	}
/* A float. */
#define F32(x_)                                                                                              \
	{                                                                                                    \
		.kind = PM_ARG_F32, .f = (x_)                                                                \
	}
/* A double. */
#define F64(x_)                                                                                              \
	{                                                                                                    \
		.kind = PM_ARG_F64, .f = (x_)                                                                \
	}
/* Pointer to `.in` number k. */
#define IN(k_)                                                                                               \
	{                                                                                                    \
		.kind = PM_ARG_IN, .index = (k_)                                                             \
	}
/* Pointer to output number k. */
#define OUT(k_)                                                                                              \
	{                                                                                                    \
		.kind = PM_ARG_OUT, .index = (k_)                                                            \
	}
/* Pointer to `.scratch` number k. */
#define SCR(k_)                                                                                              \
	{                                                                                                    \
		.kind = PM_ARG_SCRATCH, .index = (k_)                                                        \
	}

/* Three arguments, `int d, int multiplier, int shift`: what pm_divisor of the prelude needs to divide by d, 1
 * to 2^31 - 1. The shift s is the largest with 2^s < d, the multiplier m is 2^(32 + s) / d rounded up: n m /
 * 2^(32 + s) is too large by less than n / 2^(31) d, which reaches no next integer for n below 2^31. */
#define DIVISOR(d_) I32(d_), I32(pm_divisor_multiplier(d_)), I32(pm_divisor_shift(d_))

/* The third argument of DIVISOR(d). */
static inline int32_t pm_divisor_shift(int64_t d)
{
	int32_t s = 0;

	while (d > 1 && (d - 1) >> (s + 1))
		s++;
	return s;
}

/* The second argument of DIVISOR(d). */
static inline int64_t pm_divisor_multiplier(int64_t d)
{
	return d > 1 ? (int64_t)(int32_t)(uint32_t)((((uint64_t)1 << (32 + pm_divisor_shift(d))) - 1) /
							    (uint64_t)d +
						    1)
		     : 0;
}

/* .launch = PM_LAUNCHES(LAUNCH(.entry = "a", .grid = {...}, .block = {...}, .arg = ...), LAUNCH(...)) */
#define LAUNCH(...) (&(const PmLaunch){ .struct_size = sizeof(PmLaunch), __VA_ARGS__ })
/* Several launches, in order. */
#define PM_LAUNCHES(...) ((const PmLaunch *const[]){ __VA_ARGS__, NULL })
/* .alt = PM_ALTERNATIVE(.entry = ..., .source = ..., .grid = ..., .alt = PM_ALTERNATIVE(...)) */
#define PM_ALTERNATIVE(...) (&(const PmKernelSpec){ .struct_size = sizeof(PmKernelSpec), __VA_ARGS__ })

/* Describes what replaces the match (fields of PmKernelSpec); returns what rewrite returns. */
#define PM_REPLACE_WITH_KERNEL(rw_, m_, ...)                                                                 \
	((void)(m_), pm_host_->replace((rw_), &(const PmKernelSpec){ .struct_size = sizeof(PmKernelSpec),    \
								     __VA_ARGS__ }))
/* The value in this slot is replaced too: an output of the kernel after the root. */
#define pm_replace_slot(rw_, m_, slot_) ((void)(m_), pm_host_->replace_slot((rw_), (slot_)))

/* Remembers why the rule does not apply here; the reason is counted and shown by `passmith explain`. */
#define pm_decline(m_, why_) ((void)(m_), pm_host_->decline(why_))

/* ---- values ---- */

/* Element type (PmDType), or -1. */
static inline int32_t pm_dtype(PmVal v)
{
	return pm_host_->dtype(v);
}

/* Number of dimensions; -1 when it is not known. */
static inline int32_t pm_rank(PmVal v)
{
	return pm_host_->rank(v);
}

/* Size along axis k (k < 0 counts from the end); -1 when it is not known. */
static inline int64_t pm_dim(PmVal v, int32_t k)
{
	return pm_host_->dim(v, k);
}

/* Number of elements; -1 when a dimension is not known. */
static inline int64_t pm_numel(PmVal v)
{
	int32_t r = pm_host_->rank(v), k;
	int64_t n = 1;

	if (r < 0)
		return -1;
	for (k = 0; k < r; k++) {
		int64_t d = pm_host_->dim(v, k);
		if (d < 0 || (d > 0 && n > INT64_MAX / d))
			return -1;
		n *= d;
	}
	return n;
}

/* Product of the sizes of axes from `first` on, up to but not including `end`; -1 when not known. */
static inline int64_t pm_span(PmVal v, int32_t first, int32_t end)
{
	int64_t n = 1;
	int32_t k;

	for (k = first; k < end; k++) {
		int64_t d = pm_host_->dim(v, k);
		if (d < 0 || (d > 0 && n > INT64_MAX / d))
			return -1;
		n *= d;
	}
	return n;
}

/* 1 when element type and all dimensions are known to be equal. */
static inline int pm_same_type(PmVal a, PmVal b)
{
	return pm_host_->same_type(a, b);
}

/* 1 when the element types are equal. */
static inline int pm_same_dtype(PmVal a, PmVal b)
{
	return pm_host_->dtype(a) >= 0 && pm_host_->dtype(a) == pm_host_->dtype(b);
}

/* 1 when all dimensions are known to be equal, symbols included. */
static inline int pm_same_shape(PmVal a, PmVal b)
{
	int32_t r = pm_host_->rank(a), k;

	if (r < 0 || r != pm_host_->rank(b))
		return 0;
	for (k = 0; k < r; k++)
		if (!pm_host_->same_dim(a, k, b, k))
			return 0;
	return 1;
}

/* 1 when axis i of a and axis j of b are known to be equal, symbols included. */
static inline int pm_same_dim(PmVal a, int32_t i, PmVal b, int32_t j)
{
	return pm_host_->same_dim(a, i, b, j);
}

/* 1 when both are the same value of the graph. */
static inline int pm_same(PmVal a, PmVal b)
{
	return a.id == b.id;
}

/* 1 when it is a constant. */
static inline int pm_is_const(PmVal v)
{
	return pm_host_->is_const(v);
}

/* 1 when it is an output of the graph. */
static inline int pm_is_output(PmVal v)
{
	return pm_host_->is_output(v);
}

/* Bytes of one element of a type; 0 for an unknown one. */
static inline uint32_t pm_dtype_bytes(int32_t dtype)
{
	switch (dtype) {
#define XX(name, number, text, bytes, ...)                                                                   \
	case number:                                                                                         \
		return bytes;
#include "passmith/dtypes.def"
#undef XX
	default:
		return 0;
	}
}

/* A constant of one element: 1 and its value, or 0. */
static inline int pm_scalar(PmVal v, double *out)
{
	return pm_host_->scalar(v, out);
}

/* The elements of a constant (at most max): their number, or -1. */
static inline int32_t pm_ints(PmVal v, int64_t *out, uint32_t max)
{
	return pm_host_->ints(v, out, max);
}

/* The same for floating point constants. */
static inline int32_t pm_floats(PmVal v, double *out, uint32_t max)
{
	return pm_host_->floats(v, out, max);
}

/* ---- the GPU ---- */

/* What is known of the GPU that the rewrite is for; never NULL. */
static inline const PmTarget *pm_target(void)
{
	return pm_host_->target();
}

/* Targets under which the caller asks what the pass expects: pm_target() and more, NULL behind the last. */
static inline const PmTarget *pm_trial(uint32_t i)
{
	return pm_host_->trial(i);
}

/* Says what is expected under trial number i: of the kernel with the result v, or (fused 0) of its node. */
static inline PmStatus pm_expect(PmVal v, int32_t fused, uint32_t i, double microseconds)
{
	return pm_host_->expect(v, fused, i, microseconds);
}

/* ---- nodes, by any of their results ---- */

/* Name of the operator; "" when v is no result of a node. */
static inline const char *pm_op(PmVal v)
{
	return pm_host_->op(v);
}

/* 1 when v is a result of this operator: pm_is_op(v, MatMul). */
#define pm_is_op(v_, name_) ((void)PM_OP_##name_, pm_str_same(pm_host_->op(v_), #name_))

/* Scalar expression of the operator over a, b, c, p0, ... (see kernel.cuh), or NULL. */
static inline const char *pm_expr(PmVal v)
{
	return pm_host_->expr(v);
}

/* What p<k> stands for in that expression: 1 and its value, or 0 when there is none. */
static inline int pm_param(PmVal v, uint32_t k, double *out)
{
	return pm_host_->param(v, k, out);
}

/* Place in the order of execution; -1 when v is no result of a node. */
static inline int64_t pm_order(PmVal v)
{
	return pm_host_->order(v);
}

/* Number of operands. */
static inline uint32_t pm_n_in(PmVal v)
{
	return pm_host_->n_in(v);
}

/* Operand k; none when it is omitted. */
static inline PmVal pm_in(PmVal v, uint32_t k)
{
	return pm_host_->in(v, k);
}

/* Number of results. */
static inline uint32_t pm_n_out(PmVal v)
{
	return pm_host_->n_out(v);
}

/* Result k. */
static inline PmVal pm_out(PmVal v, uint32_t k)
{
	return pm_host_->out(v, k);
}

/* How often operands of nodes use v. */
static inline uint32_t pm_n_uses(PmVal v)
{
	return pm_host_->n_uses(v);
}

/* First result of the node that has use i. */
static inline PmVal pm_user(PmVal v, uint32_t i)
{
	return pm_host_->user(v, i);
}

/* Integer attribute, or dflt where the node has none of that name. */
static inline int64_t pm_attr_i(PmVal v, const char *name, int64_t dflt)
{
	return pm_host_->attr_i(v, name, dflt);
}

/* Floating point attribute, likewise. */
static inline double pm_attr_f(PmVal v, const char *name, double dflt)
{
	return pm_host_->attr_f(v, name, dflt);
}

/* Text attribute, likewise. */
static inline const char *pm_attr_s(PmVal v, const char *name, const char *dflt)
{
	return pm_host_->attr_s(v, name, dflt);
}

/* Number of ints of the attribute, at most max, or -1. */
static inline int32_t pm_attr_ints(PmVal v, const char *name, int64_t *out, uint32_t max)
{
	return pm_host_->attr_ints(v, name, out, max);
}

/* ---- regions ---- */

/* Adds the node of v to the region; PM_OK also when it is in already. */
static inline PmStatus pm_region_add(PmRegion *r, PmVal v)
{
	return pm_host_->region_add(r, v);
}

/* 1 when the node of v is in the region. */
static inline int pm_region_has(PmRegion *r, PmVal v)
{
	return pm_host_->region_has(r, v);
}

/* Nodes of the region. */
static inline uint32_t pm_region_size(PmRegion *r)
{
	return pm_host_->region_size(r);
}

/* ---- small things ---- */

/* Blocks of b threads that cover n elements; 0, which the host refuses, when n < 1 or it is too many. */
static inline uint32_t pm_blocks(int64_t n, int64_t b)
{
	if (n < 1 || b < 1 || (n - 1) / b >= INT32_MAX)
		return 0;
	return (uint32_t)((n - 1) / b + 1);
}

/* Zeroed memory that lives until the callback returns; NULL over the host's limit. */
static inline void *pm_alloc(uint32_t size)
{
	return pm_host_->alloc(size);
}

/* Says what a region or rewrite callback does and why, to whoever asks (passmith explain). NULL: whether
 * anybody does. 1 when somebody does. */
static inline int pm_report(const char *text)
{
	return (int)pm_host_->report(text);
}

/* Text built piece by piece, for kernels whose source depends on the graph. `s` is always terminated; what
 * does not fit sets `full`, and a source that is full must not be used: decline. */
typedef struct PmText {
	char *s;
	uint32_t n, cap;
	int full;
} PmText;

/* A text of at most cap bytes, the final 0 included; full at once where there is no memory for it. */
static inline PmText pm_text(uint32_t cap)
{
	PmText t = { pm_host_->alloc(cap), 0, cap, 0 };

	if (!t.s || !cap) {
		t.cap = 0;
		t.full = 1;
	}
	return t;
}

/* Appends s. */
static inline void pm_text_add(PmText *t, const char *s)
{
	for (; *s; s++) {
		if (t->n + 1 >= t->cap) {
			t->full = 1;
			return;
		}
		t->s[t->n++] = *s;
	}
}

/* Appends an integer in decimal. */
static inline void pm_text_int(PmText *t, int64_t x)
{
	char b[24];
	int k = 23;
	uint64_t u = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;

	b[k] = 0;
	do {
		b[--k] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	if (x < 0)
		b[--k] = '-';
	pm_text_add(t, b + k);
}

/* A double, exactly, as a hexadecimal constant in parentheses. */
static inline void pm_text_float(PmText *t, double x)
{
	union {
		double d;
		uint64_t u;
	} bits = { x };
	int e = (int)(bits.u >> 52 & 2047), k;
	uint64_t frac = bits.u & ((1ull << 52) - 1);
	char b[14];

	pm_text_add(t, bits.u >> 63 ? "(-" : "(");
	if (e == 2047) {
		pm_text_add(t, frac ? "(0.0 / 0.0))" : "(1.0 / 0.0))");
		return;
	}
	for (k = 0; k < 13; k++)
		b[k] = "0123456789abcdef"[frac >> (48 - 4 * k) & 15];
	b[13] = 0;
	pm_text_add(t, e ? "0x1." : "0x0.");
	pm_text_add(t, b);
	pm_text_add(t, "p");
	pm_text_int(t, e ? e - 1023 : -1022);
	pm_text_add(t, ")");
}

#endif
