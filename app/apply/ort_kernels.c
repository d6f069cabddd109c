/* SPDX-License-Identifier: Apache-2.0 */
/* ort_kernels.c - a file of kernels out of a rewritten graph. */
#include "app/apply/ort_kernels.h"

#include "base/core/str.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "ir/core/kernel.h"
#include "ir/core/onnx_dtype.h"
#include "ir/onnx/onnx.h"
#include "ort/kernels.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/cuda/nvrtc/nvrtc_images.h"
#include "runtime/device/device.h"

#include <stdlib.h>
#include <string.h>

/* The text and element type of a source are what makes it another one. */
typedef struct Source {
	PmSource s;
	uint32_t n_images, images[PM_ORT_MAX_ARCHS + 2]; /* numbers in Made.image */
} Source;

typedef struct Made {
	PmOrtKernel k;
	uint32_t source;
} Made;

typedef struct Maker {
	PmArena *arena;
	PmIntern *names, *texts; /* of kernels and sources: their numbers are those in the lists */
	PM_VEC(Made) kernel;
	PM_VEC(Source) source;
	PM_VEC(PmOrtImage) image;
	PmStatus st;
	PmErr *err;
} Maker;

/* --- what the graph says ---------------------------------------------------------------------------------
 */

static PmStatus put_value(const PmType *t, const char *label, PmOrtValue *out, PmErr *err)
{
	out->type = (uint32_t)pm_dtype_to_onnx(t->dtype);
	out->rank = (uint32_t)t->rank;
	if (!pm_type_is_static(t))
		return pm_err(
			err, PM_E_UNSUPPORTED,
			"Kernel '%s' has a tensor whose sizes are not all known, and a launch is for exact "
			"sizes; bind the model first (passmith bind).",
			label);
	memcpy(out->dim, t->dim, (size_t)t->rank * sizeof *t->dim);
	return PM_OK;
}

static PmOrtValue *values_of(Maker *m, const PmGraph *g, PmNode n, const char *label, int results)
{
	size_t count = results ? pm_node_n_out(g, n) : pm_node_n_in(g, n);
	PmOrtValue *v = pm_arena_alloc(m->arena, (count + 1) * sizeof *v);

	for (size_t i = 0; i < count && !m->st; i++)
		m->st = put_value(pm_value_type(g, results ? pm_node_out(g, n, i) : pm_node_in(g, n, i)),
				  label, &v[i], m->err);
	return v;
}

static PmOrtArg arg_of(const PmKArg *a)
{
	static const PmOrtArgKind kinds[] = {
		[PM_KARG_IN] = PM_ORT_IN,   [PM_KARG_OUT] = PM_ORT_OUT, [PM_KARG_SCRATCH] = PM_ORT_SCRATCH,
		[PM_KARG_I64] = PM_ORT_I64, [PM_KARG_I32] = PM_ORT_I32, [PM_KARG_F32] = PM_ORT_F32,
		[PM_KARG_F64] = PM_ORT_F64,
	};
	PmOrtArg out = { .kind = kinds[a->kind], .index = a->kind <= PM_KARG_SCRATCH ? a->index : 0 };
	float f = (float)a->f;
	int32_t i = (int32_t)(uint32_t)a->i;

	if (a->kind == PM_KARG_I64)
		memcpy(&out.bits, &a->i, sizeof a->i);
	else if (a->kind == PM_KARG_I32)
		memcpy(&out.bits, &i, sizeof i);
	else if (a->kind == PM_KARG_F32)
		memcpy(&out.bits, &f, sizeof f);
	else if (a->kind == PM_KARG_F64)
		memcpy(&out.bits, &a->f, sizeof a->f);
	return out;
}

static void put_launches(Maker *m, const PmKAlt *alt, PmOrtKernel *k)
{
	k->n_launches = (uint32_t)alt->n_launches;
	k->launches = pm_arena_alloc(m->arena, (size_t)alt->n_launches * sizeof *k->launches + 1);
	for (int j = 0; j < alt->n_launches; j++) {
		const PmKLaunch *from = &alt->launches[j];
		PmOrtLaunch *to = &k->launches[j];

		to->entry = pm_arena_strdup(m->arena, from->entry);
		memcpy(to->grid, from->grid, sizeof to->grid);
		memcpy(to->block, from->block, sizeof to->block);
		to->smem = from->smem;
		to->n_args = (uint32_t)from->n_args;
		to->args = pm_arena_alloc(m->arena, (size_t)from->n_args * sizeof *to->args + 1);
		for (int i = 0; i < from->n_args; i++)
			to->args[i] = arg_of(&from->args[i]);
	}
}

static uint32_t source_of(Maker *m, const PmKernelDesc *d)
{
	const PmKAlt *alt = &d->alts[0];
	PmStr text = PM_STR_INIT;
	uint32_t id;

	pm_str_addf(&text, "%d\n%s", (int)alt->type, alt->source);
	id = pm_intern(m->texts, text.s, text.len) - 1; /* 0 is the empty text */
	if (id == m->source.n)
		PM_VEC_PUSH(&m->source,
			    ((Source){ .s = { pm_arena_strdup(m->arena, d->name),
					      pm_arena_strdup(m->arena, alt->source), alt->type } }));
	pm_str_release(&text);
	return id;
}

static void on_kernel(void *arg, const PmGraph *g, PmNode n, const char *name)
{
	Maker *m = arg;
	PmKernelDesc d;
	Made made;

	if (m->st || pm_intern_find(m->names, name, strlen(name)) != UINT32_MAX)
		return;
	pm_intern(m->names, name, strlen(name));
	m->st = pm_kernel_decode(g, n, m->arena, &d, m->err);
	if (m->st)
		return;
	memset(&made, 0, sizeof made);
	made.k.name = pm_arena_strdup(m->arena, name);
	made.k.label = pm_arena_strdup(m->arena, d.name);
	made.k.n_in = (uint32_t)pm_node_n_in(g, n);
	made.k.n_out = (uint32_t)pm_node_n_out(g, n);
	if (made.k.n_in > PM_ORT_MAX_VALUES || made.k.n_out > PM_ORT_MAX_VALUES) {
		m->st = pm_err(m->err, PM_E_UNSUPPORTED,
			       "Kernel '%s' has %u operands and %u results; a file of kernels has at most %d "
			       "of each.",
			       d.name, made.k.n_in, made.k.n_out, PM_ORT_MAX_VALUES);
		return;
	}
	made.k.in = values_of(m, g, n, d.name, 0);
	made.k.out = values_of(m, g, n, d.name, 1);
	made.k.n_scratch = (uint32_t)d.alts[0].n_scratch;
	made.k.scratch = pm_arena_alloc(m->arena, (made.k.n_scratch + 1) * sizeof *made.k.scratch);
	for (uint32_t i = 0; i < made.k.n_scratch; i++)
		made.k.scratch[i] = (uint64_t)d.alts[0].scratch[i];
	put_launches(m, &d.alts[0], &made.k);
	made.source = source_of(m, &d);
	PM_VEC_PUSH(&m->kernel, made);
}

/* --- machine code ----------------------------------------------------------------------------------------
 */

static void add_image(Maker *m, Source *s, uint32_t kind, uint32_t arch, const char *bytes, size_t n)
{
	char *p = pm_arena_alloc(m->arena, n + 1);

	memcpy(p, bytes, n);
	s->images[s->n_images++] = (uint32_t)m->image.n;
	PM_VEC_PUSH(&m->image, ((PmOrtImage){ kind, arch, p, n }));
}

/* A source that is being compiled. */
typedef struct Compiling {
	Maker *m;
	size_t source;
} Compiling;

static PmStatus take_image(void *arg, const PmGpuImage *g, PmErr *err)
{
	const Compiling *c = arg;

	add_image(c->m, &c->m->source.v[c->source], g->is_ptx ? PM_ORT_PTX : PM_ORT_CUBIN, (uint32_t)g->cc,
		  g->bytes, g->n);
	(void)err;
	return PM_OK;
}

static PmStatus compile(Maker *m, const PmOrtArchs *archs, PmErr *err)
{
	PmSource *all = pm_xcalloc(m->source.n + 1, sizeof *all);
	PmStr object = PM_STR_INIT;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < m->source.n; i++)
		all[i] = m->source.v[i].s;
	if (archs->emu)
		st = pm_emu_compile(all, m->source.n, archs->jobs, err);
	for (size_t i = 0; i < archs->n_cc && !st; i++)
		pm_nvrtc_ahead(all, m->source.n, archs->cc[i], archs->jobs);
	for (size_t i = 0; i < m->source.n && !st; i++) {
		if (archs->emu)
			st = pm_emu_object(&all[i], &object, err);
		if (archs->emu && !st)
			add_image(m, &m->source.v[i], PM_ORT_EMU, 0, object.s, object.len);
		if (!st)
			st = pm_nvrtc_images(&all[i], archs->cc, archs->n_cc, take_image,
					     &(Compiling){ m, i }, err);
		pm_str_clear(&object);
	}
	pm_str_release(&object);
	free(all);
	return st;
}

/* --- the file --------------------------------------------------------------------------------------------
 */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const Made *)a)->k.name, ((const Made *)b)->k.name);
}

static PmStatus write_file(Maker *m, const char *path, PmOrtWritten *out, PmErr *err)
{
	PmOrtKernels file = { .n_images = (uint32_t)m->image.n,
			      .n_kernels = (uint32_t)m->kernel.n,
			      .image = m->image.v };
	PmStr bytes = PM_STR_INIT;
	PmStatus st;

	qsort(m->kernel.v, m->kernel.n, sizeof *m->kernel.v, by_name);
	file.kernel = pm_arena_alloc(m->arena, m->kernel.n * sizeof *file.kernel + 1);
	for (size_t i = 0; i < m->kernel.n; i++) {
		Source *s = &m->source.v[m->kernel.v[i].source];

		file.kernel[i] = m->kernel.v[i].k;
		file.kernel[i].n_images = s->n_images;
		file.kernel[i].images = s->images;
	}
	pm_ort_kernels_write(&file, &bytes);
	st = pm_write_file(path, bytes.s, bytes.len, err);
	*out = (PmOrtWritten){ m->kernel.n, m->source.n, m->image.n, (int64_t)bytes.len };
	pm_str_release(&bytes);
	return st;
}

PmStatus pm_ort_kernels_make(const PmGraph *g, const PmOrtArchs *archs, const char *path, PmOrtWritten *out,
			     PmErr *err)
{
	Maker m = {
		.arena = pm_arena_new(0), .names = pm_intern_new(), .texts = pm_intern_new(), .err = err
	};
	PmStatus st = archs->n_cc > PM_ORT_MAX_ARCHS
			      ? pm_err(err, PM_E_LIMIT, "Kernels can be compiled for %d GPUs at once.",
				       PM_ORT_MAX_ARCHS)
			      : pm_onnx_kernels(g, on_kernel, &m, err);

	st = st ? st : m.st;
	if (!st && !m.kernel.n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "The model has no kernel to write to \"%s\"; apply a pass that matches it.",
			    path);
	if (!st)
		st = compile(&m, archs, err);
	if (!st)
		st = write_file(&m, path, out, err);
	PM_VEC_RELEASE(&m.kernel);
	PM_VEC_RELEASE(&m.source);
	PM_VEC_RELEASE(&m.image);
	pm_intern_free(m.names);
	pm_intern_free(m.texts);
	pm_arena_free(m.arena);
	return st;
}
