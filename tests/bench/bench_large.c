/* SPDX-License-Identifier: Apache-2.0 */
/* bench_large.c - what one class of inputs costs on this machine's processors, stage by stage, without a
 * device.
 *
 * bench_large GRAPH [CLASS ...]    all classes without a name
 *
 * Nanoseconds of all processors an element (of the largest input or output): drawing the inputs, their
 * digest, the error bound with its two references, judging by it, the ladder, comparing bits, and judging by
 * rows, which stands for the bound, the fit and the ladder where a graph is large. The results that are
 * judged are the reference's, rounded to their type, so that nothing but the judge is timed.
 */
#include "base/sys/chain.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "bench/compare/agree.h"
#include "bench/compare/by_rows.h"
#include "bench/inputs/inputs.h"
#include "ir/infer/infer.h"
#include "ir/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_TEXT = 1 << 24 };

static void die(const PmErr *err)
{
	fprintf(stderr, "bench_large: %s\n", err->text);
	exit(4);
}

static PmGraph *read_graph(const char *path)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_read_file(path, MAX_TEXT, &text, &err) || pm_graph_parse(text.s, text.len, &g, &err) ||
	    pm_infer_graph(g, 1, &err))
		die(&err);
	pm_str_release(&text);
	return g;
}

static double elements(const PmGraph *g)
{
	int64_t most = 1, n;

	for (size_t i = 0; i < pm_graph_n_inputs(g) + pm_graph_n_outputs(g); i++) {
		PmValue v = i < pm_graph_n_inputs(g) ? pm_graph_input(g, i)
						     : pm_graph_output(g, i - pm_graph_n_inputs(g));

		if (!pm_type_numel(pm_value_type(g, v), &n, NULL) && n > most)
			most = n;
	}
	return (double)most;
}

/* Seconds of all processors. */
static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double t0;

static void tell(double n)
{
	double t = cpu_now();

	printf(" %8.2f", (t - t0) / n * 1e9);
	fflush(stdout);
	t0 = cpu_now();
}

static void time_rows(const PmGraph *g, const PmTensor *in, size_t n_in, const PmTensor *y, size_t n_out,
		      double n)
{
	const PmTensor **got = pm_xcalloc(n_out + 1, sizeof(void *));
	PmByRows *by = pm_xcalloc(n_out + 1, sizeof *by);
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	PmRows rows;
	PmErr err;

	pm_err_init(&err);
	for (size_t i = 0; i < n_out; i++)
		got[i] = &y[i];
	t0 = cpu_now();
	if (pm_is_by_rows(g, &rows)) {
		if (pm_by_rows(g, &rows, in, n_in, got, n_out, PM_TIER_STRICT, &rule, by, &err))
			die(&err);
		pm_rows_release(&rows);
		tell(n);
	} else {
		printf(" %8s", "-");
	}
	free(got);
	free(by);
}

static void time_class(const PmGraph *g, PmInputClass cls)
{
	size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g);
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *y = pm_xcalloc(n_out + 1, sizeof *y);
	PmBound *b = pm_xcalloc(n_out + 1, sizeof *b);
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	double n = elements(g);
	char hex[PM_CHAIN_HEX] = "";
	PmErr err;

	pm_err_init(&err);
	printf("%-8s", pm_input_class_name(cls));
	t0 = cpu_now();
	if (pm_inputs_make(g, 1, cls, in, &err))
		die(&err);
	tell(n);
	for (size_t i = 0; i < n_in; i++)
		pm_chain_pieces(hex, in[i].data, in[i].bytes);
	tell(n);
	if (pm_bound_run(g, in, n_in, PM_TIER_STRICT, b, n_out, &err))
		die(&err);
	tell(n);
	for (size_t i = 0; i < n_out; i++) {
		if (pm_tensor_init(&y[i], &b[i].y.type, &err))
			die(&err);
		pm_tensor_sets(&y[i], 0, b[i].y.numel, b[i].y.f);
	}
	t0 = cpu_now();
	for (size_t i = 0; i < n_out; i++) {
		PmBoundFit f;

		pm_bound_fit(&b[i], &y[i], &f);
		if (i == 0)
			snprintf(hex + 8, sizeof hex - 8, " %.17g %.17g", f.rms, f.noise);
	}
	tell(n);
	for (size_t i = 0; i < n_out; i++) {
		PmTensorView v = pm_view_of(&y[i]);
		PmComparison c;

		pm_compare(&v, &v, &rule, &c);
	}
	tell(n);
	for (size_t i = 0; i < n_out; i++) {
		PmTensor copy;

		if (pm_tensor_copy(&copy, &y[i], &err))
			die(&err);
		if (i == 0)
			t0 = cpu_now();
		if (memcmp(copy.data, y[i].data, copy.bytes))
			abort();
		pm_tensor_release(&copy);
	}
	tell(n);
	time_rows(g, in, n_in, y, n_out, n);
	printf("  %s\n", hex);
	pm_bounds_release(b, n_out);
	pm_tensors_release(in, n_in);
	pm_tensors_release(y, n_out);
	free(in);
	free(y);
	free(b);
}

int main(int argc, char **argv)
{
	PmGraph *g;

	if (argc < 2) {
		fprintf(stderr, "bench_large GRAPH [CLASS ...]\n");
		return 2;
	}
	g = read_graph(argv[1]);
	printf("%s: %.0f elements; ns of processors an element\n%-8s %8s %8s %8s %8s %8s %8s %8s\n", argv[1],
	       elements(g), "class", "inputs", "digest", "bound", "fit", "ladder", "bits", "rows");
	for (int c = 0; c < PM_N_ALL_CLASSES; c++) {
		int wanted = argc == 2;

		for (int i = 2; i < argc; i++)
			wanted |= !strcmp(argv[i], pm_input_class_name((PmInputClass)c));
		if (wanted)
			time_class(g, (PmInputClass)c);
	}
	pm_graph_free(g);
	return 0;
}
