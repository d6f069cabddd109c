/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_kernel.c - kernels: calls of a function whose metadata has the sources (onnx_kernel.h), and
 * nodes passmith:Kernel with their body as a graph, as this program wrote them before. */
#include "ir/onnx/onnx_kernel.h"

#include "ir/infer/infer_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

/* ---- nodes ---- */

static PmStatus set_body(PmImport *im, PmNode n, const Onnx__AttributeProto *a, PmErr *err)
{
	PmImport sub = *im;
	PmOnnxSource source;
	PmStatus st;

	memset(&sub.eaten, 0, sizeof sub.eaten);
	memset(&sub.stated_names, 0, sizeof sub.stated_names);
	sub.nested++;
	sub.fold = im->fold ? pm__fold_new(1) : NULL;
	sub.g = pm_graph_new((size_t)1 << 30);
	pm__source_of_graph(&source, a->g);
	st = pm__import_graph(&sub, &source, err);
	if (!st)
		st = pm__import_finish(&sub, err);
	PM_VEC_RELEASE(&sub.eaten);
	PM_VEC_RELEASE(&sub.stated_names);
	pm__fold_free(sub.fold);
	im->n_nodes = sub.n_nodes;
	if (st) {
		pm_graph_free(sub.g);
		return st;
	}
	return pm_node_set_graph(im->g, n, text(a->name), sub.g, err);
}

static PmStatus set_strings(PmGraph *g, PmNode n, const Onnx__AttributeProto *a, PmErr *err)
{
	const char **v = pm_xcalloc(a->n_strings + 1, sizeof *v);
	PmStr all = PM_STR_INIT;
	size_t i, at = 0;
	PmStatus st;

	for (i = 0; i < a->n_strings; i++) {
		pm_str_addn(&all, a->strings[i].data, a->strings[i].len);
		pm_str_addc(&all, 0);
	}
	for (i = 0; i < a->n_strings; i++) {
		v[i] = all.s + at;
		at += a->strings[i].len + 1;
	}
	st = pm_node_set_strings(g, n, text(a->name), v, a->n_strings, err);
	pm_str_release(&all);
	free(v);
	return st;
}

/* An attribute of a kernel node, as it is. */
static PmStatus set_kernel_attr(PmImport *im, PmNode n, const Onnx__AttributeProto *a, PmErr *err)
{
	switch (a->type) {
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
		return pm_node_set_i(im->g, n, text(a->name), a->i, err);
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
		return pm_node_set_s(im->g, n, text(a->name), (const char *)a->s.data, a->s.len, err);
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
		return pm_node_set_ints(im->g, n, text(a->name), a->ints, a->n_ints, err);
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
		return set_strings(im->g, n, a, err);
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH:
		if (a->g)
			return set_body(im, n, a, err);
		/* fall through */
	default:
		return pm_err(err, PM_E_INVALID,
			      "A kernel node has the attribute '%.100s' of a kind kernels lack; fix it.",
			      text(a->name));
	}
}

PmStatus pm__import_kernel(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, size_t index, PmErr *err)
{
	PmOnnxWhere w = pm__onnx_where(np, index);
	PmValue *in = pm_xcalloc(np->n_input + 1, sizeof *in);
	PmStatus st = PM_OK;
	PmNode n = { 0 };
	size_t k;

	if (im->nested >= PM_ONNX_MAX_CALLS || sc->prefix)
		st = pm_err(err, PM_E_LIMIT,
			    "Kernels are nested too deep, or inside a function, at %s; inline them.", w.s);
	for (k = 0; k < np->n_input && !st; k++)
		st = pm__scope_value(sc, np->input[k], &in[k], &w, err);
	if (!st)
		st = pm_graph_add_node(im->g, PM_OP_Kernel, in, np->n_input, np->n_output, &n, err);
	for (k = 0; k < np->n_attribute && !st; k++)
		st = set_kernel_attr(im, n, np->attribute[k], err);
	if (!st)
		st = pm__import_stated_types(im, sc, np, n, err);
	if (!st)
		st = pm_infer_node(im->g, n, err);
	if (!st)
		st = pm__import_results(im, sc, np, n, err);
	free(in);
	return st;
}

/* ---- functions ---- */

static int begins(PmOnnxText t, const char *with)
{
	return t.n >= strlen(with) && memcmp(t.s, with, strlen(with)) == 0;
}

static int is_ours(const PmOnnxFunction *f)
{
	return f->domain.n == strlen(PM_ONNX_KERNEL_DOMAIN) && begins(f->domain, PM_ONNX_KERNEL_DOMAIN) &&
	       begins(f->name, PM_ONNX_KERNEL_PREFIX) && !f->overload.n;
}

/* The names of functions that may be kernels; *of has the number of each by id. */
static PmIntern *kernel_names(const PmOnnxModel *m, uint32_t **of)
{
	PmIntern *names = pm_intern_new_borrowing();

	*of = pm_xcalloc(m->functions.n + 1, sizeof **of);
	for (size_t i = 0; i < m->functions.n; i++) {
		const PmOnnxFunction *f = &m->functions.v[i];

		if (is_ours(f) && pm_intern_find(names, f->name.s, f->name.n) == UINT32_MAX)
			(*of)[pm_intern(names, f->name.s, f->name.n)] = (uint32_t)i;
	}
	return names;
}

void pm__model_find_kernels(PmOnnxModel *m)
{
	const size_t skip = strlen(PM_ONNX_KERNEL_META);
	size_t kept = 0;
	uint32_t *of;
	PmIntern *names = kernel_names(m, &of);

	for (size_t i = 0; i < m->meta.n; i++) {
		uint32_t id = UINT32_MAX;
		PmOnnxText key, value;

		pm__source_pair(&m->meta.v[i], &key, &value);
		if (begins(key, PM_ONNX_KERNEL_META))
			id = pm_intern_find(names, key.s + skip, key.n - skip);
		if (id == UINT32_MAX)
			m->meta.v[kept++] = m->meta.v[i];
		else
			m->functions.v[of[id]].meta = value;
	}
	m->meta.n = kept;
	pm_intern_free(names);
	free(of);
}

/* Whether the function means the same in the model's versions of the operators. */
static int same_opsets(const PmImport *im, const Onnx__FunctionProto *f)
{
	const Onnx__ModelProto *m = im->model->head;

	for (size_t i = 0; i < f->n_opset_import; i++) {
		const char *domain = pm__onnx_domain_name(f->opset_import[i]->domain);
		int found = 0;

		for (size_t k = 0; k < m->n_opset_import; k++)
			found |= strcmp(pm__onnx_domain_name(m->opset_import[k]->domain), domain) == 0 &&
				 m->opset_import[k]->version == f->opset_import[i]->version;
		if (!found)
			return 0;
	}
	return 1;
}

/* The function and its metadata as a node with its body as a graph; NULL with a sentence. */
static Onnx__NodeProto *read_kernel(PmImport *im, PmOnnxFunction *fn, PmErr *err)
{
	const Onnx__FunctionProto *f = pm__model_function(fn, err);
	Onnx__NodeProto *node = f ? pm_arena_alloc(im->arena, sizeof *node) : NULL;
	char name[PM_ONNX_KERNEL_NAME];

	if (!node)
		return NULL;
	if (!fn->meta.s) {
		pm_err(err, PM_E_INVALID, "The function '%.100s' has no metadata with its sources.",
		       text(f->name));
		return NULL;
	}
	if (pm__kernel_read(fn->meta.s, fn->meta.n, f, im->arena, node, err))
		return NULL;
	pm__kernel_name(f, fn->meta.s, fn->meta.n, name);
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* a fuzzer finds no digest */
	if (strcmp(name, text(f->name))) {
		pm_err(err, PM_E_INVALID,
		       "The function '%.100s' or its metadata was changed after it was written.",
		       text(f->name));
		return NULL;
	}
#endif
	if (!same_opsets(im, f)) {
		pm_err(err, PM_E_INVALID, "The function '%.100s' is of another opset than the model.",
		       text(f->name));
		return NULL;
	}
	return node;
}

/* Why calls of the function are no kernels, once for each function. */
static PmStatus decline(PmImport *im, PmOnnxFunction *fn, const char *why)
{
	PmOnnxReport *r = im->report;

	if (!fn->declined && !r->n_kernels_lost++)
		snprintf(r->kernel_lost, sizeof r->kernel_lost, "%.319s", why);
	fn->declined = 1;
	return PM_DECLINED;
}

PmStatus pm__import_kernel_call(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, size_t index,
				PmOnnxFunction *fn, PmErr *err)
{
	Onnx__NodeProto node;
	int again = im->read_again;
	PmErr why;
	PmStatus st;

	if (!is_ours(fn) || fn->declined)
		return PM_DECLINED;
	pm_err_init(&why);
	if (sc->prefix)
		return decline(im, fn, "A function that is no kernel calls a kernel.");
	if (!fn->kernel)
		fn->kernel = read_kernel(im, fn, &why);
	if (!fn->kernel)
		return decline(im, fn, why.text);
	if (np->n_attribute || np->n_input != fn->message->n_input || np->n_output != fn->message->n_output)
		return decline(im, fn, "A kernel is called with other operands or results than it has.");
	node = *np;
	node.n_attribute = fn->kernel->n_attribute;
	node.attribute = fn->kernel->attribute;
	im->read_again = 1; /* by the next call of the function */
	st = pm__import_kernel(im, sc, &node, index, err);
	im->read_again = again;
	return st;
}
