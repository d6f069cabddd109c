#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# onnx_cases.py - writes the node tests of the installed `onnx` package as folders for `passmith conform`.
#
#   tools/bench/onnx_cases.py OUT
#   tools/bench/onnx_cases.py --counts REF.json EMU.json > docs/results/onnx_release.json
#
# Each case is OUT/NAME/model.onnx with its inputs and outputs in test_data_set_0, test_data_set_1, ... Needs Python
# with the package onnx from PyPI, which nothing else in this project does. Prints the release and the number of
# cases; exits 1 when one could not be written. --counts takes what `passmith conform OUT --device ref --json` and the
# same with emu said, and writes the data of docs/results/onnx-release.md.
import datetime
import json
import pathlib
import re
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


def counted(row):
    return row["passed"] + row["failed"] + row["unsupported"]


def counts(ref, emu):
    """The data of the page, of what `passmith conform` said of each device."""
    keys = ("passed", "failed", "unsupported", "excluded")
    said = {"ref": json.loads(pathlib.Path(ref).read_text()), "emu": json.loads(pathlib.Path(emu).read_text())}
    on_emu = {row["op"]: row for row in said["emu"]["ops"]}
    rows = [(row, on_emu[row["op"]]) for row in said["ref"]["ops"]]
    return {
        "date": datetime.date.today().isoformat(),
        "release": f"onnx {onnx.__version__}",
        "command": [
            "tools/bench/onnx_cases.py cases",
            "passmith conform cases --device ref --json",
            "passmith conform cases --device emu --json",
        ],
        "what": "totals of each device; of the operators that do not pass all cases: cases that count, passed on ref, passed on emu",
        "devices": {device: {key: j[key] for key in keys} for device, j in said.items()},
        "operators": [
            [r["op"], counted(r), r["passed"], e["passed"]]
            for r, e in rows
            if min(r["passed"], e["passed"]) < counted(r)
        ],
    }


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--counts":
        text = json.dumps(counts(sys.argv[2], sys.argv[3]), indent=1)
        print(re.sub(r"\[\s+([^\[\]]+?)\s+\](?=,?\n  ?[\[\]])", lambda m: "[" + re.sub(r"\s+", " ", m[1]) + "]", text))
        return
    if len(sys.argv) != 2:
        sys.exit("usage: tools/bench/onnx_cases.py OUT | --counts REF.json EMU.json")
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
