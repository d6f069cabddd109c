/* SPDX-License-Identifier: Apache-2.0 */
/* failure.c - what of a result is wrong, and the same as JSON. */
#include "bench/compare/failure.h"

#include "base/core/str.h"
#include "bench/compare/agree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void pm_failure_worst(int dtype, const PmElement *x, PmWorst *out)
{
	PmType one = { .dtype = dtype };
	PmTensor want, got;
	PmComparison c = { .worst = { .index = -1 } };
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	PmErr err;

	pm_err_init(&err);
	if (!pm_tensor_init(&want, &one, &err) && !pm_tensor_init(&got, &one, &err)) {
		PmTensorView w = pm_view_of(&want), g = pm_view_of(&got);

		pm_tensor_set(&want, 0, x->expected);
		pm_tensor_set(&got, 0, x->got);
		pm_compare(&w, &g, &rule, &c);
		pm_tensor_release(&got);
		pm_tensor_release(&want);
	}
	*out = c.worst;
	out->index = x->index;
	out->expected = x->expected;
	out->got = x->got;
}

static void set_result(PmFailure *f, const PmType *type, const char *name)
{
	f->dtype = type->dtype;
	f->rank = type->rank;
	f->numel = 1;
	for (int d = 0; d < type->rank; d++) {
		f->dim[d] = type->dim[d];
		f->numel *= type->dim[d];
	}
	snprintf(f->output, sizeof f->output, "%s", name);
}

void pm_failure_of_fit(PmFailure *f, const PmBoundFit *fit, const PmTensor *y, const char *name)
{
	int64_t i = fit->first;

	set_result(f, &y->type, name);
	f->bounded = 1;
	f->n_wrong = fit->n_wrong;
	f->worst = (PmElement){ fit->index, fit->expected, fit->got };
	f->first = (PmElement){ -1, NAN, NAN };
	if (i >= 0)
		f->first = (PmElement){ i, fit->first_expected, pm_tensor_get(y, i) };
}

void pm_failure_of_comparison(PmFailure *f, const PmComparison *c, const PmType *type, const char *name)
{
	set_result(f, type, name);
	f->bounded = 0;
	f->n_wrong = c->n_wrong;
	f->worst = (PmElement){ c->worst.index, c->worst.expected, c->worst.got };
	f->first = (PmElement){ c->first.index, c->first.expected, c->first.got };
}

/* ---- JSON ---- */

static void add_element(cJSON *j, const char *key, const PmFailure *f, const PmElement *e)
{
	int64_t at[PM_MAX_RANK], rest = e->index;
	cJSON *o, *list;

	if (e->index < 0 || e->index >= f->numel)
		return;
	for (int d = f->rank - 1; d >= 0; d--) {
		at[d] = rest % f->dim[d];
		rest /= f->dim[d];
	}
	o = cJSON_AddObjectToObject(j, key);
	list = cJSON_AddArrayToObject(o, "at");
	for (int d = 0; d < f->rank; d++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber((double)at[d]));
	pm_json_add_i64(o, "index", e->index);
	pm_json_add_element(o, "expected", e->expected);
	pm_json_add_element(o, "got", e->got);
}

static void element_from_json(const cJSON *o, PmElement *out)
{
	*out = (PmElement){ o ? pm_json_i64(o, "index", -1) : -1, pm_json_element(o, "expected"),
			    pm_json_element(o, "got") };
}

cJSON *pm_failure_json(const PmFailure *f, const char *variant)
{
	cJSON *j, *shape;

	if (!*f->inputs)
		return NULL;
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "variant", variant);
	cJSON_AddStringToObject(j, "inputs", f->inputs);
	cJSON_AddBoolToObject(j, "eight_changed", f->edited);
	cJSON_AddNumberToObject(j, "alternative", f->alternative);
	if (f->timed)
		pm_json_add_i64(j, "timed_call", f->call);
	if (!*f->output)
		return j;
	cJSON_AddStringToObject(j, "output", f->output);
	cJSON_AddStringToObject(j, "judged_by", f->bounded ? "bound" : "ladder");
	cJSON_AddStringToObject(j, "type", pm_dtype_name(f->dtype));
	shape = cJSON_AddArrayToObject(j, "shape");
	for (int d = 0; d < f->rank; d++)
		cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)f->dim[d]));
	pm_json_add_i64(j, "elements", f->numel);
	pm_json_add_i64(j, "wrong", f->n_wrong);
	add_element(j, "first", f, &f->first);
	add_element(j, "worst", f, &f->worst);
	return j;
}

void pm_failure_from_json(const cJSON *j, PmFailure *out)
{
	const cJSON *shape = cJSON_GetObjectItem(j, "shape"), *x = shape ? shape->child : NULL;

	memset(out, 0, sizeof *out);
	out->numel = 1;
	snprintf(out->inputs, sizeof out->inputs, "%s", pm_json_str(j, "inputs", ""));
	out->edited = cJSON_IsTrue(cJSON_GetObjectItem(j, "eight_changed"));
	out->alternative = (int)pm_json_i64(j, "alternative", 0);
	out->timed = cJSON_HasObjectItem(j, "timed_call");
	out->call = pm_json_i64(j, "timed_call", 0);
	snprintf(out->output, sizeof out->output, "%s", pm_json_str(j, "output", ""));
	out->dtype = pm_dtype_from_name(pm_json_str(j, "type", ""));
	out->dtype = out->dtype < 0 ? PM_F32 : out->dtype;
	out->bounded = pm_str_eq(pm_json_str(j, "judged_by", ""), "bound");
	for (; x && out->rank < PM_MAX_RANK; x = x->next)
		out->dim[out->rank++] = cJSON_IsNumber(x) && x->valuedouble >= 1 && x->valuedouble < 0x1p31
						? (int64_t)x->valuedouble
						: 1;
	for (int d = 0; d < out->rank; d++)
		if (__builtin_mul_overflow(out->numel, out->dim[d], &out->numel))
			out->numel = 0;
	out->n_wrong = pm_json_i64(j, "wrong", 0);
	element_from_json(cJSON_GetObjectItem(j, "first"), &out->first);
	element_from_json(cJSON_GetObjectItem(j, "worst"), &out->worst);
}
