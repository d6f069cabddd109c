/* SPDX-License-Identifier: Apache-2.0 */
/* targets.c - the table of GPUs: what targets/NAME.def says, and by ratios what it does not say. */
#include "targets/targets.h"

#include "base/core/arena.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the same on all of 8.0
 * to 10.0. */
enum { WARP = 32, BLOCK_THREADS = 1024, STATIC_SHARED = 48 << 10 };

enum {
#define BEGIN(name) AT_##name,
#define FACT(field, value)
#define COST(name, value)
#define END
#include "targets/all.def"
#undef BEGIN
#undef FACT
#undef COST
	N_TARGETS
};

enum {
#define XX(name, ...) COST_##name,
#include "targets/costs.def"
#undef XX
	N_COSTS
};

/* The others are taken over from the first one. */
enum {
	N_COSTS_OF_FIRST = 0
#define FACT(field, value)
#define COST(name, value) +1
#include "targets/h200.def"
#undef FACT
#undef COST
};
_Static_assert(AT_h200 == 0 && (int)N_COSTS_OF_FIRST == (int)N_COSTS,
	       "targets/h200.def, the first target, must have every constant of targets/costs.def");

/* As they stand in the files. */
static const PmTarget written[N_TARGETS] = {
#define BEGIN(short_name)  [AT_##short_name] = { .name = #short_name,
#define FACT(field, value) .field = (value),
#define COST(name, value)
#undef END
#define END                                                                                                  \
	}                                                                                                    \
	,
#include "targets/all.def"
#undef BEGIN
#undef FACT
#undef COST
};

/* 0 = not fitted; the last one is none, since C has no empty list. */
static const double fitted[N_TARGETS][N_COSTS + 1] = {
#define BEGIN(short_name) [AT_##short_name] = { [N_COSTS] = 0,
#define FACT(field, value)
#define COST(name, value) [COST_##name] = (value),
#include "targets/all.def"
#undef BEGIN
#undef FACT
#undef COST
#undef END
};

static const PmCostInfo info[N_COSTS] = {
#define XX(name, ratio, meaning, experiment) { #name, #ratio, meaning, experiment },
#include "targets/costs.def"
#undef XX
};

static const PmArch archs[] = {
#define XX(cc, warps, blocks, registers, unit, most, shared, of_block, kept, shared_unit, parts)             \
	{ cc, warps, blocks, registers, unit, most, shared, of_block, kept, shared_unit, parts },
#include "targets/archs.def"
#undef XX
};

/* A target with room for its numbers and its names. */
typedef struct Entry {
	struct Entry *next; /* of `devices` */
	PmTarget t;
	PmNumber number[N_COSTS];
	char name[80], full_name[128];
} Entry;

static Entry table[N_TARGETS];
static Entry *devices; /* those that no row describes */
static const PmTarget *now = &table[0].t;
static const PmTarget *const *trials;
static size_t n_trials;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const PmArch *pm_arch(int cc)
{
	for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
		if (archs[i].cc == cc)
			return &archs[i];
	return NULL;
}

/* ---- what is not written ---- */

/* What two targets are compared by; SAME and unknown numbers: 1. */
static double ratio(const char *by, const PmTarget *t, const PmTarget *from)
{
	double a = 0, b = 0;
	int of_sm = !strncmp(by, "SM_", 3);

	by += of_sm ? 3 : 0;
	if (!strcmp(by, "CLOCK"))
		a = t->sm_clock_hz, b = from->sm_clock_hz;
	else if (!strcmp(by, "MEMORY"))
		a = t->memory_bytes_per_second, b = from->memory_bytes_per_second;
	else if (!strcmp(by, "L2"))
		a = t->l2_bytes_per_second, b = from->l2_bytes_per_second;
	else if (!strcmp(by, "FLOAT"))
		a = t->f32_flops_per_second, b = from->f32_flops_per_second;
	else if (!strcmp(by, "TENSOR"))
		a = t->f16_tensor_flops_per_second, b = from->f16_tensor_flops_per_second;
	if (of_sm)
		a /= t->sm_count, b /= from->sm_count;
	return a > 0 && b > 0 ? a / b : 1;
}

static void add_arch(PmTarget *t)
{
	const PmArch *a = pm_arch(t->compute_capability);

	t->warp_threads = WARP;
	t->block_threads = BLOCK_THREADS;
	t->block_static_shared_bytes = STATIC_SHARED;
	if (!a)
		return;
	t->sm_threads = t->sm_threads ? t->sm_threads : a->warps * WARP;
	t->sm_blocks = t->sm_blocks ? t->sm_blocks : a->blocks;
	t->sm_registers = t->sm_registers ? t->sm_registers : a->registers;
	t->thread_registers = a->max_registers;
	t->sm_shared_bytes = t->sm_shared_bytes ? t->sm_shared_bytes : a->shared;
	t->block_shared_bytes = t->block_shared_bytes ? t->block_shared_bytes : a->shared_block;
	t->block_kept_shared_bytes = a->shared_kept;
}

/* Facts that no data sheet has, and the costs, from those of `from`; `own`: costs that were fitted, 0 = none.
 */
static void complete(Entry *e, const PmTarget *from, const double *own)
{
	PmTarget *t = &e->t;
	double sms = (double)t->sm_count / from->sm_count;

	t->struct_size = sizeof *t;
	add_arch(t);
	if (!(t->copy_bytes_per_second > 0))
		t->copy_bytes_per_second = from->copy_bytes_per_second * ratio("MEMORY", t, from);
	if (!(t->l2_bytes_per_second > 0))
		t->l2_bytes_per_second = from->l2_bytes_per_second * sms * ratio("CLOCK", t, from);
	if (!(t->launch_seconds > 0))
		t->launch_seconds = from->launch_seconds;
	t->fitted = 1;
	for (int i = 0; i < N_COSTS; i++) {
		double taken = from == t ? NAN : from->number[i].value * ratio(info[i].ratio, t, from);

		t->fitted &= own && own[i] > 0;
		e->number[i] = (PmNumber){ info[i].name, own && own[i] > 0 ? own[i] : taken };
	}
	t->number = e->number;
	t->n_numbers = N_COSTS;
}

static void fill(void)
{
	for (int i = 0; i < N_TARGETS; i++) {
		table[i].t = written[i];
		complete(&table[i], &table[0].t, fitted[i]);
	}
}

/* ---- which ---- */

const PmTarget *pm_target_now(void)
{
	pthread_once(&once, fill);
	return now;
}

void pm_target_set(const PmTarget *t)
{
	pthread_once(&once, fill);
	now = t;
}

void pm_target_trials(const PmTarget *const *t, size_t n)
{
	trials = t;
	n_trials = n;
}

const PmTarget *pm_target_trial(size_t i)
{
	return !i ? pm_target_now() : i <= n_trials ? trials[i - 1] : NULL;
}

const PmTarget *pm_target_at(size_t i)
{
	pthread_once(&once, fill);
	return i < N_TARGETS ? &table[i].t : NULL;
}

const PmTarget *pm_target_find(const char *name)
{
	const PmTarget *t = pm_target_now();

	if (!name || !strcmp(t->name, name))
		return t;
	for (size_t i = 0; (t = pm_target_at(i)); i++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

const PmTarget *pm_target_of_cc(int cc)
{
	const PmTarget *t;

	for (size_t i = 0; (t = pm_target_at(i)); i++)
		if (t->compute_capability == cc)
			return t;
	return NULL;
}

const char *pm_target_names(void)
{
#define BEGIN(name) " " #name
#define FACT(field, value)
#define COST(name, value)
#define END
	return
#include "targets/all.def"
		;
#undef BEGIN
#undef FACT
#undef COST
#undef END
}

/* ---- a device ---- */

/* Memory that a device reports is not exactly what its name says. */
static int is_about(double a, double b)
{
	return a < 1.2 * b && b < 1.2 * a;
}

static int is_row(const PmTarget *t, const PmTargetFacts *f)
{
	return t->compute_capability == f->cc && t->sm_count == f->sm_count &&
	       is_about((double)t->memory_bytes, (double)f->memory_bytes);
}

/* The first row whose compute capability is the highest that f's reaches; else the last of the lowest. */
static const PmTarget *closest(const PmTargetFacts *f)
{
	const PmTarget *best = NULL, *lowest = pm_target_at(0), *t;

	for (size_t i = 0; (t = pm_target_at(i)); i++) {
		if (t->compute_capability < lowest->compute_capability)
			lowest = t;
		if (t->compute_capability <= f->cc &&
		    (!best || t->compute_capability > best->compute_capability))
			best = t;
	}
	return best ? best : lowest;
}

/* "NVIDIA RTX A6000" as "nvidia-rtx-a6000". */
static void name_of(const char *full, char *out, size_t size)
{
	size_t n = 0;

	for (; *full && n + 1 < size; full++)
		out[n++] = (char)(isalnum((unsigned char)*full) ? tolower((unsigned char)*full) : '-');
	out[n] = 0;
}

static void scale_rates(PmTarget *t, double by)
{
	t->f64_flops_per_second *= by;
	t->f32_flops_per_second *= by;
	t->i32_ops_per_second *= by;
	t->tf32_tensor_flops_per_second *= by;
	t->f16_tensor_flops_per_second *= by;
	t->f8_tensor_flops_per_second *= by;
	t->i8_tensor_ops_per_second *= by;
}

const PmTarget *pm_target_of_device(const PmTargetFacts *f)
{
	const PmTarget *from, *t;
	Entry *e;
	double clock;

	for (size_t i = 0; (t = pm_target_at(i)); i++)
		if (is_row(t, f))
			return t;
	from = closest(f);
	e = pm_xcalloc(1, sizeof *e);
	e->next = devices;
	devices = e;
	snprintf(e->full_name, sizeof e->full_name, "%s", f->full_name);
	name_of(f->full_name, e->name, sizeof e->name);
	e->t = *from;
	e->t.name = e->name;
	e->t.full_name = e->full_name;
	e->t.compute_capability = f->cc;
	e->t.sm_count = f->sm_count;
	e->t.sm_threads = f->sm_threads;
	e->t.sm_blocks = f->sm_blocks;
	e->t.sm_registers = f->sm_registers;
	e->t.sm_shared_bytes = f->sm_shared_bytes;
	e->t.block_shared_bytes = f->block_shared_bytes;
	e->t.l2_bytes = f->l2_bytes;
	e->t.memory_bytes = f->memory_bytes;
	if (f->sm_clock_hz > 0)
		e->t.sm_clock_hz = f->sm_clock_hz;
	clock = e->t.sm_clock_hz / from->sm_clock_hz;
	/* Two transfers in a clock of the memory. */
	if (f->memory_clock_hz > 0 && f->memory_bus_bits > 0)
		e->t.memory_bytes_per_second = 2 * f->memory_clock_hz * f->memory_bus_bits / 8;
	scale_rates(&e->t, clock * f->sm_count / from->sm_count);
	e->t.copy_bytes_per_second = e->t.l2_bytes_per_second = 0;
	complete(e, from, NULL);
	return &e->t;
}

/* ---- as JSON ---- */

void pm_target_to_json(const PmTarget *t, cJSON *j)
{
	cJSON *numbers;

#define TEXT(field)  cJSON_AddStringToObject(j, #field, t->field);
#define COUNT(field) cJSON_AddNumberToObject(j, #field, t->field);
#define BYTES(field) pm_json_add_i64(j, #field, t->field);
#define RATE(field)  cJSON_AddNumberToObject(j, #field, t->field);
#include "targets/fields.def"
	numbers = cJSON_AddObjectToObject(j, "costs");
	for (uint32_t i = 0; i < t->n_numbers; i++)
		cJSON_AddNumberToObject(numbers, t->number[i].name, t->number[i].value);
}

PmStatus pm_target_from_json(const cJSON *j, PmTarget **out, PmErr *err)
{
	const cJSON *numbers = cJSON_GetObjectItemCaseSensitive(j, "costs"), *x;
	int n = cJSON_GetArraySize(numbers), i = 0;
	size_t names = strlen(pm_json_str(j, "name", "")) + strlen(pm_json_str(j, "full_name", "")) + 2;
	const char *missing = n ? NULL : "costs";
	PmTarget *t;
	PmNumber *v;
	char *text;

	*out = NULL;
	cJSON_ArrayForEach(x, numbers) names += strlen(x->string) + 1;
	t = pm_xcalloc(1, sizeof *t + (size_t)n * sizeof *v + names);
	v = (PmNumber *)(void *)(t + 1);
	text = (char *)(v + n);
	t->struct_size = sizeof *t;
#define MISSING(field)                                                                                       \
	if (!cJSON_GetObjectItemCaseSensitive(j, #field))                                                    \
		missing = #field;
#define TEXT(field)                                                                                          \
	MISSING(field)                                                                                       \
	t->field = strcpy(text, pm_json_str(j, #field, ""));                                                 \
	text += strlen(text) + 1;
#define COUNT(field) MISSING(field) t->field = (int32_t)pm_json_i64(j, #field, 0);
#define BYTES(field) MISSING(field) t->field = pm_json_i64(j, #field, 0);
#define RATE(field)  MISSING(field) t->field = pm_json_num(j, #field, 0);
#include "targets/fields.def"
#undef MISSING
	cJSON_ArrayForEach(x, numbers)
	{
		v[i++] = (PmNumber){ strcpy(text, x->string), x->valuedouble };
		text += strlen(text) + 1;
	}
	t->number = v;
	t->n_numbers = (uint32_t)n;
	if (missing) {
		free(t);
		return pm_err(err, PM_E_INVALID, "The target of the job lacks '%s'.", missing);
	}
	*out = t;
	return PM_OK;
}

PmStatus pm_target_changed(const PmTarget *t, const cJSON *changes, PmTarget **out, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *costs;
	const cJSON *x;
	PmStatus st = PM_OK;

	*out = NULL;
	pm_target_to_json(t, j);
	costs = cJSON_GetObjectItem(j, "costs");
	cJSON_ArrayForEach(x, changes)
	{
		cJSON *c = x->string ? cJSON_GetObjectItemCaseSensitive(costs, x->string) : NULL;

		if (!c || !cJSON_IsNumber(x) || !(x->valuedouble > 0))
			st = pm_err(
				err, PM_E_INVALID,
				"'%.60s' is no constant of the target %s, or its value is no number above 0; "
				"passmith doctor --targets --json lists them.",
				x->string ? x->string : "", t->name);
		else
			cJSON_SetNumberHelper(c, x->valuedouble);
		if (st)
			break;
	}
	if (!st)
		st = pm_target_from_json(j, out, err);
	cJSON_Delete(j);
	return st;
}

const PmCostInfo *pm_cost_info(size_t i)
{
	return i < N_COSTS ? &info[i] : NULL;
}

double pm_target_cost(const PmTarget *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_numbers; i++)
		if (!strcmp(t->number[i].name, name))
			return t->number[i].value;
	return NAN;
}
