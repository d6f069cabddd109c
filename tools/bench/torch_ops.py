#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_ops.py OURS.jsonl [OUT.json] [--modes eager,...] - times PyTorch on the operators and shapes that time_eager timed.

Reads the lines of build/tests/gpu/time_eager, runs each case in PyTorch's modes (torch_modes.py) as a CUDA graph of repeated calls (so
that the host's time does not count), and prints per case: microseconds of ours and of the first mode, the share of the bandwidth that
PyTorch's copy of 1 GB (a memcpy) reaches in this process, the ratio ours / PyTorch, and with several modes the best of them and which
it was; then the geometric mean per kind and of all. OUT.json receives the same after each case. With --resume what it has is not measured
again. A mode that fails on a case is written down with its reason. Needs PyTorch and a GPU.

    build/tests/gpu/time_eager ours.jsonl && tools/bench/torch_ops.py ours.jsonl h200.json
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

import torch
import torch.nn.functional as F

from common import torch_measure, torch_modes

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
        return torch.randint(0, 512, dims, device=torch_measure.device())
    return torch.randn(dims, device=torch_measure.device(), dtype=dtype)


def repeated(call, n):
    """A function of n calls; results are kept alive in the graph's pool."""
    def calls(*args):
        return [call(*args) for _ in range(n)]
    return calls


def microseconds(call, args, target=8e-3):
    """Median over graph replays of the time of one call."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    call(*args)
    begin.record()
    for _ in range(3):
        call(*args)
    end.record()
    end.synchronize()
    one = begin.elapsed_time(end) * 1e-3 / 3
    n = max(2, min(50, int(target / one)))
    graph, kept = torch_measure.recorded(repeated(call, n), args)
    times = []
    graph.replay()
    for _ in range(5):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / n)
    del kept
    return sorted(times)[2]


def wall_microseconds(call, args):
    """On a processor: median of five, to try the tool."""
    call(*args)
    return sorted(1e6 * torch_measure.host_time(lambda _: call(*args), torch_measure.Fixed(args), 0, 0, 4) for _ in range(5))[2]


def copy_bandwidth():
    """TB/s, read and written, of copies of 1 GB on the device."""
    big = torch.zeros(1 << 28, device=torch_measure.device())
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


def measure_case(c, names, limit):
    """Adds the microseconds of each mode to the case, or why there are none."""
    args = [operand(s) for s in c["inputs"]]
    call = OPS.get(c["name"]) or library_call(c["name"])
    modes, failed = c.setdefault("modes", {}), c.setdefault("failed", {})
    torch._dynamo.reset()
    for name in [n for n in names if n not in modes and n not in failed]:
        try:
            with torch.no_grad(), torch_measure.limit(limit):
                run = torch_measure.built(name, call)
                modes[name] = microseconds(run, args) if torch_measure.on_gpu() else wall_microseconds(run, args)
        except Exception as e:  # one mode's failure is its own
            failed[name] = torch_measure.sentence(e)
            if torch_measure.is_fatal(failed[name]):
                return False
    return True


def finish(data, first, peak):
    """The figures that follow from the times; a file of before has the first mode as torch_us, too."""
    kinds = {}
    for c in data["cases"]:
        us = c.get("modes", {}).get(first)
        if not us:
            continue
        best, c["best_mode"], _ = torch_modes.best({n: {"us": t} for n, t in c["modes"].items()}, ("us",))
        c.update(torch_us=us, best_us=best, ratio=c["us"] / us, share=c["bytes"] / c["us"] / 1e6 / peak if peak else None)
        kinds.setdefault(c["kind"], []).append(c["ratio"])
    data.update(kinds={k: mean(r) for k, r in kinds.items()}, modes=sorted({m for c in data["cases"] for m in c.get("modes", {})}))
    ratios = [c["ratio"] for c in data["cases"] if "ratio" in c]
    data["all"] = mean(ratios) if ratios else None
    if len(data["modes"]) > 1 and ratios:
        data["all_best"] = mean([c["us"] / c["best_us"] for c in data["cases"] if "ratio" in c])


def write(path, data):
    if not path:
        return
    with open(path + ".tmp", "w") as f:
        json.dump(data, f, indent=1)
    os.replace(path + ".tmp", path)


def report(data):
    more = len(data["modes"]) > 1
    print(f"{data['device']}, PyTorch {data['torch']}; memcpy of 1 GB {data['memcpy_tbs'] or 0:.2f} TB/s")
    print(f"{'case':22} {'type':9} {'ours us':>9} {'torch us':>9} {'TB/s':>6} {'% copy':>6} {'ratio':>6}" + (f" {'best us':>9} {'ratio':>6}  best" if more else ""))
    kinds = {}
    for c in data["cases"]:
        for name, why in c.get("failed", {}).items():
            print(f"{c['name']:22} {c['dtype']:9} {name} failed: {why}")
        if "ratio" not in c:
            continue
        kinds.setdefault(c["kind"], []).append(c["ratio"])
        print(f"{c['name']:22} {c['dtype']:9} {c['us']:9.1f} {c['torch_us']:9.1f} {c['bytes'] / c['us'] / 1e6:6.2f} {100 * (c['share'] or 0):6.1f} {c['ratio']:6.2f}"
              + (f" {c['best_us']:9.1f} {c['us'] / c['best_us']:6.2f}  {c['best_mode']}" if more else ""))
    print()
    for kind, ratios in kinds.items():
        print(f"{kind:22} {len(ratios):3} cases, geometric mean {mean(ratios):.3f}, worst {max(ratios):.2f}")
    if data["all"]:
        print(f"{'all':22} {sum(map(len, kinds.values())):3} cases, geometric mean {data['all']:.3f}" + (f", over the best {data['all_best']:.3f}" if more else ""))


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("ours")
    p.add_argument("out", nargs="?")
    p.add_argument("--modes", default="eager", type=torch_modes.parse)
    p.add_argument("--limit", type=float, default=300, help="seconds that a mode may take on a case")
    p.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    p.add_argument("--resume", action="store_true")
    o = p.parse_args()
    parts = torch_modes.groups(o.modes)
    if len(parts) > 1:  # PyTorch keeps cuDNN's choices: a process for each
        if not o.out:
            sys.exit("torch_ops: modes with cuDNN's search and without it are measured in two processes; name OUT.json, where they meet.")
        rest = [sys.executable, os.path.abspath(__file__), o.ours, o.out, "--limit", str(o.limit), "--device", o.device]
        codes = [subprocess.call(rest + ["--modes", ",".join(part)] + ["--resume"] * (o.resume or k > 0)) for k, part in enumerate(parts)]
        return max(codes)
    torch_measure.use(o.device)
    torch_measure.prepare(o.modes)
    with open(o.ours) as f:
        cases = [json.loads(line) for line in f]
    data = {**torch_measure.about(), "memcpy_tbs": copy_bandwidth() if torch_measure.on_gpu() else None, "cases": cases}
    if o.resume and o.out and os.path.exists(o.out):
        with open(o.out) as f:
            old = json.load(f)
        if old["device"] != data["device"] or old["torch"] != data["torch"]:
            sys.exit(f"torch_ops: {o.out} is of {old['device']} with PyTorch {old['torch']}; name another file.")
        have = {(c["name"], c["dtype"]): c for c in old["cases"]}
        data["cases"] = [have.get((c["name"], c["dtype"]), c) for c in cases]
    first = "eager" if any("eager" in c.get("modes", {}) for c in data["cases"]) else o.modes[0]
    for c in data["cases"]:
        alive = measure_case(c, o.modes, o.limit)
        finish(data, first, data["memcpy_tbs"])
        write(o.out, data)
        if not alive:
            sys.exit(f"torch_ops: {c['name']} ended with a CUDA error; the same line with --resume goes on behind it.")
        if torch_measure.on_gpu():
            torch.cuda.empty_cache()
    report(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
