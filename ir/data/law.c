/* SPDX-License-Identifier: Apache-2.0 */
/* law.c - laws as text, and those that a model's statistics give its inputs. */
#include "ir/data/law.h"

#include "ir/data/stats.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBERS = 4 };

static const struct Word {
	const char *name;
	PmSynthLaw law;
	int n; /* numbers */
} words[] = { { "normal", PM_SYNTH_NORMAL, 4 },
	      { "positive", PM_SYNTH_POSITIVE, 4 },
	      { "uniform", PM_SYNTH_UNIFORM, 2 } };

int pm_law_text(const PmSynth *s, PmStr *out)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (words[i].law != s->law)
			continue;
		pm_str_addf(out, "%s(", words[i].name);
		if (words[i].n == 4)
			pm_str_addf(out, "%.9g, %.9g, ", s->mean, s->std);
		pm_str_addf(out, "%.9g, %.9g)", s->lo, s->hi);
		return 1;
	}
	return 0;
}

/* The numbers between the brackets: 1 when there are n and nothing else. */
static int read_numbers(const char *p, int n, double *x)
{
	for (int i = 0; i < n; i++) {
		char *end;

		if (isspace((unsigned char)*p) && !(i && *p == ' '))
			return 0;
		x[i] = strtod(p, &end);
		if (end == p || isnan(x[i]) || *end != (i + 1 < n ? ',' : ')'))
			return 0;
		p = end + 1;
	}
	return !*p;
}

static int read_law(const char *text, PmSynth *s)
{
	double x[MAX_NUMBERS];
	const double *range = x;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t len = strlen(words[i].name);

		if (strncmp(text, words[i].name, len) != 0 || text[len] != '(')
			continue;
		if (!read_numbers(text + len + 1, words[i].n, x))
			return 0;
		if (words[i].n == 4) {
			s->mean = x[0];
			s->std = x[1];
			range = x + 2;
		}
		s->law = words[i].law;
		s->lo = range[0];
		s->hi = range[1];
		if (s->law == PM_SYNTH_UNIFORM)
			return s->lo <= s->hi && isfinite(s->lo) && isfinite(s->hi);
		return s->lo <= s->hi && isfinite(s->mean) && isfinite(s->std) && s->std >= 0 &&
		       (s->law == PM_SYNTH_NORMAL || s->mean > 0);
	}
	return 0;
}

PmStatus pm_law_read(const char *text, int dtype, PmSynth *out, PmErr *err)
{
	memset(out, 0, sizeof *out);
	out->dtype = dtype;
	if (!pm_dtype_is_float(dtype) || !read_law(text, out))
		return pm_err(
			err, PM_E_INVALID,
			"The law '%.80s' of elements of type %s is none; write normal(MEAN, STD, LO, HI), "
			"positive(MEAN, STD, LO, HI) or uniform(LO, HI), for a floating-point input.",
			text, pm_dtype_name(dtype));
	pm_synth_ready(out);
	return PM_OK;
}

PmStatus pm_laws_from_stats(PmGraph *g, size_t *n, PmErr *err)
{
	PmStats *stats = pm_stats_new(g);
	PmStr text = PM_STR_INIT;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_inputs(g) && !st; i++) {
		PmValue v = pm_graph_input(g, i);
		const PmType *t = pm_value_type(g, v);
		int64_t limit;
		PmInputRole role = pm_input_role(g, v, &limit);
		PmSynth s;
		PmLawFrom from = pm_stats_law(stats, pm_value_name(g, v), t, role, limit, 0, &s);

		pm_str_clear(&text);
		if (from == PM_LAW_STATS && pm_dtype_is_float(t->dtype) && pm_law_text(&s, &text)) {
			st = pm_graph_set_input_law(g, v, text.s, err);
			if (!st && n)
				++*n;
		}
		pm_synth_release(&s);
	}
	pm_str_release(&text);
	pm_stats_free(stats);
	return st;
}
