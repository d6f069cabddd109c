/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_ptx.c - the kernels of a PTX text and the types of their parameters.
 *
 * A kernel looks like
 *	.visible .entry silu(
 *		.param .u64 .ptr .align 1 silu_param_0,
 *		.param .f32 silu_param_1
 *	)
 * Comments and strings in the text may hold anything: a wrong reading only makes the launch be refused or the
 * driver look at the arguments itself, so the reader stays within the text and does no more.
 */
#include "runtime/cuda/cuda_ptx.h"

#include "base/core/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 4096, MAX_ENTRIES = 4096 };

static int is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static int is_word(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(p, word, n) == 0;
}

/* The kind of one parameter, whose declaration is p[0..n). */
static PmPtxKind kind_of(const char *p, size_t n)
{
	static const struct {
		const char *word;
		PmPtxKind kind;
	} words[] = {
		{ ".u64", PTX_I64 }, { ".s64", PTX_I64 }, { ".b64", PTX_I64 }, { ".u32", PTX_I32 },
		{ ".s32", PTX_I32 }, { ".b32", PTX_I32 }, { ".f32", PTX_F32 }, { ".f64", PTX_F64 },
	};
	size_t i = 0, k, len;

	if (memchr(p, '[', n))
		return PTX_OTHER; /* a structure passed by value */
	while (i < n) {
		while (i < n && isspace((unsigned char)p[i]))
			i++;
		for (len = 0; i + len < n && !isspace((unsigned char)p[i + len]); len++)
			;
		for (k = 0; k < sizeof words / sizeof words[0]; k++)
			if (is_word(p + i, len, words[k].word))
				return words[k].kind;
		i += len;
	}
	return PTX_OTHER;
}

/* Reads the parameters between p and end. */
static void read_params(const char *p, const char *end, PmPtxEntry *e)
{
	PM_VEC(PmPtxKind) kinds = { 0 };

	while (p < end && kinds.n < MAX_PARAMS) {
		const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
		const char *q = p;

		while (q < stop && isspace((unsigned char)*q))
			q++;
		if (q < stop)
			PM_VEC_PUSH(&kinds, kind_of(q, (size_t)(stop - q)));
		p = stop + 1;
	}
	e->n_params = (int)kinds.n;
	e->kind = kinds.v;
}

void pm__ptx_read(const char *text, PmPtx *out)
{
	const char *p = text;

	memset(out, 0, sizeof *out);
	while ((p = strstr(p, ".entry")) != NULL && out->entries.n < MAX_ENTRIES) {
		PmPtxEntry e = { 0 };
		const char *name, *end;

		p += 6;
		name = p + strspn(p, " \t");
		for (end = name; is_name(*end); end++)
			;
		if (name == p || end == name)
			continue;
		p = end;
		end += strspn(end, " \t\r\n");
		e.name = pm_xcalloc((size_t)(p - name) + 1, 1);
		memcpy(e.name, name, (size_t)(p - name));
		if (*end == '(') { /* a kernel without parameters has no list, or an empty one */
			const char *close = strchr(end, ')');

			if (!close) {
				free(e.name);
				break;
			}
			read_params(end + 1, close, &e);
			p = close;
		}
		PM_VEC_PUSH(&out->entries, e);
	}
}

void pm__ptx_release(PmPtx *p)
{
	size_t i;

	for (i = 0; i < p->entries.n; i++) {
		free(p->entries.v[i].name);
		free(p->entries.v[i].kind);
	}
	PM_VEC_RELEASE(&p->entries);
}
