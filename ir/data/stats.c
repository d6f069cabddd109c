/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - reads tensor_stats and turns an entry, or else a role, into a law. */
#include "ir/data/stats.h"

#include "base/core/hash.h"
#include "base/core/json.h"
#include "ir/core/element.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL 0.0005  /* half of the last printed decimal: smaller numbers print as 0 */
#define TINY    0.00025 /* what a number that printed as 0 is taken for */

struct PmStats {
	cJSON *root;
	const cJSON **entry; /* sorted by name */
	size_t n;
	uint64_t hash;
};

const char *pm_law_from_name(PmLawFrom from)
{
	static const char *const names[] = { "from statistics", "literal", "by role, without statistics",
					     "by role, statistics are another tensor's",
					     "by role, statistics do not fit it" };

	return from < PM_N_LAW_FROM ? names[from] : "?";
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* A copy in which NaN and Infinity, which JSON lacks and some writers write, are empty strings: no numbers.
 */
static char *without_nan(const char *text)
{
	static const char *const words[] = { "-Infinity", "Infinity", "NaN" };
	char *copy = pm_xstrdup(text), *p;
	int quoted = 0;

	for (p = copy; *p; p++) {
		if (quoted && *p == '\\' && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
		for (size_t k = 0; !quoted && k < sizeof words / sizeof *words; k++) {
			size_t n = strlen(words[k]);

			if (strncmp(p, words[k], n) != 0)
				continue;
			memset(p, ' ', n);
			memset(p, '"', 2);
			p += n - 1;
			break;
		}
	}
	return copy;
}

PmStats *pm_stats_new(const PmGraph *g)
{
	PmStats *s = pm_xcalloc(1, sizeof *s);
	const char *text = pm_graph_meta(g, PM_STATS_KEY);
	char *copy = text ? without_nan(text) : NULL;
	int bad = !text || pm_json_parse(copy, strlen(copy), &s->root, NULL);
	const cJSON *e;

	free(copy);
	if (bad)
		return s;
	if (!cJSON_IsObject(s->root))
		return s;
	s->hash = pm_hash64(text, strlen(text), PM_HASH_SEED);
	s->entry = pm_xcalloc((size_t)cJSON_GetArraySize(s->root) + 1, sizeof *s->entry);
	cJSON_ArrayForEach(e, s->root)
	{
		if (cJSON_IsObject(e) && e->string)
			s->entry[s->n++] = e;
	}
	qsort(s->entry, s->n, sizeof *s->entry, by_name);
	return s;
}

void pm_stats_free(PmStats *s)
{
	if (!s)
		return;
	cJSON_Delete(s->root);
	free(s->entry);
	free(s);
}

uint64_t pm_stats_hash(const PmStats *s)
{
	return s->hash;
}

static const cJSON *find(const PmStats *s, const char *name)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(name, s->entry[mid]->string);

		if (!c)
			return s->entry[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

/* "a_12": names that say nothing. */
static int is_number(const char *name)
{
	if (!isalpha((unsigned char)name[0]) || name[1] != '_' || !name[2])
		return 0;
	return name[2 + strspn(name + 2, "0123456789")] == '\0';
}

static int is_own(const cJSON *e, const char *name)
{
	const char *source = pm_json_str(e, "source", NULL);

	if (!source || is_number(name))
		return 1;
	for (; *source && tolower((unsigned char)*source) == tolower((unsigned char)*name); source++)
		name++;
	return !*source && !*name;
}

/* ---- laws by role ---- */

static void set_law(PmSynth *s, PmSynthLaw law, double mean_or_lo, double std_or_hi)
{
	s->law = law;
	if (law == PM_SYNTH_NORMAL || law == PM_SYNTH_POSITIVE) {
		s->mean = mean_or_lo;
		s->std = std_or_hi;
	} else {
		s->lo = mean_or_lo;
		s->hi = std_or_hi;
	}
}

static void law_of_role(PmSynth *s, const PmType *t, PmInputRole role, int64_t limit)
{
	int64_t end = limit < 1 ? 1 : limit > INT32_MAX ? INT32_MAX : limit;

	switch (role) {
	case PM_ROLE_WEIGHT:
		set_law(s, PM_SYNTH_NORMAL, 0, 1 / sqrt(pm_fan_in(t)));
		break;
	case PM_ROLE_SCALE:
		set_law(s, PM_SYNTH_NORMAL, 1, 0.1);
		break;
	case PM_ROLE_BIAS:
	case PM_ROLE_MEAN:
		set_law(s, PM_SYNTH_NORMAL, 0, 0.1);
		break;
	case PM_ROLE_VARIANCE:
		set_law(s, PM_SYNTH_UNIFORM, 0.25, 1.75);
		break;
	case PM_ROLE_PROB:
		set_law(s, PM_SYNTH_UNIFORM, 0.01, 0.99);
		break;
	case PM_ROLE_MASK:
		set_law(s, PM_SYNTH_MASK, 0, 1);
		break;
	case PM_ROLE_INVERTED:
		set_law(s, PM_SYNTH_MASK, 1, 0);
		break;
	case PM_ROLE_BIAS_MASK:
		set_law(s, PM_SYNTH_MASK, -1e4, 0);
		break;
	case PM_ROLE_INDEX:
		set_law(s, PM_SYNTH_INTS, 0, (double)(end - 1));
		break;
	case PM_ROLE_COUNT:
		set_law(s, PM_SYNTH_INTS, 0, 8);
		break;
	default:
		set_law(s, PM_SYNTH_NORMAL, 0, 1);
	}
}

/* ---- laws from statistics: 1 when the entry fits role and type ---- */

static int within(double x, PmInputRole role, int64_t limit)
{
	if (!isfinite(x))
		return 0;
	return role != PM_ROLE_INDEX || (x >= 0 && x < (double)limit);
}

static int literal_law(PmSynth *s, const cJSON *data, const PmType *t, PmInputRole role, int64_t limit)
{
	const cJSON *e;
	int64_t numel;
	size_t n = 0;

	if (pm_type_numel(t, &numel, NULL) || numel < 1 || cJSON_GetArraySize(data) != numel)
		return 0;
	s->literal = pm_xcalloc((size_t)numel, sizeof *s->literal);
	cJSON_ArrayForEach(e, data)
	{
		double x = cJSON_IsBool(e) ? cJSON_IsTrue(e) : cJSON_IsNumber(e) ? e->valuedouble : NAN;

		if (!within(x, role, limit)) {
			pm_synth_release(s);
			return 0;
		}
		s->literal[n++] = x;
	}
	s->law = PM_SYNTH_LITERAL;
	s->n_literal = n;
	return 1;
}

static int ints_law(PmSynth *s, double lo, double hi, int dtype, PmInputRole role, int64_t limit)
{
	double least = fmax(pm_int_to_f64(dtype, pm_int_from_f64(dtype, -INFINITY)), -2147483647);
	double most = fmin(pm_int_to_f64(dtype, pm_int_from_f64(dtype, INFINITY)), 2147483647);

	if (role == PM_ROLE_INDEX) {
		least = 0;
		most = (double)limit - 1 < most ? (double)limit - 1 : most;
	}
	lo = lo > least ? ceil(lo) : least;
	hi = hi < most ? floor(hi) : most;
	if (!(lo <= hi))
		return 0;
	set_law(s, PM_SYNTH_INTS, lo, hi);
	return 1;
}

static int float_law(PmSynth *s, const PmType *t, double mean, double std, double lo, double hi, int uniform,
		     PmInputRole role)
{
	int positive = role == PM_ROLE_VARIANCE;
	int64_t numel;

	if (isnan(std) && !pm_type_numel(t, &numel, NULL) &&
	    numel == 1) /* one element deviates from nothing */
		std = 0;
	if (uniform || isnan(mean) || isnan(std)) { /* a range is all there is */
		if (isnan(lo) || isnan(hi) || lo > hi || (positive && lo <= 0))
			return 0;
		set_law(s, PM_SYNTH_UNIFORM, lo, hi);
		return 1;
	}
	if (!isfinite(mean) || !isfinite(std) || std < 0 || (positive && mean < 0))
		return 0;
	if (std < DECIMAL)
		std = TINY;
	if (positive && mean < DECIMAL)
		mean = TINY;
	set_law(s, positive ? PM_SYNTH_POSITIVE : PM_SYNTH_NORMAL, mean, std);
	if (lo <= hi) {
		s->lo = positive && lo < mean / 64 ? mean / 64 : lo;
		s->hi = hi;
	}
	return 1;
}

/* Whether mean and deviation may be those of zeros and ones. */
static int is_binary(double mean, double std)
{
	return !(fabs(std * std - mean * (1 - mean)) > 0.02);
}

static int law_of_entry(PmSynth *s, const cJSON *e, const PmType *t, PmInputRole role, int64_t limit)
{
	const cJSON *data = cJSON_GetObjectItemCaseSensitive(e, "data");
	double lo = pm_json_num(e, "min", NAN), hi = pm_json_num(e, "max", NAN);
	double mean = pm_json_num(e, "mean", NAN), std = pm_json_num(e, "std", NAN);

	if (cJSON_IsArray(data))
		return literal_law(s, data, t, role, limit);
	if (t->dtype == PM_BOOL || role == PM_ROLE_INVERTED || role == PM_ROLE_BIAS_MASK ||
	    (role == PM_ROLE_MASK && is_binary(mean, std)))
		return 0;
	if (!pm_dtype_is_float(t->dtype))
		return ints_law(s, lo, hi, t->dtype, role, limit);
	return float_law(s, t, mean, std, lo, hi, !strcmp(pm_json_str(e, "law", ""), "uniform"), role);
}

PmLawFrom pm_stats_law(const PmStats *s, const char *name, const PmType *t, PmInputRole role, int64_t limit,
		       uint64_t seed, PmSynth *out)
{
	const cJSON *e = find(s, name);
	PmLawFrom from = e ? PM_LAW_UNFIT : PM_LAW_NONE;

	memset(out, 0, sizeof *out);
	out->dtype = t->dtype;
	out->seed = pm_hash64(name, strlen(name), seed ^ PM_HASH_SEED);
	out->lo = -INFINITY;
	out->hi = INFINITY;
	out->row = t->rank > 0 ? t->dim[t->rank - 1] : 1;
	if (e && !is_own(e, name))
		from = PM_LAW_OTHER;
	else if (e && law_of_entry(out, e, t, role, limit))
		from = out->law == PM_SYNTH_LITERAL ? PM_LAW_LITERAL : PM_LAW_STATS;
	else
		out->lo = -INFINITY;
	if (from != PM_LAW_STATS && from != PM_LAW_LITERAL)
		law_of_role(out, t, role, limit);
	pm_synth_ready(out);
	return from;
}
