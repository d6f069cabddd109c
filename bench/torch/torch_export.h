/* SPDX-License-Identifier: Apache-2.0 */
/* torch_export.h - a graph as a self-contained PyTorch module with a description of its inputs.
 *
 * A folder per graph, in the format that users of PassNet and GraphNet know: model.py (class GraphModule,
 * whose forward takes every input and every constant that is not written out as a number and returns a
 * tuple), weight_meta.py (a class per argument: name, shape, dtype, mean, std, data of small ones, and `law`,
 * an entry of ours: what the graph says that it is drawn from, "" when it says nothing), input_meta.py
 * (empty), graph_net.json; and data.bin with case.json, which says where constants, inputs and expected
 * outputs lie in it.
 */
#ifndef BENCH_TORCH_EXPORT_H
#define BENCH_TORCH_EXPORT_H

#include "base/core/str.h"
#include "ir/core/graph.h"

/* Appends the text of model.py. PM_E_UNSUPPORTED names the operator that has no row in torch.def. */
PmStatus pm_torch_module(const PmGraph *g, PmStr *out, PmErr *err);

typedef struct PmTorchOpts {
	const char *name;  /* of the graph, for people; goes into graph_net.json and case.json */
	const char *graph; /* the graph's hash in a dataset, "" without one: by it times are imported */
	uint64_t seed;     /* of the inputs described */
	int64_t max_check; /* inputs and the reference's outputs are stored when they are at most so many
			      bytes and the graph at most so many operations; 0 = never */
} PmTorchOpts;

/* Writes the folder (made when missing) of one static, sorted graph. */
PmStatus pm_torch_export(const PmGraph *g, const char *dir, const PmTorchOpts *opts, PmErr *err);

#endif
