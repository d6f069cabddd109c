/* eager_einsum.c - Einsum: one thread per result, which sums products over the labels the result lacks. */
#include "runtime/plan_priv.h"

#include "ir/einsum.h"
#include "runtime/ref.h"

#include <stdio.h>
#include <string.h>

PmStatus eager_einsum(PmPlan *p, PmNode n, PmErr *err)
{
	int64_t step[PM_EINSUM_OPERANDS][PM_EINSUM_LABELS] = { { 0 } }, dim[PM_EINSUM_LABELS];
	const int64_t *over[PM_EINSUM_OPERANDS], *sum[PM_EINSUM_OPERANDS];
	const PmType *in[PM_EINSUM_OPERANDS], *t;
	size_t n_in = pm_node_n_in(p->g, n);
	PmValue y = pm_node_out(p->g, n, 0);
	PmStr body = PM_STR_INIT;
	char why[160], label[96];
	PmEinsum e;
	PmStatus st = pm__place(p, y, err);
	KGen k;

	if (st)
		return st;
	for (size_t i = 0; i < n_in && i < PM_EINSUM_OPERANDS; i++)
		in[i] = pm__type(p, pm_node_in(p->g, n, i));
	st = pm_einsum_read(pm_node_s(p->g, n, "equation", ""), in, n_in, &e, why);
	if (st)
		return pm_err(err, st, "Node %u (Einsum) has an equation that cannot be used: %s.", n.id,
			      why);
	pm_einsum_dims(&e, in, dim);
	t = pm__type(p, y);
	pm__kg_init(&k, p, n, t->dtype);
	pm_str_addf(&k.head, "typedef %s A;\n", pm__acc_type(t->dtype));
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm_str_add(&body, "KERNEL\n{\n\tI t = TID;\n\tA sum = 0;\n\n"
			  "\tif (t >= N_o)\n\t\treturn;\n\tfor (I r = 0; r < N_r; r++) {\n"
			  "\t\tA v = (A)pm_ld(x0[OFF_o_0(t) + OFF_r_0(r)]);\n\n");
	for (size_t i = 0; i < n_in; i++) {
		PmValue v = pm_node_in(p->g, n, i);
		const Loc *l = pm__loc(p, v);
		char name[32];

		for (int d = 0; d < e.rank[i]; d++)
			step[i][e.label[i][d]] += in[i]->dim[d] == 1 ? 0 : l->stride[d];
		over[i] = step[i];
		sum[i] = step[i] + e.n_out;
		snprintf(name, sizeof name, "x%zu", i);
		pm__kg_in(&k, name, l, t->dtype, pm__distinct(in[i], l));
		if (i)
			pm_str_addf(&body, "\t\tv *= (A)pm_ld(x%zu[OFF_o_%zu(t) + OFF_r_%zu(r)]);\n", i, i,
				    i);
	}
	pm_str_add(&body, "\t\tsum += v;\n\t}\n\tpm_st(&y[t], sum);\n}\n");
	pm__kg_space(&k, "o", dim, e.n_out, over, (int)n_in);
	pm__kg_space(&k, "r", dim + e.n_out, e.n_labels - e.n_out, sum, (int)n_in);
	snprintf(label, sizeof label, "eager Einsum %s", pm_dtype_name(t->dtype));
	st = pm__kg_launch(&k, label, body.s, pm__numel(p, y), pm_op_flops(p->g, n), err);
	pm_str_release(&body);
	return st;
}
