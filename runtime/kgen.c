/* kgen.c - builds the source and the arguments of one eager launch side by side. */
#include "runtime/plan_priv.h"

#include "kernels/common.cu.h"
#include "runtime/ref.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *pm__ctype(int dtype)
{
	switch (dtype) {
	case PM_F64:
		return "double";
	case PM_F32:
		return "float";
	case PM_F16:
		return "__half";
	case PM_BF16:
		return "__nv_bfloat16";
	case PM_I64:
		return "long long";
	case PM_I32:
		return "int";
	case PM_I8:
		return "signed char";
	default:
		return "unsigned char";
	}
}

const char *pm__acc_type(int dtype)
{
	if (dtype == PM_F64)
		return "double";
	return pm_dtype_is_float(dtype) ? "float" : "long long";
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

	snprintf(type, sizeof type, "const %s *", pm__ctype(dtype));
	param(k, type, name);
	/* An operand given twice is read once. */
	for (size_t i = 0; i < k->args.n; i++)
		if (k->args.v[i].kind == PM_DARG_BUF && k->args.v[i].buf.id == (uint32_t)l->buf + 1 &&
		    k->args.v[i].offset == l->off * (int64_t)pm_dtype_size(dtype))
			numel = 0;
	buf_arg(k, l, dtype, 1);
	k->bytes += numel * (int64_t)pm_dtype_size(dtype);
}

void pm__kg_out(KGen *k, const char *name, const Loc *l, int dtype, int64_t numel)
{
	char type[48];

	snprintf(type, sizeof type, "%s *", pm__ctype(dtype));
	param(k, type, name);
	buf_arg(k, l, dtype, 0);
	k->bytes += numel * (int64_t)pm_dtype_size(dtype);
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

/* Merges dimension d into d + 1 where every place walks both as one. */
static int merge(int64_t *dims, int64_t strides[][2 * PM_MAX_RANK], int rank, int n)
{
	int w = 0;

	for (int d = 0; d < rank; d++) {
		int joins = w > 0;

		if (dims[d] == 1)
			continue;
		for (int i = 0; i < n && joins; i++)
			joins = strides[i][w - 1] == strides[i][d] * dims[d];
		if (joins) {
			dims[w - 1] *= dims[d];
			for (int i = 0; i < n; i++)
				strides[i][w - 1] = strides[i][d];
			continue;
		}
		dims[w] = dims[d];
		for (int i = 0; i < n; i++)
			strides[i][w] = strides[i][d];
		w++;
	}
	if (!w) {
		dims[0] = 1;
		for (int i = 0; i < n; i++)
			strides[i][0] = 0;
		w = 1;
	}
	return w;
}

void pm__kg_space(KGen *k, const char *space, const int64_t *dims, int rank, const int64_t *const *strides,
		  int n)
{
	int64_t dim[2 * PM_MAX_RANK], st[PM_MAX_OPERANDS][2 * PM_MAX_RANK], total = 1;
	char name[64];

	for (int d = 0; d < rank; d++) {
		dim[d] = dims[d];
		total *= dims[d];
		for (int i = 0; i < n; i++)
			st[i][d] = strides[i][d];
	}
	rank = merge(dim, st, rank, n);
	snprintf(name, sizeof name, "N_%s", space);
	pm__kg_int(k, name, total);
	pm__kg_list(k, space, dim, rank);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "%s_s%d", space, i);
		pm__kg_list(k, name, st[i], rank);
		pm_str_addf(&k->head, "#define OFF_%s_%d(t) pm_off%d(t, V_%s, V_%s)\n", space, i, rank, space,
			    name);
	}
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

static int flop_class(int dtype)
{
	if (dtype == PM_F64)
		return 0;
	if (dtype == PM_F32)
		return 1;
	return pm_dtype_is_float(dtype) ? 2 : 3;
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

PmStatus pm__kg_launch(KGen *k, const char *label, const char *body, int64_t threads, int64_t flops,
		       PmErr *err)
{
	PmStr src = PM_STR_INIT, what = PM_STR_INIT;
	int64_t blocks = (threads + PM__BLOCK - 1) / PM__BLOCK;
	Step s = { .entry = "k", .block = { PM__BLOCK, 1, 1 }, .grid = { 1, 1, 1 }, .bytes = k->bytes };
	PmStatus st = PM_OK;

	if (blocks > INT32_MAX) {
		pm_node_describe(k->p->g, k->node, &what);
		st = pm_err(err, PM_E_LIMIT, "%s needs %lld blocks in one launch; at most %d are possible.",
			    what.s, (long long)blocks, INT32_MAX);
	} else if (threads > 0) {
		int wide = needs_64_bit(k, threads);

		for (size_t i = 0; i < k->args.n; i++)
			if (k->args.v[i].kind == PM_DARG_I64 && !wide)
				k->args.v[i].kind = PM_DARG_I32;
		pm_str_addf(&src, "typedef %s I;\n", wide ? "long long" : "int");
		pm_str_add(&src, common_cu);
		pm_str_addf(&src, "#line 1 \"%s\"\n", label);
		pm_str_addn(&src, k->head.s, k->head.len);
		pm_str_addf(&src, "#define PARAMS %s\n", k->params.s);
		pm_str_add(&src, body);
		s.label = pm_arena_strdup(k->p->arena, label);
		s.source = add_source(k->p, label, src.s, k->dtype);
		s.grid[0] = (uint32_t)blocks;
		s.n_args = (int)k->args.n;
		s.args = pm_arena_alloc(k->p->arena, k->args.n * sizeof *s.args);
		memcpy(s.args, k->args.v, k->args.n * sizeof *s.args);
		s.flops = flops;
		s.flop_class = flop_class(k->dtype);
		PM_VEC_PUSH(&k->p->steps, s);
	}
	pm_str_release(&src);
	pm_str_release(&what);
	pm__kg_release(k);
	return st;
}
