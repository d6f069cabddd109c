/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - the width of text, from Unicode's East Asian Width (W and F, in whole blocks). */
#include "draw/svg/columns.h"

#include "base/core/arena.h"
#include "base/core/clean.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The character at s, which is UTF-8, and its bytes. */
static uint32_t character(const char *s, size_t *n)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c;

	*n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	c = *n == 1 ? p[0] : p[0] & (0x7fu >> *n);
	for (size_t i = 1; i < *n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

static size_t width(uint32_t c)
{
	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
			       (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) ||
			       (c >= 0xff00 && c <= 0xff60) || (c >= 0xffe0 && c <= 0xffe6) ||
			       (c >= 0x1f000 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd)
		       ? 2
		       : 1;
}

static char *cleaned(const char *text)
{
	size_t n = strlen(text) + 1;
	char *clean = pm_xmalloc(n);

	pm_clean(text, clean, n, 0);
	return clean;
}

static size_t count(const char *clean)
{
	size_t sum = 0, n;

	for (; *clean; clean += n)
		sum += width(character(clean, &n));
	return sum;
}

size_t pm_columns(const char *text)
{
	char *clean = cleaned(text);
	size_t sum = count(clean);

	free(clean);
	return sum;
}

/* The bytes of the longest beginning of at most `most` columns and `room` bytes. */
static size_t beginning(const char *s, size_t most, size_t room)
{
	size_t at = 0, sum = 0, n;

	while (s[at]) {
		size_t w = width(character(s + at, &n));

		if (sum + w > most || at + n > room)
			break;
		sum += w;
		at += n;
	}
	return at;
}

/* Where the longest end of at most `most` columns and `room` bytes begins. */
static size_t ending(const char *s, size_t most, size_t room)
{
	size_t end = strlen(s), at = end, sum = 0, n;

	while (at) {
		size_t one = at - 1;

		while (one && ((unsigned char)s[one] & 0xc0) == 0x80)
			one--;
		sum += width(character(s + one, &n));
		if (sum > most || end - one > room)
			break;
		at = one;
	}
	return at;
}

int pm_columns_cut(const char *text, size_t most, char *out, size_t size)
{
	char *clean = cleaned(text);
	int cut = count(clean) > most || strlen(clean) >= size;

	if (!cut) {
		strcpy(out, clean);
	} else {
		size_t half = (most - 3) / 2, room = (size - 4) / 2;
		size_t head = beginning(clean, most - 3 - half, room);
		size_t tail = ending(clean, half, room);

		memcpy(out, clean, head);
		strcpy(out + head, "...");
		strcpy(out + head + 3, clean + tail);
	}
	free(clean);
	return cut;
}
