/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_trial.c - which algorithm, and which of a library's candidates for it, a call takes on this device:
 * tried once, kept in the cache.
 *
 * Baseline and candidate, the timed run and the one that makes its calls again in another process must do the
 * same arithmetic, so the outcome is a file that whoever comes first writes and everybody reads. Where it
 * cannot be kept there is no trial. The file also has the times of all that was tried, for the curious.
 */
#include "runtime/cuda/library/cuda_lib_priv.h"

#include "base/core/hash.h"
#include "base/sys/io.h"
#include "runtime/cuda/library/lib_algo_priv.h"
#include "runtime/cuda/library/trial_data.h"
#include "runtime/device/kcache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CANDIDATES = 6,  /* of a library, for each algorithm */
	ROUNDS = 7,      /* calls of one that are timed; the median counts */
	ROUNDS_LONG = 3, /* of one that takes longer than long_seconds */
	VERSION = 7      /* of the file, and of what is tried */
};
static const double long_seconds = 2e-3;
static const double clear = 0.97; /* of the time of what was tried before */
enum { SHARE = 8 };               /* operands of a call that is tried take at most this part of the memory */

/* --- what a call is called -------------------------------------------------------------------------------
 */

static void add_list(PmStr *s, const char *name, const int64_t *v, int n)
{
	pm_str_addf(s, " %s", name);
	for (int i = 0; i < n; i++)
		pm_str_addf(s, "%c%lld", i ? 'x' : ' ', (long long)v[i]);
}

static void describe(const PmLibCall *c, PmStr *s)
{
	const PmLibGemm *g = &c->gemm;
	const PmLibConv *v = &c->conv;

	pm_str_add(s, pm_dtype_name((PmDType)c->dtype));
	if (c->kind == PM_LIB_GEMM) {
		const int64_t size[] = { g->outer, g->batch, g->m, g->n, g->k };
		const int64_t a[] = { g->a_outer, g->a_batch, g->a_row, g->a_col },
			      b[] = { g->b_outer, g->b_batch, g->b_row, g->b_col };

		pm_str_addf(s, " product, third operand %d, alpha %.17g beta %.17g", (int)g->c, g->alpha,
			    g->beta);
		add_list(s, "size", size, 5);
		add_list(s, "a", a, 4);
		add_list(s, "b", b, 4);
	} else {
		pm_str_addf(s, " convolution%s%s%s%s, %lld groups", v->transposed ? ", transposed" : "",
			    v->uneven ? ", pads that differ" : "", v->has_bias ? ", bias" : "",
			    v->constant ? ", constant weights" : "", (long long)v->groups);
		add_list(s, "x", v->x, v->spatial + 2);
		add_list(s, "w", v->w, v->spatial + 2);
		add_list(s, "y", v->y, v->spatial + 2);
		add_list(s, "pad", v->pad, v->spatial);
		add_list(s, "stride", v->stride, v->spatial);
		add_list(s, "dilation", v->dilation, v->spatial);
	}
	add_list(s, "align", c->align, 4);
	add_list(s, "step", c->step, 4);
}

/* Everything that the outcome depends on, and the path of its file. */
static PmStatus name_of(const PmCudaDevice *d, const PmLibCall *c, PmStr *text, PmStr *path, PmErr *err)
{
	char hex[PM_SHA256_HEX], file[PM_SHA256_HEX + 8];
	PmStr dir = PM_STR_INIT, all = PM_STR_INIT;
	PmStatus st = pm_kcache_dir("library", &dir, err);

	pm_str_addf(text, "%s, compute capability %d, driver %d, cuBLASLt %d, cuDNN %d, tf32 %d, %s\n",
		    d->info.name, d->info.cc, d->cu->version, pm_library_cublaslt()->version,
		    pm_library_cudnn()->version, pm_library_tf32(), pm__trial_data_name);
	describe(c, text);
	pm_str_addc(text, '\n');
	pm_str_addf(&all, "%d\n%s\n%s", VERSION, text->s, pm_algo_source());
	pm_sha256_hex(all.s, all.len, hex);
	snprintf(file, sizeof file, "%s.txt", hex);
	if (!st)
		pm_path_join(dir.s, file, path);
	pm_str_release(&all);
	pm_str_release(&dir);
	return st;
}

/* --- one trial -------------------------------------------------------------------------------------------
 */

typedef struct Trial {
	PmCudaDevice *d;
	PmCudaSite site;
	CuPtr p[4], workspace;
	int64_t bytes[4], workspace_bytes;
	CuEvent *from, *to;
} Trial;

/* Bytes of each operand. 0 when one runs backwards, or all are more than `most`. */
static int operand_bytes(const PmLibCall *c, int64_t most, int64_t bytes[4])
{
	const PmLibGemm *g = &c->gemm;
	const PmLibConv *v = &c->conv;
	int64_t sum = 0, size = (int64_t)pm_dtype_size((PmDType)c->dtype);

	memset(bytes, 0, 4 * sizeof *bytes);
	if (c->kind == PM_LIB_GEMM) {
		if (g->a_outer < 0 || g->a_batch < 0 || g->b_outer < 0 || g->b_batch < 0)
			return 0;
		bytes[0] = g->outer * g->batch * g->m * g->n;
		bytes[1] = (g->outer - 1) * g->a_outer + (g->batch - 1) * g->a_batch + (g->m - 1) * g->a_row +
			   (g->k - 1) * g->a_col + 1;
		bytes[2] = (g->outer - 1) * g->b_outer + (g->batch - 1) * g->b_batch + (g->k - 1) * g->b_row +
			   (g->n - 1) * g->b_col + 1;
		bytes[3] = g->c == PM_LIB_C_MATRIX ? bytes[0] : (g->c == PM_LIB_C_COLUMNS ? g->n : 0);
	} else {
		bytes[0] = pm__algo_product(v->y, v->spatial + 2);
		bytes[1] = pm__algo_product(v->x, v->spatial + 2);
		bytes[2] = pm__algo_product(v->w, v->spatial + 2);
		bytes[3] = v->has_bias ? v->y[1] : 0;
	}
	for (int i = 0; i < 4; i++)
		sum += bytes[i] *= size;
	return sum <= most;
}

static void close_trial(Trial *t)
{
	for (int i = 0; i < 4; i++)
		if (t->p[i])
			t->d->cu->mem_free(t->p[i]);
	if (t->workspace)
		t->d->cu->mem_free(t->workspace);
	if (t->from)
		t->d->cu->event_destroy(t->from);
	if (t->to)
		t->d->cu->event_destroy(t->to);
}

/* Operand i gets the numbers of the trial: once, and then what is there is doubled until it is full. */
static int fill(const Trial *t, int i, PmDType dtype)
{
	const PmCuda *cu = t->d->cu;
	size_t all = (size_t)t->bytes[i], done, piece;
	PmTensor numbers;
	int rc;

	if (pm__trial_data(dtype, i, &numbers, NULL))
		return 1;
	done = all < numbers.bytes ? all : numbers.bytes;
	rc = cu->copy_to(t->p[i], numbers.data, done, t->d->stream);
	for (; !rc && done < all; done += piece) {
		piece = all - done < done ? all - done : done;
		rc = cu->copy(t->p[i] + done, t->p[i], piece, t->d->stream);
	}
	if (!rc)
		rc = cu->stream_sync(t->d->stream); /* the numbers are given back */
	pm_tensor_release(&numbers);
	return rc;
}

/* Operands of numbers. 0 when there is no memory for them. */
static int open_trial(Trial *t, PmCudaDevice *d, const PmLibCall *c)
{
	int rc = 0;

	memset(t, 0, sizeof *t);
	t->d = d;
	t->site = pm__cuda_site(d);
	if (!operand_bytes(c, d->info.memory / SHARE, t->bytes))
		return 0;
	for (int i = 0; i < 4 && !rc; i++) {
		if (t->bytes[i])
			rc = d->cu->mem_alloc(&t->p[i], (size_t)t->bytes[i]);
		if (t->bytes[i] && !rc)
			rc = fill(t, i, (PmDType)c->dtype);
	}
	if (!rc)
		rc = d->cu->event_create(&t->from, 0);
	if (!rc)
		rc = d->cu->event_create(&t->to, 0);
	return rc == 0;
}

static int want_workspace(Trial *t, int64_t bytes)
{
	if (bytes <= t->workspace_bytes)
		return 1;
	if (t->workspace)
		t->d->cu->mem_free(t->workspace);
	t->workspace = 0;
	t->workspace_bytes = 0;
	if (t->d->cu->mem_alloc(&t->workspace, (size_t)bytes))
		return 0;
	t->workspace_bytes = bytes;
	return 1;
}

/* Seconds between two events around a recording, or around one plain run of the algorithm (x NULL); negative
 * when it does not work. */
static double between(Trial *t, CuGraphExec *x, const PmCudaAlgo *w, const PmCudaPlaced *p)
{
	const PmCuda *cu = t->d->cu;
	float ms = 0;
	int rc = cu->event_record(t->from, t->d->stream);

	if (!rc)
		rc = x ? cu->graph_launch(x, t->d->stream) : pm__algo_run(&t->site, w, p, NULL) != PM_OK;
	if (!rc)
		rc = cu->event_record(t->to, t->d->stream);
	if (!rc)
		rc = cu->event_sync(t->to);
	if (!rc)
		rc = cu->event_elapsed(&ms, t->from, t->to);
	return rc ? -1 : (double)ms * 1e-3;
}

/* One run, recorded; NULL when that fails. */
static CuGraphExec *record(Trial *t, const PmCudaAlgo *w, const PmCudaPlaced *p)
{
	const PmCuda *cu = t->d->cu;
	CuGraphExec *x = NULL;
	CuGraph *g = NULL;
	int ok = cu->capture_begin(t->d->stream, CU_CAPTURE_RELAXED) == 0;

	if (!ok)
		return NULL;
	ok = pm__algo_run(&t->site, w, p, NULL) == PM_OK;
	ok = cu->capture_end(t->d->stream, &g) == 0 && g && ok;
	if (ok && cu->graph_make(&x, g, 0))
		x = NULL;
	if (g)
		cu->graph_destroy(g);
	return x;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of several replays, each with empty caches; negative when it does not work. The operands of a
 * call seldom lie in the L2 cache: weights are read once in a run of the model. With warm caches, and calls
 * one behind the other, a candidate wins by what it does not wait for. */
static double replayed(Trial *t, CuGraphExec *x, int rounds)
{
	double s[ROUNDS];

	for (int i = -1; i < rounds; i++) { /* the first warms up */
		if (t->d->base.ops->clock->flush(&t->d->base, NULL))
			return -1;
		s[i < 0 ? 0 : i] = between(t, x, NULL, NULL);
		if (s[i < 0 ? 0 : i] <= 0)
			return -1;
	}
	qsort(s, (size_t)rounds, sizeof *s, by_size);
	return s[rounds / 2];
}

/* Seconds of one call; negative when it does not work. */
static double time_algo(Trial *t, const PmCudaAlgo *w)
{
	PmCudaPlaced p;
	CuGraphExec *x = NULL;
	double median = -1, one;

	if (!want_workspace(t, w->algo.kept + w->workspace)) /* what is kept is a multiple of any alignment */
		return -1;
	if (pm__algo_place(w, t->p, t->workspace + (uint64_t)w->algo.kept, t->workspace, &p, NULL) ||
	    pm__algo_run_once(&t->site, w, t->p[2], t->workspace, NULL) || between(t, NULL, w, &p) < 0) {
		pm__algo_unplace(&p);
		return -1;
	}
	one = between(t, NULL, w, &p);
	if (one >= 0)
		x = record(t, w, &p);
	if (x) {
		median = replayed(t, x, one < long_seconds ? ROUNDS : ROUNDS_LONG);
		t->d->cu->graph_exec_destroy(x);
	}
	pm__algo_unplace(&p);
	return median;
}

typedef struct Best {
	int kind, pick;
	double seconds;
} Best;

/* All candidates for one algorithm. */
static void try_algo(Trial *t, const PmLibCall *c, PmAlgoKind kind, Best *best, PmStr *log)
{
	PmAlgo algo;
	int pick = 0;

	if (!pm_algo_describe(c, kind, &algo))
		return;
	for (int i = 0; i < CANDIDATES; i++) {
		PmCudaAlgo w;
		double s = -1;
		PmStatus st = pm__algo_prepare(&t->site, &algo, pick, &w, NULL);

		pick = w.pick;
		if (!st)
			s = time_algo(t, &w);
		pm__algo_drop(&w);
		if (st)
			return;
		pm_str_addf(log, "%s %d: %.2f us\n", pm_algo_name(kind), pick, s * 1e6);
		if (s > 0 && (best->kind < 0 || s < best->seconds * ((int)kind == best->kind ? 1 : clear)))
			*best = (Best){ kind, pick, s };
		if (algo.n == 1 && algo.stage[0].entry) /* no library, no candidates */
			return;
		pick++;
	}
}

/* --- keeping the outcome ---------------------------------------------------------------------------------
 */

static int read_choice(const char *path, int *kind, int *pick)
{
	PmStr text = PM_STR_INIT;
	int ok = pm_path_exists(path) && pm_read_file(path, 1 << 16, &text, NULL) == PM_OK &&
		 sscanf(text.s, "algorithm %d candidate %d", kind, pick) == 2 && *kind >= 0 &&
		 *kind < PM_N_ALGOS && *pick >= 0;

	pm_str_release(&text);
	return ok;
}

/* Writes the file unless somebody else has: then theirs stands. */
static void keep_choice(const char *path, const PmStr *text)
{
	PmStr own = PM_STR_INIT;

	pm_str_addf(&own, "%s.%ld", path, (long)getpid());
	if (pm_write_file(own.s, text->s, text->len, NULL) == PM_OK) {
		if (link(own.s, path)) {
			/* it is there already, or cannot be: the caller looks */
		}
		unlink(own.s);
	}
	pm_str_release(&own);
}

/* Tries everything; the outcome goes to the file. */
static void try_all(PmCudaDevice *d, const PmLibCall *c, const PmStr *name, const char *path)
{
	Best best = { -1, 0, 0 };
	PmStr text = PM_STR_INIT, log = PM_STR_INIT;
	Trial t;

	if (open_trial(&t, d, c))
		for (int kind = 0; kind < PM_N_ALGOS; kind++)
			try_algo(&t, c, (PmAlgoKind)kind, &best, &log);
	close_trial(&t);
	pm__cuda_clock_give_area(d);
	if (best.kind < 0)
		best = (Best){ PM_ALGO_PLAIN, 0, 0 };
	pm_str_addf(&text, "algorithm %d candidate %d: %s\n%s%s", best.kind, best.pick,
		    pm_algo_name((PmAlgoKind)best.kind), name->s, log.s);
	keep_choice(path, &text);
	pm_str_release(&text);
	pm_str_release(&log);
}

/* --- choosing --------------------------------------------------------------------------------------------
 */

static PmStatus prepare(PmCudaDevice *d, const PmLibCall *c, int kind, int pick, PmCudaAlgo *out, PmErr *err)
{
	PmCudaSite site = pm__cuda_site(d);
	PmAlgo algo;
	PmStatus st;

	if (!pm_algo_describe(c, (PmAlgoKind)kind, &algo))
		return PM_DECLINED;
	st = pm__algo_prepare(&site, &algo, pick, out, err);
	if (st)
		pm__algo_drop(out);
	return st;
}

PmStatus pm__algo_choose(PmCudaDevice *d, const PmLibCall *c, PmCudaAlgo *out, PmErr *err)
{
	int want = pm_library_algo(), kind = PM_ALGO_PLAIN, pick = 0;
	PmStr name = PM_STR_INIT, path = PM_STR_INIT;
	PmStatus st;

	memset(out, 0, sizeof *out);
	if (want >= 0)
		return prepare(d, c, want, 0, out, err);
	if (want == PM_LIBRARY_TRY && name_of(d, c, &name, &path, NULL) == PM_OK) {
		if (!read_choice(path.s, &kind, &pick))
			try_all(d, c, &name, path.s);
		if (!read_choice(path.s, &kind, &pick)) {
			kind = PM_ALGO_PLAIN;
			pick = 0;
		}
	}
	pm_str_release(&name);
	pm_str_release(&path);
	st = prepare(d, c, kind, pick, out, err);
	/* A choice that this library does not know any more, or a call that was not tried and that it does
	 * not take. */
	for (int k = 0; k < PM_N_ALGOS && st; k++)
		if (k != kind || pick)
			st = prepare(d, c, k, 0, out, err);
	return st;
}
