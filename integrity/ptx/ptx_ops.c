/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_ops.c - the list of instructions, and what their modifiers say. */
#include "integrity/ptx/ptx_ops.h"

#include <string.h>

#define XX(name, cls, results, spaces, modifiers, why)                                                       \
	{ name, PM__PTX_##cls, results, spaces, modifiers " " },
static const PmPtxOp ops[] = {
#include "integrity/ptx/ptx_ops.def"
};
#undef XX

static const struct {
	const char *begins, *why;
} refused[] = {
#define REFUSED(begins, why) { begins, why },
#include "integrity/ptx/ptx_ops.def"
#undef REFUSED
};

enum { N_OPS = sizeof ops / sizeof *ops, N_REFUSED = sizeof refused / sizeof *refused };

/* 1 when the opcode is `name`, or `name` and modifiers. */
static int is_named(PmPtxToken t, const char *name)
{
	size_t n = strlen(name);

	return pm__ptx_begins(t, name) && (t.n == n || t.p[n] == '.');
}

/* 1 when `list` (" a b c ") has the part. */
static int has_modifier(const char *list, const char *part, size_t n)
{
	for (const char *p = list; *p; p++) {
		size_t len = strcspn(p, " ");

		if (len == n && !memcmp(p, part, n))
			return 1;
		p += len;
		if (!*p)
			break;
	}
	return 0;
}

/* Calls for each part behind `from`; the part ends at the next dot. */
static size_t part_length(PmPtxToken t, size_t at)
{
	const char *dot = memchr(t.p + at, '.', t.n - at);

	return dot ? (size_t)(dot - t.p) - at : t.n - at;
}

static const char *reason(PmPtxToken t)
{
	for (size_t i = 0; i < t.n; i += part_length(t, i) + 1) {
		size_t n = part_length(t, i);

		if (n == 3 && !memcmp(t.p + i, "sys", 3))
			return "memory is shared with no other device; leave out .sys";
		if (n > 4 && (!memcmp(t.p + i, "L2::", 4) || !memcmp(t.p + i, "L1::", 4)))
			return "caches are the same for everybody; leave out the hint";
		if (n == 4 && !memcmp(t.p + i, "mmio", 4))
			return "a kernel writes its buffers only; leave out .mmio";
	}
	for (size_t i = 0; i < N_REFUSED; i++)
		if (pm__ptx_begins(t, refused[i].begins))
			return refused[i].why;
	return "it is not known";
}

const PmPtxOp *pm__ptx_op_find(PmPtxToken t, const char **why)
{
	const PmPtxOp *best = NULL;
	size_t at;

	for (size_t i = 0; i < N_OPS; i++)
		if (*ops[i].name == *t.p && is_named(t, ops[i].name) &&
		    (!best || strlen(ops[i].name) > strlen(best->name)))
			best = &ops[i];
	*why = NULL;
	if (!best) {
		*why = reason(t);
		return NULL;
	}
	for (at = strlen(best->name) + 1; at < t.n; at += part_length(t, at) + 1)
		if (!has_modifier(best->modifiers, t.p + at, part_length(t, at)))
			*why = reason(t);
	if (t.p[t.n - 1] == '.')
		*why = reason(t);
	return *why ? NULL : best;
}

char pm__ptx_op_space(PmPtxToken t)
{
	static const struct {
		const char *part;
		char space;
	} spaces[] = { { "global", 'g' }, { "shared", 's' }, { "shared::cta", 's' },
		       { "local", 'l' },  { "const", 'c' },  { "param", 'p' } };

	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (pm__ptx_has_part(t, spaces[i].part))
			return spaces[i].space;
	return 'x';
}

int pm__ptx_op_type(PmPtxToken t, int first, char *kind)
{
	int bits = 0;

	for (size_t at = 0; at < t.n; at += part_length(t, at) + 1) {
		size_t n = part_length(t, at);
		const char *p = t.p + at;

		if (n < 2 || n > 4 || !memchr("usbf", *p, 4) || p[1] < '0' || p[1] > '9' || (bits && first))
			continue;
		bits = 0;
		for (size_t i = 1; i < n; i++)
			bits = p[i] >= '0' && p[i] <= '9' ? bits * 10 + p[i] - '0' : 999;
		*kind = *p;
	}
	return bits;
}

int64_t pm__ptx_op_bytes(PmPtxToken t)
{
	char kind;
	int bits = pm__ptx_op_type(t, 0, &kind);
	int64_t bytes = bits >= 8 ? bits / 8 : 16;

	return pm__ptx_has_part(t, "v2")   ? 2 * bytes
	       : pm__ptx_has_part(t, "v4") ? 4 * bytes
	       : pm__ptx_has_part(t, "v8") ? 8 * bytes
					   : bytes;
}
