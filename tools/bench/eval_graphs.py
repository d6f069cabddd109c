#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""eval_graphs.py write FOLDER | list - the 60 graphs on which `make bench-eval` measures how long an evaluation takes.

They hold every family of operators that fused kernels are written for, in sizes from 10 to 2 * 10^8 elements, and each
takes several launches without a pass. A size is the number of elements of all inputs and outputs. The largest are for
a GPU only. The deliberately wrong kernel (tests/plugin/wrong_silu.c) matches those whose name begins with silu_.
"""
import math
import os
import re
import sys

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\nsubgraph '

# name, element type of #, inputs, outputs, body. Indices and masks name their own type.
GRAPHS = [
    # Chains of element-wise operators.
    ("silu_10", "float", "#[10] x", "#[10] y", "s = Sigmoid (x); y = Mul (x, s)"),
    ("silu_rows", "float16", "#[64,100] x", "#[64,100] y", "s = Sigmoid (x); y = Mul (x, s)"),
    ("silu_large", "float", "#[256,4096] x", "#[256,4096] y", "s = Sigmoid (x); y = Mul (x, s)"),
    ("swiglu", "bfloat16", "#[77,344] x, #[77,344] g", "#[77,344] y", "s = Sigmoid (x); a = Mul (x, s); y = Mul (a, g)"),
    ("bias_gelu", "float16", "#[50,768] x, #[768] b", "#[50,768] y",
     "a = Add (x, b); c = Mul (a, a); d = Mul (c, a); e = Add (a, d); t = Tanh (e); y = Mul (a, t)"),
    ("bias_erf_gelu", "float", "#[197,384] x, #[384] b, #[1] r", "#[197,384] y",
     "a = Add (x, b); c = Mul (a, r); e = Erf (c); f = Add (e, r); y = Mul (a, f)"),
    ("polynomial", "float", "#[7,3] x, #[1] a, #[1] b", "#[7,3] y", "c = Mul (x, a); d = Add (c, b); e = Mul (d, x); y = Add (e, a)"),
    ("scale_residual", "bfloat16", "#[33,129] x, #[129] s, #[33,129] r", "#[33,129] y", "a = Mul (x, s); b = Neg (a); y = Add (b, r)"),
    ("clip_log_cast", "float16", "#[31,65] x", "float[31,65] y", "c = Cast <to = 1> (x); a = Abs (c); b = Exp (a); d = Log (b); y = Sqrt (d)"),
    ("rotary", "float", "#[1,4,64,32] x, #[1,1,64,32] c, #[1,1,64,32] s", "#[1,4,64,32] y",
     "h, l = Split <axis = 3, split = [16, 16]> (x); n = Neg (l); r = Concat <axis = 3> (n, h); "
     "a = Mul (x, c); b = Mul (r, s); y = Add (a, b)"),
    ("two_results", "float", "#[512,512] x, #[512,512] z", "#[512,512] y, #[512,512] w", "y = Add (x, z); w = Tanh (y)"),
    # Reductions.
    ("sum_rows", "float", "#[48,1000] x, #[48,1000] z", "#[48] y", "a = Mul (x, z); y = ReduceSum <axes = [1], keepdims = 0> (a)"),
    ("mean_columns", "bfloat16", "#[197,192] x, #[197,192] z", "#[192] y", "a = Add (x, z); y = ReduceMean <axes = [0], keepdims = 0> (a)"),
    ("mean_planes", "float16", "#[4,32,28,28] x", "#[4,32,1,1] y", "s = Sigmoid (x); a = Mul (x, s); y = ReduceMean <axes = [2, 3]> (a)"),
    ("l2_rows", "float", "#[13,384] x", "#[13,384] y", "n = ReduceL2 <axes = [1]> (x); y = Div (x, n)"),
    ("log_sum_exp", "float", "#[100,50] x", "#[100] y",
     "e = Exp (x); s = ReduceSum <axes = [1], keepdims = 0> (e); y = Log (s)"),
    ("largest_rows", "float", "#[40,300] x, #[300] b", "#[40,1] y", "a = Add (x, b); r = Relu (a); y = ReduceMax <axes = [1]> (r)"),
    ("sum_all", "float", "#[1024,1024] x", "#[1] y", "a = Mul (x, x); s = ReduceSum <axes = [0, 1], keepdims = 0> (a); y = Unsqueeze <axes = [0]> (s)"),
    # Softmax and normalisation.
    ("softmax_tiny", "float", "#[2,5] x, #[5] m", "#[2,5] y", "a = Add (x, m); y = Softmax <axis = 1> (a)"),
    ("softmax_mask", "float16", "#[2,4,64,64] x, #[2,1,1,64] m", "#[2,4,64,64] y", "a = Add (x, m); y = Softmax <axis = 3> (a)"),
    ("softmax_scaled", "bfloat16", "#[3,8,49,49] x, #[1] s, #[8,49,49] b", "#[3,8,49,49] y",
     "a = Mul (x, s); c = Add (a, b); y = Softmax <axis = 3> (c)"),
    ("softmax_large", "float", "#[12,512,512] x, #[512] m", "#[12,512,512] y", "a = Add (x, m); y = Softmax <axis = 2> (a)"),
    ("softmax_by_hand", "float", "#[60,90] x", "#[60,90] y",
     "m = ReduceMax <axes = [1]> (x); d = Sub (x, m); e = Exp (d); s = ReduceSum <axes = [1]> (e); y = Div (e, s)"),
    ("add_layer_norm", "float", "#[128,768] x, #[128,768] z, #[768] s, #[768] b", "#[128,768] y",
     "a = Add (x, z); y = LayerNormalization <axis = 1> (a, s, b)"),
    ("layer_norm_half", "float16", "#[9,321] x, #[321] s, #[321] b", "#[9,321] y",
     "a = LayerNormalization <axis = 1> (x, s, b); y = Relu (a)"),
    ("rms_norm", "bfloat16", "#[32,512] x, #[512] s, float[1] e", "#[32,512] y",
     "f = Cast <to = 1> (x); q = Mul (f, f); m = ReduceMean <axes = [1]> (q); a = Add (m, e); v = Abs (a); r = Sqrt (v); "
     "d = Div (f, r); c = Cast <to = 16> (d); y = Mul (c, s)"),
    ("group_norm_silu", "float", "#[2,32,16,16] x, #[32] s, #[32] b", "#[2,32,16,16] y",
     "a = GroupNormalization <num_groups = 8> (x, s, b); g = Sigmoid (a); y = Mul (a, g)"),
    ("instance_norm", "float", "#[2,16,32,32] x, #[16] s, #[16] b", "#[2,16,32,32] y",
     "a = InstanceNormalization (x, s, b); y = Relu (a)"),
    ("batch_norm_add", "float16", "#[2,64,14,14] x, #[64] s, #[64] b, #[64] m, #[64] v, #[2,64,14,14] r", "#[2,64,14,14] y",
     "a = BatchNormalization (x, s, b, m, v); c = Add (a, r); y = Relu (c)"),
    # Products and attention.
    ("scores", "float", "#[2,4,32,16] q, #[2,4,16,32] k, #[1] s, #[2,1,1,32] m", "#[2,4,32,32] y",
     "a = MatMul (q, k); b = Mul (a, s); c = Add (b, m); y = Softmax <axis = 3> (c)"),
    ("attention", "float16", "#[1,4,40,32] q, #[1,4,32,40] k, #[1,4,40,32] v, #[1] s", "#[1,4,40,32] y",
     "a = MatMul (q, k); b = Mul (a, s); p = Softmax <axis = 3> (b); y = MatMul (p, v)"),
    ("heads", "float", "#[1,128,256] x, #[256,256] w, #[256] b", "#[1,8,128,32] y",
     "a = MatMul (x, w); c = Add (a, b); r = Reshape (c, shape); y = Transpose <perm = [0, 2, 1, 3]> (r)"),
    ("linear_gelu", "bfloat16", "#[65,128] x, #[128,256] w, #[256] b", "#[65,256] y",
     "a = MatMul (x, w); c = Add (a, b); s = Sigmoid (c); y = Mul (c, s)"),
    ("vector_matrix", "float", "#[1,1024] x, #[1024,1024] w, #[1024] b, #[1,1024] r", "#[1,1024] y",
     "a = MatMul (x, w); c = Add (a, b); y = Add (c, r)"),
    ("gemm_tanh", "float", "#[17,96] x, #[40,96] w, #[40] b", "#[17,40] y", "a = Gemm <transB = 1> (x, w, b); y = Tanh (a)"),
    # Pooling and convolutions.
    ("relu_max_pool", "float", "#[1,16,33,33] x", "#[1,16,17,17] y",
     "a = Relu (x); y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]> (a)"),
    ("average_pool", "float16", "#[1,64,28,28] x, #[1,64,28,28] r", "#[1,64,7,7] y",
     "a = Add (x, r); y = AveragePool <kernel_shape = [4, 4], strides = [4, 4], pads = [0, 0, 0, 0], dilations = [1, 1], count_include_pad = 1> (a)"),
    ("squeeze_excite", "float", "#[1,64,14,14] x", "#[1,64,14,14] y",
     "p = ReduceMean <axes = [2, 3]> (x); g = HardSigmoid (p); y = Mul (x, g)"),
    ("conv_1x1", "float", "#[1,256,16,16] x, #[64,256,1,1] w, #[64] s, #[64] b, #[64] m, #[64] v", "#[1,64,16,16] y",
     "a = Conv <strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w); c = BatchNormalization (a, s, b, m, v); y = Relu (c)"),
    ("conv_3x3", "float", "#[1,32,28,28] x, #[32,32,3,3] w, #[32] b, #[1,32,28,28] r", "#[1,32,28,28] y",
     "a = Conv <strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w, b); c = Add (a, r); y = Relu (c)"),
    ("conv_depthwise", "float16", "#[1,48,30,30] x, #[48,1,3,3] w, #[48] b", "#[1,48,28,28] y",
     "a = Conv <strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 48> (x, w, b); s = Sigmoid (a); y = Mul (a, s)"),
    # Moving and choosing elements.
    ("embedding", "float", "#[30000,64] t, int64[1,32] i, #[1,32,64] p", "#[1,32,64] y", "a = Gather <axis = 0> (t, i); y = Add (a, p)"),
    ("embedding_norm", "float16", "#[30000,128] t, int64[1,16] i, #[1,16,128] p, #[128] s, #[128] b", "#[1,16,128] y",
     "a = Gather <axis = 0> (t, i); c = Add (a, p); y = LayerNormalization <axis = 2> (c, s, b)"),
    ("scatter_rows", "float", "#[100,32] x, int64[10,1] i, #[10,32] u", "#[100,32] y", "a = Neg (u); c = ScatterND (x, i, a); y = Relu (c)"),
    ("gather_elements", "float", "#[20,50] x, int64[20,7] i", "#[20,7] y", "a = Tanh (x); c = GatherElements <axis = 1> (a, i); y = Mul (c, c)"),
    ("resize_nearest", "float", "#[1,24,13,13] x, #[1,24,26,26] r", "#[1,24,26,26] y",
     'a = Relu (x); c = Resize <coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> (a, , scales); y = Add (c, r)'),
    ("transpose_bias", "float16", "#[4,49,96] x, #[96] b", "#[4,96,49] y", "a = Add (x, b); y = Transpose <perm = [0, 2, 1]> (a)"),
    ("slice_concat", "float", "#[6,60,20] x", "#[6,60,20] y",
     "a, c = Split <axis = 1, split = [20, 40]> (x); d = Sigmoid (a); y = Concat <axis = 1> (c, d)"),
    ("causal_mask", "float", "#[2,64,64] x, bool[64,64] m, #[1] f", "#[2,64,64] y", "n = Not (m); a = Where (n, x, f); y = Softmax <axis = 2> (a)"),
    ("padding_mask", "float", "int64[4,50] t, int64[1] z, #[4,50] x", "#[4,50] y",
     "e = Equal (t, z); n = Not (e); f = Cast <to = 1> (n); y = Mul (x, f)"),
    # Losses.
    ("square_error", "float", "#[64,100] x, #[64,100] t", "#[1] y",
     "d = Sub (x, t); q = Mul (d, d); s = ReduceMean <axes = [0, 1], keepdims = 0> (q); y = Unsqueeze <axes = [0]> (s)"),
    ("cross_entropy", "float", "#[32,200] x, #[32,200] t", "#[32] y",
     "l = LogSoftmax <axis = 1> (x); a = Mul (l, t); s = ReduceSum <axes = [1], keepdims = 0> (a); y = Neg (s)"),
    # For a GPU only: more than emu evaluates in a minute.
    ("gpu_silu_3e7", "float16", "#[4096,4096] x", "#[4096,4096] y", "s = Sigmoid (x); y = Mul (x, s)"),
    ("gpu_softmax_25e6", "float", "#[12,1024,1024] x, #[1024] m", "#[12,1024,1024] y", "a = Add (x, m); y = Softmax <axis = 2> (a)"),
    ("gpu_softmax_2e8", "float16", "#[6,4096,4096] x, #[4096] m", "#[6,4096,4096] y", "a = Add (x, m); y = Softmax <axis = 2> (a)"),
    ("gpu_layer_norm_3e7", "bfloat16", "#[4096,4096] x, #[4096,4096] z, #[4096] s, #[4096] b", "#[4096,4096] y",
     "a = Add (x, z); y = LayerNormalization <axis = 1> (a, s, b)"),
    ("gpu_residual_2e8", "float", "#[16384,4096] x, #[4096] s, #[16384,4096] r", "#[16384,4096] y", "a = Mul (x, s); c = Add (a, r); y = Relu (c)"),
    ("gpu_linear_1e7", "float16", "#[2048,1024] x, #[1024,4096] w, #[4096] b", "#[2048,4096] y",
     "a = MatMul (x, w); c = Add (a, b); s = Sigmoid (c); y = Mul (c, s)"),
    ("gpu_conv_2e7", "float", "#[8,64,112,112] x, #[64,64,3,3] w, #[64] b, #[8,64,112,112] r", "#[8,64,112,112] y",
     "a = Conv <strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w, b); c = Add (a, r); y = Relu (c)"),
    ("gpu_embedding_3e7", "float", "#[50257,768] t, int64[8,512] i, #[512,768] p", "#[8,512,768] y",
     "a = Gather <axis = 0> (t, i); y = Add (a, p)"),
]

# Operands that a graph holds as constants: declared where a body names them.
CONSTANTS = {"heads": "int64[4] shape = {1, 128, 8, 32}", "resize_nearest": "float[4] scales = {1, 1, 2, 2}"}


def elements(graph):
    """The elements of all inputs and outputs."""
    shapes = re.findall(r"\[([0-9,]+)\]", graph[2] + graph[3])
    return sum(math.prod(int(d) for d in shape.split(",")) for shape in shapes)


def gpu_only(graph):
    return graph[0].startswith("gpu_")


def text(graph):
    name, kind, ins, outs, body = graph
    held = f" <{CONSTANTS[name]}>" if name in CONSTANTS else ""
    lines = "\n   ".join(line.strip() for line in body.split(";"))
    return f"{HEAD}({ins.replace('#', kind)}) => ({outs.replace('#', kind)}){held}\n{{\n   {lines}\n}}\n"


def write(folder, names=None):
    """The graphs' files, name -> path."""
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for graph in GRAPHS:
        if names and graph[0] not in names:
            continue
        paths[graph[0]] = os.path.join(folder, graph[0] + ".gpt")
        with open(paths[graph[0]], "w") as f:
            f.write(text(graph))
    return paths


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "write":
        write(sys.argv[2])
    elif sys.argv[1:] == ["list"]:
        for g in sorted(GRAPHS, key=elements):
            print(f"{g[0]:20} {elements(g):12,d} elements{'  GPU only' if gpu_only(g) else ''}")
        print(f"{len(GRAPHS)} graphs")
    else:
        sys.exit(__doc__)
