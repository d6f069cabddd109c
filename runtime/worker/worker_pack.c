/* SPDX-License-Identifier: Apache-2.0 */
/* worker_pack.c - graphs and tensors as bytes between this process and a device worker. */
#include "runtime/worker/worker_priv.h"

#include "ir/data/weights.h"
#include "ir/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { INLINE_ELEMENTS = 64, MAX_DEPTH = 8 };

const char *pm__take(Cursor *c, size_t n)
{
	const char *p = c->p;

	if (n > c->left)
		return NULL;
	c->p += n;
	c->left -= n;
	return p;
}

uint64_t pm__take_u64(Cursor *c)
{
	const char *p = pm__take(c, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof v);
	return v;
}

void pm__add_u64(PmStr *s, uint64_t v)
{
	pm_str_addn(s, &v, sizeof v);
}

/* --- graphs ----------------------------------------------------------------------------------------------
 */

/* The elements, or how they are made: a model's made-up weights are made where they are wanted. */
static void add_bytes(const PmBlob *b, PmStr *out)
{
	size_t piece = (size_t)4 << 20, at;
	PmStr recipe = PM_STR_INIT;
	char *buf;
	int made = pm_weights_recipe(b, &recipe);

	pm__add_u64(out, made ? recipe.len : 0);
	pm_str_addn(out, recipe.s, recipe.len);
	pm_str_release(&recipe);
	if (made)
		return;
	if (b->data) {
		pm_str_addn(out, b->data, b->size);
		return;
	}
	buf = pm_xmalloc(piece);
	for (at = 0; at < b->size; at += piece) {
		size_t n = b->size - at < piece ? b->size - at : piece;

		pm_blob_read(b, at, n, buf);
		pm_str_addn(out, buf, n);
	}
	free(buf);
}

/* Appends every constant that the text names by reference, those of graphs inside included. */
static uint64_t pack_constants(const PmGraph *g, int depth, PmStr *out)
{
	uint64_t n = 0;

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		PmValue v = { id };
		const PmType *t;
		const PmBlob *b;
		int64_t numel = 0;

		if (!pm_value_is_const(g, v))
			continue;
		t = pm_value_type(g, v);
		b = pm_value_blob(g, v);
		/* Made-up constants are references in the text whatever their size. */
		if (!pm_blob_readable(b) || !b->size || pm_type_numel(t, &numel, NULL) ||
		    (b->data && numel <= INLINE_ELEMENTS))
			continue;
		pm__add_u64(out, strlen(pm_value_name(g, v)) + 1);
		pm_str_addn(out, pm_value_name(g, v), strlen(pm_value_name(g, v)) + 1);
		pm_str_addn(out, t, sizeof *t);
		pm__add_u64(out, b->size);
		add_bytes(b, out);
		n++;
	}
	for (size_t i = 0; i < pm_graph_n_nodes(g) && depth < MAX_DEPTH; i++) {
		const PmAttr *body = pm_node_attr(g, pm_graph_node_at(g, i), "body");

		if (body && body->kind == PM_ATTR_GRAPH)
			n += pack_constants(body->graph, depth + 1, out);
	}
	return n;
}

PmStatus pm__graph_pack(const PmGraph *g, PmStr *out, PmErr *err)
{
	PmPrintOpts opts = { .max_inline = INLINE_ELEMENTS };
	PmStr text = PM_STR_INIT;
	PmStatus st = pm_graph_print(g, &opts, &text, err);
	uint64_t n;
	size_t at;

	if (!st) {
		pm__add_u64(out, text.len);
		pm_str_addn(out, text.s, text.len);
		at = out->len;
		pm__add_u64(out, 0);
		n = pack_constants(g, 0, out);
		memcpy(out->s + at, &n, sizeof n);
	}
	pm_str_release(&text);
	return st;
}

static PmStatus cut_short(PmErr *err)
{
	return pm_err(err, PM_E_CRASH, "A message of the device worker is cut short.");
}

/* Its length in bytes, that of its recipe, and one of the two. */
static PmBlob *take_constant(Cursor *c)
{
	uint64_t bytes = pm__take_u64(c), n = pm__take_u64(c);
	const char *p = pm__take(c, (size_t)(n ? n : bytes));

	return !p  ? NULL
	       : n ? pm_weights_from_recipe(p, (size_t)n, (size_t)bytes)
		   : pm_blob_copy(p, (size_t)bytes);
}

/* A graph of nothing but the constants that came along; of one name the first counts. */
static PmStatus unpack_constants(Cursor *c, PmGraph *into, PmErr *err)
{
	uint64_t n = pm__take_u64(c);
	PmStatus st = PM_OK;

	for (uint64_t i = 0; i < n && !st; i++) {
		uint64_t len = pm__take_u64(c);
		const char *name = pm__take(c, (size_t)len), *type = pm__take(c, sizeof(PmType));
		PmBlob *blob = name && type ? take_constant(c) : NULL;
		PmType t;
		PmValue v;

		if (!len || !blob || name[len - 1]) {
			pm_blob_unref(blob);
			return cut_short(err);
		}
		memcpy(&t, type, sizeof t);
		if (!pm_graph_find_value(into, name).id)
			st = pm_graph_add_const(into, name, &t, blob, &v, err);
		else
			pm_blob_unref(blob);
	}
	return st;
}

PmStatus pm__graph_unpack(Cursor *c, PmGraph **out, PmErr *err)
{
	uint64_t len = pm__take_u64(c);
	const char *text = pm__take(c, (size_t)len);
	PmGraph *g = NULL, *from = pm_graph_new(0);
	PmStatus st = text ? pm_graph_parse(text, (size_t)len, &g, err) : cut_short(err);

	if (!st)
		st = unpack_constants(c, from, err);
	if (!st)
		st = pm_graph_bind_consts(g, from, err);
	pm_graph_free(from);
	if (st)
		pm_graph_free(g);
	else
		*out = g;
	return st;
}

/* --- tensors ---------------------------------------------------------------------------------------------
 */

void pm__tensors_pack(const PmTensor *t, size_t n, PmStr *out)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].bytes)
			pm_str_addn(out, t[i].data, t[i].bytes);
}

PmStatus pm__tensor_unpack(Cursor *c, const PmType *type, PmTensor *t, PmErr *err)
{
	PmStatus st = pm_tensor_init(t, type, err);
	const char *p;

	if (st)
		return st;
	p = pm__take(c, t->bytes);
	if (!p) {
		pm_tensor_release(t);
		return cut_short(err);
	}
	if (t->bytes)
		memcpy(t->data, p, t->bytes);
	return PM_OK;
}

void pm__input_pool_pack(const PmInputPool *pool, PmStr *out)
{
	for (size_t i = 0; i < pool->n_in; i++)
		pm_str_addc(out, (char)pm_input_pool_is_drawn(pool, i));
	if (pool->table)
		pm__tensors_pack(pool->table, pool->n_in, out);
	for (size_t i = 0; i < pool->n_in * (size_t)pool->n_sets; i++)
		if (!pm_input_pool_is_drawn(pool, i % pool->n_in))
			pm__tensors_pack(&pool->t[i], 1, out);
}

PmStatus pm__input_pool_unpack(Cursor *c, const PmType *const *type, size_t n_in, int n_sets, PmTensor *table,
			       PmTensor *t, PmErr *err)
{
	const char *drawn = pm__take(c, n_in);
	PmStatus st = drawn ? PM_OK : cut_short(err);

	for (size_t i = 0; i < n_in && !st; i++) {
		PmType row = { .dtype = type[i]->dtype, .rank = 1, .dim = { PM_BANK_TABLE } };

		if (drawn[i])
			st = pm__tensor_unpack(c, &row, &table[i], err);
	}
	for (size_t i = 0; i < n_in * (size_t)n_sets && !st; i++) {
		t[i].type = *type[i % n_in];
		if (!drawn[i % n_in])
			st = pm__tensor_unpack(c, type[i % n_in], &t[i], err);
	}
	return st;
}
