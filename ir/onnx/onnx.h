/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.h - ONNX models in and out.
 *
 * Import reads opsets 7 to 28, normalises them (see ops.def) to this program's form, and reports each
 * operator that is not in the table: it becomes an opaque node and survives export unchanged.
 */
#ifndef IR_ONNX_H
#define IR_ONNX_H

#include "ir/core/graph.h"
#include "ir/core/onnx_dtype.h"
#include "ir/data/weights.h"
#include "ir/infer/infer.h"

/* Values of graph inputs known beforehand (a test's data): they become constants before normalisation. */
typedef struct PmOnnxBind {
	const char *name;
	PmType type;
	PmBlob *blob; /* borrowed */
} PmOnnxBind;

typedef struct PmOnnxOpts {
	size_t max_file;       /* bytes; 0 = 2 GiB */
	size_t max_nodes;      /* 0 = PM_MAX_NODES */
	const PmDimSize *dims; /* wherever the model has one of these names, it has the size */
	size_t n_dims;
	/* What the model states about results is not used to tell what inference cannot, nor is the import
	 * refused where they differ: the two are compared, and PmOnnxReport.stated counts. Opaque nodes'
	 * results have stated types all the same. */
	int compare_stated;
	/* A stated type that the definition contradicts is dropped and noted in PmOnnxReport.overruled,
	 * instead of ending the import. Floating-point operands of several types, where an operator wants
	 * one, are cast, and that is noted there as well. */
	int types_infer;
	const PmOnnxBind *bind;
	size_t n_bind;
} PmOnnxOpts;

typedef struct PmOnnxOpaque {
	char name[128]; /* "domain:OpType" or "OpType" */
	char why[192];  /* "not in the operator table", "axes are not constant", ... */
	int count;
} PmOnnxOpaque;

enum { PM_ONNX_MAX_OVERRULED = 64 };

/* Stated types (value_info, outputs) of results and constants against what inference says. */
typedef struct PmOnnxStated {
	size_t n_equal;    /* element type, rank and every dimension */
	size_t n_renamed;  /* but for names: a size that the data decides has a symbol of ours, one for each
			      name */
	size_t n_less;     /* inference leaves something open that the model states */
	size_t n_differ;   /* they contradict each other */
	size_t n_opaque;   /* of results of opaque nodes: nothing to compare with */
	char example[320]; /* the first that is less or differs, in words */
} PmOnnxStated;

typedef struct PmOnnxReport {
	int64_t ir_version, opset;
	size_t n_nodes, n_opaque_nodes;
	size_t n_opaque; /* kinds, at most 64 recorded */
	PmOnnxOpaque opaque[64];
	size_t n_absent;       /* constants whose data file is missing */
	size_t n_inlined;      /* calls of model-local functions that are no kernels */
	size_t n_kernels_lost; /* functions that this program wrote for kernels, read as what they compute */
	char kernel_lost[320]; /* why the first was, a sentence */
	PmOnnxStated stated;
	size_t n_overruled; /* stated types dropped, operands cast (PmOnnxOpts.types_infer); a sentence each:
			     */
	char overruled[PM_ONNX_MAX_OVERRULED][320];
	PmWeightsReport weights; /* filled by whoever has them made up (pm_weights_attach) */
} PmOnnxReport;

/* Imports a .onnx file (external data relative to its folder, mapped, never outside it) or memory. The result
 * is sorted, inferred, verified; shapes the file states must agree with inference. `report` and `opts` may be
 * NULL. Returns owned. Every failure is one sentence that names the file and what is wrong. */
PmStatus pm_onnx_import(const char *path, const PmOnnxOpts *opts, PmGraph **out, PmOnnxReport *report,
			PmErr *err);
PmStatus pm_onnx_import_mem(const void *p, size_t n, const char *label, const PmOnnxOpts *opts, PmGraph **out,
			    PmOnnxReport *report, PmErr *err);
/* The same for the n bytes of the file at `path`, which the caller has at hand: external data is looked for
 * in its folder, and the file itself is not opened. */
PmStatus pm_onnx_import_read(const void *p, size_t n, const char *path, const PmOnnxOpts *opts, PmGraph **out,
			     PmOnnxReport *report, PmErr *err);

/* Which graph inputs of a model must be bound so that it imports without opaque nodes: inputs that feed
 * operand positions the table wants as attributes or shapes, and lists of integers that those are computed
 * from. Appends names to `names`. */
PmStatus pm_onnx_inputs_to_bind(const void *p, size_t n, char names[][128], size_t max, size_t *count,
				PmErr *err);

/* Writes opset 18, or the first later one that has what the graph needs (docs/reference/onnx.md; Kernel nodes
 * become calls of functions of the domain "passmith", which hold their bodies). Constants over 1 KiB use raw
 * data; absent ones keep their location. Atomic. */
PmStatus pm_onnx_export(const PmGraph *g, const char *path, PmErr *err);
PmStatus pm_onnx_export_mem(const PmGraph *g, PmStr *out, PmErr *err);

/* Calls on_kernel for each Kernel node of g, and of graphs that its nodes hold, with the name of the function
 * that the node is a call of in a file that pm_onnx_export writes. Nodes with equal bodies and sources have
 * the same name. `name` lives as long as the call. */
typedef void PmOnnxKernelFn(void *arg, const PmGraph *g, PmNode n, const char *name);
PmStatus pm_onnx_kernels(const PmGraph *g, PmOnnxKernelFn *on_kernel, void *arg, PmErr *err);

typedef struct PmOnnxFillOpts {
	int external; /* weights into PATH.data; otherwise only when the model would pass 2 GiB */
	void (*on_bytes)(void *arg, const char *name, int64_t done, int64_t total); /* or NULL */
	void *arg;
} PmOnnxFillOpts;

typedef struct PmOnnxFillReport {
	size_t n_filled; /* initializers written that were not in the file */
	size_t n_made;   /* of these, made up (ir/data/weights.h) */
	int64_t bytes;   /* of their elements */
	int external;
} PmOnnxFillReport;

/* Writes the file `model` again with all its weights in it: its nodes, types and metadata as they are, and
 * for each initializer in another file the elements that its constant of that name in g (imported from the
 * same file) has or makes. model NULL: g itself, exported. Streams: memory is that of the model without
 * weights. Files appear whole or not at all; the same model gives the same bytes. opts, report may be NULL.
 */
PmStatus pm_onnx_materialize(const char *model, const PmGraph *g, const char *path,
			     const PmOnnxFillOpts *opts, PmOnnxFillReport *report, PmErr *err);

/* One serialised TensorProto (input_0.pb of ONNX's test data). Takes nothing; *blob returned owned. */
PmStatus pm_onnx_tensor_read(const void *p, size_t n, char *name, size_t name_size, PmType *type,
			     PmBlob **blob, PmErr *err);
PmStatus pm_onnx_tensor_write(const char *name, const PmType *type, const PmBlob *blob, PmStr *out,
			      PmErr *err);

#endif
