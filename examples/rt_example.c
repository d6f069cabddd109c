/* SPDX-License-Identifier: Apache-2.0 */
/* rt_example.c - runs a package of `passmith compile` once, on inputs of zeros.
 *
 * cc rt_example.c $(pkg-config --cflags --libs passmith_rt) -o rt_example && ./rt_example model.pmz
 */
#include <passmith_rt.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int code, const PmRtError *e)
{
	if (!code)
		return;
	fprintf(stderr, "%s\n", e->text);
	exit(code);
}

/* Zeroed memory for a value whose sizes are known; 8 bytes are enough for an element of any type. */
static PmRtTensor tensor_of(const PmRtValue *v)
{
	PmRtTensor t = { .type = v->type, .place = PM_RT_HOST, .rank = v->rank };
	size_t n = 1;

	for (int k = 0; k < v->rank; k++)
		n *= (size_t)(t.dim[k] = v->dim[k]);
	t.data = calloc(n + 1, 8);
	return t;
}

int main(int argc, char **argv)
{
	PmRtModel *m;
	PmRtSession *s;
	PmRtError e;
	PmRtValue v;

	if (argc < 2)
		return fprintf(stderr, "usage: rt_example MODEL.pmz [DEVICE]\n"), 2;
	must(pm_rt_open(argv[1], argc > 2 ? argv[2] : NULL, &m, &e), &e);
	must(pm_rt_session_new(m, &s, &e), &e);
	for (size_t i = 0; i < pm_rt_n_inputs(m); i++) {
		pm_rt_shape_input(m, 0, i, &v);
		PmRtTensor t = tensor_of(&v);
		must(pm_rt_bind_input(s, i, &t, &e), &e);
	}
	PmRtTensor *out = calloc(pm_rt_n_outputs(m), sizeof *out);
	for (size_t i = 0; i < pm_rt_n_outputs(m); i++) {
		must(pm_rt_output_shape(s, i, &v, &e), &e);
		out[i] = tensor_of(&v);
		must(pm_rt_bind_output(s, i, &out[i], &e), &e);
	}
	must(pm_rt_run(s, NULL, 0, &e), &e);
	for (size_t i = 0; i < pm_rt_n_outputs(m); i++)
		if (out[i].type == PM_RT_FLOAT)
			printf("%s[0] = %g\n", pm_rt_output(m, i)->name, ((const float *)out[i].data)[0]);
	pm_rt_session_free(s);
	pm_rt_close(m);
	return 0;
}
