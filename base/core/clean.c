/* SPDX-License-Identifier: Apache-2.0 */
/* clean.c - text of strangers inside our sentences. */
#include "base/core/clean.h"

#include <stdint.h>
#include <string.h>

/* The character at s and its bytes in *n; 0 with *n = 1 for a byte that begins none. */
static uint32_t character(const unsigned char *s, size_t *n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	uint32_t c = len <= 1 ? s[0] : s[0] & (0x7fu >> len);

	*n = 1;
	for (size_t i = 1; i < len; i++) {
		if (s[i] >> 6 != 2) /* the terminator too */
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (!len || c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*n = len;
	return c;
}

static int misleads(uint32_t c)
{
	static const uint32_t range[][2] = {
		{ 0, 0 },           { 0x80, 0x9f },        { 0xad, 0xad },     { 0x61c, 0x61c },
		{ 0x115f, 0x1160 }, { 0x180b, 0x180f },    { 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f }, { 0x3164, 0x3164 },    { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },
		{ 0xfff0, 0xffff }, { 0xe0000, 0x10ffff },
	};

	for (size_t i = 0; i < sizeof range / sizeof *range; i++)
		if (c >= range[i][0] && c <= range[i][1])
			return 1;
	return 0;
}

void pm_clean(const char *s, char *out, size_t size, int lines)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t at = 0, n;

	for (; *p; p += n) {
		uint32_t c = character(p, &n);

		if (at + n >= size)
			break;
		if ((c && c < 32 && !(lines && c == '\n')) || c == 127)
			out[at++] = ' ';
		else if (misleads(c))
			out[at++] = '?';
		else
			for (size_t i = 0; i < n; i++)
				out[at++] = (char)p[i];
	}
	out[at] = 0;
}

/* Where the name that begins at s (behind its quote) ends, or NULL when it is no long one. */
static const char *end_of_long_name(const char *s)
{
	const char *end = strchr(s, '\'');

	if (!end) /* the sentence was cut inside of it */
		end = s + strlen(s);
	return end - s > PM_CLEAN_QUOTED ? end : NULL;
}

static size_t append(char *out, size_t at, size_t size, const char *s, size_t n)
{
	for (size_t i = 0; i < n && at + 1 < size; i++)
		out[at++] = s[i];
	return at;
}

static int is_part(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void pm_clean_sentence(const char *s, char *out, size_t size)
{
	enum { KEEP = PM_CLEAN_QUOTED / 3 };
	const char *before = " ";
	size_t at = 0;

	for (; *s; before = s++) {
		const char *end = *s == '\'' && strchr(" (\"", *before) ? end_of_long_name(s + 1) : NULL;

		at = append(out, at, size, s, 1);
		if (end) {
			const char *head = s + 1 + KEEP, *tail = end - KEEP;

			while (head > s + 1 && is_part(*head))
				head--;
			while (is_part(*tail))
				tail++;
			at = append(out, at, size, s + 1, (size_t)(head - s - 1));
			at = append(out, at, size, "...", 3);
			at = append(out, at, size, tail, (size_t)(end - tail));
			s = end - 1;
		}
	}
	out[at] = 0;
	pm_clean(out, out, size, 0);
}
