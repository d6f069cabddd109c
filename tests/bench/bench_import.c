/* SPDX-License-Identifier: Apache-2.0 */
/* bench_import.c - how fast models are read, and how much memory that takes; `make bench-import` runs it.
 *
 *   bench_import MODEL.onnx...
 *
 * Four measurements, each import (which infers and verifies) and the full canonical hash, on one core:
 * all models in one process; the peak memory of each in a process of its own; a generated model of 300,000
 * nodes; a generated model whose 4 GiB of weights lie in a sparse file beside it.
 *
 * Memory is what the kernel says, to the page: the resident anonymous memory (smaps_rollup, which walks the
 * page tables; the counters of /proc/self/status lag by up to 128 KB a processor) after over before, in a
 * child whose heap gives nothing back, so that what it holds at the end is its highest level. A model file
 * that is mapped (base/sys/io.h) is read whole during the import and counts in full there; a smaller one is
 * copied to the heap and counts with it. The program's own pages do not count.
 */
#include "base/core/arena.h"
#include "base/sys/io.h"
#include "ir/canon/canon.h"
#include "ir/onnx/onnx.h"
#include "tests/lib/graphs/onnx_bytes.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BIG_NODES = 300000, BLOCK = 10, WEIGHT_DIM = 16384, N_WEIGHTS = 4 };

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct Got {
	double seconds;
	size_t nodes;
	double absent_bytes;
	char hash[PM_SHA256_HEX];
} Got;

static double weights_elsewhere(const PmGraph *g)
{
	double sum = 0;

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		const PmBlob *b = pm_value_blob(g, (PmValue){ id });

		if (b && b->location)
			sum += (double)b->size;
	}
	return sum;
}

/* The resident anonymous memory in bytes, -1 when it cannot be told. */
static double resident(void)
{
	char buf[2048];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof buf - 1);
	const char *at;

	if (fd >= 0)
		close(fd);
	buf[n < 0 ? 0 : n] = '\0';
	at = strstr(buf, "Anonymous:");
	return at ? 1024 * strtod(at + 10, NULL) : -1;
}

static void failed(const PmErr *err)
{
	fprintf(stderr, "bench_import: %s\n", err->text);
	exit(4);
}

/* Imports and hashes one model; ends the program when that fails. *imported: what is resident between. */
static Got once(const char *path, double *imported)
{
	static PmOnnxReport report;
	double start = cpu_now();
	PmGraph *g = NULL;
	PmErr err;
	Got got;

	memset(&got, 0, sizeof got);
	pm_err_init(&err);
	if (pm_onnx_import(path, NULL, &g, &report, &err))
		failed(&err);
	if (imported)
		*imported = resident();
	if (pm_canon_hash(g, PM_CANON_FULL, got.hash, &err))
		failed(&err);
	got.seconds = cpu_now() - start;
	got.nodes = pm_graph_n_nodes(g);
	got.absent_bytes = weights_elsewhere(g);
	pm_graph_free(g);
	return got;
}

/* ---- memory ---- */

/* Peak memory of one import in a child, in bytes; negative when it cannot be measured. */
static double peak(const char *path, const char *warm_up, Got *got)
{
	struct {
		double bytes;
		Got got;
	} answer;
	int to[2], status;
	pid_t child;

	memset(&answer, 0, sizeof answer);
	memset(got, 0, sizeof *got);
	answer.bytes = -1;
	fflush(NULL);
	if (pipe(to) || (child = fork()) < 0)
		return -1;
	if (child == 0) {
		double before;

		mallopt(M_MMAP_MAX, 0);
		once(warm_up, NULL);
		malloc_trim(0); /* or the import would find the memory of the one before */
		mallopt(M_TRIM_THRESHOLD, INT_MAX);
		before = resident();
		if (before >= 0) {
			double page = (double)sysconf(_SC_PAGESIZE), imported, hashed;

			answer.got = once(path, &imported);
			hashed = resident();
			if (pm_file_size(path) >= PM_MAP_LEAST)
				imported += page * ceil((double)pm_file_size(path) / page);
			answer.bytes = (imported > hashed ? imported : hashed) - before;
		}
		_exit(write(to[1], &answer, sizeof answer) != sizeof answer);
	}
	close(to[1]);
	if (read(to[0], &answer, sizeof answer) != sizeof answer)
		answer.bytes = -1;
	close(to[0]);
	waitpid(child, &status, 0);
	if (status)
		exit(4); /* the child has said why */
	*got = answer.got;
	return answer.bytes;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print_ratios(const char *what, double *r, size_t n)
{
	size_t over = 0;

	qsort(r, n, sizeof *r, by_value);
	for (size_t i = 0; i < n; i++)
		over += r[i] > 3;
	printf("  %-34s median %.2fx, 9 of 10 at most %.2fx, largest %.2fx; over 3x: %zu of %zu\n", what,
	       r[n / 2], r[n * 9 / 10], r[n - 1], over, n);
}

static void memory(char **models, int n, const char *warm_up)
{
	double *file = pm_xcalloc((size_t)n, sizeof *file), *whole = pm_xcalloc((size_t)n, sizeof *whole);
	double most = 0;
	size_t count = 0;

	for (int i = 0; i < n; i++) {
		double size = (double)pm_file_size(models[i]);
		Got got;
		double bytes = peak(models[i], warm_up, &got);

		if (bytes < 0)
			continue;
		if (bytes > 3 * size)
			printf("over 3x: %.2fx of %.0f bytes, %zu nodes: %s\n", bytes / size, size, got.nodes,
			       pm_path_base(models[i]));
		file[count] = bytes / size;
		whole[count++] = bytes / (size + got.absent_bytes);
		if (bytes > most)
			most = bytes;
	}
	printf("memory, each model in its own process\n");
	if (!count) {
		printf("  cannot be measured here: /proc/self/smaps_rollup is missing\n");
	} else {
		printf("  largest peak                       %.1f MB\n", most / 1e6);
		print_ratios("peak / file", file, count);
		print_ratios("peak / file and the weights it names", whole, count);
	}
	free(file);
	free(whole);
}

/* ---- generated models ---- */

static void write_model(const char *path, PmStr *model)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_write_file(path, model->s, model->len, &err)) {
		fprintf(stderr, "bench_import: %s\n", err.text);
		exit(3);
	}
	pm_str_release(model);
}

/* Blocks of ten nodes with weights, shapes computed by nodes, and stated types. */
static void write_big(const char *path)
{
	static const char *const block =
		"w w%d float 4 1 2 3 4\n"
		"n MatMul x%d,m -> a%d\nn Add a%d,w%d -> b%d\nn Shape b%d -> s%d\nn Gather s%d,i0 -> g%d "
		"axis=0\n"
		"n Concat g%d,i1 -> c%d axis=0\nn Reshape b%d,c%d -> r%d\nn Relu r%d -> u%d\n"
		"n Transpose u%d -> t%d perm=[1,0]\nn Transpose t%d -> q%d perm=[1,0]\nn Mul q%d,x%d -> x%d\n"
		"v a%d float 4,4\nv x%d float 4,4\n";
	PmStr spec = PM_STR_INIT, model;

	pm_str_add(&spec, "i x0 float 4,4\nw m float 4,4");
	for (int i = 0; i < 16; i++)
		pm_str_addf(&spec, " %d", i);
	pm_str_add(&spec, "\nw i0 int64 1 0\nw i1 int64 1 -1\n");
	for (int i = 0; i < BIG_NODES / BLOCK; i++)
		pm_str_addf(&spec, block, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i,
			    i + 1, i, i + 1);
	pm_str_addf(&spec, "o x%d\n", BIG_NODES / BLOCK);
	model = pm_ob_spec(18, spec.s);
	pm_str_release(&spec);
	write_model(path, &model);
}

static void entry(PmStr *tensor, const char *key, const char *value)
{
	PmStr e = PM_STR_INIT;

	pm_ob_str(&e, 1, key);
	pm_ob_str(&e, 2, value);
	pm_ob_msg(tensor, 13, &e);
}

/* Square weights of 1 GiB each in `data`, one after the other. */
static void write_heavy(const char *path, const char *data)
{
	PmStr graph = PM_STR_INIT, model;
	const int64_t bytes = (int64_t)WEIGHT_DIM * WEIGHT_DIM * 4;

	for (int i = 0; i < N_WEIGHTS; i++) {
		PmStr t = PM_STR_INIT;
		char text[32];

		pm_ob_int(&t, 1, WEIGHT_DIM);
		pm_ob_int(&t, 1, WEIGHT_DIM);
		pm_ob_int(&t, 2, 1); /* FLOAT */
		snprintf(text, sizeof text, "w%d", i);
		pm_ob_str(&t, 8, text);
		entry(&t, "location", pm_path_base(data));
		snprintf(text, sizeof text, "%lld", (long long)(i * bytes));
		entry(&t, "offset", text);
		snprintf(text, sizeof text, "%lld", (long long)bytes);
		entry(&t, "length", text);
		pm_ob_int(&t, 14, 1); /* EXTERNAL */
		pm_ob_msg(&graph, 5, &t);
	}
	pm_ob_graph(&graph, "i x0 float 1,16384\no x4\nn MatMul x0,w0 -> x1\nn MatMul x1,w1 -> x2\n"
			    "n MatMul x2,w2 -> x3\nn MatMul x3,w3 -> x4\n");
	model = pm_ob_model(18, &graph);
	write_model(path, &model);
	if (truncate(data, N_WEIGHTS * bytes)) {
		int fd = open(data, O_WRONLY | O_CREAT, 0666);

		if (fd < 0 || ftruncate(fd, N_WEIGHTS * bytes)) {
			perror("bench_import: a sparse file of 4 GiB cannot be made");
			exit(3);
		}
		close(fd);
	}
}

static void generated(const char *what, const char *path, const char *warm_up)
{
	Got got;
	double bytes = peak(path, warm_up, &got), size = (double)pm_file_size(path);

	printf("%s\n  %zu nodes after folding, file %.1f MB, %.1f MB elsewhere: %.3f s (%.0f nodes/s), peak "
	       "memory %.1f MB "
	       "(%.2fx the file)\n",
	       what, got.nodes, size / 1e6, got.absent_bytes / 1e6, got.seconds,
	       (double)got.nodes / got.seconds, bytes / 1e6, bytes / (size + got.absent_bytes));
}

/* ---- all of it ---- */

static void machine(void)
{
	struct utsname u;
	PmStr cpu = PM_STR_INIT;
	char day[64] = "", *model, *end;
	time_t now = time(NULL);

	strftime(day, sizeof day, "%Y-%m-%d %H:%M UTC", gmtime(&now));
	uname(&u);
	if (pm_read_file("/proc/cpuinfo", 0, &cpu, NULL) || !(model = strstr(cpu.s, "model name")) ||
	    !(model = strchr(model, ':')))
		model = (char *)(uintptr_t) ": unknown processor";
	end = strchr(model, '\n');
	if (end)
		*end = '\0';
	printf("machine %s, %s,%s, %ld processors; %s\n", u.nodename, u.machine, model + 1,
	       sysconf(_SC_NPROCESSORS_ONLN), day);
	pm_str_release(&cpu);
}

static void speed(char **models, int n)
{
	double seconds = 0, bytes = 0;
	size_t nodes = 0;

	for (int i = 0; i < n; i++) {
		Got got = once(models[i], NULL);

		seconds += got.seconds;
		nodes += got.nodes;
		bytes += (double)pm_file_size(models[i]);
	}
	printf("import + verify + hash, one process, processor time\n"
	       "  %d models, %.1f MB, %zu nodes: %.2f s, %.0f nodes/s\n",
	       n, bytes / 1e6, nodes, seconds, (double)nodes / seconds);
}

int main(int argc, char **argv)
{
	PmStr dir = PM_STR_INIT, big = PM_STR_INIT, heavy = PM_STR_INIT, data = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (argc < 2 || pm_temp_dir("bench", &dir, &err)) {
		fprintf(stderr, "bench_import: %s\n", argc < 2 ? "Give the models to read." : err.text);
		return 2;
	}
	pm_path_join(dir.s, "nodes.onnx", &big);
	pm_path_join(dir.s, "heavy.onnx", &heavy);
	pm_path_join(dir.s, "weights.bin", &data);
	write_big(big.s);
	write_heavy(heavy.s, data.s);
	machine();
	generated("one model of 300,000 nodes as written", big.s, argv[1]);
	generated("one model with 4 GiB of weights in another file", heavy.s, argv[1]);
	memory(argv + 1, argc - 1, argv[1]);
	speed(argv + 1, argc - 1);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&big);
	pm_str_release(&heavy);
	pm_str_release(&data);
	return 0;
}
