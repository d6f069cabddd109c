/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - what an evaluation of a graph needs, and what this machine has. */
#include "bench/eval/memory.h"

#include "bench/compare/by_rows.h"
#include "bench/inputs/reach.h"
#include "runtime/exec/exec.h"

#include <stdio.h>
#include <string.h>

static const int64_t most_planned = (int64_t)1 << 48; /* bytes of an operator */

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What is not static has no size that is known. */
static int64_t bytes_of(const PmGraph *g, PmValue v)
{
	int64_t n = 0;
	PmStatus st = pm_type_bytes(pm_value_type(g, v), &n, NULL);

	return st == PM_E_LIMIT ? INT64_MAX : st ? 0 : n;
}

static int64_t double_bytes_of(const PmGraph *g, PmValue v)
{
	int64_t n = 0;
	PmStatus st = pm_type_numel(pm_value_type(g, v), &n, NULL);

	if (st == PM_E_LIMIT || n > INT64_MAX / (int64_t)sizeof(double))
		return INT64_MAX;
	return st ? 0 : n * (int64_t)sizeof(double);
}

static int64_t of_node(const PmGraph *g, PmNode node)
{
	int64_t sum = 0;

	for (size_t k = 0; k < pm_node_n_in(g, node); k++)
		sum = add(sum, double_bytes_of(g, pm_node_in(g, node, k)));
	for (size_t k = 0; k < pm_node_n_out(g, node); k++)
		sum = add(sum, double_bytes_of(g, pm_node_out(g, node, k)));
	/* An Einsum lays its operands and its result out as matrices. */
	return pm_node_op(g, node) == PM_OP_Einsum ? add(sum, sum) : sum;
}

/* Of a node what is no input of the graph: those are there already. */
static int64_t made_by(const PmGraph *g, PmNode node)
{
	int64_t sum = 0;

	for (size_t k = 0; k < pm_node_n_in(g, node); k++)
		if (!pm_value_is_input(g, pm_node_in(g, node, k)))
			sum = add(sum, double_bytes_of(g, pm_node_in(g, node, k)));
	for (size_t k = 0; k < pm_node_n_out(g, node); k++)
		sum = add(sum, double_bytes_of(g, pm_node_out(g, node, k)));
	return sum;
}

/* The reference, by operator and as a whole. */
static void need_of_reference(const PmGraph *g, PmMemoryNeed *out)
{
	int64_t made = 0;
	PmRows rows;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		out->reference = most(out->reference, of_node(g, n));
		made = most(made, made_by(g, n));
	}
	out->drawing = made;
	for (size_t k = 0; k < pm_graph_n_inputs(g); k++)
		out->drawing = add(out->drawing, double_bytes_of(g, pm_graph_input(g, k)));
	if (out->reference < most_planned && pm_reach_bytes_by_rows(g) > 0)
		out->drawing = pm_reach_bytes_by_rows(g);
	out->judging = out->reference;
	if (out->reference < most_planned && pm_is_by_rows(g, &rows)) {
		out->judging = pm_by_rows_bytes(&rows);
		pm_rows_release(&rows);
	}
}

void pm_memory_need(const PmGraph *g, PmMemoryNeed *out)
{
	PmPlanStats s = { 0 };

	*out = (PmMemoryNeed){ 0 };
	for (size_t k = 0; k < pm_graph_n_inputs(g); k++)
		out->inputs = add(out->inputs, bytes_of(g, pm_graph_input(g, k)));
	for (size_t k = 0; k < pm_graph_n_outputs(g); k++)
		out->outputs = add(out->outputs, bytes_of(g, pm_graph_output(g, k)));
	need_of_reference(g, out);
	if (out->reference > most_planned) /* a plan's sums could overflow, and nothing of this size fits */
		out->values = INT64_MAX;
	else if (!pm_graph_plan_stats(g, NULL, 0, NULL, &s, NULL))
		out->values = s.peak_memory;
}

int64_t pm_memory_of_device(const PmMemoryNeed *n)
{
	return add(add(n->inputs, n->outputs), n->values);
}

int64_t pm_memory_of_host(const PmMemoryNeed *n, int emulated)
{
	int64_t drawing = add(n->inputs, n->drawing), run = add(add(n->inputs, n->inputs), n->outputs);
	int64_t judging = add(add(n->inputs, n->outputs), n->judging), sum;

	run = add(run, add(n->outputs, n->outputs));
	sum = most(drawing, most(run, judging));
	return emulated ? add(sum, pm_memory_of_device(n)) : sum;
}

/* ---- what there is ---- */

/* The number behind `key` in a file, or the whole file's where key is ""; -1 when there is none. */
static int64_t number_in(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	char line[256];
	long long v = -1;

	while (f && v < 0 && fgets(line, sizeof line, f))
		if (!strncmp(line, key, strlen(key)) && sscanf(line + strlen(key), "%lld", &v) != 1)
			v = -1;
	if (f)
		fclose(f);
	return v;
}

/* What the control group that this process sees as its root leaves. */
static int64_t left_in_group(void)
{
	static const char *const files[][2] = {
		{ "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current" },
		{ "/sys/fs/cgroup/memory/memory.limit_in_bytes",
		  "/sys/fs/cgroup/memory/memory.usage_in_bytes" },
	};
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		int64_t most = number_in(files[i][0], ""), used = number_in(files[i][1], "");

		if (most >= 0 && used >= 0 && most - used < least)
			least = most > used ? most - used : 0;
	}
	return least;
}

int64_t pm_memory_available(void)
{
	int64_t kib = number_in("/proc/meminfo", "MemAvailable:"), group = left_in_group();
	int64_t here = kib >= 0 ? kib * 1024 : INT64_MAX;

	return here < group ? here : group;
}

PmStatus pm_memory_check(int64_t need, int64_t have, const char *where, const PmMemoryNeed *n, PmErr *err)
{
	const double giga = 1e9;

	if (need <= have)
		return PM_OK;
	return pm_err(
		err, PM_E_LIMIT,
		"An evaluation of this graph needs %.1f GB of memory (inputs %.1f, outputs %.1f, values "
		"between operators %.1f, the largest operator in double precision %.1f), and %s has %.1f GB "
		"for "
		"it; evaluate smaller shapes, with fewer --jobs, or on a larger machine.",
		(double)need / giga, (double)n->inputs / giga, (double)n->outputs / giga,
		(double)n->values / giga, (double)n->reference / giga, where, (double)have / giga);
}
