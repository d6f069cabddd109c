/* SPDX-License-Identifier: Apache-2.0 */
/* time_eager.c - times each kind of eager kernel on a GPU and writes one JSON line per case to the file
 * named.
 *
 *   time_eager OUT.jsonl [WORD...]      only cases whose name contains one of the words, and only the element
 *                                       types that are among them
 *   time_eager --list                   the plans, without a GPU
 *   time_eager --compile [WORD...]      compiles their kernels, without a GPU
 *
 * Not a test: it asserts nothing. tools/bench/torch_ops.py reads the lines, times PyTorch on the same shapes
 * and compares. Each case is launched in batches between two events of the device; the median batch counts.
 * In a graph's text `#` stands for the element type and `$` for the rows of 4096 elements that make 256 MB.
 */
#include "base/core/hash.h"
#include "base/core/rng.h"
#include "base/sys/pool.h"
#include "ir/text/text.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/device/tensor.h"
#include "runtime/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Case {
	const char *kind, *name, *text;
} Case;

#define UNARY(op, dims)  "(#" dims " x) => (#" dims " y) { y = " op " (x) }"
#define BINARY(op, a, b) "(#" a " x, #" b " z) => (#" a " y) { y = " op " (x, z) }"

static const Case cases[] = {
	{ "copy", "copy 256MB", UNARY("Identity", "[$,4096]") },
	{ "copy", "copy 16MB", UNARY("Identity", "[1024,4096]") },
	{ "slice", "slice rows aligned",
	  "(#[$,4096] x) => (#[$,3072] y) { y = Slice <starts = [512], ends = [3584], axes = [1], steps = "
	  "[1]> (x) }" },
	{ "slice", "slice rows odd",
	  "(#[$,4096] x) => (#[$,4001] y) { y = Slice <starts = [1], ends = [4002], axes = [1], steps = [1]> "
	  "(x) }" },
	{ "transpose", "transpose 021",
	  "(#[64,1024,1024] x) => (#[64,1024,1024] y) { y = Transpose <perm = [0, 2, 1]> (x) }" },
	{ "transpose", "transpose 0213",
	  "(#[32,512,16,64] x) => (#[32,16,512,64] y) { y = Transpose <perm = [0, 2, 1, 3]> (x) }" },
	{ "transpose", "transpose 0231",
	  "(#[32,256,56,56] x) => (#[32,56,56,256] y) { y = Transpose <perm = [0, 2, 3, 1]> (x) }" },
	{ "transpose", "transpose odd",
	  "(#[96,197,64] x) => (#[96,64,197] y) { y = Transpose <perm = [0, 2, 1]> (x) }" },
	{ "elementwise", "add 256MB", BINARY("Add", "[$,4096]", "[$,4096]") },
	{ "elementwise", "add 4MB", BINARY("Add", "[256,4096]", "[256,4096]") },
	{ "elementwise", "relu 256MB", UNARY("Relu", "[$,4096]") },
	{ "elementwise", "gelu 256MB", UNARY("Gelu", "[$,4096]") },
	{ "elementwise", "gelu 3MB", UNARY("Gelu", "[512,3072]") },
	{ "elementwise", "sigmoid 256MB", UNARY("Sigmoid", "[$,4096]") },
	{ "elementwise", "mul chain",
	  "(#[2048,4096] x, #[2048,4096] z) => (#[2048,4096] y) { a = Mul (x, z) b = Mul (a, z) y = Mul (b, "
	  "x) }" },
	{ "strided", "gelu permuted",
	  "(#[32,256,56,56] x) => (#[32,256,56,56] y) { a = Transpose <perm = [0, 2, 3, 1]> (x) b = Gelu (a) "
	  "y = Transpose <perm = [0, 3, 1, 2]> (b) }" },
	{ "strided", "add transposed",
	  "(#[64,1024,1024] x, #[64,1024,1024] z) => (#[64,1024,1024] y) { a = Transpose <perm = [0, 2, 1]> "
	  "(x) y = Add (z, a) }" },
	{ "strided", "relu slices",
	  "(#[$,4096] x) => (#[$,2048] y) { a = Slice <starts = [1024], ends = [3072], axes = [1], steps = "
	  "[1]> (x) y = Relu (a) }" },
	{ "strided", "relu every other",
	  "(#[$,4096] x) => (#[$,2048] y) { a = Slice <starts = [0], ends = [4096], axes = [1], steps = [2]> "
	  "(x) y = Relu (a) }" },
	{ "broadcast", "bias add 256MB", BINARY("Add", "[$,4096]", "[4096]") },
	{ "broadcast", "column mul 256MB", BINARY("Mul", "[$,4096]", "[$,1]") },
	{ "broadcast", "channel mul", BINARY("Mul", "[64,256,56,56]", "[256,1,1]") },
	{ "broadcast", "mask add", BINARY("Add", "[16,12,512,512]", "[16,1,1,512]") },
	{ "broadcast", "mask add odd", BINARY("Add", "[64,12,197,197]", "[64,1,1,197]") },
	{ "softmax", "softmax 512", UNARY("Softmax <axis = 1>", "[98304,512]") },
	{ "softmax", "softmax 197", UNARY("Softmax <axis = 1>", "[151296,197]") },
	{ "softmax", "softmax 32000", UNARY("Softmax <axis = 1>", "[2048,32000]") },
	{ "softmax", "softmax 50257", UNARY("Softmax <axis = 1>", "[1024,50257]") },
	{ "softmax", "softmax channels", UNARY("Softmax <axis = 1>", "[32,21,256,256]") },
	{ "softmax", "logsoftmax 1000", UNARY("LogSoftmax <axis = 1>", "[16384,1000]") },
	{ "layer norm", "layer norm 768",
	  "(#[16384,768] x, #[768] s, #[768] b) => (#[16384,768] y) { y = LayerNormalization <axis = 1> (x, "
	  "s, b) }" },
	{ "layer norm", "layer norm 4096",
	  "(#[8192,4096] x, #[4096] s, #[4096] b) => (#[8192,4096] y) { y = LayerNormalization <axis = 1> "
	  "(x, s, b) }" },
	{ "group norm", "group norm 32",
	  "(#[16,320,64,64] x, #[320] s, #[320] b) => (#[16,320,64,64] y) { y = GroupNormalization "
	  "<num_groups = 32> (x, s, b) }" },
	{ "group norm", "instance norm",
	  "(#[16,64,128,128] x, #[64] s, #[64] b) => (#[16,64,128,128] y) { y = InstanceNormalization (x, s, "
	  "b) }" },
	{ "batch norm", "batch norm",
	  "(#[64,256,56,56] x, #[256] s, #[256] b, #[256] m, #[256] v) => (#[64,256,56,56] y) { y = "
	  "BatchNormalization (x, s, b, m, v) }" },
	{ "batch norm", "batch norm 7x7",
	  "(#[256,2048,7,7] x, #[2048] s, #[2048] b, #[2048] m, #[2048] v) => (#[256,2048,7,7] y) { y = "
	  "BatchNormalization (x, s, b, m, v) }" },
	{ "reduce", "mean rows 768",
	  "(#[65536,768] x) => (#[65536,1] y) { y = ReduceMean <axes = [1]> (x) }" },
	{ "reduce", "mean tokens",
	  "(#[256,197,768] x) => (#[256,768] y) { y = ReduceMean <axes = [1], keepdims = 0> (x) }" },
	{ "reduce", "sum all", "(#[$,4096] x) => (# y) { y = ReduceSum <axes = [0, 1], keepdims = 0> (x) }" },
	{ "reduce", "sum columns",
	  "(#[16384,4096] x) => (#[4096] y) { y = ReduceSum <axes = [0], keepdims = 0> (x) }" },
	{ "reduce", "max planes",
	  "(#[64,2048,7,7] x) => (#[64,2048,1,1] y) { y = ReduceMax <axes = [2, 3]> (x) }" },
	{ "reduce", "global average pool",
	  "(#[64,512,28,28] x) => (#[64,512,1,1] y) { y = GlobalAveragePool (x) }" },
	{ "reduce", "sum channels",
	  "(#[64,256,56,56] x) => (#[256] y) { y = ReduceSum <axes = [0, 2, 3], keepdims = 0> (x) }" },
	{ "argmax", "argmax 32000",
	  "(#[2048,32000] x) => (int64[2048] y) { y = ArgMax <axis = 1, keepdims = 0> (x) }" },
	{ "cumsum", "cumsum rows",
	  "(#[8192,4096] x) => (#[8192,4096] y) <int64 a = {1}> { y = CumSum (x, a) }" },
	{ "pool", "max pool 3x3",
	  "(#[64,64,112,112] x) => (#[64,64,56,56] y) { y = MaxPool <kernel_shape = [3, 3], strides = [2, "
	  "2], pads = [1, 1, 1, 1], dilations = [1, 1]> (x) }" },
	{ "pool", "average pool 2x2",
	  "(#[64,64,112,112] x) => (#[64,64,56,56] y) { y = AveragePool <kernel_shape = [2, 2], strides = "
	  "[2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]> (x) }" },
	{ "concat", "concat channels",
	  "(#[64,128,56,56] x, #[64,128,56,56] z) => (#[64,256,56,56] y) { y = Concat <axis = 1> (x, z) }" },
	{ "concat", "concat rows",
	  "(#[16384,512] x, #[16384,512] z, #[16384,1024] w) => (#[16384,2048] y) { y = Concat <axis = 1> "
	  "(x, z, w) }" },
	{ "concat", "concat odd",
	  "(#[65536,63] x, #[65536,131] z) => (#[65536,194] y) { y = Concat <axis = 1> (x, z) }" },
	{ "gather", "embedding",
	  "(#[30522,768] x, int64[128,256] i) => (#[128,256,768] y) { y = Gather <axis = 0> (x, i) }" },
	{ "gather", "gather columns",
	  "(#[16384,1024] x, int64[512] i) => (#[16384,512] y) { y = Gather <axis = 1> (x, i) }" },
	{ "pad", "pad planes",
	  "(#[64,64,112,112] x) => (#[64,64,114,114] y) { y = Pad <pads = [0, 0, 1, 1, 0, 0, 1, 1]> (x) }" },
	{ "resize", "resize nearest",
	  "(#[32,64,64,64] x) => (#[32,64,128,128] y) <float[4] f = {1, 1, 2, 2}> { y = Resize "
	  "<coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"> (x, , f) }" },
	{ "resize", "resize linear",
	  "(#[32,64,64,64] x) => (#[32,64,128,128] y) <float[4] f = {1, 1, 2, 2}> { y = Resize <mode = "
	  "\"linear\"> (x, , f) }" },
#define CONV(x, w, y, rest) "(#" x " x, #" w " w) => (#" y " y) { y = Conv <" rest "> (x, w) }"
	{ "depthwise", "depthwise 3x3 64x64",
	  CONV("[1,1024,64,64]", "[1024,1,3,3]", "[1,1024,64,64]",
	       "group = 1024, strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]") },
	{ "depthwise", "depthwise 3x3 32x32",
	  CONV("[1,1280,32,32]", "[1280,1,3,3]", "[1,1280,32,32]",
	       "group = 1280, strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]") },
	{ "depthwise", "depthwise 5x5 14x14",
	  CONV("[1,128,14,14]", "[128,1,5,5]", "[1,128,14,14]",
	       "group = 128, strides = [1, 1], pads = [2, 2, 2, 2], dilations = [1, 1]") },
	{ "depthwise", "depthwise 7x7 56x56",
	  CONV("[8,96,56,56]", "[96,1,7,7]", "[8,96,56,56]",
	       "group = 96, strides = [1, 1], pads = [3, 3, 3, 3], dilations = [1, 1]") },
	{ "depthwise", "depthwise 3x3 halved",
	  CONV("[1,144,56,56]", "[144,1,3,3]", "[1,144,28,28]",
	       "group = 144, strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]") },
	{ "depthwise", "depthwise 3 of 4001",
	  CONV("[1,512,4001]", "[512,1,3]", "[1,512,4001]",
	       "group = 512, strides = [1], pads = [1, 1], dilations = [1]") },
	{ "convolution", "conv 1x1 56x56",
	  CONV("[8,64,56,56]", "[256,64,1,1]", "[8,256,56,56]",
	       "strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]") },
	{ "convolution", "conv 3x3 14x14",
	  CONV("[1,256,14,14]", "[256,256,3,3]", "[1,256,14,14]",
	       "strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]") },
	{ "convolution", "conv 16x16 patches",
	  CONV("[4,3,224,224]", "[768,3,16,16]", "[4,768,14,14]",
	       "strides = [16, 16], pads = [0, 0, 0, 0], dilations = [1, 1]") },
	{ "convolution", "conv 1x1 of one pixel",
	  CONV("[1,1024,1,1]", "[64,1024,1,1]", "[1,64,1,1]",
	       "strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]") },
#define MATMUL(x, z, y) "(#" x " x, #" z " z) => (#" y " y) { y = MatMul (x, z) }"
	{ "product", "product 200 1000 32", MATMUL("[2,100,1000]", "[1000,32]", "[2,100,32]") },
	{ "product", "product 200 32 1000", MATMUL("[2,100,32]", "[32,1000]", "[2,100,1000]") },
	{ "product", "product 197 768 768", MATMUL("[197,768]", "[768,768]", "[197,768]") },
	{ "product", "product heads", MATMUL("[12,197,64]", "[12,64,197]", "[12,197,197]") },
	{ "product", "product one row", MATMUL("[1,768]", "[768,768]", "[1,768]") },
	{ "product", "product 1024", MATMUL("[1024,1024]", "[1024,1024]", "[1024,1024]") },
	/* Convolutions and products of real models, for PASSMITH_LIBRARIES=first and its opposite. */
	{ "call", "call 1x1 s1 p0 1x4096x7x7 to 1024",
	  "(#[1,4096,7,7] x, #[1024,4096,1,1] w, #[1024] b) => (#[1,1024,7,7] y) { y = Conv <strides = [1, "
	  "1], pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 1x1 s1 p0 1x3072x7x7 to 1536",
	  "(#[1,3072,7,7] x, #[1536,3072,1,1] w) => (#[1,1536,7,7] y) { y = Conv <strides = [1, 1], pads = "
	  "[0, 0, 0, 0], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 1x1 s1 p0 1x768x7x7 to 4608",
	  "(#[1,768,7,7] x, #[4608,768,1,1] w, #[4608] b) => (#[1,4608,7,7] y) { y = Conv <strides = [1, 1], "
	  "pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 1x1 s1 p0 1x1024x7x7 to 256",
	  "(#[1,1024,7,7] x, #[256,1024,1,1] w, #[256] b) => (#[1,256,7,7] y) { y = Conv <strides = [1, 1], "
	  "pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 1x1 s1 p0 1x1472x14x14 to 128",
	  "(#[1,1472,14,14] x, #[128,1472,1,1] w, #[128] b) => (#[1,128,14,14] y) { y = Conv <strides = [1, "
	  "1], pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 1x1 s1 p0 1x512x14x14 to 288",
	  "(#[1,512,14,14] x, #[288,512,1,1] w) => (#[1,288,14,14] y) { y = Conv <strides = [1, 1], pads = "
	  "[0, 0, 0, 0], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 1x1 s1 p0 1x288x28x28 to 96",
	  "(#[1,288,28,28] x, #[96,288,1,1] w, #[96] b) => (#[1,96,28,28] y) { y = Conv <strides = [1, 1], "
	  "pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 1x1 s1 p0 1x51x20x20 to 51",
	  "(#[1,51,20,20] x, #[51,51,1,1] w, #[51] b) => (#[1,51,20,20] y) { y = Conv <strides = [1, 1], "
	  "pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 1x1 s1 p0 1x168x1x1 to 672",
	  "(#[1,168,1,1] x, #[672,168,1,1] w, #[672] b) => (#[1,672,1,1] y) { y = Conv <strides = [1, 1], "
	  "pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 1x1 s1 p0 1x1440x1x1 to 1984",
	  "(#[1,1440,1,1] x, #[1984,1440,1,1] w) => (#[1,1984,1,1] y) { y = Conv <strides = [1, 1], pads = "
	  "[0, 0, 0, 0], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 1x1 s1 p0 32x160x7x7 to 960",
	  "(#[32,160,7,7] x, #[960,160,1,1] w) => (#[32,960,7,7] y) { y = Conv <strides = [1, 1], pads = [0, "
	  "0, 0, 0], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 1x1 s1 p0 8x64x56x56 to 256",
	  "(#[8,64,56,56] x, #[256,64,1,1] w) => (#[8,256,56,56] y) { y = Conv <strides = [1, 1], pads = [0, "
	  "0, 0, 0], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 1x1 s2 p0 1x256x56x56 to 512",
	  "(#[1,256,56,56] x, #[512,256,1,1] w) => (#[1,512,28,28] y) { y = Conv <strides = [2, 2], pads = "
	  "[0, 0, 0, 0], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s2 p1 1x320x32x32 to 512",
	  "(#[1,320,32,32] x, #[512,320,3,3] w) => (#[1,512,16,16] y) { y = Conv <strides = [2, 2], pads = "
	  "[1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s1 p1 1x96x28x28 to 96",
	  "(#[1,96,28,28] x, #[96,96,3,3] w) => (#[1,96,28,28] y) { y = Conv <strides = [1, 1], pads = [1, "
	  "1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s2 p1 1x256x14x14 to 512",
	  "(#[1,256,14,14] x, #[512,256,3,3] w) => (#[1,512,7,7] y) { y = Conv <strides = [2, 2], pads = [1, "
	  "1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s1 p1 1x32x112x112 to 64",
	  "(#[1,32,112,112] x, #[64,32,3,3] w) => (#[1,64,112,112] y) { y = Conv <strides = [1, 1], pads = "
	  "[1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s1 p1 1x256x14x14 to 256",
	  "(#[1,256,14,14] x, #[256,256,3,3] w) => (#[1,256,14,14] y) { y = Conv <strides = [1, 1], pads = "
	  "[1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s1 p1 1x128x14x14 to 256",
	  "(#[1,128,14,14] x, #[256,128,3,3] w) => (#[1,256,14,14] y) { y = Conv <strides = [1, 1], pads = "
	  "[1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s1 p1 1x64x56x56 to 64",
	  "(#[1,64,56,56] x, #[64,64,3,3] w) => (#[1,64,56,56] y) { y = Conv <strides = [1, 1], pads = [1, "
	  "1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s1 p1 8x64x56x56 to 64",
	  "(#[8,64,56,56] x, #[64,64,3,3] w) => (#[8,64,56,56] y) { y = Conv <strides = [1, 1], pads = [1, "
	  "1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s1 p1 1x512x7x7 to 512",
	  "(#[1,512,7,7] x, #[512,512,3,3] w) => (#[1,512,7,7] y) { y = Conv <strides = [1, 1], pads = [1, "
	  "1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s1 p1 1x32x64x64 to 32",
	  "(#[1,32,64,64] x, #[32,32,3,3] w) => (#[1,32,64,64] y) { y = Conv <strides = [1, 1], pads = [1, "
	  "1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 3x3 s1 p1 1x32x256x256 to 32",
	  "(#[1,32,256,256] x, #[32,32,3,3] w, #[32] b) => (#[1,32,256,256] y) { y = Conv <strides = [1, 1], "
	  "pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 3x3 s2 p1 1x3x224x224 to 32",
	  "(#[1,3,224,224] x, #[32,3,3,3] w) => (#[1,32,112,112] y) { y = Conv <strides = [2, 2], pads = [1, "
	  "1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 7x7 s2 p3 1x3x224x224 to 64",
	  "(#[1,3,224,224] x, #[64,3,7,7] w) => (#[1,64,112,112] y) { y = Conv <strides = [2, 2], pads = [3, "
	  "3, 3, 3], dilations = [1, 1]> (x, w) }" },
	{ "call", "call 16x16 s16 p0 1x3x224x224 to 768",
	  "(#[1,3,224,224] x, #[768,3,16,16] w, #[768] b) => (#[1,768,14,14] y) { y = Conv <strides = [16, "
	  "16], pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 4x4 s4 p0 1x3x224x224 to 96",
	  "(#[1,3,224,224] x, #[96,3,4,4] w, #[96] b) => (#[1,96,56,56] y) { y = Conv <strides = [4, 4], "
	  "pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call 2x2 s2 p0 1x64x28x28 to 128",
	  "(#[1,64,28,28] x, #[128,64,2,2] w, #[128] b) => (#[1,128,14,14] y) { y = Conv <strides = [2, 2], "
	  "pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) }" },
	{ "call", "call transposed 2x2 s2 p0 1x768x40x40 to 768",
	  "(#[1,768,40,40] x, #[768,768,2,2] w) => (#[1,768,80,80] y) { y = ConvTranspose <output_padding = "
	  "[0, 0], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w) }" },
	{ "call", "call transposed 2x2 s2 p0 1x64x128x128 to 32",
	  "(#[1,64,128,128] x, #[64,32,2,2] w, #[32] b) => (#[1,32,256,256] y) { y = ConvTranspose "
	  "<output_padding = [0, 0], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w, b) "
	  "}" },
	{ "call", "call transposed 4x4 s2 p1 1x256x32x32 to 256",
	  "(#[1,256,32,32] x, #[256,256,4,4] w) => (#[1,256,64,64] y) { y = ConvTranspose <output_padding = "
	  "[0, 0], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ "call", "call product 2x768 768x768", MATMUL("[2,768]", "[768,768]", "[2,768]") },
	{ "call", "call product 1x20x1024 1024x3072", MATMUL("[1,20,1024]", "[1024,3072]", "[1,20,3072]") },
	{ "call", "call product 1x960 960x1280", MATMUL("[1,960]", "[960,1280]", "[1,1280]") },
	{ "call", "call product 1x249x512 512x768", MATMUL("[1,249,512]", "[512,768]", "[1,249,768]") },
	{ "call", "call product 1x3x640 640x2048", MATMUL("[1,3,640]", "[640,2048]", "[1,3,2048]") },
	{ "call", "call product 1x49x512 512x2048", MATMUL("[1,49,512]", "[512,2048]", "[1,49,2048]") },
	{ "call", "call product 12x197x64 12x64x197", MATMUL("[12,197,64]", "[12,64,197]", "[12,197,197]") },
	{ "call", "call product 56x56x128 128x259", MATMUL("[56,56,128]", "[128,259]", "[56,56,259]") },
	{ "call", "call gemm 1x960 1280x960",
	  "(#[1,960] x, #[1280,960] w, #[1280] b) => (#[1,1280] y) { y = Gemm <transB = 1> (x, w, b) }" },
	{ "call", "call einsum bhwc,hkc->bhwk",
	  "(#[25,14,14,96] x, #[14,14,96] z) => (#[25,14,14,14] y) { y = Einsum <equation = "
	  "\"bhwc,hkc->bhwk\"> (x, z) }" },
	/* Convolutions with few channels, mostly transposed: what each algorithm takes is in the cache
	 * afterwards (docs/design/runtime.md). */
	{ "phases", "transposed 5x5x5 s2 p2 16x32x32x32x32 to 64",
	  "(#[16,32,32,32,32] x, #[32,64,5,5,5] w, #[64] b) => (#[16,64,63,63,63] y) { y = ConvTranspose "
	  "<output_padding = [0, 0, 0], strides = [2, 2, 2], pads = [2, 2, 2, 2, 2, 2], dilations = [1, 1, "
	  "1]> (x, w, b) }" },
	{ "phases", "transposed 3x5x7 s1 p0 16x32x16x32x64 to 16",
	  "(#[16,32,16,32,64] x, #[32,16,3,5,7] w) => (#[16,16,18,36,70] y) { y = ConvTranspose "
	  "<output_padding = [0, 0, 0], strides = [1, 1, 1], pads = [0, 0, 0, 0, 0, 0], dilations = [1, 1, "
	  "1]> (x, w) }" },
	{ "phases", "transposed 3x3x3 s2 p1 128x3x16x32x32 to 16",
	  "(#[128,3,16,32,32] x, #[3,16,3,3,3] w, #[16] b) => (#[128,16,31,63,63] y) { y = ConvTranspose "
	  "<output_padding = [0, 0, 0], strides = [2, 2, 2], pads = [1, 1, 1, 1, 1, 1], dilations = [1, 1, "
	  "1]> (x, w, b) }" },
	{ "phases", "transposed 3x3x3 s2 p1 o1 16x32x16x32x32 to 64",
	  "(#[16,32,16,32,32] x, #[32,64,3,3,3] w, #[64] b) => (#[16,64,32,64,64] y) { y = ConvTranspose "
	  "<output_padding = [1, 1, 1], strides = [2, 2, 2], pads = [1, 1, 1, 1, 1, 1], dilations = [1, 1, "
	  "1]> (x, w, b) }" },
	{ "phases", "transposed 4x4 s2 p1 16x128x64x64 to 64",
	  "(#[16,128,64,64] x, #[128,64,4,4] w, #[64] b) => (#[16,64,128,128] y) { y = ConvTranspose "
	  "<output_padding = [0, 0], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w, b) "
	  "}" },
	{ "phases", "transposed 3 s1 p0 16x64x16384 to 32",
	  "(#[16,64,16384] x, #[64,32,3] w) => (#[16,32,16386] y) { y = ConvTranspose <output_padding = [0], "
	  "strides = [1], pads = [0, 0], dilations = [1]> (x, w) }" },
	{ "phases", "convolution 3x3x3 s1 p0 16x3x16x64x64 to 64",
	  "(#[16,3,16,64,64] x, #[64,3,3,3,3] w, #[64] b) => (#[16,64,14,62,62] y) { y = Conv <strides = [1, "
	  "1, 1], pads = [0, 0, 0, 0, 0, 0], dilations = [1, 1, 1]> (x, w, b) }" },
	{ "phases", "convolution 3x3 s1 p1 g32 8x128x56x56 to 128",
	  "(#[8,128,56,56] x, #[128,4,3,3] w) => (#[8,128,56,56] y) { y = Conv <group = 32, strides = [1, "
	  "1], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
};
enum { N_CASES = sizeof cases / sizeof cases[0], N_DTYPES = 3, TRAINS = 5 };
static const int dtypes[N_DTYPES] = { PM_F32, PM_F16, PM_BF16 };

static void die(const char *what, const PmErr *err)
{
	fprintf(stderr, "time_eager: %s: %s\n", what, err->text);
	exit(1);
}

static PmGraph *parse(const Case *c, int dtype)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g;
	PmErr err;

	pm_err_init(&err);
	pm_str_add(&text, "g ");
	for (const char *s = c->text; *s; s++)
		if (*s == '#')
			pm_str_add(&text, pm_dtype_name(dtype));
		else if (*s == '$')
			pm_str_addf(&text, "%d", (256 << 20) / 4096 / (int)pm_dtype_size(dtype));
		else
			pm_str_addc(&text, *s);
	if (pm_graph_parse(text.s, text.len, &g, &err))
		die(c->name, &err);
	pm_str_release(&text);
	return g;
}

/* Numbers in [-2, 2], or indices below 512; the first 65536 elements, then again. */
static void upload(PmDevice *d, PmBuf b, const PmType *t, int64_t bytes)
{
	PmType few = { .dtype = t->dtype, .rank = 1, .dim = { 65536 } };
	PmTensor v;
	PmRng r;
	PmErr err;

	pm_err_init(&err);
	pm_rng_init(&r, 1);
	if (pm_tensor_init(&v, &few, &err))
		die("memory", &err);
	for (int64_t i = 0; i < 65536; i++)
		if (pm_dtype_is_float(t->dtype))
			pm_tensor_set(&v, i, (double)pm_rng_range(&r, -2000, 2000) / 1000);
		else
			pm_tensor_set_i(&v, i, pm_rng_range(&r, 0, 511));
	for (int64_t at = 0; at < bytes; at += (int64_t)v.bytes) {
		int64_t n = bytes - at < (int64_t)v.bytes ? bytes - at : (int64_t)v.bytes;

		if (d->ops->upload(d, b, at, v.data, n, &err))
			die("upload", &err);
	}
	pm_tensor_release(&v);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Seconds of one call: n of them recorded and replayed as one, so that the host's time does not count. */
static double batch(PmDevice *d, PmBind *b, int n)
{
	double t[TRAINS];
	PmReplay r;
	PmErr err;

	pm_err_init(&err);
	if (d->ops->clock->record_begin(d, &err))
		die("recording", &err);
	for (int i = 0; i < n; i++)
		if (pm_bind_launch(b, &err))
			die("launch", &err);
	if (d->ops->clock->record_end(d, &r, &err) || d->ops->clock->replay(d, r, &err))
		die("recording", &err);
	for (int i = 0; i < TRAINS; i++)
		if (d->ops->event_record(d, 0, &err) || d->ops->clock->replay(d, r, &err) ||
		    d->ops->event_record(d, 1, &err) || d->ops->event_elapsed(d, 0, 1, &t[i], &err))
			die("replay", &err);
	d->ops->clock->replay_drop(d, r);
	qsort(t, TRAINS, sizeof *t, by_value);
	return t[TRAINS / 2] / n;
}

static double measure(PmDevice *d, PmBind *b)
{
	double seconds;
	PmErr err;
	int n;

	pm_err_init(&err);
	if (pm_bind_launch(b, &err) || d->ops->sync(d, &err) || d->ops->clock->quiet(d, 1, &err))
		die("first run", &err);
	n = (int)(8e-3 / batch(d, b, 3));
	n = n < 2 ? 2 : (n > 50 ? 50 : n);
	seconds = batch(d, b, n);
	if (d->ops->clock->quiet(d, 0, &err))
		die("last look", &err);
	return seconds;
}

static void report(FILE *f, const Case *c, int dtype, const PmGraph *g, const PmPlanStats *s, double seconds,
		   const char *device)
{
	fprintf(f,
		"{\"kind\": \"%s\", \"name\": \"%s\", \"dtype\": \"%s\", \"us\": %.3f, \"bytes\": %lld, "
		"\"launches\": %d, \"device\": \"%s\", \"inputs\": [",
		c->kind, c->name, pm_dtype_name(dtype), seconds * 1e6, (long long)s->bytes, s->n_launches,
		device);
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));

		fprintf(f, "%s[\"%s\"", i ? ", " : "", pm_dtype_name(t->dtype));
		for (int k = 0; k < t->rank; k++)
			fprintf(f, ", %lld", (long long)t->dim[k]);
		fprintf(f, "]");
	}
	fprintf(f, "]}\n");
	fflush(f);
}

static void run(PmDevice *d, const Case *c, int dtype, FILE *f)
{
	PmGraph *g = parse(c, dtype);
	PmDeviceInfo info;
	PmPlanStats stats;
	PmPlan *p;
	PmExec *x;
	PmBind *b;
	PmErr err;

	pm_err_init(&err);
	if (pm_plan_new(g, NULL, 0, &p, &err) || pm_exec_new(p, d, &x, &err) || pm_bind_new(x, 1, &b, &err))
		die(c->name, &err);
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));
		int64_t bytes = 0;

		pm_type_bytes(t, &bytes, NULL);
		upload(d, pm_bind_input(b, i), t, bytes);
	}
	pm_plan_stats(p, NULL, &stats);
	d->ops->info(d, &info);
	report(f, c, dtype, g, &stats, measure(d, b), info.name);
	pm_exec_free(x);
	pm_plan_free(p);
	pm_graph_free(g);
}

static int wanted(const Case *c, int dtype, char **word, int n)
{
	int by_name = 0, by_type = 0, name = 0, type = 0;

	for (int i = 0; i < n; i++)
		if (pm_dtype_from_name(word[i]) >= 0) {
			by_type = 1;
			type |= pm_dtype_from_name(word[i]) == dtype;
		} else {
			by_name = 1;
			name |= strstr(c->name, word[i]) != NULL;
		}
	return (name || !by_name) && (type || !by_type);
}

/* All kernels at once, on all processors; the driver must not be in use yet. */
static void compile_ahead(char **word, int n_words, int complain)
{
	static PmSource all[N_CASES * N_DTYPES * 4];
	size_t n = 0;

	for (size_t i = 0; i < N_CASES * N_DTYPES; i++) {
		const Case *c = &cases[i / N_DTYPES];
		const PmSource *src;
		PmPlan *p;
		PmErr err;

		if (!wanted(c, dtypes[i % N_DTYPES], word, n_words))
			continue;
		pm_err_init(&err);
		if (pm_plan_new(parse(c, dtypes[i % N_DTYPES]), NULL, 0, &p, &err))
			die(c->name, &err);
		for (size_t j = 0, k = pm_plan_sources(p, &src); j < k; j++)
			if (n < sizeof all / sizeof *all)
				all[n++] = src[j];
	}
	pm_nvrtc_ahead(all, n, 90, pm_cpu_count());
	for (size_t i = 0; i < n && complain; i++) {
		PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
		PmErr err;

		pm_err_init(&err);
		if (pm_nvrtc_compile(&all[i], 90, &ptx, &cubin, &err))
			printf("%s: %s\n", all[i].label, err.text);
		pm_str_release(&ptx);
		pm_str_release(&cubin);
	}
}

static int list(void)
{
	PmErr err;

	pm_err_init(&err);
	for (size_t i = 0; i < N_CASES * N_DTYPES; i++) {
		const Case *c = &cases[i / N_DTYPES];
		PmGraph *g = parse(c, dtypes[i % N_DTYPES]);
		PmStr text = PM_STR_INIT;
		PmPlan *p;

		if (pm_plan_new(g, NULL, 0, &p, &err) || pm_plan_print(p, &text, &err))
			die(c->name, &err);
		printf("%s, %s\n%s", c->name, pm_dtype_name(dtypes[i % N_DTYPES]), text.s);
		pm_str_release(&text);
		pm_plan_free(p);
		pm_graph_free(g);
	}
	return 0;
}

int main(int argc, char **argv)
{
	PmDevice *d;
	PmErr err;
	FILE *f;

	pm_err_init(&err);
	if (argc > 1 && !strcmp(argv[1], "--list"))
		return list();
	if (argc > 1 && !strcmp(argv[1], "--compile")) {
		compile_ahead(argv + 2, argc - 2, 1);
		return 0;
	}
	f = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!f) {
		fprintf(stderr, "usage: time_eager OUT.jsonl [WORD...]\n");
		return 2;
	}
	compile_ahead(argv + 2, argc - 2, 0);
	if (pm_device_open("cuda", &d, &err))
		die("cuda", &err);
	for (size_t i = 0; i < N_CASES * N_DTYPES; i++)
		if (wanted(&cases[i / N_DTYPES], dtypes[i % N_DTYPES], argv + 2, argc - 2))
			run(d, &cases[i / N_DTYPES], dtypes[i % N_DTYPES], f);
	d->ops->close(d);
	fclose(f);
	return 0;
}
