/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_bytes.h - serialised ONNX models for tests, from a line-by-line description.
 *
 *   i x float 2,N             graph input ("-" for no dimensions, "?" for no shape)
 *   o y [float 2,N]           graph output
 *   v t float 2,3             value_info
 *   w w float 2,2 1 2 3 4     initializer with typed data
 *   n Add x,w -> y k=1 a=0.5f l=[1,2] s='edge' t=float:1.5     node (l=[1f,2f] and
 *                             l=['a','b'] are lists too, g={o~y;n~Neg~x~->~y} a graph); "-" for no
 *                             operands, "dom:Op" for a domain
 *
 * One field follows another as ONNX numbers them; nothing is checked, so models may be as wrong as a test
 * needs.
 */
#ifndef TESTS_LIB_ONNX_BYTES_H
#define TESTS_LIB_ONNX_BYTES_H

#include "base/core/str.h"

#include <stdint.h>

/* Protobuf fields by hand. pm_ob_msg appends `sub` as a message and releases it. */
void pm_ob_int(PmStr *b, int field, int64_t v);
void pm_ob_bytes(PmStr *b, int field, const void *p, size_t n);
void pm_ob_str(PmStr *b, int field, const char *s);
void pm_ob_msg(PmStr *b, int field, PmStr *sub);

/* Appends the fields of a GraphProto for the lines of `spec`. A bad description ends the test. */
void pm_ob_graph(PmStr *graph, const char *spec);
/* A whole model of that opset around the graph (which is released). */
PmStr pm_ob_model(int64_t opset, PmStr *graph);
/* Both steps. */
PmStr pm_ob_spec(int64_t opset, const char *spec);

#endif
