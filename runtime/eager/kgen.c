/* SPDX-License-Identifier: Apache-2.0 */
/* kgen.c - builds the source and the arguments of one eager launch side by side. */
#include "runtime/exec/plan_priv.h"

#include "kernels/common.cu.h"
#include "runtime/device/kernel_unit.h"
#include "runtime/ref/ref.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *pm__ctype(int dtype)
{
	const char *t = dtype == PM_BOOL ? NULL : pm_dtype_cuda(dtype);

	return t ? t : "unsigned char";
}

const char *pm__acc_type(int dtype)
{
	return pm_dtype_cuda(pm_dtype_sums(dtype));
}

int64_t pm__distinct(const PmType *t, const Loc *l)
{
	int64_t n = 1;

	for (int d = 0; d < t->rank; d++)
		if (l->stride[d] || t->dim[d] == 0)
			n *= t->dim[d];
	return n;
}

void pm__kg_init(KGen *k, PmPlan *p, PmNode n, int dtype)
{
	memset(k, 0, sizeof *k);
	k->p = p;
	k->node = n;
	k->dtype = dtype;
	pm_str_init(&k->head);
	pm_str_init(&k->params);
}

void pm__kg_release(KGen *k)
{
	pm_str_release(&k->head);
	pm_str_release(&k->params);
	PM_VEC_RELEASE(&k->args);
}

void pm__kg_define(KGen *k, const char *name, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pm_str_addf(&k->head, "#define %s %s\n", name, text);
}

static void param(KGen *k, const char *type, const char *name)
{
	pm_str_addf(&k->params, "%s%s %s", k->params.len ? ", " : "", type, name);
}

static void buf_arg(KGen *k, const Loc *l, int dtype, int readonly)
{
	PM_VEC_PUSH(&k->args, ((PmDevArg){ .kind = PM_DARG_BUF,
					   .buf = { (uint32_t)l->buf + 1 },
					   .readonly = readonly,
					   .offset = l->off * (int64_t)pm_dtype_size(dtype) }));
}

void pm__kg_in(KGen *k, const char *name, const Loc *l, int dtype, int64_t numel)
{
	char type[48];

	snprintf(type, sizeof type, "const %s *__restrict__", pm__ctype(dtype));
	param(k, type, name);
	/* An operand given twice is read once. */
	for (size_t i = 0; i < k->args.n; i++)
		if (k->args.v[i].kind == PM_DARG_BUF && k->args.v[i].buf.id == (uint32_t)l->buf + 1 &&
		    k->args.v[i].offset == l->off * (int64_t)pm_dtype_size(dtype))
			numel = 0;
	buf_arg(k, l, dtype, 1);
	k->bytes += numel * (int64_t)pm_dtype_size(dtype);
}

void pm__kg_operand(KGen *k, const char *name, PmValue v, const Loc *l)
{
	const PmType *t = pm__type(k->p, v);

	pm__kg_in(k, name, l, t->dtype, pm__distinct(t, l));
}

void pm__kg_out(KGen *k, const char *name, const Loc *l, int dtype, int64_t numel)
{
	char type[48];

	snprintf(type, sizeof type, "%s *__restrict__", pm__ctype(dtype));
	param(k, type, name);
	buf_arg(k, l, dtype, 0);
	k->bytes += numel * (int64_t)pm_dtype_size(dtype);
}

void pm__kg_scratch(KGen *k, const char *text, const Loc *l, int64_t bytes)
{
	pm_str_addf(&k->params, "%s%s", k->params.len ? ", " : "", text);
	buf_arg(k, l, PM_U8, 0);
	k->bytes += bytes;
}

void pm__kg_int(KGen *k, const char *name, int64_t v)
{
	param(k, "I", name);
	PM_VEC_PUSH(&k->args, ((PmDevArg){ .kind = PM_DARG_I64, .i = v }));
}

void pm__kg_f64(KGen *k, const char *name, double v)
{
	param(k, "double", name);
	PM_VEC_PUSH(&k->args, ((PmDevArg){ .kind = PM_DARG_F64, .f = v }));
}

void pm__kg_list(KGen *k, const char *name, const int64_t *v, int n)
{
	char one[64];

	pm_str_addf(&k->head, "#define V_%s ", name);
	for (int i = 0; i < n; i++) {
		snprintf(one, sizeof one, "%s_%d", name, i);
		pm_str_addf(&k->head, "%s%s", i ? ", " : "", one);
		pm__kg_int(k, one, v[i]);
	}
	pm_str_addc(&k->head, '\n');
}

void pm__kg_int32(KGen *k, const char *name, int32_t v)
{
	param(k, "int", name);
	PM_VEC_PUSH(&k->args, ((PmDevArg){ .kind = PM_DARG_I32, .i = v }));
}

/* Division of t (0 <= t < 2^31) by d > 0 is ((t * m >> 32) + t) >> s: Granlund and Montgomery's numbers. */
static void magic(int64_t d, int32_t *m, int32_t *s)
{
	uint64_t mul;

	*s = 0;
	while (*s < 31 && ((int64_t)1 << *s) < d)
		++*s;
	if (d < 1 || d > INT32_MAX) { /* only met where indices have 64 bits, which divide by d itself */
		*m = 0;
		return;
	}
	mul = (((uint64_t)1 << 32) * (((uint64_t)1 << *s) - (uint64_t)d)) / (uint64_t)d + 1;
	*m = (int32_t)(uint32_t)mul;
}

void pm__kg_divisor(KGen *k, const char *name, int64_t v)
{
	char one[64];
	int32_t m, s;

	magic(v, &m, &s);
	pm__kg_int(k, name, v);
	snprintf(one, sizeof one, "%s_m", name);
	pm__kg_int32(k, one, m);
	snprintf(one, sizeof one, "%s_h", name);
	pm__kg_int32(k, one, s);
	pm_str_addf(&k->head, "#define Q_%s(t) pm_quot(t, %s, %s_m, %s_h)\n", name, name, name, name);
}

/* Merges dimension d into d + 1 where every place walks both as one. */
static int merge(PmSpace *s)
{
	int w = 0;

	for (int d = 0; d < s->rank; d++) {
		int joins = w > 0;

		if (s->dim[d] == 1)
			continue;
		for (int i = 0; i < s->n && joins; i++)
			joins = s->stride[i][w - 1] == s->stride[i][d] * s->dim[d];
		w -= joins;
		s->dim[w] = joins ? s->dim[w] * s->dim[d] : s->dim[d];
		for (int i = 0; i < s->n; i++)
			s->stride[i][w] = s->stride[i][d];
		w++;
	}
	if (!w) {
		s->dim[0] = 1;
		for (int i = 0; i < s->n; i++)
			s->stride[i][0] = 0;
		w = 1;
	}
	return w;
}

void pm__space(PmSpace *s, const int64_t *dims, int rank, const int64_t *const *strides, int n)
{
	s->rank = rank;
	s->n = n;
	s->total = 1;
	for (int d = 0; d < rank; d++) {
		s->dim[d] = dims[d];
		s->total *= dims[d];
		for (int i = 0; i < n; i++)
			s->stride[i][d] = strides[i][d];
	}
	s->rank = merge(s);
}

int pm__space_width(const PmSpace *s, int i, int64_t off, int most)
{
	int v = most;

	if (s->stride[i][s->rank - 1] != 1)
		return 1;
	while (v > 1 && (s->dim[s->rank - 1] % v || off % v))
		v /= 2;
	for (int d = 0; d < s->rank - 1; d++)
		while (v > 1 && s->stride[i][d] % v)
			v /= 2;
	return v;
}

void pm__kg_put_space(KGen *k, const char *space, const PmSpace *s)
{
	PmStr divs = PM_STR_INIT;
	char name[64];

	snprintf(name, sizeof name, "N_%s", space);
	pm__kg_int(k, name, s->total);
	for (int d = 1; d < s->rank; d++) {
		snprintf(name, sizeof name, "%s_%d", space, d);
		pm__kg_divisor(k, name, s->dim[d]);
		pm_str_addf(&divs, "%s, %s_m, %s_h, ", name, name, name);
	}
	for (int i = 0; i < s->n; i++) {
		snprintf(name, sizeof name, "%s_s%d", space, i);
		pm__kg_list(k, name, s->stride[i], s->rank);
		pm_str_addf(&k->head, "#define OFF_%s_%d(t) pm_off%d(t, %sV_%s)\n", space, i, s->rank,
			    divs.s ? divs.s : "", name);
	}
	pm_str_release(&divs);
}

void pm__kg_space(KGen *k, const char *space, const int64_t *dims, int rank, const int64_t *const *strides,
		  int n)
{
	PmSpace s;

	pm__space(&s, dims, rank, strides, n);
	pm__kg_put_space(k, space, &s);
}

/* Index of an equal source, or of a new one. */
static int add_source(PmPlan *p, const char *label, const char *text, int dtype)
{
	for (size_t i = 0; i < p->sources.n; i++)
		if ((int)p->sources.v[i].type == dtype && !strcmp(p->sources.v[i].source, text))
			return (int)i;
	PM_VEC_PUSH(&p->sources, ((PmSource){ pm_arena_strdup(p->arena, label),
					      pm_arena_strdup(p->arena, text), (PmDType)dtype }));
	return (int)p->sources.n - 1;
}

/* 32-bit indices are several times faster on a GPU: used when no extent and no buffer comes near 2^31. */
static int needs_64_bit(const KGen *k, int64_t threads)
{
	int wide = threads > INT32_MAX / 2;

	for (size_t i = 0; i < k->args.n; i++) {
		const PmDevArg *a = &k->args.v[i];

		if (a->kind == PM_DARG_BUF)
			wide |= k->p->buffers.v[a->buf.id - 1].bytes > INT32_MAX / 2;
		else if (a->kind == PM_DARG_I64)
			wide |= a->i > INT32_MAX / 2 || a->i < -INT32_MAX / 2;
	}
	return wide;
}

/* The body with its words KERNEL written out: `emu` finds kernels that no macro hides without a preprocessor.
 */
static void add_body(const KGen *k, const char *body, int block, PmStr *src)
{
	const char *at;

	while ((at = strstr(body, "KERNEL"))) {
		pm_str_addn(src, body, (size_t)(at - body));
		pm_str_addf(src, "extern \"C\" __global__ void __launch_bounds__(%d) k(%s)", block,
			    k->params.s);
		body = at + strlen("KERNEL");
	}
	pm_str_add(src, body);
}

PmStatus pm__kg_launch_grid(KGen *k, const char *label, const char *body, PmGrid grid, int64_t flops,
			    PmErr *err)
{
	PmStr src = PM_STR_INIT, what = PM_STR_INIT;
	Step s = { .entry = "k",
		   .block = { (uint32_t)grid.block, 1, 1 },
		   .grid = { 1, (uint32_t)grid.y, 1 },
		   .bytes = k->bytes };
	PmStatus st = PM_OK;

	if (grid.x > INT32_MAX || grid.y > 65535) {
		pm_node_describe(k->p->g, k->node, &what);
		st = pm_err(err, PM_E_LIMIT,
			    "%s needs %lld x %lld blocks in one launch; at most %d x 65535 are "
			    "possible.",
			    what.s, (long long)grid.x, (long long)grid.y, INT32_MAX);
	} else if (grid.x > 0 && grid.y > 0) {
		int wide = needs_64_bit(k, grid.x * grid.block);

		for (size_t i = 0; i < k->args.n; i++)
			if (k->args.v[i].kind == PM_DARG_I64 && !wide)
				k->args.v[i].kind = PM_DARG_I32;
		pm_str_addf(&src, "typedef %s I;\n#define B %d\n", wide ? "long long" : "int", grid.block);
		pm_str_add(&src, common_cu);
		pm_str_addf(&src, "/* %s */\n#line 1 \"eager.cu\"\n", label);
		pm_str_addn(&src, k->head.s, k->head.len);
		add_body(k, body, grid.block, &src);
		s.label = pm_arena_strdup(k->p->arena, label);
		s.source = add_source(k->p, label, src.s, k->dtype);
		s.grid[0] = (uint32_t)grid.x;
		s.n_args = (int)k->args.n;
		s.args = pm_arena_alloc(k->p->arena, k->args.n * sizeof *s.args);
		memcpy(s.args, k->args.v, k->args.n * sizeof *s.args);
		s.flops = flops;
		s.flop_class = pm_dtype_peak(k->dtype);
		PM_VEC_PUSH(&k->p->steps, s);
	}
	pm_str_release(&src);
	pm_str_release(&what);
	pm__kg_release(k);
	return st;
}

PmStatus pm__kg_launch(KGen *k, const char *label, const char *body, int64_t threads, int64_t flops,
		       PmErr *err)
{
	PmGrid grid = { (threads + PM__BLOCK - 1) / PM__BLOCK, 1, PM__BLOCK };

	return pm__kg_launch_grid(k, label, body, grid, flops, err);
}

PmStatus pm__kg_launch_op(KGen *k, const char *body, int64_t threads, int64_t flops, PmErr *err)
{
	char label[96];

	snprintf(label, sizeof label, "eager %s %s", pm_node_op_name(k->p->g, k->node),
		 pm_dtype_name(k->dtype));
	return pm__kg_launch(k, label, body, threads, flops, err);
}
