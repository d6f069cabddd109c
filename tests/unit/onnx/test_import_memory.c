/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_memory.c - import and hash take at most three times the model's bytes, the bytes included.
 *
 * Counted are the bytes of all blocks that malloc has handed out, its own overhead included: unlike pages
 * (tests/bench/bench_import.c) they are the same in every run. Each model here is one of the ways in which
 * more was taken once. Fixed costs are left out by making the models large enough.
 */
#include "ir/canon/canon.h"
#include "ir/onnx/onnx.h"
#include "tests/lib/graphs/onnx_bytes.h"
#include "tests/lib/need.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(PM_HOSTILE)
#define COUNTED 0 /* its blocks are another allocator's, or larger on purpose */
#elif defined(__has_feature)
#define COUNTED !__has_feature(address_sanitizer)
#else
#define COUNTED 1
#endif

static long live, peak;

#if COUNTED
enum { OVERHEAD = sizeof(size_t) };

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static void *came(void *p)
{
	live += p ? (long)(malloc_usable_size(p) + OVERHEAD) : 0;
	peak = live > peak ? live : peak;
	return p;
}

static void *went(void *p)
{
	live -= p ? (long)(malloc_usable_size(p) + OVERHEAD) : 0;
	return p;
}

void *malloc(size_t n)
{
	return came(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
	return came(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
	return came(__libc_realloc(went(p), n));
}

void free(void *p)
{
	__libc_free(went(p));
}
#endif

/* ---- models ---- */

enum { LAYERS = 5 };

/* A graph network: layers that extend an index list from outside by one of their own and hand it on. */
static void index_lists(PmStr *s)
{
	pm_str_add(s, "i edges int64 2,1000\ni x float 1000,8\nw row int64 - 0\nw col int64 - 1\n"
		      "w flat int64 1 -1\nw wide int64 2 -1 1\nw shape int64 2 2000 8\n");
	for (int k = 0; k < LAYERS; k++)
		pm_str_addf(s,
			    "n Concat edges,own%d -> all%d axis=1\nn Gather all%d,row -> from%d axis=0\n"
			    "n Gather all%d,col -> to%d axis=0\nn Reshape to%d,flat -> list%d\n"
			    "n Gather x,list%d -> picked%d axis=0\nn Reshape from%d,wide -> col%d\n"
			    "n Expand col%d,shape -> ids%d\nn Neg ones%d -> less%d\no picked%d\no ids%d\n"
			    "o less%d\n",
			    k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k);
}

static void add_raw(PmStr *graph, const char *stem, int k, int64_t type, const int64_t *dims, int rank,
		    const void *p, size_t n)
{
	enum { DIMS = 1, DATA_TYPE = 2, NAME = 8, RAW_DATA = 9, INITIALIZER = 5 };
	PmStr t = PM_STR_INIT;
	char name[16];

	for (int d = 0; d < rank; d++)
		pm_ob_int(&t, DIMS, dims[d]);
	pm_ob_int(&t, DATA_TYPE, type);
	snprintf(name, sizeof name, "%s%d", stem, k);
	pm_ob_str(&t, NAME, name);
	pm_ob_bytes(&t, RAW_DATA, p, n);
	pm_ob_msg(graph, INITIALIZER, &t);
}

/* Initializers own0, ...: int64[2,1000] of node numbers; ones0, ...: as many weights. */
static void add_own_lists(PmStr *graph)
{
	enum { NODES = 1000, FLOAT = 1, INT64 = 7 };
	int64_t list[2 * NODES], dims[2] = { 2, NODES };
	float ones[2 * NODES];

	for (int i = 0; i < 2 * NODES; i++) {
		list[i] = i % NODES;
		ones[i] = 1;
	}
	for (int k = 0; k < LAYERS; k++) {
		add_raw(graph, "own", k, INT64, dims, 2, list, sizeof list);
		add_raw(graph, "ones", k, FLOAT, dims, 2, ones, sizeof ones);
	}
}

/* Index lists of which nothing is known, as long as those that are followed. */
static void unknown_lists(PmStr *s)
{
	pm_str_add(s, "i edges int64 2,100\nw row int64 - 0\nw wide int64 2 -1 1\nw shape int64 2 100 32\n");
	for (int k = 0; k < 12; k++)
		pm_str_addf(s,
			    "n Gather edges,row -> list%d axis=0\nn Reshape list%d,wide -> column%d\n"
			    "n Expand column%d,shape -> matrix%d\no matrix%d int64 100,32\n",
			    k, k, k, k, k, k);
}

/* What else such a model has. */
static void add_weight(PmStr *graph)
{
	enum { WEIGHTS = 5000, FLOAT = 1 };
	static const float weight[WEIGHTS];
	int64_t dims[1] = { WEIGHTS };

	add_raw(graph, "weight", 0, FLOAT, dims, 1, weight, sizeof weight);
}

/* Many nodes with names as exporters write them. */
static void many_nodes(PmStr *s)
{
	pm_str_add(s, "i /model/layers.0/input float batch,64\n");
	for (int k = 0; k < 2000; k++)
		pm_str_addf(s,
			    "n Mul /model/layers.%d/input,/model/layers.%d/input -> "
			    "/model/layers.%d/Mul_output_0\n"
			    "n Softmax /model/layers.%d/Mul_output_0 -> /model/layers.%d/input axis=-1\n"
			    "v /model/layers.%d/Mul_output_0 float batch,64\n",
			    k, k, k, k, k + 1, k);
	pm_str_add(s, "o /model/layers.2000/input float batch,64\n");
}

static void one_node(PmStr *s)
{
	pm_str_add(s, "i x float 4\no y\nn Relu x -> y\n");
}

/* Statistics of weights, say: most of the file. */
static void add_metadata(PmStr *model)
{
	enum { BYTES = 400000, METADATA_PROPS = 14 };
	PmStr entry = PM_STR_INIT, text = PM_STR_INIT;

	for (int i = 0; text.len < BYTES; i++)
		pm_str_addf(&text, "\"weight_%d\": %d,", i, i * 7);
	pm_ob_str(&entry, 1, "stats");
	pm_ob_str(&entry, 2, text.s);
	pm_ob_msg(model, METADATA_PROPS, &entry);
	pm_str_release(&text);
}

/* ---- measuring ---- */

typedef struct Row {
	const char *what;
	void (*spec)(PmStr *);
	void (*add)(PmStr *graph); /* to the graph, or NULL */
	int metadata;
	double import, hash; /* most that may be taken beside the model's bytes, and without them */
} Row;

static const Row rows[] = {
	{ "index lists known by half", index_lists, add_own_lists, 0, 2, 3 },
	{ "unknown index lists", unknown_lists, add_weight, 0, 2, 3 },
	{ "many nodes", many_nodes, NULL, 0, 1.8, 2.75 },
	{ "metadata", one_node, NULL, 1, 1.2, 1.2 },
};

static PmStr model_of(const Row *row)
{
	PmStr spec = PM_STR_INIT, graph = PM_STR_INIT, model;

	row->spec(&spec);
	pm_ob_graph(&graph, spec.s);
	pm_str_release(&spec);
	if (row->add)
		row->add(&graph);
	model = pm_ob_model(18, &graph);
	if (row->metadata)
		add_metadata(&model);
	return model;
}

static void holds(const Row *row, const char *step, long bytes, size_t model, double most)
{
	double times = (double)bytes / (double)model;

	print_message("%s: the %s takes %ld bytes, %.2f times the %zu of the model\n", row->what, step, bytes,
		      times, model);
	assert_true(times <= most);
}

static void check(const Row *row)
{
	PmStr model = model_of(row);
	char hex[PM_SHA256_HEX];
	long before = live;
	PmGraph *g;
	PmErr err;

	pm_err_init(&err);
	peak = live;
	if (pm_onnx_import_mem(model.s, model.len, row->what, NULL, &g, NULL, &err))
		fail_msg("%s", err.text);
	holds(row, "import", peak - before, model.len, row->import);
	peak = live;
	if (pm_canon_hash(g, PM_CANON_FULL, hex, &err))
		fail_msg("%s", err.text);
	holds(row, "hash", peak - before, model.len, row->hash);
	pm_graph_free(g);
	pm_str_release(&model);
}

static void models_take_at_most_three_times_their_bytes(void **state)
{
	(void)state;
	if (!COUNTED)
		pm_test_skip("memory is counted without sanitizers only");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_take_at_most_three_times_their_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
