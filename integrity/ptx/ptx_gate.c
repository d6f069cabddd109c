/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_gate.c - reading a PTX module and refusing what a candidate's kernel may not have. */
#include "integrity/ptx/ptx_gate.h"

#include "base/core/hash.h"
#include "integrity/ptx/ptx_rules.h"

#include <string.h>

typedef struct Gate {
	const char *text; /* all of it */
	PmPtxLexer lex;
	PmPtxToken t; /* the token being looked at */
	const char *const *entry;
	size_t n_entries;
	PmPtxReport r;
	PmPtxFunctions functions;
	PmPtxObjects objects; /* constants, tables of the compiler and shared memory of the module */
	int64_t const_bytes;
} Gate;

static void next(Gate *g)
{
	g->t = pm__ptx_next(&g->lex);
}

static int at_punct(const Gate *g, char c)
{
	return g->t.kind == PM__PTX_PUNCT && *g->t.p == c;
}

static int at_end(const Gate *g)
{
	return g->t.kind == PM__PTX_END || g->t.kind == PM__PTX_BAD;
}

static int in_list(PmPtxToken t, const char *const *list)
{
	for (; *list; list++)
		if (pm__ptx_is(t, *list))
			return 1;
	return 0;
}

static void skip_statement(Gate *g)
{
	while (!at_end(g) && !at_punct(g, ';'))
		next(g);
}

/* ---- functions ---- */

static int is_described(const Gate *g, PmPtxToken t)
{
	for (size_t i = 0; i < g->n_entries; i++)
		if (pm__ptx_is(t, g->entry[i]))
			return 1;
	return g->entry == NULL;
}

/* Parameters of a kernel or function ('i') or a function's result ('o'), up to and with the ')'. */
static void parameters(Gate *g, PmPtxFunction *f, char use)
{
	char name[PM__PTX_SHOWN + 1];
	PmPtxToken end;

	do {
		PmPtxLexer here = g->lex;
		PmPtxToken first = pm__ptx_next(&here);
		PmPtxObject o = { .space = 'p', .use = use, .is_entry = f->is_entry };

		end = pm__ptx_object_read(&g->lex, &o);
		if (!o.name.n && !o.bytes && first.p == end.p) /* () */
			break;
		if (!o.name.n || o.bytes <= 0 || !pm__ptx_is(first, ".param"))
			pm__ptx_problem(&g->r, "The parameter %s cannot be read; pass values and pointers.",
					pm__ptx_shown(o.name, name));
		else
			PM_VEC_PUSH(&f->objects, o);
	} while (end.kind == PM__PTX_PUNCT && *end.p == ',');
	next(g);
}

/* What stands before the body, or at the end of a declaration: .maxntid 256, 1, 1. */
static void performance(Gate *g)
{
	static const char *const known[] = {
		".maxntid",  ".reqntid",           ".minnctapersm",    ".maxnctapersm",   ".maxnreg",
		".noreturn", ".reqnctapercluster", ".explicitcluster", ".maxclusterrank", NULL
	};
	char name[PM__PTX_SHOWN + 1];

	while (!at_end(g) && !at_punct(g, '{') && !at_punct(g, ';')) {
		if (g->t.kind == PM__PTX_WORD && *g->t.p == '.' && !in_list(g->t, known))
			pm__ptx_problem(&g->r, "It has the directive %s.", pm__ptx_shown(g->t, name));
		next(g);
	}
}

/* The compiler's own function, token for token: the digest of its text without the numbers that depend on
 * where it stands. */
static int is_compilers_own(PmPtxLexer from, const char *end, PmPtxToken function)
{
	static const struct {
		const char *name, *digest;
	} known[] = {
#define XX(name, bytes, values)
#define FUNCTION(name, digest) { name, digest },
#include "integrity/ptx/ptx_tables.def"
#undef FUNCTION
#undef XX
	};
	PmStr text = PM_STR_INIT;
	char hex[PM_SHA256_HEX] = "";
	int found = 0;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!pm__ptx_is(function, known[i].name))
			continue;
		while (from.at < end) {
			PmPtxToken t = pm__ptx_next(&from);
			size_t skip = pm__ptx_begins(t, "__local_depot") || pm__ptx_begins(t, "$L__BB")
					      ? strlen("$L__BB")
					      : 0;

			while (skip && skip < t.n && t.p[skip] != '_') /* to the number in the function */
				skip++;
			pm_str_addn(&text, t.p + skip, pm__ptx_begins(t, "__local_depot") ? 0 : t.n - skip);
			pm_str_addc(&text, ' ');
		}
		pm_sha256_hex(text.s, text.len, hex);
		found |= pm_str_eq(hex, known[i].digest);
	}
	pm_str_release(&text);
	return found;
}

/* Its name, after .entry or .func and the result. Returns 0 when there is none. */
static int named(Gate *g, PmPtxFunction *f, int is_extern)
{
	char name[PM__PTX_SHOWN + 1];

	f->name = g->r.function = g->t;
	if (g->t.kind != PM__PTX_WORD) {
		g->r.function.n = 0;
		pm__ptx_problem(&g->r, "A function has no name.");
		return 0;
	}
	if (is_extern && pm__ptx_is(g->t, "vprintf"))
		pm__ptx_problem(
			&g->r,
			"It calls printf (vprintf, which is not in the module): leave it out, or see what "
			"it prints by passmith eval --debug-print.");
	else if (is_extern)
		pm__ptx_problem(
			&g->r,
			"It declares %s, which is not in the module (printf, malloc, assert and launches "
			"from the device are not offered).",
			pm__ptx_shown(g->t, name));
	else if (f->is_entry && !is_described(g, g->t))
		pm__ptx_problem(
			&g->r,
			"The module has this kernel, which the source does not write out and no launch "
			"describes%s.",
			g->t.n > 2 && !memcmp(g->t.p, "_Z", 2)
				? "; its name is C++'s: write extern \"C\" before __global__"
				: "");
	return 1;
}

/* After .entry or .func, up to the end of the body or of the declaration. */
static void function(Gate *g, int is_entry, int is_extern)
{
	PmPtxFunction f = { .is_entry = is_entry };
	PmPtxLexer from;

	next(g);
	from = g->lex;
	if (at_punct(g, '('))
		parameters(g, &f, 'o');
	if (!named(g, &f, is_extern)) {
		pm__ptx_function_release(&f);
		return;
	}
	next(g);
	if (at_punct(g, '('))
		parameters(g, &f, 'i');
	performance(g);
	if (at_punct(g, '{')) {
		if (!pm__ptx_body_read(&g->lex, &f, &g->objects, &g->r))
			pm__ptx_problem(&g->r, "It has no end.");
		f.digest_known = (char)is_compilers_own(from, g->lex.at, f.name);
		PM_VEC_PUSH(&g->functions, f);
	} else { /* its body comes later */
		pm__ptx_function_release(&f);
	}
	g->r.function.n = 0;
}

/* ---- variables ---- */

/* The values of a variable, behind '=': numbers and nothing that has an address. Adds them to *out, up to
 * ';'. */
static int values(Gate *g, PmStr *out)
{
	int numbers = 1;

	for (next(g); !at_end(g) && !at_punct(g, ';'); next(g)) {
		numbers &= g->t.kind == PM__PTX_WORD ? *g->t.p >= '0' && *g->t.p <= '9'
						     : !at_punct(g, '(') && !at_punct(g, '[');
		if (out)
			pm_str_addn(out, g->t.p, g->t.n);
	}
	return numbers;
}

/* .const .align 4 .b8 name[64] = { ... }; */
static void constant(Gate *g)
{
	PmPtxObject o = { .space = 'c' };
	PmPtxToken end = pm__ptx_object_read(&g->lex, &o);
	char name[PM__PTX_SHOWN + 1];

	if (!o.name.n || o.bytes <= 0 || (end.kind == PM__PTX_PUNCT && *end.p == ','))
		pm__ptx_problem(&g->r, "The constant %s cannot be read; declare it with a size.",
				pm__ptx_shown(o.name, name));
	g->t = end;
	if (at_punct(g, '=') && !values(g, NULL))
		pm__ptx_problem(&g->r, "The constant %s has an address in it; a table holds numbers.",
				pm__ptx_shown(o.name, name));
	if (o.name.n)
		PM_VEC_PUSH(&g->objects, o);
	g->const_bytes += o.bytes > 0 ? o.bytes : 0;
	if (g->const_bytes > PM_PTX_MAX_CONST)
		pm__ptx_problem(&g->r, "The module has more than %d bytes of constants.", PM_PTX_MAX_CONST);
	skip_statement(g);
}

/* The tables of CUDA's own sine and cosine for large arguments, number for number. */
static int is_library_table(const PmPtxObject *o, const char *numbers)
{
	static const struct {
		const char *name;
		int64_t bytes;
		const char *values;
	} tables[] = {
#define FUNCTION(name, digest)
#define XX(name, bytes, values) { name, bytes, values },
#include "integrity/ptx/ptx_tables.def"
#undef XX
#undef FUNCTION
	};

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (pm__ptx_is(o->name, tables[i].name) && o->bytes == tables[i].bytes &&
		    !strcmp(numbers, tables[i].values))
			return 1;
	return 0;
}

/* CUDA's atomicExch and atomicCAS declare a byte in global memory and never use it. What no other place of
 * the text names cannot be reached; a part of another name counts, too. */
static int is_never_used(const Gate *g, PmPtxToken name)
{
	const char *p = g->text, *end = g->lex.end;
	int n = 0;

	while (name.n && p && n < 2) {
		p = memmem(p, (size_t)(end - p), name.p, name.n);
		n += p != NULL;
		p = p ? p + 1 : NULL;
	}
	return n == 1;
}

/* .global .align 4 .b8 name[96] = { ... }; 1 when no kernel can keep anything there. */
static int is_harmless_global(Gate *g)
{
	PmPtxObject o = { .space = 'g' };
	PmStr numbers = PM_STR_INIT;
	int harmless;

	g->t = pm__ptx_object_read(&g->lex, &o);
	if (at_punct(g, '=')) {
		harmless = values(g, &numbers) && is_library_table(&o, numbers.s);
		if (harmless)
			PM_VEC_PUSH(&g->objects, o);
	} else {
		harmless = at_punct(g, ';') && is_never_used(g, o.name);
	}
	pm_str_release(&numbers);
	skip_statement(g);
	return harmless;
}

/* .shared .align 16 .b8 name[]; */
static void shared(Gate *g)
{
	PmPtxObject o = { .space = 's' };
	PmPtxToken end = pm__ptx_object_read(&g->lex, &o);
	char name[PM__PTX_SHOWN + 1];

	if (!o.name.n || !o.bytes || end.kind != PM__PTX_PUNCT || *end.p != ';')
		pm__ptx_problem(&g->r, "The shared variable %s cannot be read; declare each by itself.",
				pm__ptx_shown(o.name, name));
	if (o.name.n)
		PM_VEC_PUSH(&g->objects, o);
	g->t = end;
	skip_statement(g);
}

/* With .visible, .extern or .weak before it, or nothing. */
static void declaration(Gate *g)
{
	int is_extern = 0, is_internal = 1;
	char name[PM__PTX_SHOWN + 1];

	while (pm__ptx_is(g->t, ".visible") || pm__ptx_is(g->t, ".extern") || pm__ptx_is(g->t, ".weak")) {
		is_extern |= pm__ptx_is(g->t, ".extern");
		is_internal = 0;
		next(g);
	}
	if (pm__ptx_is(g->t, ".entry")) {
		function(g, 1, is_extern);
	} else if (pm__ptx_is(g->t, ".func")) {
		function(g, 0, is_extern);
	} else if (pm__ptx_is(g->t, ".shared")) {
		shared(g);
	} else if (pm__ptx_is(g->t, ".const") && !is_extern) {
		constant(g);
	} else if (pm__ptx_is(g->t, ".global")) {
		if (!is_harmless_global(g) || !is_internal)
			pm__ptx_problem(
				&g->r,
				"The module has a variable in global memory (a __device__ variable or "
				"table, a static local, "
				"__managed__); a kernel keeps no state: use arguments, or __constant__ "
				"for tables.");
	} else {
		pm__ptx_problem(&g->r, "The module has %s, which is not allowed.", pm__ptx_shown(g->t, name));
		skip_statement(g);
	}
}

/* .version 9.0, .target sm_90, .address_size 64, .file 1 "x": no end mark, so they go to the next directive.
 */
static void header(Gate *g)
{
	next(g);
	while (!at_end(g) && !(g->t.kind == PM__PTX_WORD && *g->t.p == '.'))
		next(g);
}

static void module(Gate *g)
{
	static const char *const headers[] = { ".version", ".target", ".address_size", ".file", NULL };

	next(g);
	while (!at_end(g)) {
		if (in_list(g->t, headers)) {
			header(g);
			continue;
		}
		if (at_punct(g, ';')) {
			next(g);
			continue;
		}
		declaration(g);
		if (!at_end(g))
			next(g);
	}
	if (g->t.kind == PM__PTX_BAD)
		pm__ptx_problem(&g->r, "It cannot be read at line %d.", g->lex.line);
}

int pm_ptx_gate(const char *ptx, size_t len, const char *const *entries, size_t n_entries, PmStr *problems)
{
	Gate g = { .text = ptx,
		   .lex = { ptx, ptx + len, 1 },
		   .entry = entries,
		   .n_entries = n_entries,
		   .r = { .out = problems } };

	if (len > PM_PTX_MAX_BYTES) {
		pm__ptx_problem(&g.r, "It has %zu bytes of PTX; at most %d are read.", len, PM_PTX_MAX_BYTES);
	} else {
		module(&g);
		pm__ptx_rules(&g.functions, &g.objects, &g.r);
	}
	for (size_t i = 0; i < g.functions.n; i++)
		pm__ptx_function_release(&g.functions.v[i]);
	PM_VEC_RELEASE(&g.functions);
	PM_VEC_RELEASE(&g.objects);
	return g.r.problems;
}
