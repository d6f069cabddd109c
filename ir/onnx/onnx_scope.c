/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_scope.c - what a scope of names knows: values, attributes of a call, functions, opsets; and what a
 * node's results get from it. */
#include "ir/core/graph_priv.h"

#include "ir/infer/infer_priv.h"
#include "ir/onnx/onnx_source.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tells functions of one name apart (IR version 10), in schemas newer than ours. */
enum { OVERLOAD_OF_NODE = 8 };

static const char *text(const char *s)
{
	return s ? s : "";
}

const char *pm__onnx_domain_name(const char *domain)
{
	return strcmp(text(domain), "ai.onnx") == 0 ? "" : text(domain);
}

const char *pm__onnx_domain(const Onnx__NodeProto *np)
{
	return pm__onnx_domain_name(np->domain);
}

static int64_t own_opset(const PmOnnxScope *sc, const char *domain)
{
	size_t i;

	for (i = 0; i < sc->n_opsets; i++) {
		if (strcmp(pm__onnx_domain_name(sc->opsets[i]->domain), domain) == 0)
			return sc->opsets[i]->version;
	}
	return 0;
}

/* A function says which opset its body is written in; of other domains the model has one version. */
int64_t pm__scope_opset(const PmOnnxScope *sc, const char *domain)
{
	int64_t up = *domain && sc->caller ? pm__scope_opset(sc->caller, domain) : 0;

	if (up)
		return up;
	up = own_opset(sc, domain);
	return up || !sc->caller ? up : pm__scope_opset(sc->caller, domain);
}

const char *pm__import_final_name(PmImport *im, const PmOnnxScope *sc, const char *name)
{
	const PmOnnxName *nm = pm__scope_find(sc, name);
	PmStr s = PM_STR_INIT;
	const char *r = name;

	if (pm__scope_final(sc, nm))
		return pm__scope_final(sc, nm);
	if (sc->prefix) {
		pm_str_addf(&s, "%s/%s", sc->prefix, name);
		r = pm__import_fresh(im, s.s);
		pm_str_release(&s);
	}
	return r;
}

PmStatus pm__import_results(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, PmNode n, PmErr *err)
{
	PmStr s = PM_STR_INIT;
	PmStatus st = PM_OK;
	size_t k;

	if (*text(np->name)) {
		if (sc->prefix)
			pm_str_addf(&s, "%s/", sc->prefix);
		pm_str_add(&s, np->name);
		st = pm_node_set_name(im->g, n, s.s, err);
		pm_str_release(&s);
	}
	for (k = 0; k < pm_node_n_out(im->g, n) && !st; k++) {
		PmValue v = pm_node_out(im->g, n, k);
		PmOnnxName *nm;

		if (k >= np->n_output || !*np->output[k])
			continue;
		nm = pm__scope_find(sc, np->output[k]);
		st = pm_value_set_name(im->g, v, pm__import_final_name(im, sc, np->output[k]), err);
		nm->value = v;
		nm->known = 1;
		if (!st)
			st = pm__import_check_name(im, sc, nm, v, err);
	}
	pm__node_name_results(im->g, n);
	return st;
}

PmStatus pm__scope_value(const PmOnnxScope *sc, const char *name, PmValue *out, const PmOnnxWhere *w,
			 PmErr *err)
{
	const PmOnnxName *nm = pm__scope_find(sc, name);

	if (!nm || !nm->known)
		return pm_err(err, PM_E_INVALID,
			      "An operand of %s is '%.200s', which nothing defines; fix the model.", w->s,
			      name);
	*out = nm->value;
	return PM_OK;
}

/* A type that is not ours (text, a sequence) is kept as bytes for the result of an opaque node. */
static PmStatus keep_type(PmImport *im, PmNode n, size_t k, const Onnx__TypeProto *tp, PmErr *err)
{
	size_t size = tp ? onnx__type_proto__get_packed_size(tp) : 0;
	char name[32], *buf;
	PmStatus st;

	if (!size || pm_node_op(im->g, n) != PM_OP_Opaque)
		return PM_OK;
	snprintf(name, sizeof name, PM_ONNX_TYPE_ATTR "%zu", k);
	buf = pm_xmalloc(size);
	onnx__type_proto__pack(tp, (uint8_t *)buf);
	st = pm_node_set_s(im->g, n, name, buf, size, err);
	free(buf);
	return st;
}

PmStatus pm__import_stated_types(PmImport *im, PmOnnxScope *sc, const Onnx__NodeProto *np, PmNode n,
				 PmErr *err)
{
	PmOp op = pm_node_op(im->g, n);
	PmStatus st = PM_OK;
	size_t k;

	if (im->opts->compare_stated && op != PM_OP_Opaque && op != PM_OP_Kernel)
		return PM_OK;
	for (k = 0; k < np->n_output && !st; k++) {
		const PmOnnxName *nm = pm__scope_find(sc, np->output[k]);
		const Onnx__ValueInfoProto *info;
		char why[96];
		PmType t;

		if (!nm || !nm->info)
			continue;
		st = pm__scope_info(sc, nm, im->info_slot, &info, err);
		if (st)
			break;
		st = pm__import_type(im, info->type, "value", np->output[k], &t, why, err);
		if (!st)
			pm_value_set_type(im->g, pm_node_out(im->g, n, k), &t);
		if (st == PM_DECLINED)
			st = keep_type(im, n, k, info->type, err);
	}
	return st;
}

/* The overload that a node calls: a field that our schema need not know. */
static PmOnnxText node_overload(const Onnx__NodeProto *np)
{
	const ProtobufCFieldDescriptor *d = protobuf_c_message_descriptor_get_field_by_name(
		np->base.descriptor, "overload");
	unsigned i;

	if (d && d->type == PROTOBUF_C_TYPE_STRING) {
		const char *s = *(char *const *)((const char *)np + d->offset);

		return (PmOnnxText){ text(s), strlen(text(s)) };
	}
	for (i = np->base.n_unknown_fields; i-- > 0;) {
		const ProtobufCMessageUnknownField *u = &np->base.unknown_fields[i];
		size_t skip = 0;

		if (u->tag != OVERLOAD_OF_NODE || u->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
			continue;
		while (skip < u->len && u->data[skip] & 0x80)
			skip++;
		skip += skip < u->len;
		return (PmOnnxText){ (const char *)u->data + skip, u->len - skip };
	}
	return (PmOnnxText){ "", 0 };
}

static int same(PmOnnxText a, PmOnnxText b)
{
	return a.n == b.n && (!a.n || memcmp(a.s, b.s, a.n) == 0);
}

static int is(PmOnnxText a, const char *s)
{
	return same(a, (PmOnnxText){ text(s), strlen(text(s)) });
}

PmOnnxFunction *pm__onnx_function(const PmImport *im, const Onnx__NodeProto *np)
{
	size_t i;

	for (i = 0; i < im->model->functions.n; i++) {
		PmOnnxFunction *f = &im->model->functions.v[i];

		if (is(f->name, np->op_type) && is(f->domain, np->domain) &&
		    same(f->overload, node_overload(np)))
			return f;
	}
	return NULL;
}

Onnx__AttributeProto *pm__scope_attr(const PmOnnxScope *sc, Onnx__AttributeProto *a)
{
	size_t i;

	if (!*text(a->ref_attr_name))
		return a;
	for (i = 0; sc->call && i < sc->call->n_attribute; i++) {
		if (strcmp(text(sc->call->attribute[i]->name), a->ref_attr_name) == 0)
			return sc->caller ? pm__scope_attr(sc->caller, sc->call->attribute[i])
					  : sc->call->attribute[i];
	}
	for (i = 0; i < sc->n_defaults; i++) {
		if (strcmp(text(sc->defaults[i]->name), a->ref_attr_name) == 0)
			return sc->defaults[i];
	}
	return NULL;
}

/* Notes a name of the model; `keep` when the text does not last as long as the import. */
static void take(PmImport *im, PmOnnxText name, int keep)
{
	PmIntern *t = im->taken->names;

	if (pm_intern_find(t, name.s, name.n) != UINT32_MAX)
		return;
	if (keep)
		name.s = pm_arena_strndup(im->arena, name.s, name.n);
	if (name.s)
		pm_intern(t, name.s, name.n);
}

void pm__import_take_graph(PmImport *im, const PmOnnxSource *src, int keep)
{
	PmOnnxWires w = { .nests = 0 };
	size_t i, k;

	for (i = 0; i < src->n[PM_PART_INPUT]; i++)
		take(im, pm__source_name(src, PM_PART_INPUT, i), keep);
	for (i = 0; i < src->n[PM_PART_INITIALIZER]; i++)
		take(im, pm__source_name(src, PM_PART_INITIALIZER, i), keep);
	for (i = 0; i < src->n[PM_PART_NODE]; i++) {
		pm__source_wires(src, i, &w);
		for (k = 0; k < w.out.n; k++)
			take(im, w.out.v[k], keep);
	}
	pm__wires_release(&w);
}

const char *pm__import_fresh(PmImport *im, const char *base)
{
	size_t n = strlen(base), k;
	char *name = n <= PM_MAX_NAME - 24 ? pm_arena_alloc(im->arena, n + 24) : NULL;
	PmTaken *t = im->taken;

	if (!name)
		return "";
	if (t->unread)
		pm__import_take_graph(im, t->unread, 0);
	t->unread = NULL;
	memcpy(name, base, n + 1);
	for (k = 1; pm_intern_find(t->names, name, strlen(name)) != UINT32_MAX; k++)
		snprintf(name + n, 24, ".%zu", k);
	pm_intern(t->names, name, strlen(name));
	return name;
}
