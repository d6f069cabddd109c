/* SPDX-License-Identifier: Apache-2.0 */
/* time_blocks.c - every sample that the clock takes of a graph against itself, for those who choose how it
 * decides (tests/bench/bench_clock.c).
 *
 *   time_blocks OUT.jsonl [RUNS [BLOCKS [WORD...]]]
 *
 * Not a test: it asserts nothing. Each run is a process of its own, with three equal sides and samples from
 * cold caches alone. It becomes one line: the seconds of the pieces of warm-up, of the empty pairs of marks,
 * and of each sample its side, the number of its inputs and nanoseconds. With WORDs only graphs whose name
 * begins with one of them.
 */
#include "base/sys/proc.h"
#include "bench/inputs/inputs.h"
#include "bench/timing/timer.h"
#include "ir/text/text.h"
#include "runtime/worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 3, RUNS = 20, BLOCKS_TAKEN = 200, MAX_INPUTS = 2 };

static const struct {
	const char *name, *text;
} cases[] = {
	{ "silu_rows", "(float16[64,100] x) => (float16[64,100] y) { s = Sigmoid (x)\n y = Mul (x, s) }" },
	{ "relu_small", "(float[4096] x) => (float[4096] y) { y = Relu (x) }" },
	{ "softmax_mask", "(float16[2,4,64,64] x, float16[2,1,1,64] m) => (float16[2,4,64,64] y) { a = Add "
			  "(x, m)\n y = Softmax <axis = 3> (a) }" },
	{ "tanh_50_us", "(float[27262976] x) => (float[27262976] y) { y = Tanh (x) }" },
};

static void need(PmStatus st, const char *what, const PmErr *err)
{
	if (!st)
		return;
	fprintf(stderr, "time_blocks: %s: %s\n", what, err->text);
	exit(1);
}

/* --- a clock that writes down what it says --- */

typedef struct Kept {
	PmWorker *w;
	FILE *out;
	int pieces, pairs, samples; /* written so far */
} Kept;

static PmStatus sample(void *arg, const PmSampleAsk *ask, PmSample *out, PmErr *err)
{
	Kept *k = arg;
	PmMade made[PM_SAMPLER_DEPTH]; /* as an evaluation has it: outputs are digested between samples */
	PmStatus st = pm_worker_clock_take(k->w, ask, out, made, err);

	if (!st)
		fprintf(k->out, "%s[%d,%llu,%.0f,%d]", k->samples++ ? "," : "], \"samples\": [", ask->side,
			(unsigned long long)ask->index, out->seconds * 1e9 / ask->batch, out->disturbed);
	return st;
}

static PmStatus empty(void *arg, double *seconds, PmErr *err)
{
	Kept *k = arg;
	PmStatus st = pm_worker_clock_empty(k->w, seconds, err);

	if (!st)
		fprintf(k->out, "%s%.0f", k->pairs++ ? "," : "], \"empty_ns\": [", *seconds * 1e9);
	return st;
}

static PmStatus warm(void *arg, double *seconds, PmErr *err)
{
	Kept *k = arg;
	PmStatus st = pm_worker_clock_warm(k->w, seconds, err);

	if (!st)
		fprintf(k->out, "%s%.1f", k->pieces++ ? "," : "", *seconds * 1e6);
	return st;
}

static double now(void *arg)
{
	(void)arg;
	return pm_now();
}

/* --- one run --- */

static void run(FILE *out, const char *name, const PmGraph *g, int number, int blocks)
{
	PmTensor type[MAX_INPUTS] = { 0 }, table[MAX_INPUTS] = { 0 };
	PmInputPool pool = { .t = type,
			     .table = table,
			     .n_sets = 1,
			     .n_in = pm_graph_n_inputs(g),
			     .seed = (uint64_t)number + 1 };
	PmTimerOpts o = { .n_sides = SIDES,
			  .control = SIDES - 1,
			  .blocks = blocks,
			  .exact = 1,
			  .replay = -1,
			  .wall = -1,
			  .seed = (uint64_t)number };
	PmWork side[SIDES] = { { .g = g }, { .g = g }, { .g = g } };
	Kept k = { .w = pm_worker_new("cuda"), .out = out };
	PmClock c = { sample, empty, warm, now, &k };
	double t0 = pm_now();
	PmTiming t;
	PmErr err;

	pm_err_init(&err);
	for (size_t i = 0; i < pool.n_in; i++) {
		type[i].type = *pm_value_type(g, pm_graph_input(g, i));
		need(pm_inputs_draw(g, i, 7, PM_INPUTS_NORMAL, PM_BANK_TABLE, &table[i], &err), name, &err);
	}
	need(pm_worker_clock_open(k.w, side, SIDES, &pool, 100, &o.max_train, &err), name, &err);
	fprintf(out, "{\"graph\": \"%s\", \"run\": %d, \"depth\": %d, \"opened_s\": %.3f, \"warm_us\": [",
		name, number, o.max_train, pm_now() - t0);
	need(pm_timer_run(&c, &o, &t, &err), name, &err);
	fprintf(out,
		"], \"overhead_ns\": %.0f, \"tick_ns\": %.1f, \"warm_s\": %.3f, \"blocks\": %d, \"batch\": "
		"%d, "
		"\"state\": \"%s\", \"why\": \"%s\", \"seconds\": %.3f}\n",
		t.overhead * 1e9, t.tick * 1e9, t.warm_seconds, t.kind[PM_TIME_COLD].blocks, t.batch,
		pm_timing_state_name(t.state), t.why, pm_now() - t0);
	fflush(out);
	need(pm_worker_clock_close(k.w, &err), name, &err);
	pm_worker_free(k.w);
	pm_tensors_release(table, pool.n_in);
	printf("%s %d: %.3f us, speedup %.4f (%.4f to %.4f), control %.4f (%.4f to %.4f), %s %s\n", name,
	       number, t.kind[0].side[0].median * 1e6, t.kind[0].ratio[1].point, t.kind[0].ratio[1].lo,
	       t.kind[0].ratio[1].hi, t.kind[0].ratio[2].point, t.kind[0].ratio[2].lo, t.kind[0].ratio[2].hi,
	       pm_timing_state_name(t.state), t.why);
	fflush(stdout);
}

static int wanted(const char *name, int n, char **word)
{
	for (int i = 0; i < n; i++)
		if (!strncmp(name, word[i], strlen(word[i])))
			return 1;
	return n <= 0;
}

int main(int argc, char **argv)
{
	int runs = argc > 2 ? atoi(argv[2]) : RUNS, blocks = argc > 3 ? atoi(argv[3]) : BLOCKS_TAKEN;
	FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
	PmErr err;

	if (!out || runs < 1 || blocks < 1) {
		fputs("usage: time_blocks OUT.jsonl [RUNS [BLOCKS [WORD...]]]\n", stderr);
		return 2;
	}
	pm_err_init(&err);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[512];
		PmGraph *g;

		if (!wanted(cases[i].name, argc - 4, argv + 4))
			continue;
		snprintf(text, sizeof text, "g %s", cases[i].text);
		g = NULL;
		need(pm_graph_parse(text, strlen(text), &g, &err), cases[i].name, &err);
		for (int r = 0; r < runs; r++)
			run(out, cases[i].name, g, r, blocks);
		pm_graph_free(g);
	}
	return fclose(out) ? 1 : 0;
}
