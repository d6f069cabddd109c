/* SPDX-License-Identifier: Apache-2.0 */
/* tool_tasks.c - list_tasks and show_task: what there is to work on, and what it is worth. */
#include "app/tools/tools_priv.h"

#include "app/model/model_file.h"
#include "dataset/store/tasks.h"
#include "ir/category/category.h"
#include "ir/text/text.h"
#include "runtime/exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the list ---- */

typedef struct List {
	const char *split, *filter;
	PmCategory category; /* PM_N_CATEGORIES: any */
	int64_t offset, limit, n;
	cJSON *tasks;
} List;

static int has_word(const char *text, const char *word)
{
	return !word || strcasestr(text, word) != NULL;
}

static PmStatus add_task(void *arg, const PmTaskRow *row, PmErr *err)
{
	List *l = arg;
	cJSON *j;

	(void)err;
	if ((l->split && strcmp(l->split, row->split)) || !has_word(row->name, l->filter))
		return PM_OK;
	if (l->category != PM_N_CATEGORIES && strcmp(row->category, pm_category_name(l->category)))
		return PM_OK;
	if (l->n++ < l->offset || l->n > l->offset + l->limit)
		return PM_OK;
	j = cJSON_CreateObject();
	pm_json_add_i64(j, "task", row->id);
	cJSON_AddStringToObject(j, "name", row->name);
	cJSON_AddStringToObject(j, "category", row->category);
	if (*row->split)
		cJSON_AddStringToObject(j, "split", row->split);
	if (*row->stratum)
		cJSON_AddStringToObject(j, "difficulty", row->stratum);
	pm_json_add_i64(j, "variants", row->n_variants);
	cJSON_AddItemToArray(l->tasks, j);
	return PM_OK;
}

static cJSON *no_db(int *is_error)
{
	return pm__error(is_error, "This session has no database, and so no tasks; evaluate takes a model "
				   "instead (\"model\": \"models/llama_block.gpt\").");
}

cJSON *pm__tool_list_tasks(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	enum { LIMIT = 50 };
	List l = { .split = pm__arg(args, "split"),
		   .filter = pm__arg(args, "filter"),
		   .category = PM_N_CATEGORIES,
		   .offset = pm_json_i64(args, "offset", 0),
		   .limit = pm_json_i64(args, "limit", LIMIT) };
	cJSON *j;
	PmErr err;

	(void)run;
	pm_err_init(&err);
	if (!t->db)
		return no_db(is_error);
	if (pm__arg(args, "category"))
		l.category = pm_category_from_name(pm__arg(args, "category"));
	j = cJSON_CreateObject();
	l.tasks = cJSON_AddArrayToObject(j, "tasks");
	if (pm_tasks_each(t->db, add_task, &l, &err)) {
		cJSON_Delete(j);
		return pm__error_of(is_error, &err);
	}
	pm_json_add_i64(j, "found", l.n);
	if (l.offset + l.limit < l.n)
		pm_json_add_i64(j, "next_offset", l.offset + l.limit);
	return j;
}

/* ---- what it is worth ---- */

typedef struct Wanted {
	int64_t number;
	int dtype;
	PmGraph *g;
} Wanted;

/* Bytes of the inputs, the constants and the outputs: what any pass must move at least once. Constants of a
 * few elements (an epsilon, an exponent) stand in the kernel itself. */
static double least_bytes(const PmGraph *g)
{
	enum { FEW = 16 };
	double all = 0;

	for (uint32_t i = 1; i < pm_graph_value_limit(g); i++) {
		PmValue v = { i };
		int64_t n = 0, elements = 0;

		if (pm_value_is_const(g, v) &&
		    (pm_type_numel(pm_value_type(g, v), &elements, NULL) || elements <= FEW))
			continue;
		if ((pm_value_is_input(g, v) || pm_value_is_output(g, v) ||
		     (pm_value_is_const(g, v) && pm_value_n_uses(g, v))) &&
		    !pm_type_bytes(pm_value_type(g, v), &n, NULL))
			all += (double)n;
	}
	return all;
}

/* Microseconds to a thousandth: no model says more. */
static void add_us(cJSON *j, const char *key, double seconds)
{
	cJSON_AddNumberToObject(j, key, round(seconds * 1e9) / 1e3);
}

cJSON *pm__worth(const PmGraph *g, int dtype)
{
	const PmProfile *p = pm_profile(NULL);
	PmPlanStats s;
	double best, bytes = least_bytes(g), by_flops;
	cJSON *j;

	if (pm_graph_plan_stats(g, NULL, 0, p, &s, NULL))
		return NULL;
	by_flops = (double)s.flops / p->flops_per_second[pm_dtype_peak(dtype)];
	best = p->start_seconds + p->launch_seconds + fmax(bytes / p->bytes_per_second, by_flops);
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "time", "modelled");
	cJSON_AddStringToObject(j, "profile", p->name);
	add_us(j, "plain_us", s.modelled_seconds);
	cJSON_AddNumberToObject(j, "plain_launches", s.n_launches);
	cJSON_AddNumberToObject(j, "plain_bytes", (double)s.bytes);
	cJSON_AddNumberToObject(j, "flops", (double)s.flops);
	cJSON_AddNumberToObject(j, "least_bytes", bytes);
	add_us(j, "roofline_us", best);
	cJSON_AddStringToObject(j, "limited_by",
				bytes / p->bytes_per_second >= by_flops ? "memory" : "arithmetic");
	add_us(j, "saves_us", fmax(s.modelled_seconds - best, 0));
	cJSON_AddNumberToObject(j, "speedup_at_most",
				best > 0 ? round(s.modelled_seconds / best * 1e3) / 1e3 : 1);
	return j;
}

static PmStatus read_one(void *arg, const PmVariantRow *v, PmErr *err)
{
	Wanted *w = arg;

	if (v->ordinal != w->number)
		return PM_OK;
	w->dtype = v->dtype;
	return pm_graph_parse(v->text, strlen(v->text), &w->g, err);
}

double pm__roofline(const PmTools *t, const PmToolRun *r, int number)
{
	Wanted w = { .number = number, .dtype = PM_F32 };
	cJSON *worth;
	double us;

	if (r->task)
		pm_task_variants_each(t->db, r->task, read_one, &w, NULL);
	else if (r->variant < 0 && !number) /* a variant of a model is made where it is evaluated */
		pm_model_load(r->target.s, &w.g, NULL, NULL);
	worth = w.g ? pm__worth(w.g, w.dtype) : NULL;
	us = pm_json_num(worth, "roofline_us", 0);
	cJSON_Delete(worth);
	pm_graph_free(w.g);
	return us * 1e-6;
}

/* In words that a prompt can hold. */
static void describe_hardware(const PmTools *t, PmStr *out)
{
	const PmProfile *p = pm_profile(NULL);

	if (strcmp(t->device, "emu") != 0) {
		pm_str_add(out, "Kernels run on this machine's GPU, and times are measured there. ");
		return;
	}
	pm_str_addf(
		out,
		"Kernels run on an emulated device, and times are modelled for a GPU (%s): %.2g us for a "
		"run, "
		"and each launch %.2g us, "
		"plus the larger of bytes / %.3g TB/s and operations / peak. Bytes are those of a launch's "
		"inputs, outputs and scratch, each once. Operations are the graph's own. The peak is that of "
		"the "
		"kernel's element type (float %.3g, float16 and bfloat16 %.3g TFLOP/s), with or without "
		"tensor "
		"cores. Of your kernels accesses are counted too: sectors of 32 bytes asked of L2, passes "
		"over "
		"L1 and shared memory, instructions of warps; the largest decides, and what a warp waits for "
		"(requests, barriers, collectives) is added. Products and convolutions of the plain run take "
		"what a library takes. "
		"passmith://docs/reference/modelled-times.md says all of it. Blocks have 1024 threads "
		"at "
		"most, warps 32, static shared memory 48 KiB. What counts is launches and bytes: keep values "
		"between operators in registers or shared memory, and let neighbouring threads access "
		"neighbouring elements.",
		p->name, p->start_seconds * 1e6, p->launch_seconds * 1e6, p->bytes_per_second * 1e-12,
		p->flops_per_second[PM_PEAK_SINGLE] * 1e-12, p->flops_per_second[PM_PEAK_HALF] * 1e-12);
}

/* ---- one task ---- */

static PmStatus add_about(void *arg, const PmTaskRow *row, PmErr *err)
{
	cJSON *j = arg;

	(void)err;
	pm_json_add_i64(j, "task", row->id);
	cJSON_AddStringToObject(j, "name", row->name);
	cJSON_AddStringToObject(j, "split", row->split);
	cJSON_AddStringToObject(j, "difficulty", row->stratum);
	pm_json_add_i64(j, "variants", row->n_variants);
	return PM_OK;
}

/* `speedup_at_most` of the variants that can be planned. */
typedef struct Speedups {
	double least, most, log_sum;
	int n;
} Speedups;

static PmStatus add_speedup(void *arg, const PmVariantRow *v, PmErr *err)
{
	Speedups *s = arg;
	PmGraph *g = NULL;
	PmStatus st = pm_graph_parse(v->text, strlen(v->text), &g, err);
	cJSON *worth = st ? NULL : pm__worth(g, v->dtype);
	double x = pm_json_num(worth, "speedup_at_most", 0);

	if (x > 0) {
		s->least = s->n ? fmin(s->least, x) : x;
		s->most = s->n ? fmax(s->most, x) : x;
		s->log_sum += log(x);
		s->n++;
	}
	cJSON_Delete(worth);
	pm_graph_free(g);
	return st;
}

/* The first variant's figures say little where sizes differ: a launch's cost weighs most in the small ones.
 */
static void add_speedups(const PmTools *t, int64_t task, cJSON *worth)
{
	Speedups s = { 0 };
	cJSON *j;

	pm_json_add_i64(worth, "variant", 0);
	if (pm_task_variants_each(t->db, task, add_speedup, &s, NULL) || !s.n)
		return;
	j = cJSON_AddObjectToObject(worth, "speedup_at_most_of_all");
	pm_json_add_i64(j, "variants", s.n);
	cJSON_AddNumberToObject(j, "least", s.least);
	cJSON_AddNumberToObject(j, "most", s.most);
	cJSON_AddNumberToObject(j, "mean", round(exp(s.log_sum / s.n) * 1e3) / 1e3);
}

static PmStatus add_text(void *arg, const PmVariantRow *v, PmErr *err)
{
	(void)err;
	cJSON_AddStringToObject(arg, "graph", v->text);
	return PM_DECLINED; /* one is enough */
}

/* The members of what is known of the first variant. */
static void add_first(const PmTools *t, int64_t task, const PmGraph *g, int dtype, cJSON *j)
{
	PmCategory c = pm_category_of(g, NULL);
	cJSON *worth = pm__worth(g, dtype);

	cJSON_AddStringToObject(j, "category", pm_category_name(c));
	cJSON_AddStringToObject(j, "category_means", pm_category_what(c));
	if (worth) {
		add_speedups(t, task, worth);
		cJSON_AddItemToObject(j, "worth", worth);
	}
}

cJSON *pm__tool_show_task(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	PmStr text = PM_STR_INIT;
	PmGraph *first = NULL;
	cJSON *j, *graphs = NULL;
	int dtype = PM_F32;
	char uri[64];
	int64_t id;
	PmErr err;

	(void)run;
	pm_err_init(&err);
	if (!t->db)
		return no_db(is_error);
	if (pm__task_id(t, pm__arg(args, "task"), &id, &err))
		return pm__error_of(is_error, &err);
	snprintf(uri, sizeof uri, "passmith://task/%lld", (long long)id);
	j = cJSON_CreateObject();
	if (pm_task_get(t->db, id, add_about, j, &err) ||
	    pm__task_graphs(t, id, uri, &graphs, &first, &dtype, &err)) {
		cJSON_Delete(j);
		cJSON_Delete(graphs);
		return pm__error_of(is_error, &err);
	}
	pm_task_variants_each(t->db, id, add_text, j, NULL);
	if (first)
		add_first(t, id, first, dtype, j);
	cJSON_AddStringToObject(j, "notation",
				"Parameters that newer ONNX opsets pass as constant operands are attributes "
				"here: starts, ends, "
				"axes and steps of Slice, axes of Squeeze, Unsqueeze and the reductions, "
				"split of Split, pads of "
				"Pad. show_api of an operator lists its attributes.");
	cJSON_AddItemToObject(j, "graphs", graphs);
	describe_hardware(t, &text);
	cJSON_AddStringToObject(j, "hardware", text.s);
	cJSON_AddStringToObject(j, "all_graphs", uri);
	pm__fit(j, uri);
	pm_str_release(&text);
	pm_graph_free(first);
	return j;
}
