/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - status codes and error sentences. */
#include "base/core/err.h"

#include "base/core/clean.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pm_err_init(PmErr *err)
{
	err->code = PM_OK;
	err->text[0] = '\0';
}

/* A name may have 64 KiB; what comes after it in the sentence has to be there to be kept. */
enum { RAW = 4 * 65536 };

static void sentence(char out[PM_ERR_MAX], const char *fmt, va_list ap) PM_PRINTF(2, 0);
static void sentence(char out[PM_ERR_MAX], const char *fmt, va_list ap)
{
	char small[PM_ERR_MAX], *text = small;
	va_list again;

	va_copy(again, ap);
	if (vsnprintf(small, sizeof small, fmt, ap) >= (int)sizeof small) {
		text = malloc(RAW);
		if (text)
			vsnprintf(text, RAW, fmt, again);
	}
	va_end(again);
	pm_clean_sentence(text ? text : small, out, PM_ERR_MAX);
	if (text != small)
		free(text);
}

PmStatus pm_err(PmErr *err, PmStatus code, const char *fmt, ...)
{
	char text[PM_ERR_MAX]; /* the arguments may point into err->text */
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	sentence(text, fmt, ap);
	va_end(ap);
	memcpy(err->text, text, strlen(text) + 1);
	err->code = code;
	return code;
}

PmStatus pm_err_ctx(PmErr *err, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	size_t n, room;
	va_list ap;

	if (!err)
		return PM_E_INTERNAL;
	va_start(ap, fmt);
	sentence(text, fmt, ap);
	va_end(ap);
	n = strlen(text);
	room = sizeof text - 1 - n;
	if (room >= 2) {
		memcpy(text + n, ": ", 2);
		n += 2;
		room -= 2;
		if (room > strlen(err->text))
			room = strlen(err->text);
		memcpy(text + n, err->text, room);
		n += room;
	}
	text[n] = '\0';
	pm_clean(text, err->text, sizeof err->text, 0); /* the cut may have halved a character */
	return err->code;
}

const char *pm_status_name(PmStatus st)
{
	switch (st) {
#define XX(name, number, meaning)                                                                            \
	case PM_##name:                                                                                      \
		return #name;
#include "passmith/errors.def"
#undef XX
	default:
		return "E_UNKNOWN";
	}
}

int pm_status_exit_code(PmStatus st)
{
	switch (st) {
	case PM_OK:
		return 0;
	case PM_DECLINED: /* the answer is "no" */
		return 1;
	case PM_E_IO:
	case PM_E_ENV:
	case PM_E_DEVICE:
	case PM_E_TIMEOUT:
		return 3;
	case PM_E_INVALID:
	case PM_E_TYPE:
	case PM_E_SHAPE:
	case PM_E_LIMIT:
	case PM_E_UNSUPPORTED:
	case PM_E_NOT_FOUND:
	case PM_E_ABI:
	case PM_E_CONFLICT:
		return 4;
	default: /* PM_E_CRASH, PM_E_INTERNAL and numbers we never gave out */
		return 5;
	}
}

void pm_bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s:%d: bug: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
