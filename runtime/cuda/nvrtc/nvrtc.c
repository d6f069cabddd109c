/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc.c - CUDA source to PTX and cubin, and the cache of what was compiled. */
#include "runtime/cuda/nvrtc/nvrtc.h"

#include "base/core/arena.h"
#include "base/core/hash.h"
#include "base/sys/cpus.h"
#include "base/sys/io.h"
#include "runtime/cuda/nvrtc/nvrtc_box.h"
#include "runtime/cuda/nvrtc/nvrtc_priv.h"
#include "runtime/device/kcache.h"
#include "runtime/device/kernel_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_RESULT = 1 << 28, /* bytes of PTX or cubin */
	N_OPTIONS = 3,
	TICK_SECONDS = 10, /* between looks at a kernel compiled ahead */
	AHEAD_SECONDS = 60 /* of processor, for one */
};

/* One compilation: the library, what it is asked, and the text it is given. */
typedef struct Job {
	const PmNvrtc *a;
	const PmSource *s;
	int real; /* machine code is wanted too */
	const PmNvrtcHeaders *headers;
	PmStr arch, unit;
	const char *options[N_OPTIONS];
} Job;

/* --- the compiler's answer ------------------------------------------------------------------------------ */

/* The first error of the log: "label(12): error: text" becomes "line 12: text". */
static PmStatus report(const PmSource *s, const char *log, PmErr *err)
{
	const char *mark = strstr(log, "error"), *line = mark, *text, *behind;
	PmStr part = PM_STR_INIT;
	PmStatus rc;

	if (!mark)
		return pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: %.600s", s->label,
			      *log ? log : "NVRTC gave no message");
	while (line > log && line[-1] != '\n')
		line--;
	text = mark + strcspn(mark, ":\n");
	text += *text == ':' ? 1 + strspn(text + 1, " ") : 0;
	behind = pm_kernel_lines_part(line, s->label, &part);
	if (behind && *behind == '(')
		rc = pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: line %d%s: %.*s", s->label,
			    atoi(behind + 1), part.s, (int)strcspn(text, "\n"), text);
	else
		rc = pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: %.*s", s->label,
			    (int)strcspn(line, "\n"), line);
	pm_str_release(&part);
	return rc;
}

/* Appends one result of the program: its log, PTX (texts, without the terminator) or cubin. */
static PmStatus fetch(const PmSource *s, PmNvrtcProgram *p, int (*size)(PmNvrtcProgram *, size_t *),
		      int (*get)(PmNvrtcProgram *, char *), int is_text, PmStr *out, PmErr *err)
{
	size_t n = 0;
	char *bytes;
	int failed = size(p, &n) != 0 || n > MAX_RESULT;

	if (!failed) {
		bytes = pm_xcalloc(n + 1, 1);
		failed = get(p, bytes) != 0;
		if (!failed)
			pm_str_addn(out, bytes, is_text ? strlen(bytes) : n);
		free(bytes);
	}
	if (failed)
		return pm_err(err, PM_E_INTERNAL, "NVRTC compiled kernel '%s' but gives no result.",
			      s->label);
	return PM_OK;
}

/* all: gets the whole log of a failure; may be NULL. */
static PmStatus compile(const Job *j, PmStr *ptx, PmStr *cubin, PmStr *all, PmErr *err)
{
	const PmNvrtc *a = j->a;
	PmNvrtcProgram *p = NULL;
	PmStr log = PM_STR_INIT;
	PmStatus rc;

	if (a->create(&p, j->unit.s, "kernel.cu", j->headers->n, (const char *const *)j->headers->text,
		      (const char *const *)j->headers->name) != 0)
		return pm_err(err, PM_E_ENV, "NVRTC cannot start on kernel '%s'; check the CUDA toolkit.",
			      j->s->label);
	if (a->compile(p, N_OPTIONS, j->options) != 0) {
		rc = fetch(j->s, p, a->log_size, a->log, 1, &log, err);
		if (!rc && all)
			pm_str_addn(all, log.s, log.len);
		if (!rc)
			rc = report(j->s, log.s, err);
	} else {
		rc = fetch(j->s, p, a->ptx_size, a->ptx, 1, ptx, err);
		if (!rc && j->real && cubin)
			rc = fetch(j->s, p, a->cubin_size, a->cubin, 0, cubin, err);
	}
	pm_str_release(&log);
	a->destroy(&p);
	return rc;
}

/* --- jobs ----------------------------------------------------------------------------------------------- */

static void job_release(Job *j)
{
	pm_str_release(&j->arch);
	pm_str_release(&j->unit);
}

/* Read once; they stay for the life of the process, like the library. */
static PmStatus headers_of(const PmNvrtc *a, const PmNvrtcHeaders **out, PmErr *err)
{
	static PmNvrtcHeaders headers;
	PmStr root = PM_STR_INIT;
	PmStatus rc = PM_OK;

	*out = &headers;
	if (headers.n)
		return PM_OK;
	rc = pm_root_dir(&root, err);
	if (!rc) {
		pm_str_add(&root, "/include");
		pm__nvrtc_headers(&headers, root.s, a->headers.s);
	}
	pm_str_release(&root);
	return rc;
}

static void set_options(Job *j, int arch)
{
	pm_str_addf(&j->arch, "--gpu-architecture=%s_%d", j->real ? "sm" : "compute", arch);
	j->options[0] = j->arch.s;
	j->options[1] = "--std=c++17";
	j->options[2] = "-w";
}

/* `machine`: code for a device of capability cc; otherwise PTX for exactly that architecture. */
static PmStatus job_open(Job *j, const PmSource *s, int cc, int machine, PmErr *err)
{
	int arch = cc;
	PmStatus rc = pm_kernel_source_check(s, err);

	memset(j, 0, sizeof *j);
	j->s = s;
	pm_str_init(&j->arch);
	pm_str_init(&j->unit);
	if (!rc)
		rc = pm__nvrtc_open(&j->a, err);
	if (!rc && machine)
		rc = pm__nvrtc_arch(j->a, cc, &arch, &j->real, err);
	if (!rc)
		rc = headers_of(j->a, &j->headers, err);
	if (rc) {
		job_release(j);
		return rc;
	}
	pm_kernel_unit_begin(s, &j->unit);
	pm_kernel_lines_add(s, s->source, strlen(s->source), &j->unit);
	set_options(j, arch);
	return PM_OK;
}

/* What decides the result: compiler, options, the headers' texts (hashed once) and the unit. Where things are
 * installed does not. */
static void key_of(const Job *j, char hex[PM_SHA256_HEX])
{
	static char headers[PM_SHA256_HEX];
	PmStr text = PM_STR_INIT;

	if (!headers[0]) {
		for (int i = 0; i < j->headers->n; i++)
			pm_str_addf(&text, "== %s\n%s\n", j->headers->name[i], j->headers->text[i]);
		pm_sha256_hex(text.s, text.len, headers);
		pm_str_clear(&text);
	}
	pm_str_addf(&text, "nvrtc %d.%d\n%s\n%s\n%s\n%s\n", j->a->major, j->a->minor, j->options[0],
		    j->options[1], j->options[2], headers);
	pm_str_addn(&text, j->unit.s, j->unit.len);
	pm_sha256_hex(text.s, text.len, hex);
	pm_str_release(&text);
}

/* The two files of a kernel in the cache. */
static PmStatus cache_paths(const Job *j, PmStr *ptx, PmStr *cubin, PmErr *err)
{
	PmStr dir = PM_STR_INIT;
	char hex[PM_SHA256_HEX], name[PM_SHA256_HEX + 8];
	PmStatus rc = pm_kcache_dir("nvrtc", &dir, err);

	key_of(j, hex);
	if (!rc) {
		snprintf(name, sizeof name, "%s.ptx", hex);
		pm_path_join(dir.s, name, ptx);
		snprintf(name, sizeof name, "%s.cubin", hex);
		pm_path_join(dir.s, name, cubin);
	}
	pm_str_release(&dir);
	return rc;
}

/* The cubin is written last, so its presence means that the PTX is there. */
static int cached(const Job *j, const char *ptx_path, const char *cubin_path)
{
	return pm_path_exists(j->real ? cubin_path : ptx_path);
}

/* A damaged entry counts as missing: it is compiled anew and replaced. */
static int read_cached(const Job *j, const char *ptx_path, const char *cubin_path, PmStr *ptx, PmStr *cubin)
{
	PmStr text = PM_STR_INIT, code = PM_STR_INIT;
	int ok = cached(j, ptx_path, cubin_path);

	ok = ok && pm_read_file(ptx_path, MAX_RESULT, &text, NULL) == PM_OK && text.len > 0;
	if (ok && j->real)
		ok = pm_read_file(cubin_path, MAX_RESULT, &code, NULL) == PM_OK && code.len > 4 &&
		     memcmp(code.s, "\177ELF", 4) == 0;
	if (ok) {
		pm_str_addn(ptx, text.s, text.len);
		pm_str_addn(cubin, code.s, code.len);
	}
	pm_str_release(&text);
	pm_str_release(&code);
	return ok;
}

PmStatus pm__nvrtc_compile_only(const PmSource *s, int cc, PmStr *ptx, PmStr *cubin, PmStr *log, PmErr *err)
{
	Job j;
	PmStatus rc = job_open(&j, s, cc, 1, err);

	if (rc)
		return rc;
	rc = compile(&j, ptx, cubin, log, err);
	job_release(&j);
	return rc;
}

PmStatus pm__nvrtc_prime(int cc, PmErr *err)
{
	static const PmNvrtcHeaders none;
	const PmSource empty = { "priming", "", PM_F32 };
	const PmNvrtcHeaders *headers;
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	Job j = { .s = &empty, .headers = &none, .arch = PM_STR_INIT, .unit = PM_STR_INIT };
	int arch = cc;
	PmStatus rc = pm__nvrtc_open(&j.a, err);

	if (!rc)
		rc = headers_of(j.a, &headers, err); /* for what is compiled next */
	if (!rc)
		rc = pm__nvrtc_arch(j.a, cc, &arch, &j.real, err);
	pm_str_add(&j.unit, "extern \"C\" __global__ void k() {}\n");
	set_options(&j, arch);
	if (!rc)
		rc = compile(&j, &ptx, &cubin, NULL, err);
	pm_str_release(&ptx);
	pm_str_release(&cubin);
	job_release(&j);
	return rc;
}

int pm__nvrtc_cached(const PmSource *s, int cc, PmStr *ptx, PmStr *cubin)
{
	PmStr ptx_path = PM_STR_INIT, cubin_path = PM_STR_INIT;
	Job j;
	int found;

	if (job_open(&j, s, cc, 1, NULL))
		return 0;
	found = cache_paths(&j, &ptx_path, &cubin_path, NULL) == PM_OK &&
		read_cached(&j, ptx_path.s, cubin_path.s, ptx, cubin);
	pm_str_release(&ptx_path);
	pm_str_release(&cubin_path);
	job_release(&j);
	return found;
}

PmStatus pm_nvrtc_keep(const PmSource *s, int cc, const PmStr *ptx, const PmStr *cubin, PmErr *err)
{
	PmStr ptx_path = PM_STR_INIT, cubin_path = PM_STR_INIT;
	Job j;
	PmStatus rc = job_open(&j, s, cc, 1, err);

	if (rc)
		return rc;
	rc = cache_paths(&j, &ptx_path, &cubin_path, err);
	if (!rc)
		rc = pm_write_file(ptx_path.s, ptx->s, ptx->len, err);
	if (!rc && j.real)
		rc = pm_write_file(cubin_path.s, cubin->s, cubin->len, err);
	pm_str_release(&ptx_path);
	pm_str_release(&cubin_path);
	job_release(&j);
	return rc;
}

PmStatus pm_nvrtc_compile(const PmSource *s, int cc, PmStr *ptx, PmStr *cubin, PmErr *err)
{
	PmStr text = PM_STR_INIT, code = PM_STR_INIT;
	PmStatus rc;

	/* What goes wrong there goes wrong again below, with a sentence. */
	if (pm__nvrtc_cached(s, cc, ptx, cubin))
		return PM_OK;
	rc = pm__nvrtc_compile_only(s, cc, &text, &code, NULL, err);
	if (!rc)
		rc = pm_nvrtc_keep(s, cc, &text, &code, err);
	if (!rc) {
		pm_str_addn(ptx, text.s, text.len);
		pm_str_addn(cubin, code.s, code.len);
	}
	pm_str_release(&text);
	pm_str_release(&code);
	return rc;
}

PmStatus pm_nvrtc_ptx(const PmSource *s, int cc, PmStr *ptx, PmErr *err)
{
	Job j;
	PmStatus rc = job_open(&j, s, cc, 0, err);

	if (rc)
		return rc;
	rc = compile(&j, ptx, NULL, NULL, err);
	job_release(&j);
	return rc;
}

PmStatus pm_nvrtc_version(PmStr *out, PmErr *err)
{
	const PmNvrtc *a;
	PmStatus rc = pm__nvrtc_open(&a, err);

	if (!rc)
		pm_str_addf(out, "%d.%d", a->major, a->minor);
	return rc;
}

/* --- compiling ahead ------------------------------------------------------------------------------------ */

typedef struct Ahead {
	const PmSource *src;
	const size_t *missing; /* indices into src */
	int cc;
} Ahead;

static void compile_nth(void *arg, size_t i)
{
	const Ahead *a = arg;
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;

	/* NVRTC may look at a driver that was initialised before the fork, and wait for its threads. */
	pm_kcache_watch(TICK_SECONDS, AHEAD_SECONDS);
	pm_cpus_unpin();
	pm_nvrtc_compile(&a->src[a->missing[i]], a->cc, &ptx, &cubin, NULL);
	pm_str_release(&ptx);
	pm_str_release(&cubin);
}

/* A source that the cache lacks. */
typedef struct Missing {
	char *path; /* owned: where its PTX will be kept */
	size_t i;   /* index into the sources */
} Missing;

/* The path in *path (owned) when the cache lacks it, else NULL. */
static void find_missing(const PmSource *s, int cc, char **path)
{
	PmStr ptx_path = PM_STR_INIT, cubin_path = PM_STR_INIT;
	Job j;

	*path = NULL;
	if (job_open(&j, s, cc, 1, NULL))
		return;
	if (cache_paths(&j, &ptx_path, &cubin_path, NULL) == PM_OK && !cached(&j, ptx_path.s, cubin_path.s))
		*path = pm_xstrdup(ptx_path.s);
	pm_str_release(&ptx_path);
	pm_str_release(&cubin_path);
	job_release(&j);
}

static int by_path(const void *a, const void *b)
{
	const Missing *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void pm_nvrtc_ahead(const PmSource *src, size_t n, int cc, int jobs)
{
	Missing *all = pm_xcalloc(n + 1, sizeof *all);
	size_t *missing = pm_xcalloc(n + 1, sizeof *missing), n_all = 0, n_missing = 0, i;
	Ahead a = { src, missing, cc };

	for (i = 0; i < n; i++) {
		find_missing(&src[i], cc, &all[n_all].path);
		all[n_all].i = i;
		n_all += all[n_all].path != NULL;
	}
	qsort(all, n_all, sizeof *all, by_path);
	for (i = 0; i < n_all; i++) /* the same source twice is compiled once */
		if (!i || strcmp(all[i].path, all[i - 1].path))
			missing[n_missing++] = all[i].i;
	if (n_missing > 1 && jobs > 1)
		pm_kcache_ahead(jobs, n_missing, compile_nth, &a);
	for (i = 0; i < n_all; i++)
		free(all[i].path);
	free(all);
	free(missing);
}
