#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the cases beside it: models with model-local functions, in the layout of ONNX's backend tests.

Expected outputs come from ONNX Runtime or onnx.reference, which have to agree where both run a model; for three cases that
not both read as ONNX defines them (operators of a function's own opset, omitted operands, overloads) they are spelt out in
numpy. Needs onnx and onnxruntime; run it only to change the cases.
"""
import os

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

HERE = os.path.dirname(os.path.abspath(__file__))
F = T.FLOAT


def ref(node, **names):
    """Makes attributes of a node references to the function's."""
    kinds = {"f": onnx.AttributeProto.FLOAT, "i": onnx.AttributeProto.INT, "is": onnx.AttributeProto.INTS,
             "s": onnx.AttributeProto.STRING, "t": onnx.AttributeProto.TENSOR}
    for attr, (kind, target) in names.items():
        node.attribute.append(onnx.AttributeProto(name=attr, ref_attr_name=target, type=kinds[kind]))
    return node


def fn(name, ins, outs, nodes, attrs=(), defaults=(), opset=18, domain="my", extra=()):
    sets = [h.make_opsetid("", opset), h.make_opsetid("my", 1), *extra]
    return h.make_function(domain, name, ins, outs, nodes, sets, list(attrs), list(defaults))


def n(op, i, o, domain="", **attrs):
    return h.make_node(op, i.split(), o.split(), domain=domain, **attrs)


def call(op, i, o, domain="my", **attrs):
    return h.make_node(op, i, o, domain=domain, **attrs)


def model(nodes, ins, outs, functions, opset=18, ir=8, init=(), extra=()):
    g = h.make_graph(nodes, "main", [h.make_tensor_value_info(k, F, s) for k, s in ins],
                     [h.make_tensor_value_info(k, F, s) for k, s in outs], initializer=list(init))
    return h.make_model(g, functions=functions, ir_version=ir,
                        opset_imports=[h.make_opsetid("", opset), h.make_opsetid("my", 1), *extra])


def nested():
    """Three levels; an attribute handed down under other names, a default in the middle, one overridden."""
    inner = fn("Inner", ["x"], ["y"], [ref(n("LeakyRelu", "x", "t"), alpha=("f", "slope")),
                                      ref(n("Elu", "t", "y"), alpha=("f", "sharp"))], ["slope", "sharp"])
    middle = fn("Middle", ["x"], ["z"], [ref(call("Inner", ["x"], ["t"]), slope=("f", "a"), sharp=("f", "b")),
                                         n("Add", "t x", "z")], ["a"], [h.make_attribute("b", 0.25)])
    outer = fn("Outer", ["x"], ["r", "s"], [ref(call("Middle", ["x"], ["r"]), a=("f", "k")),
                                            call("Middle", ["r"], ["s"], a=2.0, b=3.0)], ["k"])
    return model([call("Outer", ["x"], ["y", "z"], k=0.5)], [("x", [2, 3])], [("y", [2, 3]), ("z", [2, 3])],
                 [outer, middle, inner])


def clashes():
    """Names of a body are those of the caller's values, in other places; called three times, nodes unnamed or
    of one name."""
    f = fn("F", ["y", "x"], ["t", "u"], [n("Sub", "y x", "z"), n("Mul", "z y", "t"), n("Neg", "z", "u")])
    nodes = [call("F", ["x", "w"], ["t", "u"], name="same"), call("F", ["u", "t"], ["z", "v"], name="same"),
             call("F", ["z", "z"], ["t/z", "y"]), n("Sum", "t v y t/z", "same/z")]
    return model(nodes, [("x", [3]), ("w", [3])], [("same/z", [3]), ("y", [3])], [f])


def own_opset():
    """A function of opset 11 in a model of opset 18: Squeeze with an attribute, Softmax over all from `axis`."""
    f = fn("Old", ["x"], ["y"], [n("Squeeze", "x", "s", axes=[1]), n("Softmax", "s", "y", axis=1)], opset=11)
    g = fn("New", ["x"], ["y"], [n("Softmax", "x", "y", axis=1)], opset=18)
    return model([call("Old", ["x"], ["y"]), call("New", ["y"], ["z"])], [("x", [2, 1, 3, 4])],
                 [("y", [2, 3, 4]), ("z", [2, 3, 4])], [f, g])


def omitted():
    """Operands left out at the end and in the middle, results not taken."""
    f = fn("F", ["x", "lo", "hi"], ["y", "n", "m"], [n("Clip", "x lo hi", "y"), n("Neg", "y", "n"), n("Abs", "x", "m")])
    nodes = [call("F", ["x", "c"], ["a"]), call("F", ["x", "", "c"], ["b", "", "m"])]
    return model(nodes, [("x", [5])], [("a", [5]), ("b", [5]), ("m", [5])], [f],
                 init=[numpy_helper.from_array(np.float32(0.5), "c")])


def passed_through():
    """A result that is an operand, and one value as two results, as outputs of the model."""
    f = fn("F", ["x"], ["x", "y", "z"], [n("Relu", "x", "y"), n("Identity", "y", "z")])
    g = fn("G", ["a", "b"], ["b", "a"], [n("Relu", "a", "unused")])
    nodes = [call("F", ["x"], ["p", "q", "r"]), call("G", ["p", "q"], ["s", "t"])]
    return model(nodes, [("x", [4])], [(k, [4]) for k in ("p", "q", "r", "s", "t")], [f, g])


def domains():
    """One name in two domains, and a function that shadows nothing of the default domain."""
    a = fn("Relu", ["x"], ["y"], [n("Neg", "x", "y")])
    b = fn("Relu", ["x"], ["y"], [n("Exp", "x", "t"), n("Relu", "t", "u"), call("Relu", ["u"], ["y"])], domain="other")
    nodes = [n("Relu", "x", "a"), call("Relu", ["x"], ["b"]), call("Relu", ["x"], ["c"], "other")]
    return model(nodes, [("x", [4])], [(k, [4]) for k in "abc"], [a, b], extra=[h.make_opsetid("other", 1)])


def kinds():
    """References to attributes of every kind: ints, int, string, tensor."""
    f = fn("F", ["x"], ["y"], [
        ref(n("Transpose", "x", "t"), perm=("is", "order")),
        ref(n("Constant", "", "c"), value=("t", "addend")),
        n("Add", "t c", "s"),
        ref(n("Concat", "s s", "d"), axis=("i", "where")),
        n("Constant", "", "pads", value_ints=[0, 1, 0, 1]),
        ref(n("Pad", "d pads", "y"), mode=("s", "how"))], ["order", "addend", "where", "how"])
    t = numpy_helper.from_array(np.array([[1, 2]], np.float32))
    return model([call("F", ["x"], ["y"], order=[1, 0], addend=t, where=0, how="reflect")], [("x", [2, 3])],
                 [("y", [6, 4])], [f])


def overloads():
    """Two functions of one name (IR version 10), told apart by their overload."""
    fs = []
    for o, op in (("plus", "Add"), ("times", "Mul")):
        f = fn("F", ["x"], ["y"], [n(op, "x x", "y")])
        f.overload = o
        fs.append(f)
    nodes = [call("F", ["x"], ["a"]), call("F", ["x"], ["b"])]
    nodes[0].overload, nodes[1].overload = "times", "plus"
    return model(nodes, [("x", [3])], [("a", [3]), ("b", [3])], fs, ir=10)


def own_opset_expected(x):
    """Softmax of opset 11 normalises over all dimensions from `axis` on, that of 13 over one."""
    e = np.exp(x.reshape(2, 12))
    y = (e / e.sum(1, keepdims=True)).reshape(2, 3, 4)
    return [y, np.exp(y) / np.exp(y).sum(1, keepdims=True)]


def omitted_expected(x):
    return [np.maximum(x, 0.5), np.minimum(x, 0.5), np.abs(x)]


def overloads_expected(x):
    return [x * x, x + x]


SPELT_OUT = {own_opset: own_opset_expected, omitted: omitted_expected, overloads: overloads_expected}


def main():
    for make in (nested, clashes, own_opset, omitted, passed_through, domains, kinds, overloads):
        m = make()
        rng = np.random.default_rng(7)
        feed = {i.name: rng.standard_normal([d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
                for i in m.graph.input}
        note = ""
        try:
            onnx.checker.check_model(m)
        except Exception as e:
            note += f" checker: {str(e)[:80]}"
        want = SPELT_OUT[make](*feed.values()) if make in SPELT_OUT else None
        try:
            want = want or ReferenceEvaluator(m).run(None, feed)
        except Exception as e:
            note += f" reference: {str(e)[:200]}"
        try:
            got = want if make is overloads else ort.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feed)
            want = want or got
            for a, b in zip(want, got):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        except AssertionError:
            raise
        except Exception as e:
            note += f" ort: {str(e)[:200]}"
        folder = f"{HERE}/{make.__name__}/test_data_set_0"
        os.makedirs(folder, exist_ok=True)
        onnx.save(m, f"{HERE}/{make.__name__}/model.onnx")
        for kind, names, values in (("input", feed.keys(), feed.values()),
                                    ("output", [o.name for o in m.graph.output], want)):
            for k, (name, v) in enumerate(zip(names, values)):
                with open(f"{folder}/{kind}_{k}.pb", "wb") as f:
                    f.write(numpy_helper.from_array(np.asarray(v, np.float32), name).SerializeToString())
        print(make.__name__, "ok" + note)


if __name__ == "__main__":
    main()
