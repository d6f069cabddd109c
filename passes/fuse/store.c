/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - the statement that stores a result. */
#include "fuse.h"

/* "deposit<8, A>(q0 + (8 * m), u0);" */
static void store_vector(Ctx *c, int k, Ix at, char letter, int number)
{
	char name[2] = { letter, 0 };

	c->vec_out |= 1ull << k;
	t_add(c, "deposit<");
	t_int(c, c->s->vec);
	t_add(c, ", A>(q");
	t_int(c, k);
	t_add(c, " + (");
	t_ix(c, at);
	t_add(c, "), ");
	t_add(c, name);
	t_int(c, number);
	t_add(c, ");\n");
}

void f_store(Ctx *c, int k, Ix at, int var)
{
	const Op *o = &c->op[c->arg_out[k]];
	int vec = c->s->vec, before = c->var[var].before, ints = f_class(o->dtype) == PM_I64;
	int64_t step;
	Ix base = ix_without_lane(c, at, &step);

	if (!c->trial) {
		c->s->bytes += (double)f_numel(o) * pm_dtype_bytes(o->dtype);
		f_count_order(c, o, base, (double)f_numel(o) * pm_dtype_bytes(o->dtype));
	}
	if (step != 1 && step != 0)
		c->s->lane_loads++;
	if (c->dry)
		return;
	if (step == 1 && f_is_packed(c, var, o->dtype)) {
		store_vector(c, k, base, 'w', var);
		return;
	}
	/* Storing rounds, so that what is rounded for readers need not be rounded again. */
	if (before >= 0 && !c->var[var].cached && !c->var[before].cached)
		var = before;
	if (step == 1) {
		t_add(c, "pm_vec<");
		t_add(c, f_ctype(o->dtype));
		t_add(c, ", ");
		t_int(c, vec);
		t_add(c, "> u");
		t_int(c, k);
		t_add(c, "; ");
	}
	f_for_lanes(c, step != 0);
	t_add(c, step == 1 ? "u" : "q");
	t_int(c, k);
	t_add(c, "[");
	if (step == 1)
		t_add(c, "j");
	else
		t_ix(c, at);
	t_add(c, ints ? "] = (" : "] = st<");
	t_add(c, f_ctype(o->dtype));
	t_add(c, ints ? ")(" : ">(");
	f_ref(c, c->out, var);
	t_add(c, o->dtype == PM_BOOL ? " != 0);\n" : ");\n");
	if (step == 1)
		store_vector(c, k, base, 'u', k);
}
