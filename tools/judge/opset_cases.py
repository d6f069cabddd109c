#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# opset_cases.py - recomputes the expected outputs of tests/conform/opsets.txt with an independent implementation.
#
#   tools/judge/opset_cases.py [--fill] [FILE]
#
# Without --fill: compares and exits 1 when an output differs. With it, writes the outputs that have no elements
# yet. Needs Python with onnx and onnxruntime, which nothing else in this project does.
import re
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DTYPES = {'float': TensorProto.FLOAT, 'double': TensorProto.DOUBLE, 'float16': TensorProto.FLOAT16,
          'int64': TensorProto.INT64, 'int32': TensorProto.INT32, 'int16': TensorProto.INT16, 'int8': TensorProto.INT8,
          'uint8': TensorProto.UINT8, 'bool': TensorProto.BOOL}
NAMES = {v: k for k, v in DTYPES.items()}


def array(dtype, dims, words):
    kind = helper.tensor_dtype_to_np_dtype(DTYPES[dtype])
    shape = [] if dims == '-' else [int(d) for d in dims.split(',')]
    if not words and dims != '-' and np.prod(shape) != 0:
        raise ValueError('no elements')
    return np.array([float(w) for w in words]).astype(kind).reshape(shape)


def attribute(word):
    name, value = word.split('=', 1)
    if value.startswith('{'):
        body = Case('case %s 0' % name)
        for number, line in enumerate(value[1:-1].split(';')):
            body.line(line.replace('~', ' '), number)
        return name, body.graph()
    def one(v):
        if v.startswith("'"):
            return v.strip("'")
        return float(v[:-1]) if v.endswith('f') else int(v)
    if value.startswith('['):
        inner = value[1:-1]
        return name, [one(v) for v in inner.split(',')] if inner else []
    return name, one(value)


class Case:
    def __init__(self, line):
        self.name, opset, *flags = line.split()[1:]
        self.opset, self.ort = int(opset), 'ort' in flags
        self.inputs, self.feeds, self.consts, self.nodes, self.outputs = [], {}, [], [], []

    def line(self, text, number):
        kind, rest = text[0], text[2:]
        head, _, data = rest.partition(' : ')
        words = head.split()
        if kind == 'i':
            name, dtype, dims = words
            if data:
                self.feeds[name] = array(dtype, dims, data.split())
            shape = [] if dims == '-' else [int(d) for d in dims.split(',')]
            self.inputs.append(helper.make_tensor_value_info(name, DTYPES[dtype], shape))
        elif kind == 'w':
            name, dtype, dims, *values = words
            if dims.isdigit() and int(dims) == 0:
                values = []
            self.consts.append(numpy_helper.from_array(array(dtype, dims, values), name))
        elif kind == 'n':
            left, right = head.split(' -> ')
            op, ins = left.split()
            outs, *attrs = right.split()
            domain, op = op.rpartition(':')[::2]
            self.nodes.append(helper.make_node(op, ins.split(','), outs.split(','), domain=domain,
                                               **dict(attribute(a) for a in attrs)))
        elif kind == 'o':
            self.outputs.append((words[0], number, words[1:], data.split()))

    def graph(self):
        outs = [onnx.ValueInfoProto(name=o[0]) for o in self.outputs]
        return helper.make_graph(self.nodes, self.name, self.inputs, outs, self.consts)

    def run(self):
        sets = [helper.make_opsetid('', self.opset), helper.make_opsetid('ai.onnx.preview', 1)]
        model = helper.make_model(self.graph(), opset_imports=sets, ir_version=8)
        if self.ort:
            import onnxruntime
            session = onnxruntime.InferenceSession(model.SerializeToString())
        else:
            from onnx.reference import ReferenceEvaluator
            session = ReferenceEvaluator(model)
        return session.run([o[0] for o in self.outputs], self.feeds)


def spell(a):
    a = np.asarray(a)
    dims = ','.join(str(d) for d in a.shape) or '-'
    if a.dtype.kind == 'f':
        values = ' '.join('%.9g' % v for v in a.flatten().astype(np.float64))
    else:
        values = ' '.join(str(int(v)) for v in a.flatten())
    return '%s %s : %s' % (NAMES[helper.np_dtype_to_tensor_dtype(a.dtype)], dims, values)


def main():
    fill = '--fill' in sys.argv
    path = ([a for a in sys.argv[1:] if not a.startswith('-')] or ['tests/conform/opsets.txt'])[0]
    lines = open(path).read().split('\n')
    cases, bad, count = [], 0, 0
    for number, text in enumerate(lines):
        if text.startswith('case '):
            cases.append(Case(text))
        elif text and not text.startswith('#'):
            cases[-1].line(text, number)
    for c in cases:
        try:
            results = c.run()
        except Exception as e:  # one sentence per case is what is wanted here
            print('%s: %s' % (c.name, str(e).strip().split('\n')[0][:200]))
            bad += 1
            continue
        for (name, number, head, data), got in zip(c.outputs, results):
            count += 1
            if not data:
                if fill:
                    lines[number] = 'o %s %s' % (name, spell(got))
                else:
                    print('%s: %s has no elements' % (c.name, name))
                    bad += 1
                continue
            want = array(head[0], head[1], data)
            if np.asarray(got).shape != want.shape or not np.allclose(
                    np.asarray(got, np.float64), want.astype(np.float64), rtol=1e-4, atol=1e-5, equal_nan=True):
                print('%s: %s is %s' % (c.name, name, spell(got)))
                bad += 1
    if fill:
        open(path, 'w').write('\n'.join(lines))
    print('%d outputs of %d cases, %d wrong' % (count, len(cases), bad))
    return 1 if bad else 0


sys.exit(main())
