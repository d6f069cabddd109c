/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_light.c - nine classic models of the ONNX project on the reference device.
 *
 * Their weights are constants made by ConstantOfShape, so that all outputs but DenseNet's are uniform: an
 * oracle for import and execution, weak on numbers (tests/unit/ref/test_ref_*.c has the strong ones).
 * test_onnx_light [NAME...] runs only the named models.
 */
#include "base/sys/io.h"
#include "bench/conform/conform.h"

#include <stdio.h>
#include <string.h>

static const char FOLDER[] = "../shared/models/onnx-light";
static const char *const models[] = { "squeezenet",   "bvlc_alexnet", "shufflenet",
				      "inception_v1", "inception_v2", "zfnet512",
				      "densenet121",  "resnet50",     "vgg19" };
enum { N_MODELS = sizeof models / sizeof models[0] };

static int wanted(const char *name, int argc, char **argv)
{
	int k;

	for (k = 1; k < argc; k++)
		if (strcmp(argv[k], name) == 0)
			return 1;
	return argc < 2;
}

int main(int argc, char **argv)
{
	int k, n = 0, failed = 0;

	if (!pm_path_is_dir(FOLDER)) {
		printf("%s is not here\n", FOLDER);
		return 77;
	}
	for (k = 0; k < N_MODELS; k++)
		n += wanted(models[k], argc, argv);
	printf("1..%d\n", n);
	for (k = n = 0; k < N_MODELS; k++) {
		PmStr model = PM_STR_INIT, expected = PM_STR_INIT;
		double seconds = 0;
		PmStatus st;
		PmErr err;

		if (!wanted(models[k], argc, argv))
			continue;
		pm_err_init(&err);
		pm_str_addf(&model, "%s/light_%s.onnx", FOLDER, models[k]);
		pm_str_addf(&expected, "%s/light_%s_output_0.pb", FOLDER, models[k]);
		st = pm_conform_model(model.s, expected.s, &seconds, &err);
		printf("%s %d - light_%s in %.1f s\n", st ? "not ok" : "ok", ++n, models[k], seconds);
		if (st)
			printf("# %s\n", err.text);
		fflush(stdout);
		failed += st != PM_OK;
		pm_str_release(&model);
		pm_str_release(&expected);
	}
	return failed ? 1 : 0;
}
