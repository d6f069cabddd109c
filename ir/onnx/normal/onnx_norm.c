/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_norm.c - brings one node to normal form: attributes as the table has them, the rest by operator.
 *
 * The differences between opsets live in onnx_norm_axes.c (axes, slices, reductions), onnx_norm_nn.c
 * (windows, normalisation) and onnx_norm_misc.c, operators that become several nodes in onnx_expand*.c; here
 * is what they share.
 */
#include "ir/onnx/onnx_priv.h"

#include "ir/infer/infer_priv.h"
#include "ir/onnx/normal/onnx_expand.h"

#include <stdio.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

static const struct {
	const PmNormRow *rows;
	const char *domain;
} tables[] = {
	{ pm__norm_axes_rows, "" },
	{ pm__norm_nn_rows, "" },
	{ pm__norm_misc_rows, "" },
	{ pm__expand_nn_rows, "" },
	{ pm__expand_loss_rows, "" },
	{ pm__expand_quant_rows, "" },
	{ pm__expand_attention_rows, "" },
	{ pm__expand_rnn_rows, "" },
	{ pm__expand_ngram_rows, "" },
	{ pm__expand_data_rows, "" },
	{ pm__expand_state_rows, "" },
	{ pm__expand_window_rows, "" },
	{ pm__expand_preview_rows, "ai.onnx.preview" },
};

const PmNormRow *pm__norm_row(const Onnx__NodeProto *np)
{
	const char *domain = pm__onnx_domain(np), *op_type = np->op_type;
	const PmNormRow *r;
	size_t t;

	for (t = 0; t < sizeof tables / sizeof *tables; t++) {
		if (strcmp(tables[t].domain, domain) != 0)
			continue;
		for (r = tables[t].rows; r->op_type; r++) {
			if (r->op_type[0] == op_type[0] && strcmp(r->op_type, op_type) == 0)
				return r;
		}
	}
	return NULL;
}

PmOp pm__norm_op(const Onnx__NodeProto *np)
{
	const PmNormRow *r = pm__norm_row(np);
	PmOp op = r ? r->op : *pm__onnx_domain(np) ? PM_OP_NONE : pm_op_from_name(np->op_type);

	return op != PM_OP_NONE && pm_op_desc(op)->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL) ? PM_OP_NONE : op;
}

/* Whether `word` is one of the space-separated words of `list`. */
static int has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	while (list && *list) {
		size_t len = strcspn(list, " ");

		if (len == n && memcmp(list, word, n) == 0)
			return 1;
		list += len;
		list += *list == ' ';
	}
	return 0;
}

static PmStatus take_attrs(PmDraft *d, const PmNormRow *row, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i, k;

	if (d->np->n_attribute > PM_ONNX_DRAFT_ATTRS)
		return pm__decline(d, "it has more than %d attributes", PM_ONNX_DRAFT_ATTRS);
	for (i = 0; i < d->np->n_attribute && !st; i++) {
		const char *name = text(d->np->attribute[i]->name);
		const Onnx__AttributeProto *a = pm__scope_attr(d->sc, d->np->attribute[i]);
		const PmAttrDesc *desc = pm_op_attr_desc(d->op, name);

		for (k = 0; k < i; k++) {
			if (strcmp(text(d->np->attribute[k]->name), name) == 0)
				return pm_err(err, PM_E_INVALID,
					      "The attribute '%.100s' of %s is given twice; fix the model.",
					      name, d->where.s);
		}
		if (!a || (row && has_word(row->extra, name)))
			continue;
		st = desc ? pm__draft_take(d, desc, a, err)
			  : pm__decline(d, "the attribute '%.60s' is not known", name);
	}
	return st;
}

static PmStatus check_required(const PmDraft *d, PmErr *err)
{
	const PmOpDesc *desc = pm_op_desc(d->op);
	int k;

	for (k = 0; k < desc->n_attrs; k++) {
		if (!desc->attrs[k].has_default && !pm__draft_attr(d, desc->attrs[k].name))
			return pm_err(err, PM_E_INVALID,
				      "The attribute '%s' of %s is missing; fix the model.",
				      desc->attrs[k].name, d->where.s);
	}
	return PM_OK;
}

/* Nothing is computed in narrow types. An operator that ONNX defines for one all the same stays as it is. */
static PmStatus refuse_narrow(PmDraft *d)
{
	size_t k;

	for (k = 0; k < d->n_in && !(pm_op_desc(d->op)->flags & PM_OPF_NARROW); k++) {
		if (d->in[k].id && pm_dtype_is_narrow(pm__draft_type(d, k)->dtype))
			return pm__decline(d, "operand %zu is %s, in which nothing is computed", k,
					   pm_dtype_name(pm__draft_type(d, k)->dtype));
	}
	return PM_OK;
}

PmStatus pm__norm(PmDraft *d, PmErr *err)
{
	const PmNormRow *row = pm__norm_row(d->np);
	PmStatus st = take_attrs(d, row, err);

	if (!st)
		st = refuse_narrow(d);
	if (!st && row && row->fn)
		st = row->fn(d, err);
	return st || d->n_made ? st : check_required(d, err);
}

/* ---- axes ---- */
