/* SPDX-License-Identifier: Apache-2.0 */
/* compile_gate.c - from a candidate graph to judged machine code. */
#include "integrity/gates/compile_gate.h"

#include "base/core/vec.h"
#include "base/sandbox/sandbox.h"
#include "integrity/cubin/cubin_gate.h"
#include "integrity/ptx/ptx_gate.h"
#include "ir/core/kernel.h"
#include "matcher/rewrite/ksig.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/cuda/nvrtc/nvrtc_box.h"
#include "runtime/device/kcache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A source with the kernels that it writes out. Which of them are launched follows from the rules that apply
 * to a graph: a kernel that none launches is judged like the others, and never runs. */
typedef struct Unit {
	PmSource s;
	PmArena *arena; /* of the names */
	PM_VEC(const char *) entry;
} Unit;

typedef struct Units {
	PmArena *arena;
	PM_VEC(Unit) v;
} Units;

static void add_entry(void *arg, const char *name, size_t n)
{
	Unit *u = arg;

	PM_VEC_PUSH(&u->entry, pm_arena_strndup(u->arena, name, n));
}

static void add_unit(Units *u, const char *label, const PmKAlt *alt)
{
	Unit fresh = { .s = { label, alt->source, alt->type }, .arena = u->arena };

	for (size_t i = 0; i < u->v.n; i++)
		if (u->v.v[i].s.type == alt->type && !strcmp(u->v.v[i].s.source, alt->source))
			return;
	pm_ksig_kernels(alt->source, add_entry, &fresh);
	PM_VEC_PUSH(&u->v, fresh);
}

static PmStatus collect(const PmGraph *g, const PmCompileAsk *ask, Units *u, PmErr *err)
{
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode node = pm_graph_node_at(g, i);
		PmKernelDesc d;
		PmStatus st;

		if (pm_node_op(g, node) != PM_OP_Kernel)
			continue;
		st = pm_kernel_decode(g, node, u->arena, &d, err);
		if (st)
			return st;
		if (ask->one) {
			add_unit(u, d.name, &d.alts[ask->alt < d.n_alts ? ask->alt : d.n_alts - 1]);
			continue;
		}
		for (int a = 0; a < d.n_alts; a++)
			add_unit(u, d.name, &d.alts[a]);
	}
	return PM_OK;
}

static int is_name_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Makes each printf(...) an unevaluated sizeof(...), a word as long: messages keep their line and column. */
static void silence(Units *u)
{
	static const char word[] = "printf", instead[] = "sizeof";
	const size_t n = sizeof word - 1;

	_Static_assert(sizeof word == sizeof instead, "columns stay");
	for (size_t i = 0; i < u->v.n; i++) {
		char *s = pm_arena_strndup(u->arena, u->v.v[i].s.source, strlen(u->v.v[i].s.source));

		u->v.v[i].s.source = s;
		for (char *p = s; (p = strstr(p, word)) != NULL; p += n)
			if ((p == s || !is_name_char(p[-1])) && !is_name_char(p[n]))
				memcpy(p, instead, n);
	}
}

static void say(PmCompileJudgement *out, PmVerdict v, const char *text)
{
	out->verdict = v;
	snprintf(out->why, sizeof out->why, "%s", text);
}

static void refuse(const Unit *u, PmVerdict v, const char *what, const PmStr *problems,
		   PmCompileJudgement *out)
{
	PmStr text = PM_STR_INIT;

	pm_str_addf(&text, "The %s of rule '%s' is refused: %s", what, u->s.label, problems->s);
	for (size_t i = 0; i < text.len; i++)
		if (text.s[i] == '\n') /* between sentences, and behind the last */
			text.s[i] = i + 1 < text.len ? ' ' : 0;
	say(out, v, text.s);
	pm_str_release(&text);
}

/* A device newer than NVRTC gets PTX alone, which its driver assembles: there is no machine code to judge. */
static PmStatus judge(const Unit *u, int cc, const PmBoxed *b, PmCompileJudgement *out, PmErr *err)
{
	PmStr problems = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (b->st) {
		say(out, b->st == PM_E_LIMIT ? PM_VERDICT_COMPILE_LIMIT : PM_VERDICT_COMPILE_FAIL, b->why);
	} else if (pm_ptx_gate(b->ptx.s, b->ptx.len, u->entry.v, u->entry.n, &problems)) {
		refuse(u, PM_VERDICT_REJECT_PTX, "kernel", &problems, out);
	} else if (b->cubin.len && pm_cubin_gate(b->cubin.s, b->cubin.len, u->entry.v, u->entry.n, NULL, 0,
						 NULL, &problems)) {
		refuse(u, PM_VERDICT_REJECT_CUBIN, "machine code", &problems, out);
	} else if (!b->cached) {
		st = pm_nvrtc_keep(&u->s, cc, &b->ptx, &b->cubin, err);
	}
	pm_str_release(&problems);
	return st;
}

/* Continues a list of digests by that of n bytes. */
static void add_digest(PmStr *list, const void *p, size_t n)
{
	char hex[PM_SHA256_HEX];

	pm_sha256_hex(p, n, hex);
	pm_str_addf(list, "%s\n", hex);
}

static void digest_sources(const Units *u, char hex[PM_SHA256_HEX])
{
	PmStr list = PM_STR_INIT;

	for (size_t i = 0; i < u->v.n; i++) {
		pm_str_addf(&list, "%s ", pm_dtype_name(u->v.v[i].s.type));
		add_digest(&list, u->v.v[i].s.source, strlen(u->v.v[i].s.source));
	}
	pm_sha256_hex(list.s, list.len, hex);
	pm_str_release(&list);
}

/* Of all that was compiled; of machine code only where each source has some. */
static void digest_code(const PmBoxed *b, size_t n, PmCodeDigests *out)
{
	PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
	int has_ptx = n > 0, has_cubin = n > 0;

	for (size_t i = 0; i < n; i++) {
		has_ptx &= b[i].ptx.len > 0;
		has_cubin &= b[i].cubin.len > 0;
		add_digest(&ptx, b[i].ptx.s, b[i].ptx.len);
		add_digest(&cubin, b[i].cubin.s, b[i].cubin.len);
	}
	if (has_ptx)
		pm_sha256_hex(ptx.s, ptx.len, out->ptx);
	if (has_cubin)
		pm_sha256_hex(cubin.s, cubin.len, out->cubin);
	pm_str_release(&ptx);
	pm_str_release(&cubin);
}

static void enter(void)
{
	pm_sandbox_enter_compiler();
}

static PmStatus compile_and_judge(const Units *u, int cc, PmCompileJudgement *out, PmErr *err)
{
	PmSource *s = pm_xcalloc(u->v.n + 1, sizeof *s);
	PmBoxed *b = pm_xcalloc(u->v.n + 1, sizeof *b);
	PmBoxOpts o = { .cc = cc, .enter = enter };
	int lock = pm_kcache_lock(out->code.sources); /* others wait for what is kept below */
	PmStatus st;

	for (size_t i = 0; i < u->v.n; i++)
		s[i] = u->v.v[i].s;
	st = pm_nvrtc_boxed(s, u->v.n, &o, b, err);
	for (size_t i = 0; i < u->v.n && !st && out->verdict == PM_VERDICT_OK; i++)
		st = judge(&u->v.v[i], cc, &b[i], out, err);
	pm_kcache_unlock(lock);
	if (!st)
		digest_code(b, u->v.n, &out->code);
	for (size_t i = 0; i < u->v.n; i++)
		pm_boxed_release(&b[i]);
	free(s);
	free(b);
	return st;
}

PmStatus pm_compile_gate(const PmGraph *g, const PmCompileAsk *ask, PmCompileJudgement *out, PmErr *err)
{
	Units u = { .arena = pm_arena_new(0) };
	PmStr version = PM_STR_INIT;
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->verdict = PM_VERDICT_OK;
	out->checked = pm_nvrtc_version(&version, NULL) == PM_OK;
	pm_str_release(&version);
	st = collect(g, ask, &u, err);
	if (!st && ask->prints)
		silence(&u);
	if (!st)
		digest_sources(&u, out->code.sources);
	if (!st && out->checked && u.v.n)
		st = compile_and_judge(&u, ask->cc, out, err);
	for (size_t i = 0; i < u.v.n; i++)
		PM_VEC_RELEASE(&u.v.v[i].entry);
	PM_VEC_RELEASE(&u.v);
	pm_arena_free(u.arena);
	return st;
}
