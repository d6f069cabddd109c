/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - text of strangers in columns of a terminal. */
#include "app/monitor/text.h"

#include "base/core/clean.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* Bytes of a name that can matter: columns of the widest terminal, at four bytes each. */
enum { MOST = 4096 };

/* How wide characters are is known to the C library, for a locale with UTF-8: the program itself has none.
 * Without one everything that is not ASCII is '?'. */
static locale_t with_utf8(void)
{
	static locale_t l;

	if (!l)
		l = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return l;
}

/* The bytes of the character at s, and its columns; 0 columns: it is not shown as it is. */
static size_t next(const char *s, int *columns)
{
	wchar_t c;
	mbstate_t state;
	size_t n;

	memset(&state, 0, sizeof state);
	n = mbrtowc(&c, s, MB_CUR_MAX, &state);
	if (n == 0 || n > 8) {
		*columns = 0;
		return 1;
	}
	*columns = wcwidth(c);
	*columns = *columns > 0 ? *columns : 0;
	return n;
}

/* Copies at most `columns` columns of s to `out` (may be NULL); *whole says whether that was all. */
static int copy(const char *s, int columns, PmStr *out, int *whole)
{
	locale_t utf8 = with_utf8(), before = utf8 ? uselocale(utf8) : (locale_t)0;
	int at = 0, w;
	size_t n;

	for (; *s; s += n) {
		n = next(s, &w);
		if (at + (w ? w : 1) > columns)
			break;
		if (out && w)
			pm_str_addn(out, s, n);
		else if (out)
			pm_str_addc(out, '?');
		at += w ? w : 1;
	}
	*whole = !*s;
	if (utf8)
		uselocale(before);
	return at;
}

static void clean(const char *s, char buffer[MOST])
{
	pm_clean(s, buffer, MOST, 0);
}

int pm_text_columns(const char *s, int most)
{
	char text[MOST];
	int whole;

	clean(s, text);
	return copy(text, most, NULL, &whole);
}

void pm_text_fit(const char *s, int columns, int right, PmStr *out)
{
	static const char cut[] = "..";
	PmStr shown = PM_STR_INIT;
	char text[MOST];
	int whole, used;

	if (columns <= 0)
		return;
	clean(s, text);
	used = copy(text, columns, &shown, &whole);
	if (!whole && columns > (int)sizeof cut) {
		pm_str_clear(&shown);
		used = copy(text, columns - ((int)sizeof cut - 1), &shown, &whole);
		pm_str_add(&shown, cut);
		used += (int)sizeof cut - 1;
	}
	for (int i = used; right && i < columns; i++)
		pm_str_addc(out, ' ');
	pm_str_add(out, shown.s);
	for (int i = used; !right && i < columns; i++)
		pm_str_addc(out, ' ');
	pm_str_release(&shown);
}
