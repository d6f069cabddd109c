#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_ops.py OURS.jsonl [OUT.json] - times PyTorch eager on the operators and shapes that time_eager timed.

Reads the lines of build/tests/gpu/time_eager, runs each case in PyTorch as a CUDA graph of repeated calls (so that
the host's time does not count), and prints per case: microseconds of both, the share of the bandwidth that PyTorch's
copy of 1 GB (a memcpy) reaches in this process, and the ratio ours / PyTorch; then the geometric mean per kind and of
all. OUT.json receives the same. Needs PyTorch and a GPU.

    build/tests/gpu/time_eager ours.jsonl && tools/bench/torch_ops.py ours.jsonl h200.json
"""
import json
import math
import re
import sys

import torch
import torch.nn.functional as F

TYPES = {"float": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16, "int64": torch.int64}

OPS = {
    "copy 256MB": lambda x: x.clone(),
    "copy 16MB": lambda x: x.clone(),
    "slice rows aligned": lambda x: x[:, 512:3584].contiguous(),
    "slice rows odd": lambda x: x[:, 1:4002].contiguous(),
    "transpose 021": lambda x: x.transpose(1, 2).contiguous(),
    "transpose 0213": lambda x: x.permute(0, 2, 1, 3).contiguous(),
    "transpose 0231": lambda x: x.permute(0, 2, 3, 1).contiguous(),
    "transpose odd": lambda x: x.transpose(1, 2).contiguous(),
    "add 256MB": torch.add,
    "add 4MB": torch.add,
    "relu 256MB": torch.relu,
    "gelu 256MB": F.gelu,
    "gelu 3MB": F.gelu,
    "sigmoid 256MB": torch.sigmoid,
    "mul chain": lambda x, z: x * z * z * x,
    "gelu permuted": lambda x: F.gelu(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).contiguous(),
    "add transposed": lambda x, z: z + x.transpose(1, 2),
    "relu slices": lambda x: torch.relu(x[:, 1024:3072]),
    "relu every other": lambda x: torch.relu(x[:, ::2]),
    "bias add 256MB": torch.add,
    "column mul 256MB": torch.mul,
    "channel mul": torch.mul,
    "mask add": torch.add,
    "mask add odd": torch.add,
    "softmax 512": lambda x: torch.softmax(x, 1),
    "softmax 197": lambda x: torch.softmax(x, 1),
    "softmax 32000": lambda x: torch.softmax(x, 1),
    "softmax 50257": lambda x: torch.softmax(x, 1),
    "softmax channels": lambda x: torch.softmax(x, 1),
    "logsoftmax 1000": lambda x: torch.log_softmax(x, 1),
    "layer norm 768": lambda x, s, b: F.layer_norm(x, (768,), s, b),
    "layer norm 4096": lambda x, s, b: F.layer_norm(x, (4096,), s, b),
    "group norm 32": lambda x, s, b: F.group_norm(x, 32, s, b),
    "instance norm": lambda x, s, b: F.instance_norm(x, weight=s, bias=b),
    "batch norm": lambda x, s, b, m, v: F.batch_norm(x, m, v, s, b),
    "batch norm 7x7": lambda x, s, b, m, v: F.batch_norm(x, m, v, s, b),
    "mean rows 768": lambda x: x.mean(1, True),
    "mean tokens": lambda x: x.mean(1),
    "sum all": lambda x: x.sum(),
    "sum columns": lambda x: x.sum(0),
    "max planes": lambda x: x.amax((2, 3), True),
    "global average pool": lambda x: F.adaptive_avg_pool2d(x, 1),
    "sum channels": lambda x: x.sum((0, 2, 3)),
    "argmax 32000": lambda x: x.argmax(1),
    "cumsum rows": lambda x: x.cumsum(1),
    "max pool 3x3": lambda x: F.max_pool2d(x, 3, 2, 1),
    "average pool 2x2": lambda x: F.avg_pool2d(x, 2, 2),
    "concat channels": lambda x, z: torch.cat((x, z), 1),
    "concat rows": lambda x, z, w: torch.cat((x, z, w), 1),
    "concat odd": lambda x, z: torch.cat((x, z), 1),
    "embedding": lambda x, i: F.embedding(i, x),
    "gather columns": lambda x, i: x.index_select(1, i),
    "pad planes": lambda x: F.pad(x, (1, 1, 1, 1)),
    "resize nearest": lambda x: F.interpolate(x, scale_factor=2.0, mode="nearest"),
    "resize linear": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False),
    "depthwise 3x3 64x64": lambda x, w: F.conv2d(x, w, padding=1, groups=1024),
    "depthwise 3x3 32x32": lambda x, w: F.conv2d(x, w, padding=1, groups=1280),
    "depthwise 5x5 14x14": lambda x, w: F.conv2d(x, w, padding=2, groups=128),
    "depthwise 7x7 56x56": lambda x, w: F.conv2d(x, w, padding=3, groups=96),
    "depthwise 3x3 halved": lambda x, w: F.conv2d(x, w, stride=2, padding=1, groups=144),
    "depthwise 3 of 4001": lambda x, w: F.conv1d(x, w, padding=1, groups=512),
    "conv 1x1 56x56": F.conv2d,
    "conv 3x3 14x14": lambda x, w: F.conv2d(x, w, padding=1),
    "conv 16x16 patches": lambda x, w: F.conv2d(x, w, stride=16),
    "conv 1x1 of one pixel": F.conv2d,
    "product 200 1000 32": torch.matmul,
    "product 200 32 1000": torch.matmul,
    "product 197 768 768": torch.matmul,
    "product heads": torch.matmul,
    "product one row": torch.matmul,
    "product 1024": torch.matmul,
}


def library_call(name):
    """What a case "call ..." or "phases" of time_eager does: a convolution described by its name, or a product."""
    m = re.match(r"(?:call |convolution )?(transposed )?\d+(?:x\d+)* s(\d+) p(\d+)(?: o(\d+))?(?: g(\d+))? ", name)
    if m:
        stride, padding, output_padding, groups = (int(v or d) for v, d in zip(m.groups()[1:], (1, 0, 0, 1)))
        more = {"output_padding": output_padding} if m.group(1) else {}

        def conv(x, *a):
            f = getattr(F, f"conv{'_transpose' if m.group(1) else ''}{x.dim() - 2}d")
            return f(x, *a, stride=stride, padding=padding, groups=groups, **more)
        return conv
    if "einsum" in name:
        return lambda *a: torch.einsum(name.split()[-1], *a)
    return (lambda x, w, b: F.linear(x, w, b)) if "gemm" in name else torch.matmul


def operand(spec):
    dtype, dims = TYPES[spec[0]], spec[1:]
    if dtype == torch.int64:
        return torch.randint(0, 512, dims, device="cuda")
    return torch.randn(dims, device="cuda", dtype=dtype)


def microseconds(call, args, target=8e-3):
    """Median over graph replays of the time of one call; results are kept alive in the graph's pool."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            call(*args)
        side.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(3):
        call(*args)
    end.record()
    end.synchronize()
    one = begin.elapsed_time(end) * 1e-3 / 3
    n = max(2, min(50, int(target / one)))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            call(*args)
    times = []
    graph.replay()
    for _ in range(5):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / n)
    return sorted(times)[2]


def copy_bandwidth():
    """TB/s, read and written, of copies of 1 GB on the device."""
    big = torch.zeros(1 << 28, device="cuda")
    other = torch.empty_like(big)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    best = 0.0
    for _ in range(10):
        begin.record()
        for _ in range(20):
            other.copy_(big)
        end.record()
        end.synchronize()
        best = max(best, 2 * big.nbytes * 20 / begin.elapsed_time(end) / 1e9)
    return best


def mean(ratios):
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        cases = [json.loads(line) for line in f]
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    peak = copy_bandwidth()
    print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}; memcpy of 1 GB {peak:.2f} TB/s")
    print(f"{'case':22} {'type':9} {'ours us':>9} {'torch us':>9} {'TB/s':>6} {'% copy':>6} {'ratio':>6}")
    kinds = {}
    for c in cases:
        args = [operand(s) for s in c["inputs"]]
        with torch.no_grad():
            c["torch_us"] = microseconds(OPS.get(c["name"]) or library_call(c["name"]), args)
        c["ratio"] = c["us"] / c["torch_us"]
        c["share"] = c["bytes"] / c["us"] / 1e6 / peak
        kinds.setdefault(c["kind"], []).append(c["ratio"])
        print(f"{c['name']:22} {c['dtype']:9} {c['us']:9.1f} {c['torch_us']:9.1f} "
              f"{c['bytes'] / c['us'] / 1e6:6.2f} {100 * c['share']:6.1f} {c['ratio']:6.2f}")
        del args
        torch.cuda.empty_cache()
    print()
    for kind, ratios in kinds.items():
        print(f"{kind:22} {len(ratios):3} cases, geometric mean {mean(ratios):.3f}, worst {max(ratios):.2f}")
    total = mean([c["ratio"] for c in cases])
    print(f"{'all':22} {len(cases):3} cases, geometric mean {total:.3f}")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as f:
            json.dump({"device": torch.cuda.get_device_name(0), "torch": torch.__version__, "memcpy_tbs": peak,
                       "kinds": {k: mean(r) for k, r in kinds.items()}, "all": total, "cases": cases}, f, indent=1)


if __name__ == "__main__":
    main()
