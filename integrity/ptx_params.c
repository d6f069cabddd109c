/* ptx_params.c - the parameters of a PTX kernel, and what instructions do with them. */
#include "integrity/ptx_params.h"

#include <string.h>

int64_t pm__ptx_number(PmPtxToken t)
{
	int64_t n = 0;

	for (size_t i = 0; i < t.n; i++) {
		if (t.p[i] < '0' || t.p[i] > '9' || i >= 8)
			return INT32_MAX;
		n = n * 10 + (t.p[i] - '0');
	}
	return n;
}

static int is_punct(PmPtxToken t, char c)
{
	return t.kind == PM__PTX_PUNCT && *t.p == c;
}

static int is_end(PmPtxToken t)
{
	return t.kind == PM__PTX_END || t.kind == PM__PTX_BAD;
}

/* Bytes of a type: "u32", "f64", "b8"; 0 for what is none. */
static int64_t type_bytes(const char *p, size_t n)
{
	PmPtxToken digits = { PM__PTX_WORD, p + 1, n - 1 };
	int64_t bits = n > 1 && memchr("busf", *p, 4) ? pm__ptx_number(digits) : 0;

	return bits >= 8 && bits <= 128 ? bits / 8 : 0;
}

void pm__ptx_params_read(PmPtxLexer *l, PmPtxParams *out)
{
	PmPtxParam p = { .bytes = 0 };
	PmPtxToken t;

	for (t = pm__ptx_next(l); !is_end(t) && !is_punct(t, ')'); t = pm__ptx_next(l)) {
		if (is_punct(t, ',')) {
			PM_VEC_PUSH(out, p);
			p = (PmPtxParam){ .bytes = 0 };
		} else if (is_punct(t, '[')) {
			p.bytes *= pm__ptx_number(pm__ptx_next(l));
		} else if (t.kind == PM__PTX_WORD && *t.p == '.') {
			int64_t bytes = type_bytes(t.p + 1, t.n - 1);

			p.bytes = bytes ? bytes : p.bytes;
		} else if (t.kind == PM__PTX_WORD && (*t.p < '0' || *t.p > '9')) {
			p.name = t; /* a number is that of .align */
		}
	}
	if (p.name.n)
		PM_VEC_PUSH(out, p);
}

/* What "ld.param.v2.u64" reads; a large number when it cannot be told. */
static int64_t access_bytes(PmPtxToken opcode)
{
	int64_t bytes = 0, times = 1;

	for (size_t at = 0, len; at < opcode.n; at += len + 1) {
		const char *part = opcode.p + at;
		const char *dot = memchr(part, '.', opcode.n - at);

		len = dot ? (size_t)(dot - part) : opcode.n - at;
		if (len > 1 && *part == 'v' && part[1] >= '0' && part[1] <= '9')
			times = pm__ptx_number((PmPtxToken){ PM__PTX_WORD, part + 1, len - 1 });
		else if (type_bytes(part, len))
			bytes = type_bytes(part, len);
	}
	return bytes ? bytes * times : INT32_MAX;
}

int pm__ptx_param_is_read(const PmPtxParams *p, PmPtxToken opcode, PmPtxToken before, PmPtxToken t,
			  PmPtxLexer l)
{
	int64_t offset = 0;
	PmPtxToken after;
	size_t i = 0;

	while (i < p->n && !(p->v[i].name.n == t.n && !memcmp(p->v[i].name.p, t.p, t.n)))
		i++;
	if (i == p->n)
		return 1;
	after = pm__ptx_next(&l);
	if (is_punct(after, '+')) {
		offset = pm__ptx_number(pm__ptx_next(&l));
		after = pm__ptx_next(&l);
	}
	return pm__ptx_begins(opcode, "ld.param") && is_punct(before, '[') && is_punct(after, ']') &&
	       offset + access_bytes(opcode) <= p->v[i].bytes;
}
