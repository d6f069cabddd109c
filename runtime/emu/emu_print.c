/* SPDX-License-Identifier: Apache-2.0 */
/* emu_print.c - printf of a kernel: the format string and its arguments become text.
 *
 * Runs in the process of the kernels. The format is a stranger's: a conversion takes only an argument of its
 * kind, and never one that is not there; width and precision are small; everything lands in buffers of a
 * fixed size. A pointer of %s that points nowhere ends the launch like any other of the kernel's.
 */
#include "runtime/emu/emu_priv.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 1024, FIELD = 512, STRING = 256, FORMAT = 4096, MOST = 64 };

typedef struct Out {
	char s[TEXT];
	size_t n;
} Out;

typedef struct Args {
	const PmEmuPrintArg *v;
	int n, used;
} Args;

/* One conversion: "%-8.3lld". */
typedef struct Spec {
	char flags[8];
	int width, precision; /* -1 = none */
	int size;             /* bytes that the length asks for: 1, 2, 4, 8 */
	char what;
} Spec;

static void add(Out *o, const char *s, size_t n)
{
	size_t room = sizeof o->s - o->n;

	n = n < room ? n : room;
	memcpy(o->s + o->n, s, n);
	o->n += n;
}

/* The next argument, which is used up; NULL when there is none of that kind. */
static const PmEmuPrintArg *next(Args *a, int kind)
{
	const PmEmuPrintArg *arg = a->used < a->n ? &a->v[a->used++] : NULL;

	return arg && arg->kind == kind ? arg : NULL;
}

/* Digits, or an argument for '*'. */
static int number(const char **f, Args *a)
{
	int n = 0;

	if (**f == '*') {
		const PmEmuPrintArg *arg = next(a, PM_EMU_PRINT_INT);
		int given = arg ? (int)arg->bits : 0;

		++*f;
		return given < 0 ? 0 : given > MOST ? MOST : given;
	}
	for (; **f >= '0' && **f <= '9'; ++*f)
		n = n * 10 + (**f - '0') > MOST ? MOST : n * 10 + (**f - '0');
	return n;
}

static int length(const char **f)
{
	int size = 4;

	for (;; ++*f) {
		if (**f == 'h')
			size = size == 2 ? 1 : 2;
		else if (**f == 'l' || **f == 'z' || **f == 'j' || **f == 't')
			size = 8;
		else
			return size;
	}
}

static Spec read_spec(const char **f, Args *a)
{
	Spec s = { .width = -1, .precision = -1 };
	size_t n = 0;

	for (; **f && strchr("-+ #0", **f); ++*f)
		if (n + 1 < sizeof s.flags && !strchr(s.flags, **f))
			s.flags[n++] = **f;
	if (**f == '*' || (**f >= '0' && **f <= '9'))
		s.width = number(f, a);
	if (**f == '.') {
		++*f;
		s.precision = number(f, a);
	}
	s.size = length(f);
	s.what = **f;
	if (s.what)
		++*f;
	return s;
}

/* "%" flags width precision length what, of our own making. */
static const char *rebuild(const Spec *s, const char *length, char out[64])
{
	char width[16] = "", precision[16] = "";

	if (s->width >= 0)
		snprintf(width, sizeof width, "%d", s->width);
	if (s->precision >= 0)
		snprintf(precision, sizeof precision, ".%d", s->precision);
	snprintf(out, 64, "%%%s%s%s%s%c", s->flags, width, precision, length, s->what);
	return out;
}

static long long narrow(const Spec *s, unsigned long long bits)
{
	switch (s->size) {
	case 1:
		return (signed char)bits;
	case 2:
		return (short)bits;
	case 4:
		return (int)bits;
	default:
		return (long long)bits;
	}
}

static unsigned long long narrow_unsigned(const Spec *s, unsigned long long bits)
{
	return s->size == 8 ? bits : bits & ((1ull << 8 * s->size) - 1);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the format is rebuild's */

static int put_int(const Spec *s, Args *a, char out[FIELD])
{
	const PmEmuPrintArg *arg = next(a, PM_EMU_PRINT_INT);
	char f[64];

	if (!arg)
		return -1;
	if (s->what == 'c')
		return snprintf(out, FIELD, rebuild(s, "", f), (int)(unsigned char)arg->bits);
	if (s->what == 'd' || s->what == 'i')
		return snprintf(out, FIELD, rebuild(s, "ll", f), narrow(s, arg->bits));
	return snprintf(out, FIELD, rebuild(s, "ll", f), narrow_unsigned(s, arg->bits));
}

static int put_double(const Spec *s, Args *a, char out[FIELD])
{
	const PmEmuPrintArg *arg = next(a, PM_EMU_PRINT_DOUBLE);
	double v;
	char f[64];

	if (!arg)
		return -1;
	memcpy(&v, &arg->bits, sizeof v);
	return snprintf(out, FIELD, rebuild(s, "", f), v);
}

static int put_pointer(const Spec *s, Args *a, char out[FIELD])
{
	const PmEmuPrintArg *arg = next(a, PM_EMU_PRINT_POINTER);
	char f[64], text[STRING];
	size_t n = 0;

	if (!arg)
		return -1;
	if (s->what == 'p')
		return snprintf(out, FIELD, "0x%llx", arg->bits);
	for (const char *p = (const char *)(uintptr_t)arg->bits; n + 1 < sizeof text && p[n]; n++)
		text[n] = p[n];
	text[n] = 0;
	return snprintf(out, FIELD, rebuild(s, "", f), text);
}

#pragma GCC diagnostic pop

/* A conversion without an argument of its kind stands as it was written, with a mark. */
static void convert(const char **f, Args *a, Out *o)
{
	const char *from = *f - 1;
	Spec s = read_spec(f, a);
	char field[FIELD];
	int n = -1;

	if (s.what == '%') {
		add(o, "%", 1);
		return;
	}
	if (s.what && strchr("diouxXc", s.what))
		n = put_int(&s, a, field);
	else if (s.what && strchr("eEfFgGaA", s.what))
		n = put_double(&s, a, field);
	else if (s.what == 's' || s.what == 'p')
		n = put_pointer(&s, a, field);
	else
		next(a, 0);
	if (n < 0) {
		add(o, from, (size_t)(*f - from));
		add(o, "(?)", 3);
	} else {
		add(o, field, n < FIELD ? (size_t)n : FIELD - 1);
	}
}

static void format(const char *f, Args *a, Out *o)
{
	const char *end = f + FORMAT;

	while (f < end && *f && o->n < sizeof o->s) {
		if (*f++ == '%')
			convert(&f, a, o);
		else
			add(o, f - 1, 1);
	}
}

/* Who prints stands before each line, and wherever another thread goes on. */
static void put_lines(PmEmuRun *r, const Out *o)
{
	char where[PM_EMU_WHERE], prefix[PM_EMU_WHERE + 256];
	PmPrint *p = r->print;
	size_t from = 0, n;

	n = (size_t)snprintf(prefix, sizeof prefix, "%.100s (%.100s) %s: ", r->s.label, r->s.entry->name,
			     pm__emu_where(&r->s, where));
	if (!pm_print_at_start(p) && strcmp(prefix, r->printer) != 0)
		pm_print_add(p, "\n", 1);
	while (from < o->n) {
		const char *nl = memchr(o->s + from, '\n', o->n - from);
		size_t to = nl ? (size_t)(nl + 1 - o->s) : o->n;

		if (pm_print_at_start(p))
			pm_print_add(p, prefix, n);
		pm_print_add(p, o->s + from, to - from);
		from = to;
	}
	memcpy(r->printer, prefix, n + 1);
}

int pm__emu_print(PmEmuRun *r, const char *text, const PmEmuPrintArg *v, int n)
{
	Args a = { v, n, 0 };
	Out o;

	if (!r->print)
		pm__emu_fail(&r->s, PM_E_DEVICE,
			     "called printf, which works in passmith eval --debug-print.");
	o.n = 0;
	format(text, &a, &o);
	put_lines(r, &o);
	return (int)o.n;
}
