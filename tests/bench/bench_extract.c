/* SPDX-License-Identifier: Apache-2.0 */
/* bench_extract.c - extraction from graphs of 300,000 nodes: time and memory of each step (make
 * bench-extract).
 *
 * Every graph is made and cut in a process of its own, so that its peak memory can be told.
 */
#include "base/core/rng.h"
#include "base/core/vec.h"
#include "base/sys/proc.h"
#include "extract/extract.h"
#include "extract/skeleton.h"
#include "ir/infer/infer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { N = 300000 };

typedef struct Make {
	PmGraph *g;
	PmType type;
	PmErr err;
} Make;

static void must(PmStatus st, const PmErr *err)
{
	if (!st)
		return;
	fprintf(stderr, "bench_extract: %s\n", err->text);
	exit(5);
}

static PmValue input(Make *m, const char *name)
{
	PmValue v;

	must(pm_graph_add_input(m->g, name, &m->type, &v, &m->err), &m->err);
	return v;
}

static PmValue node(Make *m, PmOp op, PmValue a, PmValue b)
{
	PmValue in[2] = { a, b }, v;
	PmNode n;

	must(pm_graph_add_node(m->g, op, in, b.id ? 2 : 1, 1, &n, &m->err), &m->err);
	v = pm_node_out(m->g, n, 0);
	pm_value_set_type(m->g, v, &m->type);
	return v;
}

static void output(Make *m, PmValue v)
{
	must(pm_graph_add_output(m->g, v, &m->err), &m->err);
}

static const PmValue none = { 0 };

static void chain(Make *m)
{
	PmValue v = input(m, "x");
	int i;

	for (i = 0; i < N; i++)
		v = node(m, i % 3 ? PM_OP_Relu : PM_OP_Exp, v, none);
	output(m, v);
}

/* One value that all nodes read. */
static void star(Make *m)
{
	PmValue x = input(m, "x"), hub = node(m, PM_OP_Exp, x, none);
	int i;

	for (i = 1; i < N; i++)
		output(m, node(m, i % 2 ? PM_OP_Relu : PM_OP_Neg, hub, none));
}

/* Every node reads the two before it. */
static void ladder(Make *m)
{
	PmValue a = input(m, "x"), b = input(m, "y");
	int i;

	for (i = 0; i < N; i++) {
		PmValue c = node(m, i % 2 ? PM_OP_Add : PM_OP_Sub, a, b);

		a = b;
		b = c;
	}
	output(m, b);
}

/* Layers of 300 nodes that read any two of the layer before. */
static void layered(Make *m)
{
	enum { WIDE = 300 };
	static const PmOp one[] = { PM_OP_Relu, PM_OP_Exp, PM_OP_Tanh, PM_OP_Neg };
	PmValue last[WIDE], now[WIDE];
	PmRng rng;
	int i, k;

	pm_rng_init(&rng, 7);
	for (k = 0; k < WIDE; k++)
		last[k] = input(m, "");
	for (i = 0; i < N / WIDE; i++) {
		for (k = 0; k < WIDE; k++) {
			PmValue a = last[pm_rng_range(&rng, 0, WIDE - 1)];
			int kind = (int)pm_rng_range(&rng, 0, 5);

			now[k] = kind < 4 ? node(m, one[kind], a, none)
					  : node(m, kind == 4 ? PM_OP_Add : PM_OP_Mul, a,
						 last[pm_rng_range(&rng, 0, WIDE - 1)]);
		}
		memcpy(last, now, sizeof last);
	}
	for (k = 0; k < WIDE; k++)
		output(m, last[k]);
}

/* All nodes into one. */
static void concat(Make *m)
{
	PmValue x = input(m, "x"), *v = pm_xcalloc(N, sizeof *v);
	PmType wide = m->type;
	PmNode n;
	int i;

	for (i = 0; i < N; i++)
		v[i] = node(m, PM_OP_Relu, x, none);
	must(pm_graph_add_node(m->g, PM_OP_Concat, v, N, 1, &n, &m->err), &m->err);
	must(pm_node_set_i(m->g, n, "axis", 0, &m->err), &m->err);
	wide.dim[0] *= N;
	pm_value_set_type(m->g, pm_node_out(m->g, n, 0), &wide);
	output(m, pm_node_out(m->g, n, 0));
	free(v);
}

/* Nothing connected with anything. */
static void apart(Make *m)
{
	PmValue x = input(m, "x");
	int i;

	for (i = 0; i < N; i++)
		output(m, node(m, PM_OP_Relu, x, none));
}

static const struct {
	const char *name;
	void (*make)(Make *m);
} graphs[] = { { "chain", chain },     { "star", star },     { "ladder", ladder },
	       { "layered", layered }, { "concat", concat }, { "apart", apart } };

static PmStatus ignore(void *arg, const PmExtracted *e, PmErr *err)
{
	(void)arg;
	(void)e;
	(void)err;
	return PM_OK;
}

/* Seconds of processor time, so that a busy machine does not count. */
static double spent(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static int one_graph(void *arg, PmStr *out)
{
	size_t k = *(const size_t *)arg;
	Make m = { pm_graph_new(0), pm_type(PM_F32, 1, (int64_t[]){ 4 }), { 0 } };
	PmExtractSeen seen;
	PmExtractReport r;
	PmExtractOpts opts = { .kinds = 0 };
	struct rusage use;
	double t0 = spent(), made, took[PM_N_KINDS];
	size_t found[PM_N_KINDS], covered[PM_N_KINDS], bad = 0;
	int kind;

	pm_err_init(&m.err);
	graphs[k].make(&m);
	pm_graph_sweep(m.g);
	made = spent() - t0;
	pm_extract_seen_init(&seen);
	for (kind = 0; kind < PM_N_KINDS; kind++) {
		t0 = spent();
		opts.kinds = 1u << kind;
		must(pm_extract_model(m.g, &opts, &seen, ignore, NULL, &r, &m.err), &m.err);
		took[kind] = spent() - t0;
		found[kind] = r.kind[kind].n_found;
		covered[kind] = r.kind[kind].n_covered;
		bad += r.kind[kind].n_rejected;
	}
	getrusage(RUSAGE_SELF, &use);
	pm_str_addf(out, "%-8s %6.2f  ", graphs[k].name, made);
	for (kind = 0; kind < PM_N_KINDS; kind++)
		pm_str_addf(out, "%6.2f %7zu %5.1f %%  ", took[kind], found[kind],
			    100.0 * (double)covered[kind] / (double)pm_graph_n_nodes(m.g));
	pm_str_addf(out, "%6.2f  %5ld MiB  %zu\n", took[0] + took[1] + took[2], use.ru_maxrss / 1024, bad);
	return 0;
}

int main(void)
{
	PmLimits lim = { .seconds = 300, .file_size = -1 };
	size_t k;
	int failed = 0;

	printf("%d nodes; seconds of processor time, subgraphs, nodes in them\n%-8s %6s  %-24s%-24s%-24s%6s  "
	       "%9s  %s\n",
	       N, "graph", "making", "fusible", "classical", "single", "all", "peak", "rejected");
	for (k = 0; k < sizeof graphs / sizeof graphs[0]; k++) {
		PmProcResult r;
		PmErr err;

		pm_err_init(&err);
		must(pm_fork_call(one_graph, &k, &lim, &r, &err), &err);
		if (r.end == PM_PROC_EXITED && r.code == 0) {
			fputs(r.out.s, stdout);
		} else {
			printf("%-8s did not end well\n", graphs[k].name);
			failed = 1;
		}
		fflush(stdout);
		pm_proc_result_release(&r);
	}
	return failed;
}
