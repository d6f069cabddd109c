#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# onnx_cases.py - writes the node tests of the installed `onnx` package as folders for `passmith conform`.
#
#   tools/bench/onnx_cases.py OUT
#
# Each case is OUT/NAME/model.onnx with its inputs and outputs in test_data_set_0, test_data_set_1, ... Needs Python
# with the package onnx from PyPI, which nothing else in this project does. Prints the release and the number of
# cases; exits 1 when one could not be written.
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def message(value, info):
    """The value of an input or output as the message that its type asks for."""
    kind = info.type.WhichOneof("value")
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value
    if kind == "tensor_type":
        return numpy_helper.from_array(np.asarray(value), info.name)
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    raise ValueError(f"'{info.name}' is of the kind {kind}")


def write(case, folder):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(case.model, folder / "model.onnx")
    graph = case.model.graph
    for number, (inputs, outputs) in enumerate(case.data_sets or []):
        data = folder / f"test_data_set_{number}"
        data.mkdir(exist_ok=True)
        for kind, values, infos in (("input", inputs, graph.input), ("output", outputs, graph.output)):
            if isinstance(values, dict):
                values = [values.get(info.name) for info in infos]
            for k, (value, info) in enumerate(zip(values, infos)):
                (data / f"{kind}_{k}.pb").write_bytes(message(value, info).SerializeToString())


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tools/bench/onnx_cases.py OUT")
    out, cases, bad = pathlib.Path(sys.argv[1]), collect_testcases(None), 0
    for case in cases:
        try:
            write(case, out / case.name)
        except (ValueError, TypeError, AttributeError) as why:
            print(f"{case.name}: {why}", file=sys.stderr)
            bad += 1
    print(f"onnx {onnx.__version__}: {len(cases) - bad} of {len(cases)} cases in {out}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
