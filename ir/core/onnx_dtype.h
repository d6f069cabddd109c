/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_dtype.h - ONNX's numbers for element types, which attributes such as Cast's `to` hold. */
#ifndef IR_ONNX_DTYPE_H
#define IR_ONNX_DTYPE_H

/* Our dtype for an ONNX TensorProto.DataType number (-1 when we have none), and back (0 when none). */
int pm_dtype_from_onnx(int onnx);
int pm_dtype_to_onnx(int dtype);
const char *pm__onnx_dtype_name(int onnx); /* "uint16"; numbers without a type give "of an unknown kind" */

#endif
