/* SPDX-License-Identifier: Apache-2.0 */
/* str.c - a growable byte string and number parsing that refuses junk. */
#include "base/core/str.h"

#include "base/core/arena.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char pm_str_empty[1];

void pm_str_init(PmStr *b)
{
	b->s = pm_str_empty;
	b->len = b->cap = 0;
}

void pm_str_release(PmStr *b)
{
	if (b->cap)
		free(b->s);
	pm_str_init(b);
}

void pm_str_clear(PmStr *b)
{
	b->len = 0;
	if (b->cap)
		b->s[0] = '\0';
}

char *pm_str_detach(PmStr *b, size_t *len)
{
	char *s = b->cap ? b->s : pm_xstrdup("");

	if (len)
		*len = b->len;
	pm_str_init(b);
	return s;
}

void pm_str_adopt(PmStr *b, char *s, size_t len)
{
	pm_str_release(b);
	b->s = s;
	b->len = len;
	b->cap = len + 1;
}

void pm_str_reserve(PmStr *b, size_t len)
{
	if (len < b->cap)
		return;
	b->s = pm_xrealloc(b->cap ? b->s : NULL, len + 1, 1);
	b->s[b->len] = '\0';
	b->cap = len + 1;
}

/* Makes room for `more` bytes and the terminator. */
static void grow(PmStr *b, size_t more)
{
	size_t need, cap;

	if (more > SIZE_MAX / 2 - b->len - 1)
		PM_BUG("a string of %zu + %zu bytes", b->len, more);
	need = b->len + more + 1;
	if (need <= b->cap)
		return;
	cap = b->cap ? b->cap * 2 : 32;
	if (cap < need)
		cap = need;
	b->s = pm_xrealloc(b->cap ? b->s : NULL, cap, 1);
	b->cap = cap;
}

void pm_str_addn(PmStr *b, const void *p, size_t n)
{
	if (!n)
		return;
	grow(b, n);
	memcpy(b->s + b->len, p, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void pm_str_add(PmStr *b, const char *s)
{
	pm_str_addn(b, s, strlen(s));
}

void pm_str_addc(PmStr *b, char c)
{
	pm_str_addn(b, &c, 1);
}

void pm_str_addi(PmStr *b, int64_t v)
{
	char digits[24], *d = digits + sizeof digits;
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	do {
		*--d = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	if (v < 0)
		*--d = '-';
	pm_str_addn(b, d, (size_t)(digits + sizeof digits - d));
}

void pm_str_addf(PmStr *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		PM_BUG("cannot format \"%s\"", fmt);
	if (n == 0)
		return;
	grow(b, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

/* What goes between quotes as it is. */
static int is_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && c != '"' && c != '\\';
}

void pm_str_add_quoted(PmStr *b, const char *s, size_t n)
{
	size_t i = 0, from;

	pm_str_addc(b, '"');
	while (i < n) {
		for (from = i; i < n && is_plain((unsigned char)s[i]); i++)
			;
		pm_str_addn(b, s + from, i - from);
		if (i == n)
			break;
		switch (s[i]) {
		case '"':
			pm_str_add(b, "\\\"");
			break;
		case '\\':
			pm_str_add(b, "\\\\");
			break;
		case '\n':
			pm_str_add(b, "\\n");
			break;
		case '\t':
			pm_str_add(b, "\\t");
			break;
		case '\r':
			pm_str_add(b, "\\r");
			break;
		default:
			pm_str_addf(b, "\\x%02X", (unsigned char)s[i]);
		}
		i++;
	}
	pm_str_addc(b, '"');
}

int pm_parse_i64(const char *s, int64_t *out)
{
	const char *p = s;
	int64_t v = 0;
	int negative = *p == '-';

	if (*p == '-' || *p == '+')
		p++;
	if (!*p)
		return 0;
	for (; *p; p++) {
		if (*p < '0' || *p > '9')
			return 0;
		/* Counted downwards: INT64_MIN has no positive twin. */
		if (!pm_mul_i64(v, 10, &v) || !pm_add_i64(v, '0' - *p, &v))
			return 0;
	}
	if (!negative && v == INT64_MIN)
		return 0;
	*out = negative ? v : -v;
	return 1;
}

/* Skips digits and says how many there were. */
static size_t digits(const char **p)
{
	size_t n = strspn(*p, "0123456789");

	*p += n;
	return n;
}

int pm_parse_f64(const char *s, double *out)
{
	const char *p = s;
	double v;
	size_t n;

	/* strtod also takes spaces, hexadecimal, "inf" and "nan": look at the shape first. */
	if (*p == '-' || *p == '+')
		p++;
	n = digits(&p);
	if (*p == '.') {
		p++;
		n += digits(&p);
	}
	if (!n)
		return 0;
	if (*p == 'e' || *p == 'E') {
		p++;
		if (*p == '-' || *p == '+')
			p++;
		if (!digits(&p))
			return 0;
	}
	if (*p)
		return 0;
	v = strtod(s, NULL);
	if (!isfinite(v))
		return 0;
	*out = v;
	return 1;
}

int pm_str_eq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

int pm_str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

const char *pm_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

const char *pm_is_or_are(uint64_t n)
{
	return n == 1 ? "is" : "are";
}
