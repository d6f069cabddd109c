#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# narrow_golden.py - writes tests/golden/narrow: what element types of 8, 6, 4 and 2 bits mean, by other people's code.
#
#   tools/gen/narrow_golden.py tests/golden/narrow
#
# Needs the Python packages onnx (1.23) and ml_dtypes, which nothing else in this project does. Three files:
#   decode.txt   TYPE PATTERN NUMBER     each pattern of each floating-point type; numbers as C prints them with %a
#   encode.txt   TYPE MODE FLOAT PATTERN PATTERN  floats (as the 8 hexadecimal digits of their bits) and what they
#                become without and with Cast's `saturate`; MODE is its `round_mode`, which counts for float8e8m0 alone
#   tensors.txt  TYPE COUNT BYTES PATTERN...  TensorProto messages, in hexadecimal, and their elements
# Floats are the numbers of the type, the middle between neighbours, the floats beside both, limits, and random ones.
import pathlib
import random
import sys

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOATS = {
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
}
INTS = {"int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4, "int2": ml_dtypes.int2, "uint2": ml_dtypes.uint2}
BITS = {name: int("".join(c for c in name.replace("float", "").replace("uint", "").replace("int", "") if c.isdigit())[:1])
        for name in [*FLOATS, *INTS]}


def patterns(name):
    return np.arange(1 << BITS[name], dtype=np.uint8)


def numbers(name):
    return patterns(name).view(FLOATS[name]).astype(np.float64)


def decode(out):
    for name in FLOATS:
        for pattern, number in zip(patterns(name), numbers(name)):
            out.append(f"{name} {pattern:02x} {'nan' if np.isnan(number) else float(number).hex()}")


def beside(values):
    values = np.asarray(values, dtype=np.float32)
    return [values, np.nextafter(values, np.float32(np.inf)), np.nextafter(values, np.float32(-np.inf))]


def samples(name):
    finite = np.unique(numbers(name)[np.isfinite(numbers(name))])
    draw = random.Random(name)
    picked = [v for k, v in enumerate(finite) if v >= 0 or k % 8 == 0]
    middles = [(a + b) / 2 for a, b in zip(finite, finite[1:]) if a >= 0 or draw.random() < 0.125]
    top = float(finite[-1])
    step = top - float(finite[-2])
    limits = [top + step / 2, -(top + step / 2), top * 2, top * 16, -top * 16, 3e38, -3e38, float(finite[finite > 0][0]) / 2,
              float(finite[finite > 0][0]) / 4, 1e-38, -1e-38, 1e-44]
    drawn = [draw.choice((1, -1)) * draw.uniform(1, 2) * 2.0 ** draw.uniform(np.log2(step) - 12, np.log2(top) + 1)
             for _ in range(100)]
    with np.errstate(over="ignore"):
        values = np.concatenate([np.asarray(picked, dtype=np.float32), *beside(middles), *beside(limits), np.asarray(drawn, dtype=np.float32),
                                 np.asarray([0, -0.0, np.inf, -np.inf, np.nan], dtype=np.float32)])
    return np.unique(values.view(np.uint32)).view(np.float32)


def encode_lines(out, name, mode, values, without, saturated):
    for value, no, yes in zip(values.view(np.uint32), without.view(np.uint8), saturated.view(np.uint8)):
        out.append(f"{name} {mode} {value:08x} {no:02x} {yes:02x}")


def encode(out):
    for name, dtype in FLOATS.items():
        if name == "float8e8m0":
            continue
        values = samples(name)
        with np.errstate(over="ignore", invalid="ignore"):
            saturated = numpy_helper.saturate_cast(values, np.dtype(dtype)).astype(dtype)
            encode_lines(out, name, "nearest", values, values.astype(dtype), saturated)


def encode_powers(out):
    """float8e8m0: positive normal numbers, where ONNX's function and its table of special values agree."""
    draw = random.Random("float8e8m0")
    picked = [1.0, 2.0, 3.0, 0.75, 1.5, 0.1, 2.0**-126, 2.0**-125, 2.0**127, 1.25 * 2.0**127, 3.4e38]
    picked += [draw.uniform(1, 2) * 2.0 ** draw.randint(-125, 127) for _ in range(60)]
    picked += [(1.5 if k % 2 else 1.0) * 2.0 ** draw.randint(-120, 120) for k in range(40)]
    values = np.concatenate(beside(picked))
    values = np.unique(values[(values >= np.float32(2.0**-126)) & np.isfinite(values)])
    for mode in ("up", "down", "nearest"):
        made = [numpy_helper.to_float8e8m0(values, saturate, mode) for saturate in (False, True)]
        encode_lines(out, "float8e8m0", mode, values, *made)


def tensors(out):
    for name, dtype in (FLOATS | INTS).items():
        number = getattr(onnx.TensorProto, name.upper())
        for count in (1, 2, 3, 4, 5, 7, 8, 21):
            bits = np.asarray([(7 * k + count) % (1 << BITS[name]) for k in range(count)], dtype=np.uint8)
            array = bits.view(dtype) if name in FLOATS else np.asarray(
                [int(b) - (1 << BITS[name] if name[0] == "i" and b >> (BITS[name] - 1) else 0) for b in bits]).astype(dtype)
            raw = numpy_helper.from_array(array, "t")
            typed = helper.make_tensor("t", number, [count], array.astype(np.float32).tolist())
            for message in (raw, typed):
                if not np.array_equal(numpy_helper.to_array(message).astype(np.float32), array.astype(np.float32), equal_nan=True):
                    sys.exit(f"{name}: onnx does not read its own tensor")
                if message is typed and np.isnan(array.astype(np.float32)).any():
                    continue  # the payload of a NaN is lost on the way through a list of numbers
                out.append(f"{name} {count} {message.SerializeToString().hex()} " + " ".join(f"{b:02x}" for b in bits))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tools/gen/narrow_golden.py OUT")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, fill in (("decode", (decode,)), ("encode", (encode, encode_powers)), ("tensors", (tensors,))):
        lines = []
        for one in fill:
            one(lines)
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
        print(f"{name}.txt: {len(lines)} lines, onnx {onnx.__version__}, ml_dtypes {ml_dtypes.__version__}")


if __name__ == "__main__":
    main()
