/* SPDX-License-Identifier: Apache-2.0 */
/* testdata.h - inputs and outputs of a run in the layout of ONNX's backend tests: a folder with
 * test_data_set_0/input_K.pb and output_K.pb, one serialised tensor each, named like the graph's values. */
#ifndef BENCH_TESTDATA_H
#define BENCH_TESTDATA_H

#include "runtime/device/tensor.h"

/* Writes the graph's inputs and outputs below `folder`, which is made. Files of an earlier run are replaced.
 */
PmStatus pm_testdata_write(const char *folder, const PmGraph *g, const PmTensor *in, const PmTensor *out,
			   PmErr *err);

/* Reads one tensor per graph input into in[0 .. n_inputs) (initialised here, released by the caller), from
 * `folder` or its test_data_set_0. PM_E_NOT_FOUND names an input without data, PM_E_TYPE one of another
 * type; files of other names are ignored. */
PmStatus pm_testdata_read_inputs(const char *folder, const PmGraph *g, PmTensor *in, PmErr *err);

#endif
