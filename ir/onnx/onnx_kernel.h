/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_kernel.h - a kernel in a file: a function that every runtime has, and metadata that only we read.
 *
 * A Kernel node is written as a call of the function "passmith:Kernel_<16 hexadecimal digits>" of the model.
 * The function is the kernel's body in standard operators: first its constants (nodes Constant), then its
 * nodes, then an Identity for each output that no node of the body gives, or that is listed twice. What a
 * function cannot say is in the model's metadata, under "passmith.kernel.<name of the function>", as JSON:
 *
 *   {"name": "relu_neg",                       the body's name
 *    "constants": 1, "copies": 0,              how many nodes come first and last
 *    "inputs": [{"name": "p", "type": "float", "shape": [4, "N"]}], "outputs": [...], "values": [...],
 *    "attributes": {"name": "rule", "body": null, "alts": 1, "source_0": "...", ...}}     in their order
 *
 * A type that is none of ours is the bytes of a TypeProto, as numbers. A text that is not UTF-8 is
 * {"bytes": [...]}. An empty list is one of integers. The digits are the start of the SHA-256 of
 * the function, without its name, and this text: where they differ, another program has changed one of the
 * two, and the sources may no longer compute what the function says.
 */
#ifndef IR_ONNX_KERNEL_H
#define IR_ONNX_KERNEL_H

#include "ir/onnx/onnx_source.h"

#define PM_ONNX_KERNEL_PREFIX "Kernel_"
#define PM_ONNX_KERNEL_META   "passmith.kernel."
enum {
	PM_ONNX_KERNEL_NAME = sizeof PM_ONNX_KERNEL_PREFIX + 16, /* with the terminator */
	PM_ONNX_MAX_KERNEL_TEXT = 32 << 20                       /* bytes of the metadata of one function */
};

/* The JSON of Kernel node n of g, appended; `body` is its body as it would be written, its last nodes being
 * `copies` Identity nodes. PM_E_UNSUPPORTED when an attribute is of a kind that kernels lack. */
PmStatus pm__kernel_text(const PmGraph *g, PmNode n, const Onnx__GraphProto *body, size_t copies, PmStr *out,
			 PmErr *err);
/* From that JSON and the function: the attributes of a node that has its body as a graph, into *node, whose
 * storage is the arena. PM_E_INVALID with a sentence when the two do not go together. */
PmStatus pm__kernel_read(const char *text, size_t n, const Onnx__FunctionProto *f, PmArena *arena,
			 Onnx__NodeProto *node, PmErr *err);
/* The name that a function with this metadata has. */
void pm__kernel_name(const Onnx__FunctionProto *f, const char *text, size_t n,
		     char name[PM_ONNX_KERNEL_NAME]);

#endif
