/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_launch.c - the one-line text of a kernel launch. */
#include "ir/core/kernel.h"

#include "base/core/vec.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_hex(double x, PmStr *out)
{
	if (x != x)
		pm_str_add(out, "nan");
	else
		pm_str_addf(out, "%a", x);
}

static void add_arg(const PmKArg *a, PmStr *out)
{
	switch (a->kind) {
	case PM_KARG_IN:
		pm_str_addf(out, "i%u", a->index);
		break;
	case PM_KARG_OUT:
		pm_str_addf(out, "o%u", a->index);
		break;
	case PM_KARG_SCRATCH:
		pm_str_addf(out, "s%u", a->index);
		break;
	case PM_KARG_I64:
		pm_str_addf(out, "i64:%" PRId64, a->i);
		break;
	case PM_KARG_I32:
		pm_str_addf(out, "i32:%" PRId64, a->i);
		break;
	case PM_KARG_F32:
		pm_str_add(out, "f32:");
		add_hex(a->f, out);
		break;
	case PM_KARG_F64:
		pm_str_add(out, "f64:");
		add_hex(a->f, out);
		break;
	}
}

void pm_klaunch_print(const PmKLaunch *l, PmStr *out)
{
	pm_str_addf(out, "%s grid=%u,%u,%u block=%u,%u,%u smem=%u args=", l->entry, l->grid[0], l->grid[1],
		    l->grid[2], l->block[0], l->block[1], l->block[2], l->smem);
	for (int i = 0; i < l->n_args; i++) {
		pm_str_add(out, i ? "," : "");
		add_arg(&l->args[i], out);
	}
}

/* ---- parsing ---- */

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static PmStatus fail(const char *text, const char *at, const char *what, PmErr *err)
{
	return pm_err(err, PM_E_INVALID,
		      "The launch \"%.200s\" is malformed at character %zu: expected %s; write it as \"entry "
		      "grid=1,1,1 block=1,1,1 smem=0 args=i0,o0\".",
		      text, (size_t)(at - text) + 1, what);
}

static int word(const char **p, const char *w)
{
	size_t n = strlen(w);

	if (strncmp(*p, w, n) != 0)
		return 0;
	*p += n;
	return 1;
}

/* A decimal without sign and leading zeros, at most `max`. */
static int count(const char **p, uint32_t max, uint32_t *out)
{
	const char *s = *p;
	uint64_t v = 0;

	if (!is_digit(*s) || (*s == '0' && is_digit(s[1])))
		return 0;
	for (; is_digit(*s); s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > max)
			return 0;
	}
	*out = (uint32_t)v;
	*p = s;
	return 1;
}

static int triple(const char **p, const uint32_t max[3], uint32_t out[3])
{
	for (int i = 0; i < 3; i++)
		if ((i && !word(p, ",")) || !count(p, max[i], &out[i]) || !out[i])
			return 0;
	return 1;
}

/* The text of a scalar up to ',' or the end, in buf. */
static int scalar(const char **p, char *buf, size_t size)
{
	size_t n = strcspn(*p, ",");

	if (n == 0 || n >= size)
		return 0;
	memcpy(buf, *p, n);
	buf[n] = '\0';
	*p += n;
	return 1;
}

static int int_arg(const char **p, int64_t lo, int64_t hi, PmKArg *a)
{
	char buf[32];

	return scalar(p, buf, sizeof buf) && pm_parse_i64(buf, &a->i) && a->i >= lo && a->i <= hi;
}

static int float_arg(const char **p, int single, PmKArg *a)
{
	char buf[64], *end;

	if (!scalar(p, buf, sizeof buf) || !(is_digit(buf[0]) || strchr("-in", buf[0])) ||
	    strpbrk(buf, " ()"))
		return 0;
	a->f = strtod(buf, &end);
	if (*end || (isinf(a->f) && !strchr(buf, 'i')))
		return 0;
	/* Beyond float's range the conversion would be undefined, not just inexact. */
	return !single || a->f != a->f || isinf(a->f) ||
	       (fabs(a->f) <= FLT_MAX && (double)(float)a->f == a->f);
}

static int argument(const char **p, PmKArg *a)
{
	memset(a, 0, sizeof *a);
	if (word(p, "i64:")) {
		a->kind = PM_KARG_I64;
		return int_arg(p, INT64_MIN, INT64_MAX, a);
	}
	if (word(p, "i32:")) {
		a->kind = PM_KARG_I32;
		return int_arg(p, INT32_MIN, INT32_MAX, a);
	}
	if (word(p, "f32:") || word(p, "f64:")) {
		a->kind = (*p)[-3] == '3' ? PM_KARG_F32 : PM_KARG_F64;
		return float_arg(p, a->kind == PM_KARG_F32, a);
	}
	if (word(p, "i"))
		a->kind = PM_KARG_IN;
	else if (word(p, "o"))
		a->kind = PM_KARG_OUT;
	else if (word(p, "s"))
		a->kind = PM_KARG_SCRATCH;
	else
		return 0;
	return count(p, UINT32_MAX, &a->index);
}

static PmStatus arguments(const char *text, const char *p, PmArena *arena, PmKLaunch *out, PmErr *err)
{
	PmKArg args[PM_MAX_KERNEL_ARGS];
	int n = 0;

	if (*p)
		do {
			if (n == PM_MAX_KERNEL_ARGS)
				return pm_err(
					err, PM_E_LIMIT,
					"The launch \"%.200s\" has more than %d arguments; pack them into "
					"fewer.",
					text, (int)PM_MAX_KERNEL_ARGS);
			if (!argument(&p, &args[n]) || (*p && *p != ','))
				return fail(text, p,
					    "an argument (i0, o0, s0, i64:1, i32:1, or f32: and f64: with a "
					    "number "
					    "that the type holds exactly)",
					    err);
			n++;
		} while (word(&p, ","));
	out->n_args = n;
	out->args = pm_arena_alloc(arena, (size_t)n * sizeof *args);
	if (!out->args)
		return pm_err(err, PM_E_LIMIT, "The launch \"%.200s\" does not fit in its memory budget.",
			      text);
	if (n)
		memcpy(out->args, args, (size_t)n * sizeof *args);
	return PM_OK;
}

PmStatus pm_klaunch_parse(const char *text, PmArena *arena, PmKLaunch *out, PmErr *err)
{
	/* CUDA's limits of a launch, compute capability 3.0 and up. */
	static const uint32_t grid_max[3] = { INT32_MAX, 65535, 65535 }, block_max[3] = { 1024, 1024, 64 };
	const char *p = text;
	char *entry;

	memset(out, 0, sizeof *out);
	while (is_word(*p))
		p++;
	if (p == text || is_digit(*text) || p - text > 255)
		return fail(text, text, "the name of a kernel function", err);
	entry = pm_arena_strndup(arena, text, (size_t)(p - text));
	if (!entry)
		return pm_err(err, PM_E_LIMIT, "The launch \"%.200s\" does not fit in its memory budget.",
			      text);
	out->entry = entry;
	if (!word(&p, " grid=") || !triple(&p, grid_max, out->grid))
		return fail(text, p, "\" grid=\" and three numbers from 1 to 2147483647, 65535 and 65535",
			    err);
	if (!word(&p, " block=") || !triple(&p, block_max, out->block))
		return fail(text, p, "\" block=\" and three numbers from 1 to 1024, 1024 and 64", err);
	if ((uint64_t)out->block[0] * out->block[1] * out->block[2] > PM_MAX_BLOCK_THREADS)
		return pm_err(err, PM_E_LIMIT,
			      "The launch \"%.200s\" has more than %d threads in a block; use fewer.", text,
			      (int)PM_MAX_BLOCK_THREADS);
	if (!word(&p, " smem=") || !count(&p, PM_MAX_SMEM, &out->smem))
		return fail(text, p, "\" smem=\" and a number up to 232448", err);
	if (!word(&p, " args="))
		return fail(text, p, "\" args=\"", err);
	return arguments(text, p, arena, out, err);
}
