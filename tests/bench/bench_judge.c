/* SPDX-License-Identifier: Apache-2.0 */
/* bench_judge.c - the experiment that tells what the error bound is worth.
 *
 * bench_judge [--json FILE] [--jobs N] [--shard I/N] [--budget SECONDS] [--body NAME] [--type f32|f16|bf16]
 *             [--least TERMS] [--terms MOST] [--seed S] [--seeds N] [--heavy N] [--draws N] [--mixes N]
 * bench_judge --list all    names the bodies
 *
 * Twenty-four bodies, three types, sums of 1 to 10^6 terms. For each: honest kernels (`draws` x `mixes` on
 * each class of inputs, one draw where a run is heavy) are counted when refused, cheats when admitted (in
 * `seeds` draws where there are 1,000 results, `heavy` where one run is: more than 2 x 10^7 operations or
 * 10^5 results), and the largest systematic error that passes is looked for.
 *
 * The work is cut into pieces of some seconds, by body, type, size and seeds, the smallest sizes first; what
 * a piece finds does not depend on the others. --jobs processes (as many as there are processors) take one
 * after the other; --shard 2/4 has the second of four parts of them, for another machine or call; after
 * --budget seconds no piece is begun. tools/gen/judge_page.py --merge adds the files of all shards up, and
 * makes docs/results/judge.md of that. Nothing is needed but the program.
 */
#include "base/core/arena.h"
#include "base/core/json.h"
#include "base/sys/io.h"
#include "ir/core/kernel.h"
#include "tests/lib/judgelab/judgelab_pool.h"
#include "tests/lib/judgelab/judgelab_trial.h"

#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RESULTS = 1000 }; /* from how many results on cheats have to be refused */

typedef struct Settings {
	const char *json, *body, *type, *list, *shard;
	int64_t seed, seeds, heavy, draws, mixes, least, terms, budget, jobs, part, parts;
} Settings;

/* What one process does at a time. */
typedef struct Piece {
	int body, type, size, chunk;
	int draws;       /* of honest kernels */
	int seed, seeds; /* of cheats: the first, and behind the last */
	int drifts;
} Piece;

typedef struct Plan {
	const Settings *s;
	Piece *piece;
	int n;
} Plan;

static void die(const char *what)
{
	fprintf(stderr, "bench_judge: %s\n", what);
	exit(4);
}

static void parse_shard(Settings *s)
{
	const char *slash = s->shard ? strchr(s->shard, '/') : NULL;
	char *end;

	if (!s->shard)
		return;
	s->part = strtol(s->shard, &end, 10);
	if (end != slash || !slash || !pm_parse_i64(slash + 1, &s->parts) || s->part < 1 ||
	    s->part > s->parts)
		die("--shard wants a part and their number, as 2/4.");
}

static void parse(Settings *s, int argc, char **argv)
{
	const struct {
		const char *name;
		const char **text;
		int64_t *number;
	} flags[] = { { "--json", &s->json, NULL },   { "--body", &s->body, NULL },
		      { "--type", &s->type, NULL },   { "--list", &s->list, NULL },
		      { "--shard", &s->shard, NULL }, { "--seed", NULL, &s->seed },
		      { "--seeds", NULL, &s->seeds }, { "--heavy", NULL, &s->heavy },
		      { "--draws", NULL, &s->draws }, { "--mixes", NULL, &s->mixes },
		      { "--least", NULL, &s->least }, { "--terms", NULL, &s->terms },
		      { "--jobs", NULL, &s->jobs },   { "--budget", NULL, &s->budget } };
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
	parse_shard(s);
}

/* ---- a piece ---- */

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

/* drift: by kind, and behind them the largest error of an honest kernel; NULL where it was not looked for. */
static cJSON *cell_json(const JlCase *c, const JlHonest *h, const double *drift, const JlPower *p)
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
	for (int k = 0; k < JL_N_DRIFTS && drift; k++)
		cJSON_AddNumberToObject(d, jl_drift_name((JlDrift)k), rint(drift[k] * 100) / 100);
	if (drift)
		cJSON_AddNumberToObject(o, "worst_honest", rint(drift[JL_N_DRIFTS] * 100) / 100);
	missed = cJSON_CreateObject();
	cJSON_AddItemToObject(o, "cheats", cheats_json(p, missed));
	if (missed->child)
		cJSON_AddItemToObject(o, "missed", missed);
	else
		cJSON_Delete(missed);
	return o;
}

/* What is wrong with the bound here, in words. */
static void print_piece(const JlCase *c, const Piece *at, const JlHonest *h, const double *drift,
			const JlPower *p, double seconds)
{
	printf("%-18s %-4s %8" PRId64 " %8" PRId64 "  %.1f s", jl_body_name(c->body), jl_type_name(c->type),
	       c->size.terms, c->size.outputs, seconds);
	if (h->trials)
		printf("; honest %d of %d refused, %d not judged", h->refused, h->trials, h->not_judged);
	if (drift)
		printf("; drift %.3g %.3g %.3g, worst honest %.3g", drift[JL_SCALE], drift[JL_BIAS],
		       drift[JL_NOISE], drift[JL_N_DRIFTS]);
	if (at->seeds > at->seed)
		printf("; seeds %d to %d", at->seed, at->seeds - 1);
	printf("\n");
	if (h->refused)
		printf("    honest, refused: %s\n", h->worst);
	for (int k = 0; k < jl_n_cheats(); k++)
		if (p->refused[k] < p->seeds[k])
			printf("    %s: %d of %d refused; %s\n", jl_cheat_name(k), p->refused[k], p->seeds[k],
			       p->missed[k]);
	fflush(stdout);
}

/* Seconds of this process alone, whatever else the machine does. */
static double used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cJSON *run_piece(int number, void *user)
{
	const Plan *plan = user;
	const Piece *at = &plan->piece[number];
	double start = used(), drift[JL_N_DRIFTS + 1];
	uint64_t seed = ((uint64_t)plan->s->seed * 1000 + (uint64_t)at->body * 30 + (uint64_t)at->type * 10 +
			 (uint64_t)at->size) *
			7;
	JlHonest h;
	JlPower p;
	JlCase c;
	cJSON *o;

	jl_case_open(&c, at->body, at->type, at->size);
	jl_honest_trials(&c, seed + 1, 0, at->draws, (int)plan->s->mixes, &h);
	for (int k = 0; k < JL_N_DRIFTS && at->drifts; k++)
		drift[k] = jl_largest_drift(&c, seed + 2, (JlDrift)k);
	if (at->drifts)
		drift[JL_N_DRIFTS] = jl_worst_honest(&c, seed + 2);
	jl_power_trials(&c, seed + 3, at->seed, at->seeds, &p);
	print_piece(&c, at, &h, at->drifts ? drift : NULL, &p, used() - start);
	o = cell_json(&c, &h, at->drifts ? drift : NULL, &p);
	cJSON_AddStringToObject(o, "body", jl_body_name(at->body));
	cJSON_AddNumberToObject(o, "seconds", rint((used() - start) * 100) / 100);
	jl_case_close(&c);
	return o;
}

/* ---- all pieces ---- */

/* How many seeds of cheats take some seconds. */
static void load_of(const Piece *p, int *seeds, int *is_heavy)
{
	PmGraph *g = jl_body_graph(p->body, p->type, p->size);
	JlSize size = jl_body_size(p->body, p->size);
	int64_t flops = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		flops += pm_op_flops(g, pm_graph_node_at(g, i));
	pm_graph_free(g);
	*is_heavy = flops > 20000000 || size.outputs > 100000;
	*seeds = *is_heavy ? 4 : flops > 200000 ? 20 : 100;
}

static void add_pieces(Plan *plan, const Settings *s, int body, int type, int size)
{
	Piece p = { .body = body, .type = type, .size = size };
	int by_seeds, is_heavy, seeds, draws, n;

	load_of(&p, &by_seeds, &is_heavy);
	draws = is_heavy && s->draws > 1 ? 1 : (int)s->draws;
	seeds = jl_body_size(body, size).outputs < RESULTS ? 0 : (int)(is_heavy ? s->heavy : s->seeds);
	n = (seeds + by_seeds - 1) / by_seeds;
	for (int k = 0; k < (n > 1 ? n : 1); k++) {
		p.chunk = k;
		p.drifts = k == 0 && jl_body_size(body, size).outputs >= RESULTS;
		p.draws = k == 0 ? draws : 0;
		p.seed = (int)fmin(k * by_seeds, seeds);
		p.seeds = (int)fmin((k + 1) * by_seeds, seeds);
		plan->piece = pm_xrealloc(plan->piece, (size_t)(plan->n + 1), sizeof p);
		plan->piece[plan->n++] = p;
	}
}

/* The first of each body, type and size, from the smallest on; then the second of each, and so on. */
static int by_chunk(const void *a, const void *b)
{
	const Piece *x = a, *y = b;
	int keys[][2] = {
		{ x->chunk, y->chunk }, { x->size, y->size }, { x->body, y->body }, { x->type, y->type }
	};

	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
		if (keys[k][0] != keys[k][1])
			return keys[k][0] - keys[k][1];
	return 0;
}

static void make_plan(Plan *plan, const Settings *s)
{
	int n = 0;

	plan->s = s;
	for (int body = 0; body < JL_N_BODIES; body++)
		for (int type = 0; type < JL_N_TYPES; type++)
			for (int size = 0; size < jl_body_n_sizes(body); size++) {
				int64_t terms = jl_body_size(body, size).terms;

				if (terms >= s->least && terms <= s->terms &&
				    (!s->body || !strcmp(s->body, jl_body_name(body))) &&
				    (!s->type || !strcmp(s->type, jl_type_name(type))))
					add_pieces(plan, s, body, type, size);
			}
	if (!plan->n)
		die("There is no such body, type or size; tests/lib/judgelab/judgelab_bodies.c lists them.");
	qsort(plan->piece, (size_t)plan->n, sizeof *plan->piece, by_chunk);
	for (int k = 0; k < plan->n; k++)
		if (k % s->parts == s->part - 1)
			plan->piece[n++] = plan->piece[k];
	plan->n = n;
}

static cJSON *settings_json(const Settings *s)
{
	cJSON *o = cJSON_CreateObject();

	pm_json_add_i64(o, "seed", s->seed);
	pm_json_add_i64(o, "seeds", s->seeds);
	pm_json_add_i64(o, "heavy", s->heavy);
	pm_json_add_i64(o, "draws", s->draws);
	pm_json_add_i64(o, "mixes", s->mixes);
	pm_json_add_i64(o, "terms", s->terms);
	return o;
}

/* What the shard found, piece by piece, and how many of its pieces there was no time for. */
static void save(const Settings *s, cJSON *pieces, int left)
{
	cJSON *o = cJSON_CreateObject();
	PmStr text;
	PmErr err;

	cJSON_AddItemToObject(o, "settings", settings_json(s));
	pm_json_add_i64(o, "shard", s->part);
	pm_json_add_i64(o, "shards", s->parts);
	pm_json_add_i64(o, "left", left);
	cJSON_AddItemToObject(o, "pieces", pieces);
	pm_err_init(&err);
	pm_str_init(&text);
	pm_json_print(o, 0, &text);
	if (pm_write_file(s->json, text.s, text.len, &err))
		die(err.text);
	pm_str_release(&text);
	cJSON_Delete(o);
}

static void run_all(const Settings *s)
{
	Plan plan = { 0 };
	cJSON *pieces = cJSON_CreateArray(), **result;
	int left = 0;

	make_plan(&plan, s);
	result = pm_xcalloc((size_t)plan.n + 1, sizeof(cJSON *));
	if (s->json)
		jl_pool(plan.n, (int)(s->jobs ? s->jobs : sysconf(_SC_NPROCESSORS_ONLN)), (double)s->budget,
			s->json, run_piece, &plan, result);
	for (int k = 0; k < plan.n; k++) {
		if (!s->json)
			result[k] = run_piece(k, &plan);
		left += !result[k];
		if (result[k])
			cJSON_AddItemToArray(pieces, result[k]);
	}
	printf("%d of %d pieces, %d left out for lack of time\n", plan.n - left, plan.n, left);
	if (s->json)
		save(s, pieces, left);
	else
		cJSON_Delete(pieces);
	free(result);
	free(plan.piece);
}

int main(int argc, char **argv)
{
	Settings s = { .seed = 1,
		       .seeds = 100,
		       .heavy = 100,
		       .draws = 2,
		       .mixes = 3,
		       .terms = 1000000,
		       .part = 1,
		       .parts = 1 };

	/* Tensors of the same sizes come and go: their pages are kept. */
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 30);
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
	parse(&s, argc, argv);
	for (int body = 0; body < JL_N_BODIES && s.list; body++)
		puts(jl_body_name(body));
	if (!s.list)
		run_all(&s);
	return 0;
}
