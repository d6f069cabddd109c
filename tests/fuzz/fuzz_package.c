/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_package.c - a package that was changed: refused with one sentence, or every record in it can be
 * followed.
 *
 * The input is a package, when it begins as one; tests/fuzz/corpus has a few that `passmith compile` wrote,
 * without most of their machine code. Else it is a list of changes to a good package, each of ten bytes: two
 * for the place, eight to write there. No digest is looked at, so that the tables are reached; for the same
 * reason a whole package is given the length that its header has to say.
 */
#include "rt/package.h"
#include "tests/lib/device/package_bytes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { CHANGE = 10 };
static PmStr good = PM_STR_INIT;

static void at_exit(void)
{
	pm_str_release(&good);
}

static void need(int ok, const char *what, const PmErr *err)
{
	if (!ok)
		PM_BUG("%s: %s", what, err->text);
}

/* Reads what a session would read of a package. */
static uint64_t follow_shape(const PmRtPackage *p, size_t k)
{
	const PmRtfShape *s = &p->shape[k];
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_value; i++)
		sum += pm_package_value_bytes(p, k, i);
	for (uint32_t i = 0; i < s->n_steps; i++) {
		const PmRtfStep *step = &p->step[s->first_step + i];

		for (uint32_t a = 0; a < step->n_args; a++)
			if (p->arg[step->first_arg + a].kind == PM_RTF_BUF)
				sum += p->buffer[s->first_buffer + p->arg[step->first_arg + a].buffer].bytes;
	}
	return sum;
}

/* And what a device reads when the package is opened: of every step, whichever shape has it. */
static uint64_t follow(const PmRtPackage *p)
{
	uint64_t sum = strlen(p->about);

	for (size_t i = 0; i < p->n_value; i++)
		sum += strlen(pm_package_text(p, p->value[i].name));
	for (size_t k = 0; k < p->n_shape; k++)
		sum += follow_shape(p, k);
	for (size_t i = 0; i < p->n_step; i++) {
		const PmRtfStep *step = &p->step[i];

		sum += strlen(pm_package_text(p, step->entry)) + p->unit[step->unit].type;
		if (step->call != PM_RTF_NONE)
			sum += p->call[step->call].kind;
	}
	for (size_t i = 0; i < p->n_file; i++)
		sum += strlen(pm_package_text(p, p->file[i].path));
	for (size_t i = 0; i < p->n_choice; i++)
		sum += strlen(pm_package_text(p, p->choice[i].gpu)) + p->call[p->choice[i].call].kind;
	for (size_t i = 0; i < p->n_constant; i++)
		if (p->constant[i].file == PM_RTF_NONE && p->constant[i].bytes)
			sum += (unsigned char)p->weights[p->constant[i].offset + p->constant[i].bytes - 1];
	for (size_t i = 0; i < p->n_image; i++)
		sum += (unsigned char)p->code[p->image[i].offset + p->image[i].bytes - 1] +
		       p->unit[p->image[i].unit].type;
	return sum;
}

static void read_one(const char *own, size_t n, int must_be_good)
{
	PmRtPackage p;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	st = pm_package_read(own, n, "fuzzed", 0, &p, &err);
	need(!must_be_good || !st, "the good package is refused", &err);
	if (st) {
		size_t len = strlen(err.text);

		need(st == PM_E_INVALID && len && (err.text[len - 1] == '.' || len >= PM_ERR_MAX - 1),
		     "a refusal that is no sentence", &err);
	} else {
		volatile uint64_t seen = follow(&p);

		(void)seen;
	}
}

/* The input itself, with its own length in its header. */
static void read_whole(const uint8_t *data, size_t n)
{
	char *own = malloc(n);

	memcpy(own, data, n);
	if (n >= sizeof(PmRtfHeader)) {
		PmRtfHeader h;

		memcpy(&h, own, sizeof h);
		h.file_bytes = n;
		memcpy(own, &h, sizeof h);
	}
	read_one(own, n, 0);
	free(own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *own;

	if (n >= sizeof PM_RTF_MAGIC - 1 && !memcmp(data, PM_RTF_MAGIC, sizeof PM_RTF_MAGIC - 1)) {
		read_whole(data, n);
		return 0;
	}
	if (!good.len) {
		test_package_bytes(&good);
		atexit(at_exit);
	}
	own = malloc(good.len);
	memcpy(own, good.s, good.len);
	for (size_t i = 0; i + CHANGE <= n; i += CHANGE) {
		size_t at = ((size_t)data[i] << 8 | data[i + 1]) % (good.len - 8);

		memcpy(own + at, data + i + 2, 8);
	}
	read_one(own, good.len, n < CHANGE);
	free(own);
	return 0;
}
