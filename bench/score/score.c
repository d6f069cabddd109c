/* SPDX-License-Identifier: Apache-2.0 */
/* score.c - from the records of one task to S(t), ES(t) and the AS number. */
#include "bench/score/score.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

PmScoreRule pm_score_rule(PmPreset preset)
{
	PmScoreRule r = { PM_ERRORS_DEFAULT, 0, 0.1, 0, 0, 0, INFINITY, INFINITY, PM_T_MAX, 0 };

	if (preset == PM_PRESET_SOUND) {
		r.mode = PM_ERRORS_EXACT;
		r.total = 1;
		r.s_min = 1e-3;
		r.s_max = 1e3;
		r.cap_rtol = 0.5;
		r.need_t = -2;
		r.floor = 2;
	}
	return r;
}

static int n_levels(const PmScoreRule *rule)
{
	return rule->mode == PM_ERRORS_EXTENDED ? PM_T_COUNT : PM_SCORE_T_MAX - PM_T_MIN + 1;
}

/* ---- errors ---- */

/* 1 when `word` (lower case) occurs in s, whatever the case of s. */
static int mentions(const char *s, const char *word)
{
	size_t n = strlen(word);

	for (; *s; s++) {
		size_t i = 0;

		while (i < n && s[i] && tolower((unsigned char)s[i]) == word[i])
			i++;
		if (i == n)
			return 1;
	}
	return 0;
}

static int exact_errno(const char *status)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {
		{ "accuracy", 1 },     { "no_match", 1 },      { "pass_miss", 1 },
		{ "compile_fail", 2 }, { "runtime_fail", 3 },  { "timeout", 3 },
		{ "crash", 3 },        { "type_mismatch", 3 }, { "shape_mismatch", 3 },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strcmp(status, known[i].name) == 0)
			return known[i].number;
	}
	return 0;
}

int pm_score_errno(const PmScoreRule *rule, const char *status)
{
	const char *s = status ? status : "";

	if (rule->mode == PM_ERRORS_EXACT)
		return exact_errno(s);
	if (mentions(s, "accuracy"))
		return 1;
	if (rule->mode == PM_ERRORS_DEFAULT)
		return mentions(s, "compile_fail") ? 3 : 2;
	if (mentions(s, "nan") || mentions(s, "inf") || mentions(s, "type_mismatch") ||
	    mentions(s, "shape_mismatch"))
		return 2;
	return mentions(s, "compile_fail") ? 4 : 3;
}

/* The first level at which error number e is forgiven. */
static int forgiven_at(const PmScoreRule *rule, int e)
{
	if (e < 1 || e >= PM_N_ERRNO)
		return PM_T_NEVER;
	if (rule->mode == PM_ERRORS_DEFAULT)
		return e == 1 ? 1 : 3;
	return e;
}

int pm_score_forgiven(const PmScoreRule *rule, const char *status, int t)
{
	const char *s = status ? status : "";

	if (rule->mode != PM_ERRORS_EXACT && !(rule->mode == PM_ERRORS_DEFAULT && rule->forgive_eager_fail) &&
	    (strcmp(s, "eager_fail") == 0 || strcmp(s, "reference_fail") == 0))
		return 0;
	return t >= forgiven_at(rule, pm_score_errno(rule, s));
}

/* ---- one record ---- */

static int says_correct(const PmScoreRecord *r)
{
	return r->status && strcmp(r->status, "correct") == 0;
}

/* What is wrong with a record that is not correct at the level in question. */
static const char *fault(const PmScoreRecord *r)
{
	return says_correct(r) ? "accuracy" : r->status;
}

int pm_score_correct_at(const PmScoreRule *rule, const PmScoreRecord *r, int t)
{
	PmTol tol;

	if (!says_correct(r) || t < PM_T_MIN || t > PM_T_MAX)
		return 0;
	if (r->n_outputs == 0)
		return !rule->total;
	if (!r->outputs)
		return 0;
	for (size_t i = 0; i < r->n_outputs; i++) {
		const PmScoreOutput *o = &r->outputs[i];

		if (pm_tol(o->dtype, t, &tol) ? o->close[t - PM_T_MIN] != 1 : !o->equal)
			return 0;
	}
	return 1;
}

int pm_score_smallest_t(const PmScoreRule *rule, const PmScoreRecord *r)
{
	signed char ok[PM_T_COUNT];

	for (int i = 0; i < PM_T_COUNT; i++)
		ok[i] = (signed char)pm_score_correct_at(rule, r, PM_T_MIN + i);
	return pm_smallest_t(ok);
}

/* 1 when a speedup above 1 may be credited at level t. */
static int may_be_fast(const PmScoreRule *rule, const PmScoreRecord *r, int t)
{
	PmTol tol;
	int strict = rule->need_t >= PM_T_MAX;

	for (int u = PM_T_MIN; u <= rule->need_t && !strict; u++)
		strict = pm_score_correct_at(rule, r, u);
	for (size_t i = 0; i < r->n_outputs; i++) {
		if (pm_tol(r->outputs[i].dtype, t, &tol) && tol.rtol >= rule->cap_rtol)
			return 0;
	}
	return strict;
}

double pm_score_speedup(const PmScoreRule *rule, const PmScoreRecord *r)
{
	double s = r->speedup, lo = r->speedup_lo, hi = r->speedup_hi;

	if (!rule->total)
		return s;
	if (!isfinite(s))
		return 1;
	if (lo > 0 && lo <= hi && isfinite(hi)) {
		if (lo <= 1 && hi >= 1)
			s = 1;
		else if (lo > 1)
			s = fmin(s, lo);
	}
	return fmin(fmax(s, rule->s_min), rule->s_max);
}

/* The speedup that a record correct at level t is credited with, before rect; NaN when it has none. */
static double credited(const PmScoreRule *rule, const PmScoreRecord *r, int t)
{
	double s = pm_score_speedup(rule, r);

	return rule->total && s > 1 && !may_be_fast(rule, r, t) ? 1 : s;
}

static double rect(const PmScoreRule *rule, double s)
{
	double v = s >= 1 ? s : pow(s, rule->p + 1);

	return fmax(v, fmin(1, rule->floor * rule->b));
}

/* rect of the credited speedup at level t. */
static PmStatus worth(const PmScoreRule *rule, const PmScoreRecord *rec, size_t i, int t, double *out,
		      PmErr *err)
{
	double s = credited(rule, &rec[i], t);

	*out = NAN;
	if (isnan(s))
		return pm_err(
			err, PM_E_INVALID,
			"Record %zu is correct at t = %d but has no speedup, which the published scorer "
			"cannot score; measure it or use the sound preset.",
			i, t);
	*out = rect(rule, s);
	return PM_OK;
}

/* ---- means ---- */

typedef struct LogMean {
	double sum;
	size_t n;
	int zero;
} LogMean;

static void log_add(LogMean *m, double v)
{
	m->n++;
	if (v == 0)
		m->zero = 1;
	else
		m->sum += log(v);
}

static double log_mean(const LogMean *m, double if_empty)
{
	if (m->n == 0)
		return if_empty;
	return m->zero ? 0 : exp(m->sum / (double)m->n);
}

/* ---- the score ---- */

static PmStatus level(const PmScoreRule *rule, const PmScoreRecord *rec, size_t n, int t, PmScore *out,
		      PmErr *err)
{
	const int k = t - PM_T_MIN, base = t < 1 ? t : 1;
	LogMean s = { 0, 0, 0 }, es = { 0, 0, 0 };
	double v;

	for (size_t i = 0; i < n; i++) {
		PmStatus st;

		v = rule->b;
		if (pm_score_correct_at(rule, &rec[i], t)) {
			out->n_correct[k]++;
			if ((st = worth(rule, rec, i, t, &v, err)) != PM_OK)
				return st;
		}
		log_add(&s, v);
		if (t >= 1) {
			v = rule->b;
			if (pm_score_correct_at(rule, &rec[i], base)) {
				if ((st = worth(rule, rec, i, base, &v, err)) != PM_OK)
					return st;
			} else if (pm_score_forgiven(rule, fault(&rec[i]), t)) {
				v = 1;
			}
		}
		log_add(&es, v);
	}
	v = rule->total ? rule->b : NAN;
	out->s[k] = log_mean(&s, v);
	out->es[k] = log_mean(&es, v);
	return PM_OK;
}

static int untimed(const PmScoreRule *rule, const PmScoreRecord *r)
{
	return !isfinite(r->speedup) && pm_score_smallest_t(rule, r) != PM_T_NEVER;
}

PmStatus pm_score(const PmScoreRule *rule, const PmScoreRecord *rec, size_t n, PmScore *out, PmErr *err)
{
	PmStatus st = PM_OK;

	memset(out, 0, sizeof *out);
	out->n = n;
	out->n_t = n_levels(rule);
	for (int k = 0; k < out->n_t && st == PM_OK; k++)
		st = level(rule, rec, n, PM_T_MIN + k, out, err);
	if (st != PM_OK) {
		for (int k = 0; k < PM_T_COUNT; k++)
			out->s[k] = out->es[k] = NAN;
	}
	for (size_t i = 0; i < n; i++)
		out->n_untimed += (size_t)untimed(rule, &rec[i]);
	out->as = rule->mode == PM_ERRORS_EXTENDED ? NAN : pm_score_as(out->es);
	return st;
}

static double as_weight(int t)
{
	if (t < -5 || t > 3)
		return 0.001;
	return t < -2 ? 1 : pow(0.8, t + 3);
}

double pm_score_as(const double *es)
{
	double sum = 0, total = 0;

	for (int t = PM_T_MIN; t <= PM_SCORE_T_MAX; t++) {
		double v = es[t - PM_T_MIN], w = as_weight(t);

		if (v == 0)
			return 0;
		sum += w * log(v);
		total += w;
	}
	return exp(sum / total);
}

double pm_score_graphnet_log10(const double *es)
{
	double sum = 0, total = 0;

	for (int t = PM_T_MIN; t <= PM_SCORE_T_MAX; t++) {
		double w = t <= -8 ? 0.001 : t == -7 ? 0.13 : t == -6 ? 0.40 : 0.48;

		sum += w * log10(es[t - PM_T_MIN]);
		total += w;
	}
	return sum / total;
}

/* ---- the factored form ---- */

static PmStatus factors(const PmScoreRule *rule, const PmScoreRecord *rec, size_t n, int k, PmScoreMacro *m,
			PmErr *err)
{
	const int t = PM_T_MIN + k;
	LogMean all = { 0, 0, 0 }, slow = { 0, 0, 0 };

	for (size_t i = 0; i < n; i++) {
		double s, unused;

		if (!pm_score_correct_at(rule, &rec[i], t))
			continue;
		if (worth(rule, rec, i, t, &unused, err) != PM_OK)
			return PM_E_INVALID;
		s = credited(rule, &rec[i], t);
		log_add(&all, s);
		if (s < 1)
			log_add(&slow, s);
	}
	m->n_correct[k] = all.n;
	m->lambda[k] = n ? (double)all.n / (double)n : 0;
	m->eta[k] = all.n ? (double)slow.n / (double)all.n : 0;
	m->alpha[k] = log_mean(&all, 1);
	m->beta[k] = log_mean(&slow, 1);
	return PM_OK;
}

static void error_shares(const PmScoreRule *rule, const PmScoreRecord *rec, size_t n, double pi[PM_N_ERRNO])
{
	size_t count[PM_N_ERRNO] = { 0 }, errors = 0;

	for (size_t i = 0; i < n; i++) {
		if (!pm_score_correct_at(rule, &rec[i], 1)) {
			errors++;
			count[pm_score_errno(rule, fault(&rec[i]))]++;
		}
	}
	for (int e = 0; e < PM_N_ERRNO; e++)
		pi[e] = errors ? (double)count[e] / (double)errors : 0;
}

static double gamma_at(const PmScoreRule *rule, const double pi[PM_N_ERRNO], size_t n, int t)
{
	double share = 0;

	if (t <= 0 || n == 0)
		return rule->b;
	for (int e = 0; e < PM_N_ERRNO; e++) {
		if (t < forgiven_at(rule, e))
			share += pi[e];
	}
	return pow(rule->b, share);
}

PmStatus pm_score_macro(const PmScoreRule *rule, const PmScoreRecord *rec, size_t n, PmScoreMacro *out,
			PmErr *err)
{
	const int frozen = 1 - PM_T_MIN;

	memset(out, 0, sizeof *out);
	out->n_t = n_levels(rule);
	error_shares(rule, rec, n, out->pi);
	for (int k = 0; k < out->n_t; k++) {
		double speed, miss;

		if (k <= frozen) {
			PmStatus st = factors(rule, rec, n, k, out, err);

			if (st != PM_OK)
				return st;
		} else {
			out->n_correct[k] = out->n_correct[frozen];
			out->lambda[k] = out->lambda[frozen];
			out->eta[k] = out->eta[frozen];
			out->alpha[k] = out->alpha[frozen];
			out->beta[k] = out->beta[frozen];
		}
		out->gamma[k] = gamma_at(rule, out->pi, n, PM_T_MIN + k);
		speed = pow(out->alpha[k], out->lambda[k]) *
			pow(out->beta[k], out->lambda[k] * out->eta[k] * rule->p);
		miss = 1 - out->lambda[k];
		out->s[k] = speed * pow(rule->b, miss);
		out->es[k] = speed * pow(out->gamma[k], miss);
	}
	return PM_OK;
}

int pm_score_agrees(const PmScore *micro, const PmScoreMacro *macro)
{
	for (int k = 0; k < micro->n_t; k++) {
		if (!(fabs(micro->es[k] - macro->es[k]) <= 1e-3 + 1e-3 * fabs(macro->es[k])))
			return 0;
	}
	return 1;
}

const char *pm_status_from_log(const PmLogFlags *f)
{
	if (!f->datatype_eager && !f->all_close)
		return "eager_fail";
	if (!f->datatype_compiled && !f->all_close)
		return "compile_fail";
	if (!f->shape_match && !f->all_close)
		return "shape_mismatch";
	if (!f->datatype_match)
		return "type_mismatch";
	if (f->error_text)
		return "runtime_fail";
	return f->no_passes_modified ? "pass_miss" : "correct";
}
