/* SPDX-License-Identifier: Apache-2.0 */
/* emu_build.c - CUDA source to shared object: writes the translation unit, has it compiled, keeps it.
 *
 * Flags: no contraction of a * b + c (the same result on every host, whether it has fma or not), no strict
 * aliasing (kernels cast between vector and element pointers freely), no removal of accesses through null, no
 * headers of the host (a kernel sees what it sees under NVRTC), no library but libm (a kernel that calls
 * anything else does not link).
 */
#include "runtime/emu/emu_priv.h"

#include "base/sys/io.h"
#include "runtime/device/kcache.h"
#include "runtime/device/kernel_unit.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the translation unit --------------------------------------------------------------------------------
 */

/* Replaces the kernels found in the source by those found behind the preprocessor. */
static PmStatus scan_preprocessed(const PmEmuBuilder *b, const PmSource *s, PmEmuScan *scan, PmErr *err)
{
	const char *argv[PM_EMU_MAX_ARGV];
	PmStr keep[PM_EMU_KEEP], unit = PM_STR_INIT;
	PmProcResult r = { 0 };
	PmEmuScan after = { .text = PM_STR_INIT };
	PmEmuWork work;
	PmStatus rc = pm__emu_work_open(&work, err);
	size_t i;
	int n = pm__emu_flags(b, PM_EMU_PLAIN, argv, keep);

	argv[n++] = "-DPM_EMU_SCAN";
	argv[n++] = "-E";
	argv[n++] = "-xc++";
	argv[n++] = "-";
	argv[n] = NULL;
	pm_str_add(&unit, "#include \"cuda_host.h\"\n");
	pm_kernel_unit_begin(s, &unit);
	pm_kernel_lines_add(s, scan->text.s, scan->text.len, &unit);
	if (!rc)
		rc = pm__emu_cxx(b, &work, argv, &unit, &r, err);
	pm__emu_work_close(&work);
	/* A source that cannot be preprocessed gets its message from the compilation. */
	if (!rc && r.end == PM_PROC_EXITED && r.code == 0) {
		rc = pm__emu_scan(s->label, r.out.s, r.out.len, &after, err);
		for (i = 0; !rc && i < after.kernels.n; i++)
			PM_VEC_PUSH(&scan->kernels, after.kernels.v[i]);
		if (!rc)
			PM_VEC_RELEASE(&after.kernels);
	}
	pm__emu_scan_release(&after);
	pm_proc_result_release(&r);
	pm__emu_flags_release(keep);
	pm_str_release(&unit);
	return rc;
}

static void drop_kernels(PmEmuScan *scan)
{
	size_t i;

	for (i = 0; i < scan->kernels.n; i++) {
		free(scan->kernels.v[i].name);
		free(scan->kernels.v[i].bounds);
	}
	PM_VEC_RELEASE(&scan->kernels);
}

static PmEmuMode mode_of(const PmEmuBuilder *b, const PmSource *s)
{
	if (b->mode == PM_EMU_RACES && pm_emu_races_wanted(s->source))
		return PM_EMU_RACES;
	return b->mode == PM_EMU_COUNTS && pm_counts_of_source(b->counts, s->source) ? PM_EMU_COUNTS
										     : PM_EMU_PLAIN;
}

/* Appends to `unit` all of the translation unit but the table of kernels. */
static PmStatus write_body(const PmEmuBuilder *b, const PmSource *s, PmEmuScan *scan, PmStr *unit, PmErr *err)
{
	PmStatus rc = pm_kernel_source_check(s, err);

	if (!rc)
		rc = pm__emu_scan(s->label, s->source, strlen(s->source), scan, err);
	if (!rc) {
		PmEmuMode as = mode_of(b, s);

		pm_str_add(unit, as == PM_EMU_RACES    ? "#include \"races.h\"\n"
				 : as == PM_EMU_COUNTS ? "#include \"counts.h\"\n"
						       : "#include \"cuda_host.h\"\n");
		if (b->mode == PM_EMU_PRINT)
			pm_str_add(unit, "#include \"cuda_print.h\"\n");
		pm_kernel_unit_begin(s, unit);
		pm_kernel_lines_add(s, scan->text.s, scan->text.len, unit);
	}
	return rc;
}

/* Appends the table of the kernels that were found. */
static void write_table(const PmEmuScan *scan, PmStr *unit)
{
	size_t i;

	pm_str_add(unit, "\n#line 1 \"the end of the source\"\nPM_EMU_MODULE_BEGIN\n");
	for (i = 0; i < scan->kernels.n; i++) {
		if (!scan->kernels.v[i].c_linkage)
			continue;
		pm_str_addf(unit, "PM_EMU_ENTRY(%s, (%s)),\n", scan->kernels.v[i].name,
			    scan->kernels.v[i].bounds ? scan->kernels.v[i].bounds : "0");
	}
	pm_str_add(unit, "PM_EMU_MODULE_END\n");
}

/* --- the compiler's answer ------------------------------------------------------------------------------ */

/* Finds "<kernel>:<line>:<column>: <mark>" at the start of a line and gives line number, part and what
 * follows; with label NULL any line that has the mark. */
static const char *find_message(const char *text, const char *label, const char *mark, int *line, PmStr *part)
{
	const char *at = text, *end;

	for (; at && *at; at = end ? end + 1 : NULL) {
		const char *found = strstr(at, mark), *behind;

		end = strchr(at, '\n');
		if (!found || (end && found > end))
			continue;
		if (!label)
			return at;
		pm_str_clear(part);
		behind = pm_kernel_lines_part(at, label, part);
		if (behind && *behind == ':' && isdigit((unsigned char)behind[1])) {
			*line = atoi(behind + 1);
			return found + strlen(mark);
		}
	}
	return NULL;
}

/* An error of a header: a line near it says where the source used it. */
static PmStatus report_header(const PmSource *s, const char *text, const char *msg, PmErr *err)
{
	const char *what = strstr(msg, "error: ") + 7, *end = msg + strcspn(msg, ":"), *base = end;
	PmStr part = PM_STR_INIT;
	PmStatus st;
	int line = 0;

	while (base > msg && base[-1] != '/')
		base--;
	if (find_message(text, s->label, ":", &line, &part))
		st = pm_err(err, PM_E_INVALID,
			    "Kernel '%s' does not compile: line %d%s: %.*s (reported in %.*s)", s->label,
			    line, part.s, (int)strcspn(what, "\n"), what, (int)(end - base), base);
	else
		st = pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: %.*s", s->label,
			    (int)strcspn(what, "\n"), what);
	pm_str_release(&part);
	return st;
}

static PmStatus report(const PmSource *s, const PmProcResult *r, PmErr *err)
{
	PmStr part = PM_STR_INIT, why = PM_STR_INIT;
	const char *text = r->errtext.s, *msg;
	int line = 0;
	PmStatus rc;

	if (r->end != PM_PROC_EXITED) {
		pm_proc_describe(r, &why);
		rc = pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: the compiler %s.", s->label,
			    why.s);
	} else if ((msg = find_message(text, s->label, " error: ", &line, &part)) != NULL) {
		rc = pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: line %d%s: %.*s", s->label,
			    line, part.s, (int)strcspn(msg, "\n"), msg);
	} else if ((msg = strstr(text, "undefined reference to ")) != NULL) {
		rc = pm_err(err, PM_E_INVALID,
			    "Kernel '%s' does not link: %.*s; a kernel may call only its own functions and "
			    "CUDA's.",
			    s->label, (int)strcspn(msg, "\n"), msg);
	} else if ((msg = find_message(text, NULL, "error: ", &line, &part)) != NULL) {
		rc = report_header(s, text, msg, err);
	} else {
		rc = pm_err(err, PM_E_INVALID, "Kernel '%s' does not compile: %.600s", s->label,
			    *text ? text : "the compiler gave no message");
	}
	pm_str_release(&why);
	pm_str_release(&part);
	return rc;
}

/* PM_E_INVALID when loading the object would run code of it, or when it needs more than libm. */
static PmStatus check_object(const char *path, const char *label, PmErr *err)
{
	PmStr why = PM_STR_INIT, bytes = PM_STR_INIT;
	PmStatus st = pm_read_file(path, PM_EMU_MAX_OBJECT, &bytes, err);

	if (!st && pm__emu_object_judge(bytes.s, bytes.len, &why))
		st = pm_err(err, PM_E_INVALID,
			    "Kernel '%s' compiles to an object that may not be loaded: %s Leave out "
			    "constructors, attributes and assembly.",
			    label, why.s);
	pm_str_release(&why);
	pm_str_release(&bytes);
	return st;
}

/* The first object of a name stays: a process that may open this file and no other (base/sandbox/sandbox.h)
 * could not open one that took its place. */
static PmStatus put_object(const PmSource *s, const char *made, const char *path, PmErr *err)
{
	if (link(made, path) == 0)
		return PM_OK;
	if (errno == EEXIST)
		return check_object(path, s->label, err);
	if (rename(made, path) == 0) /* file systems without links */
		return PM_OK;
	return pm_err(
		err, PM_E_IO,
		"Cannot put the compiled kernel '%s' into the cache as \"%s\"; check that the folder may "
		"be written and has space.",
		s->label, path);
}

static PmStatus compile(const PmEmuBuilder *b, const PmSource *s, const PmStr *unit, const char *path,
			PmErr *err)
{
	const char *argv[PM_EMU_MAX_ARGV];
	PmStr keep[PM_EMU_KEEP], made = PM_STR_INIT, head = PM_STR_INIT, script = PM_STR_INIT;
	PmProcResult r = { 0 };
	PmEmuWork work;
	PmStatus rc = pm__emu_work_open(&work, err);
	PmEmuMode as = mode_of(b, s);
	int n;

	pm__emu_head_dir(b, as, &head);
	argv[0] = "-I";
	argv[1] = head.s;
	n = 2 + pm__emu_flags(b, as, argv + 2, keep);
	pm__emu_head_make(b, as);
	pm_path_join(work.dir.s, "kernel.so", &made);
	pm_str_addf(&script, "-Wl,-T,%s/runtime/emu/%s", b->root.s,
		    as == PM_EMU_PLAIN ? "include/shared.ld" : "races/races.ld");
	n += pm__emu_link_flags(argv + n);
	argv[n++] = script.s;
	argv[n++] = "-xc++";
	argv[n++] = "-";
	argv[n++] = "-xnone";
	n += pm__emu_link_libraries(argv + n);
	argv[n++] = "-o";
	argv[n++] = made.s;
	argv[n] = NULL;
	if (!rc)
		rc = pm__emu_cxx(b, &work, argv, unit, &r, err);
	if (!rc) {
		if (r.end != PM_PROC_EXITED || r.code != 0)
			rc = report(s, &r, err);
		else
			rc = check_object(made.s, s->label, err);
		if (!rc)
			rc = put_object(s, made.s, path, err);
		pm_proc_result_release(&r);
	}
	pm__emu_work_close(&work);
	pm__emu_flags_release(keep);
	pm_str_release(&made);
	pm_str_release(&head);
	pm_str_release(&script);
	return rc;
}

/* The name of the compiled object. What the preprocessor says of which kernels there are follows from what is
 * hashed here (compiler, flags, headers, the whole source, and what is found without it), so that it is asked
 * only when there is something to compile: a look into the cache starts no process. Raise PM_EMU_ABI when
 * emu_scan.c finds other kernels in a preprocessed text than before. */
static void object_path(const PmEmuBuilder *b, const PmSource *s, const PmEmuScan *scan, const PmStr *body,
			PmStr *path)
{
	char hex[PM_SHA256_HEX], name[PM_SHA256_HEX + 8];
	PmStr hashed = PM_STR_INIT;

	pm_str_addf(&hashed, "%s\n%s\n%s\n", b->key, mode_of(b, s) == PM_EMU_PLAIN ? "" : b->watch_key,
		    scan->conditional ? "kernels behind the preprocessor" : "");
	if (b->mode == PM_EMU_PRINT)
		pm_str_add(&hashed, "kernels may print\n");
	pm_str_addn(&hashed, body->s, body->len);
	write_table(scan, &hashed);
	pm_sha256_hex(hashed.s, hashed.len, hex);
	snprintf(name, sizeof name, "%s.so", hex);
	pm_path_join(b->cache.s, name, path);
	pm_str_release(&hashed);
}

/* Appends the table, behind the preprocessor where kernels depend on macros. */
static PmStatus finish_unit(const PmEmuBuilder *b, const PmSource *s, PmEmuScan *scan, PmStr *unit,
			    PmErr *err)
{
	PmStatus rc = PM_OK;

	if (scan->conditional) {
		drop_kernels(scan);
		rc = scan_preprocessed(b, s, scan, err);
	}
	write_table(scan, unit);
	return rc;
}

PmStatus pm__emu_build(const PmEmuBuilder *b, const PmSource *s, PmStr *path, PmErr *err)
{
	PmEmuScan scan = { .text = PM_STR_INIT };
	PmStr unit = PM_STR_INIT;
	PmStatus rc = write_body(b, s, &scan, &unit, err);
	int lock = -1;

	if (!rc) {
		object_path(b, s, &scan, &unit, path);
		if (!pm_path_exists(path->s))
			lock = pm_kcache_lock(path->s);
		if (pm_path_exists(path->s)) {
			rc = check_object(path->s, s->label, err);
		} else {
			rc = finish_unit(b, s, &scan, &unit, err);
			if (!rc)
				rc = compile(b, s, &unit, path->s, err);
		}
		pm_kcache_unlock(lock);
	}
	pm__emu_scan_release(&scan);
	pm_str_release(&unit);
	return rc;
}

PmStatus pm__emu_say(const PmEmuBuilder *b, const PmSource *s, PmStatus *said, PmStr *log, PmErr *err)
{
	const char *argv[PM_EMU_MAX_ARGV];
	PmStr keep[PM_EMU_KEEP], unit = PM_STR_INIT;
	PmEmuScan scan = { .text = PM_STR_INIT };
	PmProcResult r = { 0 };
	PmEmuWork work;
	PmErr why;
	PmStatus rc = pm__emu_work_open(&work, err);
	int n = pm__emu_flags(b, PM_EMU_PLAIN, argv, keep);

	*said = PM_OK;
	pm_err_init(&why);
	argv[n++] = "-Wno-fatal-errors";
	argv[n++] = "-fsyntax-only";
	argv[n++] = "-ftrack-macro-expansion=0";
	argv[n++] = "-fno-diagnostics-show-caret";
	argv[n++] = "-xc++";
	argv[n++] = "-";
	argv[n] = NULL;
	if (!rc)
		*said = write_body(b, s, &scan, &unit, &why);
	if (!rc && !*said)
		*said = finish_unit(b, s, &scan, &unit, &why);
	if (*said) {
		pm_str_add(log, why.text);
	} else if (!rc && !(rc = pm__emu_cxx(b, &work, argv, &unit, &r, err))) {
		if (r.end != PM_PROC_EXITED) {
			pm_str_add(log, "The compiler ");
			pm_proc_describe(&r, log);
			pm_str_addc(log, '.');
		} else if (r.code) {
			pm_str_addn(log, r.errtext.s, r.errtext.len);
		}
		*said = r.end != PM_PROC_EXITED || r.code ? PM_E_INVALID : PM_OK;
	}
	pm__emu_scan_release(&scan);
	pm__emu_work_close(&work);
	pm_proc_result_release(&r);
	pm__emu_flags_release(keep);
	pm_str_release(&unit);
	return rc;
}

typedef struct Ahead {
	const PmEmuBuilder *b;
	const PmSource *src;
} Ahead;

static void build_nth(void *arg, size_t i)
{
	const Ahead *a = arg;
	PmStr path = PM_STR_INIT;

	pm__emu_build(a->b, &a->src[i], &path, NULL);
	pm_str_release(&path);
}

/* What cannot be compiled here is compiled, and reported, by the caller. */
void pm__emu_build_ahead(const PmEmuBuilder *b, const PmSource *src, size_t n, int jobs)
{
	Ahead a = { b, src };

	pm_kcache_ahead(jobs, n, build_nth, &a);
}

PmStatus pm_emu_object(const PmSource *s, PmStr *object, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmEmuBuilder b;
	PmStatus rc = pm__emu_builder_open(&b, PM_EMU_PLAIN, err);

	if (rc)
		return rc;
	rc = pm__emu_build(&b, s, &path, err);
	if (!rc)
		rc = pm_read_file(path.s, PM_EMU_MAX_OBJECT, object, err);
	pm__emu_builder_close(&b);
	pm_str_release(&path);
	return rc;
}

PmStatus pm_emu_compile(const PmSource *src, size_t n, int jobs, PmErr *err)
{
	PmEmuBuilder b;
	PmStatus rc = pm__emu_builder_open(&b, PM_EMU_PLAIN, err);
	size_t i;

	if (rc)
		return rc;
	if (jobs > 1 && n > 1)
		pm__emu_build_ahead(&b, src, n, jobs);
	for (i = 0; i < n && !rc; i++) {
		PmStr path = PM_STR_INIT;

		rc = pm__emu_build(&b, &src[i], &path, err);
		pm_str_release(&path);
	}
	pm__emu_builder_close(&b);
	return rc;
}
