/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - copying a plugin's pattern tree into the host's form, and printing it. */
#include "matcher/pattern/pattern.h"

#include "base/core/hash.h"
#include "ir/core/type.h"
#include "matcher/pattern/abi.h"
#include "matcher/pattern/pattern_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- building ---- */

void pm__marks_init(PmPatMarks *m)
{
	memset(m, 0, sizeof *m);
	m->slot = -1;
	m->rank = -1;
	m->result = -1;
}

PmStatus pm__marks_type(PmPatMarks *m, uint32_t dtypes, int32_t rank, PmErr *err)
{
	if (dtypes >> PM_N_DTYPES || rank < -1 || rank > PM_MAX_RANK)
		return pm_err(
			err, PM_E_INVALID,
			"TYPED has unknown element types or a rank outside -1..%d; use FLOATS, TYPE(I64), "
			"and -1 for any rank.",
			PM_MAX_RANK);
	if ((m->dtypes && dtypes && !(m->dtypes & dtypes)) || (m->rank >= 0 && rank >= 0 && m->rank != rank))
		return pm_err(err, PM_E_INVALID,
			      "Two TYPED around one pattern exclude each other; keep one.");
	if (dtypes)
		m->dtypes = m->dtypes ? m->dtypes & dtypes : dtypes;
	if (rank >= 0)
		m->rank = rank;
	return PM_OK;
}

PmPattern *pm__pattern_new(void)
{
	PmPattern *p = pm_xcalloc(1, sizeof *p);

	p->arena = pm_arena_new(0);
	return p;
}

void pm_pattern_free(PmPattern *p)
{
	if (!p)
		return;
	pm_arena_free(p->arena);
	free(p);
}

PmStatus pm__pattern_add(PmPattern *p, PmPatKind kind, uint32_t *out, PmErr *err)
{
	PmPatternNode *n;

	if (p->n == PM_MAX_PATTERN_NODES)
		return pm_err(err, PM_E_LIMIT, "The pattern has more than %d nodes; split the rule.",
			      PM_MAX_PATTERN_NODES);
	n = &p->node[p->n];
	memset(n, 0, sizeof *n);
	n->kind = kind;
	n->slot = n->rank = -1;
	*out = p->n++;
	return PM_OK;
}

PmStatus pm__pattern_mark(PmPattern *p, uint32_t node, const PmPatMarks *m, PmErr *err)
{
	PmPatternNode *n = &p->node[node];
	int is_op = n->kind == PM_PK_OP, has_op = is_op || n->kind == PM_PK_OPT;

	if (m->slot >= 0 && !has_op && n->kind != PM_PK_ALT)
		return pm_err(err, PM_E_INVALID,
			      "AS names an operator, an OPT or an ALT; use V for anything else.");
	if ((m->n_attr || m->flags & PM_PF_ANYATTR) && !has_op)
		return pm_err(
			err, PM_E_INVALID,
			"WITH and ANYATTR stand around an OP or an OPT: only an operator has attributes.");
	if ((m->flags & PM_PF_ORDERED || m->result >= 0) && !is_op)
		return pm_err(err, PM_E_INVALID, "ORDERED and RESULT stand around an OP.");
	if (m->flags & PM_PF_KEEP && !has_op && n->kind != PM_PK_ALT)
		return pm_err(
			err, PM_E_INVALID,
			"KEEP stands around an operator, an OPT or an ALT: other values are not part of the "
			"match.");
	if (n->kind == PM_PK_REST && (m->dtypes || m->rank >= 0))
		return pm_err(err, PM_E_INVALID, "REST stands for several operands and cannot be TYPED.");
	if (n->kind != PM_PK_VAR)
		n->slot = m->slot;
	n->flags = m->flags;
	n->dtypes = m->dtypes;
	n->rank = m->rank;
	n->result = m->result > 0 ? (uint32_t)m->result : 0;
	n->n_attr = m->n_attr;
	if (m->n_attr) {
		n->attr = pm_arena_alloc(p->arena, m->n_attr * sizeof *n->attr);
		memcpy(n->attr, m->attr, m->n_attr * sizeof *n->attr);
	}
	return PM_OK;
}

PmStatus pm__pattern_finish(PmPattern *p, PmErr *err)
{
	p->n_slots = p->n_ops = p->as_mask = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		const PmPatternNode *n = &p->node[i];

		if (n->slot >= PM_MAX_SLOTS)
			return pm_err(err, PM_E_LIMIT, "Slot %d is over the limit of %d slots.", n->slot,
				      PM_MAX_SLOTS);
		if (n->slot >= 0 && (uint32_t)n->slot + 1 > p->n_slots)
			p->n_slots = (uint32_t)n->slot + 1;
		if (n->slot >= 0 && n->kind != PM_PK_VAR)
			p->as_mask |= 1u << n->slot;
		p->n_ops += n->kind == PM_PK_OP;
	}
	return PM_OK;
}

/* ---- copying ---- */

/* A struct of the plugin, read as far as it goes. */
static PmStatus read_pat(const PmPat *src, PmPat *dst, PmErr *err)
{
	if (!pm__abi_read(src, dst, sizeof *dst))
		return pm_err(err, PM_E_INVALID,
			      "A pattern node " PM__ABI_BAD_SIZE "; build patterns with the words of "
			      "passmith/dsl.h.",
			      pm__abi_size(src));
	return PM_OK;
}

static PmStatus copy_string(PmPattern *p, const char *s, const char *what, const char **out, PmErr *err)
{
	size_t n = s ? strnlen(s, PM_MAX_PATTERN_STRING + 1) : 0;

	if (!s || n > PM_MAX_PATTERN_STRING)
		return pm_err(err, PM_E_INVALID, "%s is missing or longer than %d bytes.", what,
			      PM_MAX_PATTERN_STRING);
	*out = pm_arena_strndup(p->arena, s, n);
	return PM_OK;
}

static PmStatus copy_attr(PmPattern *p, const PmPatAttr *given, PmPatternAttr *a, PmErr *err)
{
	PmPatAttr copy, *src = &copy;
	int64_t *ints;
	PmStatus st;

	memset(a, 0, sizeof *a);
	if (!pm__abi_read(given, src, sizeof *src))
		return pm_err(err, PM_E_INVALID,
			      "An attribute " PM__ABI_BAD_SIZE "; write it with the words of passmith/dsl.h.",
			      pm__abi_size(given));
	st = copy_string(p, src->name, "The name of an attribute", &a->name, err);
	if (st)
		return st;
	switch (src->kind) {
	case PM_PATTR_INT:
	case PM_PATTR_INTS:
		a->kind = PM_PATTR_INTS;
		if (src->n_ints > PM_MAX_PATTERN_INTS || (src->n_ints && !src->ints))
			return pm_err(err, PM_E_INVALID, "Attribute %s lists no integers, or more than %d.",
				      a->name, PM_MAX_PATTERN_INTS);
		ints = pm_arena_alloc(p->arena, src->n_ints * sizeof *ints);
		if (src->n_ints)
			memcpy(ints, src->ints, src->n_ints * sizeof *ints);
		a->ints = ints;
		a->n_ints = src->n_ints;
		return PM_OK;
	case PM_PATTR_FLOAT:
		a->kind = PM_PATTR_FLOAT;
		a->f = src->f;
		return PM_OK;
	case PM_PATTR_STR:
		a->kind = PM_PATTR_STR;
		return copy_string(p, src->s, "The string of an attribute", &a->s, err);
	default:
		return pm_err(err, PM_E_INVALID,
			      "Attribute %s is of unknown kind %u; use INT, INTS, FLOAT or STR.", a->name,
			      src->kind);
	}
}

static PmStatus copy_attrs(PmPattern *p, const PmPat *pat, PmPatMarks *m, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; pat->attr && pat->attr[i] && !st; i++) {
		if (m->n_attr == PM_MAX_PATTERN_ATTRS)
			return pm_err(err, PM_E_LIMIT, "WITH lists more than %d attributes.",
				      PM_MAX_PATTERN_ATTRS);
		st = copy_attr(p, pat->attr[i], &m->attr[m->n_attr], err);
		m->n_attr += !st;
	}
	return st;
}

/* Follows the wrappers around a pattern, collecting what they say. */
static PmStatus unwrap(PmPattern *p, const PmPat **at, PmPat *pat, PmPatMarks *m, PmErr *err)
{
	PmStatus st = read_pat(*at, pat, err);

	for (int depth = 0; !st && pat->kind >= PM_PAT_AS; depth++) {
		if (pat->kind > PM_PAT_RESULT)
			return pm_err(err, PM_E_INVALID, "A pattern node is of unknown kind %u.", pat->kind);
		if (depth == PM_MAX_PATTERN_DEPTH || !pat->in || !pat->in[0])
			return pm_err(err, PM_E_INVALID,
				      "A word that describes a pattern has no pattern inside.");
		switch (pat->kind) {
		case PM_PAT_AS:
			if (m->slot >= 0)
				return pm_err(err, PM_E_INVALID, "Two AS name the same value; keep one.");
			if (pat->slot >= PM_MAX_SLOTS)
				return pm_err(err, PM_E_LIMIT, "Slot %u is over the limit of %d slots.",
					      pat->slot, PM_MAX_SLOTS);
			m->slot = (int32_t)pat->slot;
			break;
		case PM_PAT_WITH:
			st = copy_attrs(p, pat, m, err);
			break;
		case PM_PAT_TYPED:
			st = pm__marks_type(m, pat->dtypes, pat->rank, err);
			break;
		case PM_PAT_KEEP:
			m->flags |= PM_PF_KEEP;
			break;
		case PM_PAT_ORDERED:
			m->flags |= PM_PF_ORDERED;
			break;
		case PM_PAT_ANYATTR:
			m->flags |= PM_PF_ANYATTR;
			break;
		default: /* RESULT */
			m->result = pat->slot;
			break;
		}
		*at = pat->in[0];
		if (!st)
			st = read_pat(*at, pat, err);
	}
	return st;
}

static PmStatus copy_node(PmPattern *p, const PmPat *src, int depth, uint32_t *out, PmErr *err);

static PmStatus copy_operands(PmPattern *p, uint32_t id, const PmPat *pat, int depth, PmErr *err)
{
	uint32_t n = 0, *in;
	PmStatus st = PM_OK;

	if (!pat->in)
		return pm_err(err, PM_E_INVALID, "A pattern node has no operand list.");
	while (n <= PM_MAX_PATTERN_NODES && pat->in[n])
		n++;
	if (n > PM_MAX_PATTERN_NODES)
		return pm_err(err, PM_E_LIMIT, "A pattern node has more than %d operands.",
			      PM_MAX_PATTERN_NODES);
	if (!n)
		return pm_err(err, PM_E_INVALID, "A pattern node has an empty operand list.");
	in = pm_arena_alloc(p->arena, n * sizeof *in);
	for (uint32_t k = 0; k < n && !st; k++)
		st = copy_node(p, pat->in[k], depth + 1, &in[k], err);
	p->node[id].in = in;
	p->node[id].n_in = n;
	return st;
}

static PmStatus copy_node(PmPattern *p, const PmPat *src, int depth, uint32_t *out, PmErr *err)
{
	static const PmPatKind kinds[] = {
		[PM_PAT_OP] = PM_PK_OP,    [PM_PAT_VAR] = PM_PK_VAR, [PM_PAT_ANY] = PM_PK_ANY,
		[PM_PAT_NUM] = PM_PK_NUM,  [PM_PAT_OPT] = PM_PK_OPT, [PM_PAT_ALT] = PM_PK_ALT,
		[PM_PAT_REST] = PM_PK_REST
	};
	PmPatMarks m;
	PmPat pat;
	PmStatus st;
	uint32_t id = 0;

	if (depth > PM_MAX_PATTERN_DEPTH)
		return pm_err(err, PM_E_LIMIT, "The pattern is nested deeper than %d.", PM_MAX_PATTERN_DEPTH);
	pm__marks_init(&m);
	st = unwrap(p, &src, &pat, &m, err);
	if (st)
		return st;
	if (pat.kind < PM_PAT_OP || pat.kind > PM_PAT_REST)
		return pm_err(err, PM_E_INVALID, "A pattern node is of unknown kind %u.", pat.kind);
	st = pm__pattern_add(p, kinds[pat.kind], &id, err);
	if (st)
		return st;
	*out = id;
	p->node[id].num = pat.num;
	if (pat.kind == PM_PAT_VAR) {
		if (pat.slot >= PM_MAX_SLOTS)
			return pm_err(err, PM_E_LIMIT, "Slot %u is over the limit of %d slots.", pat.slot,
				      PM_MAX_SLOTS);
		p->node[id].slot = (int32_t)pat.slot;
	}
	if (pat.kind == PM_PAT_OP || pat.kind == PM_PAT_OPT) {
		st = copy_string(p, pat.op, "The name of an operator", &p->node[id].op_name, err);
		if (!st)
			p->node[id].op = pm_op_from_name(p->node[id].op_name);
	}
	if (!st)
		st = pm__pattern_mark(p, id, &m, err);
	if (!st && (pat.kind == PM_PAT_OP || pat.kind == PM_PAT_OPT || pat.kind == PM_PAT_ALT))
		st = copy_operands(p, id, &pat, depth, err);
	return st;
}

PmStatus pm_pattern_copy(const PmPat *root, PmPattern **out, PmErr *err)
{
	PmPattern *p = pm__pattern_new();
	uint32_t id = 0;
	PmStatus st = root ? copy_node(p, root, 0, &id, err)
			   : pm_err(err, PM_E_INVALID, "There is no pattern.");

	if (!st)
		st = pm__pattern_finish(p, err);
	if (st) {
		pm_pattern_free(p);
		return st;
	}
	*out = p;
	return PM_OK;
}

/* ---- printing ---- */

int pm__type_from_word(const char *s, size_t n)
{
	for (int t = 0; t < PM_N_DTYPES; t++)
		if (strlen(pm_dtype_word(t)) == n && !memcmp(pm_dtype_word(t), s, n))
			return t;
	return -1;
}

void pm_pattern_print_type(uint32_t dtypes, int32_t rank, PmStr *out)
{
	const char *sep = "";

	if (dtypes == PM__TYPES_FLOAT)
		pm_str_add(out, "float");
	else if (dtypes == PM__TYPES_NUM)
		pm_str_add(out, "num");
	else if (dtypes == PM__TYPES_INT)
		pm_str_add(out, "int");
	else
		for (int t = 0; t < PM_N_DTYPES; t++)
			if (dtypes >> t & 1) {
				pm_str_addf(out, "%s%s", sep, pm_dtype_word(t));
				sep = "|";
			}
	if (rank >= 0)
		pm_str_addf(out, "%sr%d", dtypes ? "," : "", rank);
}

/* The shortest of %.9g and %.17g that reads back the same. */
static void print_number(double x, PmStr *out)
{
	char b[40];

	snprintf(b, sizeof b, "%.9g", x);
	if (!isnan(x) && strtod(b, NULL) != x)
		snprintf(b, sizeof b, "%.17g", x);
	pm_str_add(out, b);
}

static void print_attr(const PmPatternAttr *a, PmStr *out)
{
	size_t at;

	pm_str_addf(out, "{%s=", a->name);
	switch (a->kind) {
	case PM_PATTR_INTS:
		for (uint32_t i = 0; i < a->n_ints; i++)
			pm_str_addf(out, "%s%lld", i ? "," : "", (long long)a->ints[i]);
		break;
	case PM_PATTR_FLOAT:
		at = out->len;
		print_number(a->f, out);
		/* A float never looks like an integer. */
		if (!strpbrk(out->s + at, ".en"))
			pm_str_add(out, ".0");
		break;
	default:
		pm_str_add_quoted(out, a->s, strlen(a->s));
		break;
	}
	pm_str_addc(out, '}');
}

static void print_marks(const PmPatternNode *n, PmStr *out)
{
	if (n->result)
		pm_str_addf(out, "{#%u}", n->result);
	for (uint32_t i = 0; i < n->n_attr; i++)
		print_attr(&n->attr[i], out);
	if (n->flags & PM_PF_ANYATTR)
		pm_str_add(out, "{anyattr}");
	if (n->flags & PM_PF_ORDERED)
		pm_str_add(out, "{ordered}");
	if (n->flags & PM_PF_KEEP)
		pm_str_add(out, "{keep}");
	if (n->dtypes || n->rank >= 0) {
		pm_str_addc(out, '{');
		pm_pattern_print_type(n->dtypes, n->rank, out);
		pm_str_addc(out, '}');
	}
}

void pm_pattern_print_node(const PmPattern *p, uint32_t node, PmStr *out)
{
	const PmPatternNode *n = &p->node[node];

	if (n->slot >= 0)
		pm_str_addf(out, n->kind == PM_PK_VAR ? "?%d" : "?%d:", n->slot);
	switch (n->kind) {
	case PM_PK_VAR:
		break;
	case PM_PK_ANY:
		pm_str_addc(out, '_');
		break;
	case PM_PK_NUM:
		print_number(n->num, out);
		break;
	case PM_PK_REST:
		pm_str_add(out, "...");
		break;
	default:
		pm_str_addf(out, "(%s%s", n->kind == PM_PK_ALT ? "|" : n->op_name,
			    n->kind == PM_PK_OPT ? "?" : "");
		for (uint32_t k = 0; k < n->n_in; k++) {
			pm_str_addc(out, ' ');
			pm_pattern_print_node(p, n->in[k], out);
		}
		pm_str_addc(out, ')');
		break;
	}
	print_marks(n, out);
}

void pm_pattern_print(const PmPattern *p, PmStr *out)
{
	pm_pattern_print_node(p, 0, out);
}

uint64_t pm_pattern_hash(const PmPattern *p)
{
	PmStr s = PM_STR_INIT;
	uint64_t h;

	pm_pattern_print(p, &s);
	h = pm_hash64(s.s, s.len, PM_HASH_SEED);
	pm_str_release(&s);
	return h;
}
