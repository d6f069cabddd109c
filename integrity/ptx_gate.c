/* ptx_gate.c - reading a PTX module and refusing what a candidate's kernel may not have. */
#include "integrity/ptx_gate.h"

#include "base/vec.h"
#include "integrity/ptx_params.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN = 24, MAX_PROBLEMS = 64 };

/* A register that a function has declared: %v, or the `count` registers %r0, %r1, ... of the family %r. */
typedef struct Register {
	PmPtxToken name;
	int64_t count; /* -1: the name itself */
} Register;

typedef struct Gate {
	const char *text; /* all of it */
	PmPtxLexer lex;
	PmPtxToken t; /* the token being looked at */
	const char *const *entry;
	size_t n_entries;
	PmStr *out;
	int problems;
	PmPtxToken function; /* being read; n = 0 at module scope */
	PM_VEC(PmPtxToken) functions;
	PM_VEC(Register) registers; /* that are known where the lexer stands */
	PM_VEC(size_t) scopes;      /* how many were, at each '{' */
	PmPtxParams params;
	int64_t const_bytes;
} Gate;

static void next(Gate *g)
{
	g->t = pm__ptx_next(&g->lex);
}

static const char *shown(PmPtxToken t, char *out, size_t size)
{
	size_t n = t.n < size - 1 ? t.n : size - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = t.p[i] > 32 && t.p[i] < 127 ? t.p[i] : '?';
	out[n] = 0;
	return out;
}

/* One line a problem; the same one is not repeated. */
static void problem(Gate *g, const char *fmt, ...) PM_PRINTF(2, 3);
static void problem(Gate *g, const char *fmt, ...)
{
	char text[256], where[MAX_SHOWN + 40], line[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	where[0] = 0;
	if (g->function.n) {
		char name[MAX_SHOWN + 1];

		snprintf(where, sizeof where, "%s: ", shown(g->function, name, sizeof name));
	}
	snprintf(line, sizeof line, "%s%s\n", where, text);
	g->problems++;
	if (g->problems <= MAX_PROBLEMS && !strstr(g->out->s, line))
		pm_str_add(g->out, line);
}

static int at_punct(const Gate *g, char c)
{
	return g->t.kind == PM__PTX_PUNCT && *g->t.p == c;
}

static int at_end(const Gate *g)
{
	return g->t.kind == PM__PTX_END || g->t.kind == PM__PTX_BAD;
}

/* ---- lists ---- */

static int in_list(PmPtxToken t, const char *const *list)
{
	for (; *list; list++)
		if (pm__ptx_is(t, *list))
			return 1;
	return 0;
}

static int begins_in_list(PmPtxToken t, const char *const *list)
{
	for (; *list; list++)
		if (pm__ptx_begins(t, *list))
			return 1;
	return 0;
}

/* Special registers that say where a thread is, and nothing of time, launch number or hardware. */
static const char *const positions[] = { "%tid",
					 "%tid.x",
					 "%tid.y",
					 "%tid.z",
					 "%ntid",
					 "%ntid.x",
					 "%ntid.y",
					 "%ntid.z",
					 "%ctaid",
					 "%ctaid.x",
					 "%ctaid.y",
					 "%ctaid.z",
					 "%nctaid",
					 "%nctaid.x",
					 "%nctaid.y",
					 "%nctaid.z",
					 "%laneid",
					 "%lanemask_eq",
					 "%lanemask_lt",
					 "%lanemask_le",
					 "%lanemask_gt",
					 "%lanemask_ge",
					 "%dynamic_smem_size",
					 "%total_smem_size",
					 NULL };
/* %cluster_ctaid.x and its relatives. */
static const char *const cluster_positions[] = { "%cluster_", "%clusterid", "%nclusterid",
						 "%is_explicit_cluster", NULL };

typedef struct Forbidden {
	const char *begins, *why;
} Forbidden;

/* By the beginning of the opcode. */
static const Forbidden opcodes[] = {
	{ "trap", "a kernel does not stop the device" },
	{ "brkpt", "a kernel does not stop the device" },
	{ "pmevent", "a kernel does not talk to profilers" },
	{ "nanosleep", "a kernel has no clock" },
	{ "griddepcontrol", "a launch ends when its work ends" },
	{ "clusterlaunchcontrol", "a launch has the blocks that were described" },
	{ "setmaxnreg", "registers are as compiled" },
	{ "createpolicy", "caches are the same for everybody" },
	{ "applypriority", "caches are the same for everybody" },
	{ "discard", "caches are the same for everybody" },
	{ "prefetch", "caches are the same for everybody" },
	{ "multimem", "a kernel writes its buffers only" },
	{ "tensormap", "tensor maps are not offered" },
	{ "cp.async.bulk.tensor", "tensor maps are not offered" },
	{ "cp.async.bulk.prefetch", "caches are the same for everybody" },
	{ "tex", "textures are not offered" },
	{ "tld4", "textures are not offered" },
	{ "txq", "textures are not offered" },
	{ "suld", "surfaces are not offered" },
	{ "sust", "surfaces are not offered" },
	{ "sured", "surfaces are not offered" },
	{ "suq", "surfaces are not offered" },
	{ "cvta.const", "constants are read, not pointed to" },
	{ "alloca", "local memory has a fixed size" },
	{ NULL, NULL },
};

/* By a part of the opcode. */
static const Forbidden parts[] = {
	{ "sys", "memory is shared with no other device" },
	{ "mmio", "a kernel writes its buffers only" },
	{ "volatile_host", "a kernel writes its buffers only" },
	{ NULL, NULL },
};

static const char *const performance[] = {
	".maxntid",  ".reqntid",           ".minnctapersm",    ".maxnctapersm",   ".maxnreg",
	".noreturn", ".reqnctapercluster", ".explicitcluster", ".maxclusterrank", NULL
};

/* ---- statements ---- */

/* A special register's name may be declared, and means the register only where and as far as it is: with
 * .reg .b64 %clock<5> in an inner block, %clock64 is the clock everywhere. */
static int is_register(const Gate *g, PmPtxToken t)
{
	for (size_t i = 0; i < g->registers.n; i++) {
		const Register *r = &g->registers.v[i];
		PmPtxToken digits = { PM__PTX_WORD, t.p + r->name.n, t.n - r->name.n };

		if (t.n < r->name.n || memcmp(r->name.p, t.p, r->name.n) != 0)
			continue;
		if (r->count < 0 ? !digits.n
				 : digits.n && (*digits.p != '0' || digits.n == 1) &&
					   pm__ptx_number(digits) < r->count)
			return 1;
	}
	return 0;
}

/* ".x" of a vector register: %v.x. */
static PmPtxToken without_component(PmPtxToken t)
{
	for (size_t i = 0; i < t.n; i++)
		if (t.p[i] == '.')
			t.n = i;
	return t;
}

/* `opcode` and `before`: the instruction, and the token before this one. */
static void check_operand(Gate *g, PmPtxToken opcode, PmPtxToken before)
{
	char name[MAX_SHOWN + 1];

	if (g->t.kind == PM__PTX_WORD && !pm__ptx_param_is_read(&g->params, opcode, before, g->t, g->lex))
		problem(g,
			"It uses %s otherwise than reading it: beside a parameter lies what is not the "
			"kernel's.",
			shown(g->t, name, sizeof name));

	if (g->t.kind != PM__PTX_WORD || *g->t.p != '%')
		return;
	if (in_list(g->t, positions) || begins_in_list(g->t, cluster_positions) || is_register(g, g->t) ||
	    is_register(g, without_component(g->t)))
		return;
	problem(g, "It reads %s; a kernel knows its position and nothing of time, launch or hardware.",
		shown(g->t, name, sizeof name));
}

/* .reg .b64 %a, %b; or .reg .pred %p<7>; */
static void read_registers(Gate *g)
{
	for (next(g); !at_end(g) && !at_punct(g, ';'); next(g))
		if (g->t.kind == PM__PTX_WORD && *g->t.p == '%') {
			Register r = { g->t, -1 };

			next(g);
			if (at_punct(g, '<')) {
				next(g);
				r.count = pm__ptx_number(g->t);
				next(g);
			}
			PM_VEC_PUSH(&g->registers, r);
			if (at_punct(g, ';'))
				break;
		}
}

static void skip_statement(Gate *g)
{
	while (!at_end(g) && !at_punct(g, ';'))
		next(g);
}

/* A directive inside a function. */
static void body_directive(Gate *g)
{
	static const char *const harmless[] = { ".loc",           ".param",     ".pragma",
						".branchtargets", ".alignaddr", NULL };
	char name[MAX_SHOWN + 1];

	if (pm__ptx_is(g->t, ".reg")) {
		read_registers(g);
		return;
	}
	if (pm__ptx_is(g->t, ".callprototype") || pm__ptx_is(g->t, ".calltargets"))
		problem(g, "It calls through a pointer.");
	else if (!pm__ptx_is(g->t, ".local") && !pm__ptx_is(g->t, ".shared") && !in_list(g->t, harmless))
		problem(g, "It has the directive %s, which is not allowed in a function.",
			shown(g->t, name, sizeof name));
	if (pm__ptx_is(g->t, ".loc")) { /* .loc 1 12 0 has no end mark */
		for (int i = 0; i < 3; i++)
			next(g);
		return;
	}
	skip_statement(g);
}

static int is_function(const Gate *g, PmPtxToken t)
{
	for (size_t i = 0; i < g->functions.n; i++)
		if (g->functions.v[i].n == t.n && !memcmp(g->functions.v[i].p, t.p, t.n))
			return 1;
	return 0;
}

/* call (ret), name, (args); only names of functions of this module. */
static void check_call(Gate *g)
{
	PmPtxToken call = g->t;
	char name[MAX_SHOWN + 1];

	next(g);
	if (at_punct(g, '(')) {
		while (!at_end(g) && !at_punct(g, ')'))
			next(g);
		next(g);
		next(g); /* the comma */
	}
	if (g->t.kind != PM__PTX_WORD || !is_function(g, g->t))
		problem(g, "It calls %s, which is no function of the module.",
			shown(g->t, name, sizeof name));
	for (PmPtxToken before = call; !at_end(g) && !at_punct(g, ';'); next(g)) {
		check_operand(g, call, before);
		before = g->t;
	}
}

static void check_opcode(Gate *g)
{
	char name[MAX_SHOWN + 1];

	for (const Forbidden *f = opcodes; f->begins; f++)
		if (pm__ptx_begins(g->t, f->begins)) {
			problem(g, "It has the instruction %s: %s.", shown(g->t, name, sizeof name), f->why);
			return;
		}
	for (const Forbidden *f = parts; f->begins; f++)
		if (pm__ptx_has_part(g->t, f->begins)) {
			problem(g, "It has the instruction %s: %s.", shown(g->t, name, sizeof name), f->why);
			return;
		}
	for (size_t i = 0; i + 3 < g->t.n; i++)
		if (!memcmp(g->t.p + i, "L2::", 4) || !memcmp(g->t.p + i, "L1::", 4)) {
			problem(g, "It has the instruction %s: caches are the same for everybody.",
				shown(g->t, name, sizeof name));
			return;
		}
}

/* From an opcode to its ';'. */
static void instruction(Gate *g)
{
	PmPtxToken opcode, before;

	if (pm__ptx_is(g->t, "call") || pm__ptx_begins(g->t, "call.")) {
		check_call(g);
		return;
	}
	check_opcode(g);
	opcode = before = g->t;
	for (next(g); !at_end(g) && !at_punct(g, ';'); next(g)) {
		check_operand(g, opcode, before);
		before = g->t;
	}
}

/* Between the braces of a function; g->t is the opening one. */
static void body(Gate *g)
{
	int depth = 1;

	for (next(g); depth > 0 && !at_end(g); next(g)) {
		if (at_punct(g, '{')) {
			depth++;
			PM_VEC_PUSH(&g->scopes, g->registers.n);
		} else if (at_punct(g, '}')) {
			depth--;
			if (!depth)
				return;
			g->registers.n = g->scopes.v[--g->scopes.n];
		} else if (at_punct(g, '@')) { /* @%p1 or @!%p1 */
			next(g);
			if (at_punct(g, '!'))
				next(g);
			check_operand(g, g->t, g->t);
		} else if (g->t.kind == PM__PTX_WORD && *g->t.p == '.') {
			body_directive(g);
		} else if (g->t.kind == PM__PTX_WORD) {
			PmPtxLexer here = g->lex;
			PmPtxToken after = pm__ptx_next(&here);

			if (after.kind == PM__PTX_PUNCT && *after.p == ':')
				next(g); /* a label */
			else
				instruction(g);
		} else if (!at_punct(g, ';')) {
			problem(g, "Its body cannot be read.");
			skip_statement(g);
		}
	}
	if (depth > 0)
		problem(g, "It has no end.");
}

/* ---- module scope ---- */

static int is_described(const Gate *g, PmPtxToken t)
{
	for (size_t i = 0; i < g->n_entries; i++)
		if (pm__ptx_is(t, g->entry[i]))
			return 1;
	return g->entry == NULL;
}

static void skip_parens(Gate *g)
{
	while (!at_end(g) && !at_punct(g, ')'))
		next(g);
	next(g);
}

/* After .entry or .func, up to the end of the body or of the declaration. */
static void function(Gate *g, int is_entry, int is_extern)
{
	char name[MAX_SHOWN + 1];

	next(g);
	if (at_punct(g, '(')) /* the result of a .func */
		skip_parens(g);
	g->function = g->t;
	if (g->t.kind != PM__PTX_WORD) {
		g->function.n = 0;
		problem(g, "A function has no name.");
		return;
	}
	if (is_extern)
		problem(g,
			"It declares %s, which is not in the module (printf, malloc, assert and launches "
			"from the device are not offered).",
			shown(g->t, name, sizeof name));
	else if (is_entry && !is_described(g, g->t))
		problem(g, "The module has this kernel, which no launch describes%s.",
			g->t.n > 2 && !memcmp(g->t.p, "_Z", 2)
				? "; its name is C++'s: write extern \"C\" before __global__"
				: "");
	if (!is_entry && !is_extern)
		PM_VEC_PUSH(&g->functions, g->t);
	next(g);
	if (at_punct(g, '(') && is_entry) {
		pm__ptx_params_read(&g->lex, &g->params);
		next(g);
	} else if (at_punct(g, '(')) {
		skip_parens(g);
	}
	while (!at_end(g) && !at_punct(g, '{') && !at_punct(g, ';')) {
		if (g->t.kind == PM__PTX_WORD && *g->t.p == '.' && !in_list(g->t, performance))
			problem(g, "It has the directive %s.", shown(g->t, name, sizeof name));
		next(g);
	}
	if (at_punct(g, '{'))
		body(g);
	g->registers.n = g->scopes.n = g->params.n = 0;
	g->function.n = 0;
}

/* .const .align 4 .b8 name[64] = { ... }; */
static void constant(Gate *g)
{
	int64_t bytes = 4;

	for (; !at_end(g) && !at_punct(g, ';'); next(g)) {
		if (at_punct(g, '[')) {
			next(g);
			if (g->t.kind == PM__PTX_WORD)
				bytes = pm__ptx_number(g->t);
		}
		if (pm__ptx_begins(g->t, ".b64") || pm__ptx_begins(g->t, ".u64") ||
		    pm__ptx_begins(g->t, ".s64") || pm__ptx_begins(g->t, ".f64"))
			bytes = 8;
	}
	g->const_bytes += bytes > 0 ? bytes : 0;
	if (g->const_bytes > PM_PTX_MAX_CONST)
		problem(g, "The module has more than %d bytes of constants.", PM_PTX_MAX_CONST);
}

/* The tables of CUDA's own sine and cosine for large arguments: internal, of known size, with values. A
 * kernel could declare one itself and keep a few bytes of state there; docs/integrity.md lists that as a
 * known limit. */
static int is_library_table(const char *decl, int has_values)
{
	static const char *const tables[] = { "__cudart_i2opi_f[24]", "__cudart_i2opi_d[144]",
					      "__cudart_sin_cos_coeffs[128]", NULL };

	for (int i = 0; tables[i]; i++)
		if (!strcmp(decl, tables[i]))
			return has_values;
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
	PmPtxToken name = { 0 };
	char decl[64] = "", size[12];
	int has_values = 0, has_size = 0;

	for (; !at_end(g) && !at_punct(g, ';'); next(g)) {
		if (at_punct(g, '[')) {
			has_size = 1;
			next(g);
			snprintf(decl, sizeof decl, "%.*s[%s]", (int)(name.n < 40 ? name.n : 40), name.p,
				 shown(g->t, size, sizeof size));
		}
		has_values |= at_punct(g, '=');
		if (g->t.kind == PM__PTX_WORD && !has_values && !has_size)
			name = g->t;
	}
	return is_library_table(decl, has_values) || is_never_used(g, name);
}

/* With .visible, .extern or .weak before it, or nothing. */
static void declaration(Gate *g)
{
	int is_extern = 0, is_internal = 1;
	char name[MAX_SHOWN + 1];

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
		skip_statement(g);
	} else if (pm__ptx_is(g->t, ".const") && !is_extern) {
		constant(g);
	} else if (pm__ptx_is(g->t, ".global")) {
		if (!is_harmless_global(g) || !is_internal)
			problem(g, "The module has a variable in global memory (a __device__ variable or "
				   "table, a static local, "
				   "__managed__); a kernel keeps no state: use arguments, or __constant__ "
				   "for tables.");
	} else {
		problem(g, "The module has %s, which is not allowed.", shown(g->t, name, sizeof name));
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
		problem(g, "It cannot be read at line %d.", g->lex.line);
}

int pm_ptx_gate(const char *ptx, size_t len, const char *const *entries, size_t n_entries, PmStr *problems)
{
	Gate g = { .text = ptx,
		   .lex = { ptx, ptx + len, 1 },
		   .entry = entries,
		   .n_entries = n_entries,
		   .out = problems };

	if (len > PM_PTX_MAX_BYTES)
		problem(&g, "It has %zu bytes of PTX; at most %d are read.", len, PM_PTX_MAX_BYTES);
	else
		module(&g);
	PM_VEC_RELEASE(&g.functions);
	PM_VEC_RELEASE(&g.registers);
	PM_VEC_RELEASE(&g.scopes);
	PM_VEC_RELEASE(&g.params);
	return g.problems;
}
