/* SPDX-License-Identifier: Apache-2.0 */
/* bench_judge.c - the experiment that tells what the error bound is worth.
 *
 * bench_judge [--json FILE] [--body NAME] [--type f32|f16|bf16] [--terms MOST] [--seed S] [--seeds N]
 * [--heavy N]
 *             [--draws N] [--mixes N]
 * bench_judge --budget SECONDS --json FILE [--jobs N] [...]
 * bench_judge --list all    names the bodies
 *
 * Twenty-four bodies, three types, sums of 1 to 10^6 terms. For each: honest kernels (`draws` x `mixes` on
 * each class of inputs) are counted when refused, cheats when admitted, and the largest systematic error that
 * passes is looked for. `heavy` is the number of seeds where one run takes more than 2 x 10^7 operations.
 * With --json, results are added to FILE body by body; a body that is there with the same settings is not run
 * again. With --budget all bodies are run by `jobs` processes (as many as there are processors), the smallest
 * sizes of all first; time is dealt out evenly, so that a cell has as many seeds as there is time for. That
 * needs nothing but the program. tools/gen/judge_page.py makes docs/results/judge.md of the file.
 */
#include "base/core/arena.h"
#include "base/core/json.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "ir/core/kernel.h"
#include "tests/lib/judgelab/judgelab_pool.h"
#include "tests/lib/judgelab/judgelab_trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Settings {
	const char *json, *body, *type, *list;
	int64_t seed, seeds, heavy, draws, mixes, terms, budget, jobs;
} Settings;

static void die(const char *what)
{
	fprintf(stderr, "bench_judge: %s\n", what);
	exit(4);
}

static void parse(Settings *s, int argc, char **argv)
{
	const struct {
		const char *name;
		const char **text;
		int64_t *number;
	} flags[] = { { "--json", &s->json, NULL },     { "--body", &s->body, NULL },
		      { "--type", &s->type, NULL },     { "--list", &s->list, NULL },
		      { "--seed", NULL, &s->seed },     { "--seeds", NULL, &s->seeds },
		      { "--heavy", NULL, &s->heavy },   { "--draws", NULL, &s->draws },
		      { "--mixes", NULL, &s->mixes },   { "--terms", NULL, &s->terms },
		      { "--budget", NULL, &s->budget }, { "--jobs", NULL, &s->jobs } };
	enum { N = sizeof flags / sizeof *flags };

	for (int i = 1; i < argc; i += 2) {
		size_t f = 0;

		while (f < N && strcmp(argv[i], flags[f].name))
			f++;
		if (f == N || i + 1 == argc)
			die("Unknown option, or one without its value; the head of tests/bench/bench_judge.c "
			    "lists them.");
		if (flags[f].text)
			*flags[f].text = argv[i + 1];
		else if (!pm_parse_i64(argv[i + 1], flags[f].number) || *flags[f].number < 0)
			die("A number is expected behind the option.");
	}
}

/* ---- one body in one type and size ---- */

static int is_heavy(const JlCase *c)
{
	int64_t flops = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(c->g); i++)
		flops += pm_op_flops(c->g, pm_graph_node_at(c->g, i));
	return flops > 20000000;
}

static cJSON *cheats_json(const JlPower *p, cJSON *missed)
{
	cJSON *o = cJSON_CreateObject();

	for (int k = 0; k < jl_n_cheats(); k++) {
		int row[] = { p->seeds[k], p->refused[k], p->small[k], p->small_refused[k] };

		if (!p->seeds[k] && !p->small[k])
			continue;
		cJSON_AddItemToObject(o, jl_cheat_name(k), cJSON_CreateIntArray(row, 4));
		if (p->refused[k] < p->seeds[k])
			cJSON_AddStringToObject(missed, jl_cheat_name(k), p->missed[k]);
	}
	return o;
}

static cJSON *cell_json(const JlCase *c, const JlHonest *h, const double drift[JL_N_DRIFTS], const JlPower *p)
{
	cJSON *o = cJSON_CreateObject(), *honest = cJSON_AddObjectToObject(o, "honest"), *d, *missed;

	cJSON_AddStringToObject(o, "type", jl_type_name(c->type));
	cJSON_AddNumberToObject(o, "terms", (double)c->size.terms);
	cJSON_AddNumberToObject(o, "outputs", (double)c->size.outputs);
	cJSON_AddNumberToObject(honest, "trials", h->trials);
	cJSON_AddNumberToObject(honest, "refused", h->refused);
	cJSON_AddNumberToObject(honest, "not_judged", h->not_judged);
	if (h->refused)
		cJSON_AddStringToObject(honest, "first", h->worst);
	d = cJSON_AddObjectToObject(o, "drift");
	for (int k = 0; k < JL_N_DRIFTS; k++)
		cJSON_AddNumberToObject(d, jl_drift_name((JlDrift)k), rint(drift[k] * 100) / 100);
	missed = cJSON_CreateObject();
	cJSON_AddItemToObject(o, "cheats", cheats_json(p, missed));
	if (missed->child)
		cJSON_AddItemToObject(o, "missed", missed);
	else
		cJSON_Delete(missed);
	return o;
}

/* What is wrong with the bound here, in words. */
static void print_cell(const JlCase *c, const JlHonest *h, const double drift[JL_N_DRIFTS], const JlPower *p,
		       double seconds)
{
	printf("%-18s %-4s %8" PRId64 " %8" PRId64
	       "  honest %3d of %4d refused, %3d not judged; drift %.3g %.3g "
	       "%.3g  (%.1f s)\n",
	       jl_body_name(c->body), jl_type_name(c->type), c->size.terms, c->size.outputs, h->refused,
	       h->trials, h->not_judged, drift[JL_SCALE], drift[JL_BIAS], drift[JL_NOISE], seconds);
	if (h->refused)
		printf("    honest, refused: %s\n", h->worst);
	for (int k = 0; k < jl_n_cheats(); k++)
		if (p->refused[k] < p->seeds[k])
			printf("    %s: %d of %d refused; %s\n", jl_cheat_name(k), p->refused[k], p->seeds[k],
			       p->missed[k]);
	fflush(stdout);
}

static cJSON *cell(const Settings *s, int body, int type, int size, double until)
{
	double start = pm_now(), drift[JL_N_DRIFTS];
	uint64_t seed = ((uint64_t)s->seed * 1000 + (uint64_t)body * 30 + (uint64_t)type * 10 +
			 (uint64_t)size) *
			7;
	JlHonest h;
	JlPower p;
	JlCase c;
	cJSON *o;

	jl_case_open(&c, body, type, size);
	/* Half of the time for honest kernels. */
	c.until = until > 0 ? (start + until) / 2 : 0;
	jl_honest_trials(&c, seed + 1, (int)s->draws, (int)s->mixes, &h);
	for (int k = 0; k < JL_N_DRIFTS; k++)
		drift[k] = jl_largest_drift(&c, seed + 2, (JlDrift)k);
	c.until = until;
	jl_power_trials(&c, seed + 3, (int)(is_heavy(&c) ? s->heavy : s->seeds), &p);
	print_cell(&c, &h, drift, &p, pm_now() - start);
	o = cell_json(&c, &h, drift, &p);
	jl_case_close(&c);
	return o;
}

/* ---- the file ---- */

static cJSON *settings_json(const Settings *s)
{
	cJSON *o = cJSON_CreateObject();

	pm_json_add_i64(o, "seed", s->seed);
	pm_json_add_i64(o, "seeds", s->seeds);
	pm_json_add_i64(o, "heavy", s->heavy);
	pm_json_add_i64(o, "draws", s->draws);
	pm_json_add_i64(o, "mixes", s->mixes);
	pm_json_add_i64(o, "terms", s->terms);
	if (s->type)
		cJSON_AddStringToObject(o, "type", s->type);
	if (s->budget)
		pm_json_add_i64(o, "budget", s->budget);
	return o;
}

static cJSON *load(const Settings *s)
{
	cJSON *o = NULL, *want = settings_json(s);
	PmStr text;
	PmErr err;

	pm_err_init(&err);
	pm_str_init(&text);
	if (s->json && pm_file_size(s->json) > 0 &&
	    (pm_read_file(s->json, 1 << 28, &text, &err) || pm_json_parse(text.s, text.len, &o, &err)))
		die(err.text);
	pm_str_release(&text);
	if (o && !cJSON_Compare(cJSON_GetObjectItem(o, "settings"), want, 1)) {
		cJSON_Delete(o);
		o = NULL;
	}
	if (!o) {
		o = cJSON_CreateObject();
		cJSON_AddItemToObject(o, "settings", want);
		cJSON_AddObjectToObject(o, "bodies");
	} else {
		cJSON_Delete(want);
	}
	return o;
}

static void save(const Settings *s, const cJSON *o)
{
	PmStr text;
	PmErr err;

	if (!s->json)
		return;
	pm_err_init(&err);
	pm_str_init(&text);
	pm_json_print(o, 1, &text);
	if (pm_write_file(s->json, text.s, text.len, &err))
		die(err.text);
	pm_str_release(&text);
}

static void run_body(const Settings *s, int body, cJSON *bodies)
{
	cJSON *cells = cJSON_CreateArray();

	for (int type = 0; type < JL_N_TYPES; type++) {
		if (s->type && strcmp(s->type, jl_type_name(type)))
			continue;
		for (int size = 0; size < jl_body_n_sizes(body); size++)
			if (jl_body_size(body, size).terms <= s->terms)
				cJSON_AddItemToArray(cells, cell(s, body, type, size, 0));
	}
	cJSON_AddItemToObject(bodies, jl_body_name(body), cells);
}

/* ---- all of it in a given time ---- */

typedef struct Place {
	int body, type, size;
} Place;

typedef struct Plan {
	const Settings *s;
	Place place[JL_N_BODIES * JL_N_TYPES * JL_MAX_SIZES];
	int n;
} Plan;

static cJSON *run_place(int number, double until, void *user)
{
	const Plan *p = user;
	Place at = p->place[number];

	return cell(p->s, at.body, at.type, at.size, until);
}

/* All bodies and types get something before any of them gets more. */
static void make_plan(Plan *p)
{
	for (int size = 0; size < JL_MAX_SIZES; size++)
		for (int body = 0; body < JL_N_BODIES; body++)
			for (int type = 0; type < JL_N_TYPES; type++)
				if (size < jl_body_n_sizes(body) &&
				    jl_body_size(body, size).terms <= p->s->terms &&
				    (!p->s->body || !strcmp(p->s->body, jl_body_name(body))) &&
				    (!p->s->type || !strcmp(p->s->type, jl_type_name(type))))
					p->place[p->n++] = (Place){ body, type, size };
}

static void run_in_time(const Settings *s, cJSON *bodies)
{
	static Plan p;
	cJSON **result;
	int left = 0;

	if (!s->json)
		die("--budget needs --json FILE for the results.");
	p.s = s;
	make_plan(&p);
	result = pm_xcalloc((size_t)p.n + 1, sizeof(cJSON *));
	jl_pool(p.n, (int)(s->jobs ? s->jobs : sysconf(_SC_NPROCESSORS_ONLN)), (double)s->budget, s->json,
		run_place, &p, result);
	for (int body = 0; body < JL_N_BODIES; body++) {
		cJSON *cells = NULL;

		for (int type = 0; type < JL_N_TYPES; type++)
			for (int k = 0; k < p.n; k++) {
				if (p.place[k].body != body || p.place[k].type != type)
					continue;
				if (!cells)
					cells = cJSON_AddArrayToObject(bodies, jl_body_name(body));
				left += !result[k];
				if (result[k])
					cJSON_AddItemToArray(cells, result[k]);
			}
	}
	printf("%d of %d cells, %d left out for lack of time\n", p.n - left, p.n, left);
	free(result);
}

int main(int argc, char **argv)
{
	Settings s = { .seed = 1, .seeds = 100, .heavy = 10, .draws = 2, .mixes = 3, .terms = 1000000 };
	cJSON *o, *bodies;
	int found = 0;

	parse(&s, argc, argv);
	for (int body = 0; body < JL_N_BODIES && s.list; body++)
		puts(jl_body_name(body));
	if (s.list)
		return 0;
	if (s.budget) {
		o = cJSON_CreateObject();
		cJSON_AddItemToObject(o, "settings", settings_json(&s));
		run_in_time(&s, cJSON_AddObjectToObject(o, "bodies"));
		save(&s, o);
		cJSON_Delete(o);
		return 0;
	}
	o = load(&s);
	bodies = cJSON_GetObjectItem(o, "bodies");
	for (int body = 0; body < JL_N_BODIES; body++) {
		if (s.body && strcmp(s.body, jl_body_name(body)))
			continue;
		found = 1;
		if (!cJSON_GetObjectItem(bodies, jl_body_name(body))) {
			run_body(&s, body, bodies);
			save(&s, o);
		}
	}
	cJSON_Delete(o);
	if (!found)
		die("There is no body of that name; tests/lib/judgelab/judgelab_bodies.c lists them.");
	return 0;
}
