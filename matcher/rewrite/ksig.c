/* SPDX-License-Identifier: Apache-2.0 */
/* ksig.c - reading the parameters of kernel entries from CUDA source. */
#include "matcher/rewrite/ksig.h"

#include <ctype.h>
#include <string.h>

enum { MAX_PARAM_TOKENS = 32 };

typedef struct Token {
	const char *s;
	size_t n; /* 0 = end of source */
} Token;

typedef struct Lexer {
	const char *at;
	int line_start; /* only blanks since the last newline */
} Lexer;

static const char *skip_quoted(const char *p)
{
	char q = *p++;

	while (*p && *p != q && *p != '\n')
		p += *p == '\\' && p[1] ? 2 : 1;
	return *p == q ? p + 1 : p;
}

/* A preprocessor line, with its continuation lines. */
static const char *skip_directive(const char *p)
{
	while (*p && *p != '\n')
		p += *p == '\\' && p[1] ? 2 : 1;
	return p;
}

static const char *skip_blank(Lexer *x)
{
	const char *p = x->at;

	for (;;) {
		if (*p == '\n') {
			x->line_start = 1;
			p++;
		} else if (isspace((unsigned char)*p)) {
			p++;
		} else if (p[0] == '/' && p[1] == '/') {
			p = skip_directive(p);
		} else if (p[0] == '/' && p[1] == '*') {
			const char *end = strstr(p + 2, "*/");

			p = end ? end + 2 : p + strlen(p);
		} else if (*p == '#' && x->line_start) {
			p = skip_directive(p);
		} else {
			return p;
		}
	}
}

static Token next(Lexer *x)
{
	const char *p = skip_blank(x), *start = p;

	x->line_start = 0;
	if (isalnum((unsigned char)*p) || *p == '_') {
		int digits = isdigit((unsigned char)*p); /* may hold separators: 1'000 */

		while (isalnum((unsigned char)*p) || *p == '_' || (digits && *p == '\''))
			p++;
	} else if (*p == '"' || *p == '\'') {
		p = skip_quoted(p);
	} else if (*p) {
		p++;
	}
	x->at = p;
	return (Token){ start, (size_t)(p - start) };
}

static int is(Token t, const char *s)
{
	return strlen(s) == t.n && !memcmp(t.s, s, t.n);
}

/* After "__global__": the name of the kernel; *x is then behind the "(" of its parameters. Qualifiers with
 * arguments, such as __launch_bounds__(256), are stepped over. Returns 0 when there is no such name. */
static int kernel_name(Lexer *x, Token *name)
{
	Token t, last = { "", 0 };

	for (;;) {
		t = next(x);
		if (!t.n || is(t, "{") || is(t, ";") || is(t, "}"))
			return 0;
		if (is(t, "(")) {
			int depth = 1;

			*name = last;
			if (!is(last, "__launch_bounds__") && !is(last, "__attribute__") &&
			    !is(last, "__maxnreg__") && !is(last, "__cluster_dims__"))
				return last.n > 0;
			while (depth && (t = next(x)).n)
				depth += is(t, "(") - is(t, ")");
		}
		last = t;
	}
}

/* Classifies one parameter from its tokens. Returns 0 when its type is not one the host knows. */
static int classify(const Token *t, int n, PmKParam *out)
{
	static const struct {
		const char *word;
		PmKParam kind;
	} types[] = { { "int64_t", PM_KP_I64 },   { "uint64_t", PM_KP_I64 }, { "size_t", PM_KP_I64 },
		      { "ptrdiff_t", PM_KP_I64 }, { "ssize_t", PM_KP_I64 },  { "int32_t", PM_KP_I32 },
		      { "uint32_t", PM_KP_I32 },  { "float", PM_KP_F32 },    { "double", PM_KP_F64 } };
	static const char *const ignored[] = { "const", "volatile", "__restrict__", "__restrict",
					       "__grid_constant__" };
	int longs = 0, ints = 0, other = 0, known = 0, pointer = 0;
	PmKParam kind = PM_KP_I32;

	for (int i = 0; i < n; i++) {
		if (is(t[i], "&") || is(t[i], "<") || is(t[i], "."))
			return 0;
		pointer |= is(t[i], "*") || is(t[i], "[");
	}
	if (pointer) { /* to whatever */
		*out = PM_KP_POINTER;
		return 1;
	}
	for (int i = 0; i < n; i++) {
		size_t k;

		if (is(t[i], "char") || is(t[i], "short"))
			return 0;
		for (k = 0; k < sizeof ignored / sizeof *ignored && !is(t[i], ignored[k]); k++)
			;
		if (k < sizeof ignored / sizeof *ignored)
			continue;
		for (k = 0; k < sizeof types / sizeof *types && !is(t[i], types[k].word); k++)
			;
		if (k < sizeof types / sizeof *types) {
			kind = types[k].kind;
			known++;
		} else if (is(t[i], "long")) {
			longs++;
		} else if (is(t[i], "int") || is(t[i], "unsigned") || is(t[i], "signed")) {
			ints++;
		} else {
			other++; /* the name, or a type that is not known */
		}
	}
	if (known + (longs || ints) != 1 || other > 1)
		return 0;
	*out = known ? kind : longs ? PM_KP_I64 : PM_KP_I32;
	return 1;
}

static PmStatus bad_param(PmErr *err, const char *entry, int k, const Token *t, int n)
{
	int len = n ? (int)(t[n - 1].s + t[n - 1].n - t[0].s) : 0;

	return pm_err(err, PM_E_INVALID,
		      "Parameter %d of kernel %.100s, '%.*s', is none that the host can pass; use pointers, "
		      "int, long "
		      "long, float and double.",
		      k, entry, len > 80 ? 80 : len, n ? t[0].s : "");
}

/* From behind "(" to the matching ")". */
static PmStatus params(Lexer *x, const char *entry, PmKParam *out, int max, int *count, PmErr *err)
{
	Token t[MAX_PARAM_TOKENS];
	int n = 0, k = 0;

	for (;;) {
		Token one = next(x);

		if (!one.n || is(one, "(") || is(one, "{") || is(one, ";"))
			return pm_err(err, PM_E_INVALID,
				      "The parameter list of kernel %.100s cannot be read; write out plain "
				      "parameters.",
				      entry);
		if (!is(one, ",") && !is(one, ")")) {
			if (n == MAX_PARAM_TOKENS)
				return bad_param(err, entry, k, t, n);
			t[n++] = one;
			continue;
		}
		if (n == 0 && is(one, ")") && k == 0)
			break;
		if (n == 1 && is(t[0], "void") && is(one, ")") && k == 0)
			break;
		if (k == max)
			return pm_err(err, PM_E_LIMIT, "Kernel %.100s has more than %d parameters.", entry,
				      max);
		if (!classify(t, n, &out[k]))
			return bad_param(err, entry, k, t, n);
		k++;
		n = 0;
		if (is(one, ")"))
			break;
	}
	*count = k;
	return PM_OK;
}

/* The next kernel that the source writes out; *parameters is behind the "(" of its parameters. */
static int next_kernel(Lexer *x, Lexer *parameters, Token *name)
{
	Token t;

	while ((t = next(x)).n) {
		if (!is(t, "__global__"))
			continue;
		*parameters = *x;
		if (kernel_name(parameters, name))
			return 1;
	}
	return 0;
}

void pm_ksig_kernels(const char *source, PmKsigName *each, void *arg)
{
	Lexer x = { source, 1 }, parameters;
	Token name;

	while (next_kernel(&x, &parameters, &name))
		each(arg, name.s, name.n);
}

PmStatus pm_ksig_params(const char *source, const char *entry, PmKParam *out, int max, int *n, PmErr *err)
{
	Lexer x = { source, 1 }, ahead;
	Token name;

	while (next_kernel(&x, &ahead, &name))
		if (is(name, entry))
			return params(&ahead, entry, out, max, n, err);
	return pm_err(
		err, PM_E_INVALID,
		"The source has no function `__global__ void %.100s(...)`; check .entry against the source.",
		entry);
}

static const char *kind_word(PmKParam k)
{
	static const char *const words[] = { "a pointer", "a 64-bit integer", "a 32-bit integer", "a float",
					     "a double" };

	return words[k];
}

PmStatus pm_ksig_check(const char *source, const PmKLaunch *l, PmErr *err)
{
	static const PmKParam wants[] = { [PM_KARG_IN] = PM_KP_POINTER,      [PM_KARG_OUT] = PM_KP_POINTER,
					  [PM_KARG_SCRATCH] = PM_KP_POINTER, [PM_KARG_I64] = PM_KP_I64,
					  [PM_KARG_I32] = PM_KP_I32,         [PM_KARG_F32] = PM_KP_F32,
					  [PM_KARG_F64] = PM_KP_F64 };
	PmKParam have[PM_MAX_KERNEL_ARGS];
	int n;
	PmStatus st = pm_ksig_params(source, l->entry, have, PM_MAX_KERNEL_ARGS, &n, err);

	if (st)
		return st;
	if (n != l->n_args)
		return pm_err(err, PM_E_INVALID,
			      "Kernel %.100s has %d parameters, but %d arguments are passed (inputs, "
			      "outputs, scratch "
			      "buffers, then .arg).",
			      l->entry, n, l->n_args);
	for (int k = 0; k < n; k++)
		if (have[k] != wants[l->args[k].kind])
			return pm_err(err, PM_E_TYPE,
				      "Parameter %d of kernel %.100s is %s, but %s is passed.", k, l->entry,
				      kind_word(have[k]), kind_word(wants[l->args[k].kind]));
	return PM_OK;
}

/* What no launch is given, no kernel can write. */
static PmStatus check_results(const PmGraph *g, PmNode n, const PmKAlt *alt, PmErr *err)
{
	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		int passed = 0;

		for (int l = 0; l < alt->n_launches; l++)
			for (int i = 0; i < alt->launches[l].n_args; i++)
				passed |= alt->launches[l].args[i].kind == PM_KARG_OUT &&
					  alt->launches[l].args[i].index == k;
		if (!passed)
			return pm_err(err, PM_E_INVALID,
				      "Result %zu of fused node %u is passed to no launch; pass OUT(%zu).", k,
				      n.id, k);
	}
	return PM_OK;
}

PmStatus pm_ksig_check_node(const PmGraph *g, PmNode n, PmErr *err)
{
	PmArena *arena = pm_arena_new(0);
	PmKernelDesc d;
	PmStatus st = pm_kernel_decode(g, n, arena, &d, err);

	for (int a = 0; !st && a < d.n_alts; a++) {
		for (int k = 0; !st && k < d.alts[a].n_launches; k++)
			st = pm_ksig_check(d.alts[a].source, &d.alts[a].launches[k], err);
		if (!st)
			st = check_results(g, n, &d.alts[a], err);
	}
	pm_arena_free(arena);
	return st;
}
