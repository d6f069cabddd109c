/* SPDX-License-Identifier: Apache-2.0 */
/* tool_pass.c - a graph and a pass for tests of an agent's tools. */
#include "tests/lib/tools/tool_pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const char pm_test_rms_graph[] =
	"rms (float[4,64] x, float[64] w) => (float[4,64] y)\n<float two = {2},\n float eps = "
	"{1e-05}>\n{\n p = Pow (x, two)\n m = ReduceMean <axes = [1]> (p)\n a = Add (m, eps)\n "
	"q = Sqrt (a)\n r = Reciprocal (q)\n n = Mul (x, r)\n y = Mul (w, n)\n}\n";

static const char pass[] =
	"#include \"passmith/dsl.h\"\n"
	"enum { X, W };\n"
	"static const char SRC[] = PM_CUDA(\n"
	"extern \"C\" __global__ void rms(const T *x, const T *w, T *y, long long rows, int n)\n"
	"{\n"
	"	__shared__ float part[64];\n"
	"	long long row = blockIdx.x;\n"
	"	float s = 0.f;\n"
	"	for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
	"		s += ld(x[row * n + i]) * ld(x[row * n + i]);\n"
	"	part[threadIdx.x] = s;\n"
	"	__syncthreads();\n"
	"	for (int k = blockDim.x / 2; k > 0; k /= 2) {\n"
	"		if (threadIdx.x < k)\n"
	"			part[threadIdx.x] += part[threadIdx.x + k];\n"
	"		__syncthreads();\n"
	"	}\n"
	"	float r = rsqrtf(part[0] / n + 1e-5f);\n"
	"	for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
	"		y[row * n + i] = st(ld(x[row * n + i]) * r * ld(w[i]));\n"
	"}\n"
	");\n"
	"static PmStatus check(PmMatch *m)\n"
	"{\n"
	"	if (pm_dim(m->v[X], -1) != pm_numel(m->v[W]))\n"
	"		return pm_decline(m, \"w has another size than a row\");\n"
	"	return PM_OK;\n"
	"}\n"
	"static PmStatus rewrite(PmRewriter *rw, PmMatch *m)\n"
	"{\n"
	"	int64_t n = pm_dim(m->v[X], -1), rows = pm_numel(m->v[X]) / n;\n"
	"	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = \"rms\", .source = SRC, .grid = { rows }, "
	".block = { 64 },\n"
	"		.in = PM_VALS(m->v[X], m->v[W]), .arg = PM_ARGS(I64(rows), I32((int32_t)n)), .like = "
	"m->root);\n"
	"}\n"
	"PM_RULE(rms, .doc = \"RMS normalisation\", .pattern = OP(Mul, TYPED(V(W), FLOATS, 1), OP(Mul, "
	"TYPED(V(X), FLOATS, -1),\n"
	"	OP(Reciprocal, OP(Sqrt, OP(Add, WITH(OP(ReduceMean, OP(Pow, V(X), NUM(2))), INTS(axes, -1), "
	"INT(keepdims, 1)),\n"
	"	NUM(1e-5)))))), .check = check, .rewrite = rewrite);\n"
	"PM_PLUGIN(\"rms\", \"1\", &rms)\n";

void pm_test_write_rms(PmTestTools *s, const char *file, const char *old, const char *new)
{
	const char *at = old ? strstr(pass, old) : pass;
	PmStr text = PM_STR_INIT;

	if (!at)
		fail_msg("the pass has no %s", old);
	pm_str_addn(&text, pass, (size_t)(at - pass));
	pm_str_add(&text, old ? new : "");
	pm_str_add(&text, at + (old ? strlen(old) : 0));
	pm_test_write(s, file, text.s);
	pm_str_release(&text);
}

cJSON *pm_test_finished(PmTestTools *s, cJSON *j)
{
	while (!strcmp(pm_json_str(j, "state", ""), "running")) {
		char args[80];

		snprintf(args, sizeof args, "{'run':'%s','wait_s':60}", pm_json_str(j, "run", ""));
		cJSON_Delete(j);
		j = pm_test_call(s, "get_run", args);
	}
	return j;
}
