#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""import_kernelbench.py PROBLEM... -o DIR [--root DIR] [--uids FILE] [--train] [--time-limit S] [--seed N] [--json FILE] - exports PyTorch problems to ONNX.

PROBLEM is a file in KernelBench's layout (class Model, get_inputs, get_init_inputs), a folder in GraphNet's (model.py,
weight_meta.py and input_meta.py, which `passmith task export --torch` writes too), or a folder that holds any of them.
level2/9_name.py becomes DIR/level2__9_name.onnx: `passmith task from` reads suite and level from that name.
PROBLEM may be a list of PassBench as well, FILE.txt or FILE.csv, or a folder of its tasks: passbench_lists.py says which
forms there are. Its paths begin in the list's folder, in one above it, or where --root says. samples/timm/net becomes
DIR/samples__timm__net.onnx. Types and shapes are those of the folder. Graphs that are one task are a line of
DIR/groups.txt: NAME<TAB>MODEL,MODEL,...<TAB>how many the list names. `passmith task from --groups` reads it.

Weights are not shipped. They become inputs, with statistics in the metadata entry tensor_stats; an input that comes from
torch.rand is said to be uniform. Models are exported in eval mode, with the seed set; with --train in training mode, where
BatchNorm is mean and variance of the batch, written out. What draws random numbers in training mode has no single answer
and is left out. Each problem has a process and a time limit of its own: one that hangs or crashes is a row of the table. Needs
PyTorch, onnx and onnxscript; no GPU. Exit code 1: a problem was not exported.

    tools/bench/import_kernelbench.py KernelBench/level1 -o onnx
    passmith task from onnx/*.onnx --db work.db
"""
import argparse
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys

from passbench_lists import Group, Lists, Problem

SAMPLE = 1 << 20  # elements that statistics are taken from
MAX_CONST = 64  # elements of a constant that stays in the graph
OPSET = 18


def find_problems(paths, lists):
    """A Problem or a Group for each that is found; a folder with model.py is a problem, one with graph_list.txt a group."""
    for path in paths:
        if path.endswith((".txt", ".csv")):
            yield from lists.read(path)
            continue
        if os.path.isfile(path):
            yield Problem(name_of(path), path, "")
            continue
        for at, dirs, files in os.walk(path):
            dirs.sort()
            if "graph_list.txt" in files:
                dirs.clear()
                yield lists.task(at)
            elif "model.py" in files and "weight_meta.py" in files:
                dirs.clear()
                yield Problem(os.path.basename(os.path.normpath(at)), at, "")
            else:
                for f in sorted(files):
                    if f.endswith(".py") and f != "__init__.py":
                        yield Problem(name_of(os.path.join(at, f)), os.path.join(at, f), "")


def name_of(path):
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    is_level = folder.startswith("level") and folder[5:].isdigit()
    return folder + "__" + stem if is_level else stem


# ---- in the process of one problem ----


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def watch_rand(torch, uniform):
    """Notes the memory of what torch.rand and rand_like give; views of it are uniform as well."""
    for f in ("rand", "rand_like"):
        plain = getattr(torch, f)

        def noted(*args, plain=plain, **kwargs):
            t = plain(*args, **kwargs)
            uniform[t.untyped_storage().data_ptr()] = t
            return t

        setattr(torch, f, noted)


def decompose_batch_norm(torch):
    """In training mode BatchNorm is plain operators: mean and variance of the batch. Running statistics are left alone."""
    plain = torch.nn.functional.batch_norm

    def batch_norm(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
        if not training:
            return plain(x, running_mean, running_var, weight, bias, False, momentum, eps)
        others = [d for d in range(x.dim()) if d != 1]
        shape = [x.shape[1] if d == 1 else 1 for d in range(x.dim())]
        centred = x - x.mean(others, keepdim=True)
        y = centred / torch.sqrt((centred * centred).mean(others, keepdim=True) + eps)
        y = y if weight is None else y * weight.reshape(shape)
        return y if bias is None else y + bias.reshape(shape)

    torch.nn.functional.batch_norm = batch_norm


def into_training(torch, model):
    decompose_batch_norm(torch)
    for m in model.modules():
        if isinstance(m, torch.nn.modules.batchnorm._BatchNorm):
            m.num_batches_tracked = None  # counting batches would be a result
    return model.train()


def refuse_random(torch, model, args):
    """Dropout in training mode draws numbers: the same inputs have to give the same results."""
    before = torch.get_rng_state()
    with torch.no_grad():
        model(*args)
    if not torch.equal(before, torch.get_rng_state()):
        raise ValueError("The model draws random numbers, as Dropout does in training mode; its results have to follow from its "
                         "inputs. Export it in eval mode, or without that layer.")


def kernelbench(torch, path, uniform):
    m = load(path, "problem")
    for need in ("Model", "get_inputs", "get_init_inputs"):
        if not hasattr(m, need):
            raise ValueError(f"The file has no {need}; it is not in KernelBench's layout.")
    model = m.Model(*m.get_init_inputs())
    watch_rand(torch, uniform)  # weights are none of its business
    return model, m.get_inputs()


def tensor_of(torch, meta):
    dtype = getattr(torch, meta.dtype.rsplit(".", 1)[-1])
    data = getattr(meta, "data", None)
    if data is not None:
        return torch.tensor(data, dtype=dtype).reshape(meta.shape)
    if not dtype.is_floating_point:
        low, high = getattr(meta, "min_val", None), getattr(meta, "max_val", None)
        return torch.randint(int(low or 0), int(high if high is not None else 1) + 1, meta.shape).to(dtype)
    return (torch.randn(meta.shape) * (getattr(meta, "std", None) or 0) + (getattr(meta, "mean", None) or 0)).to(dtype)


def read_metas(folder):
    metas = {}
    for f in ("weight_meta.py", "input_meta.py"):
        if os.path.exists(os.path.join(folder, f)):
            for v in vars(load(os.path.join(folder, f), f[:-3])).values():
                if inspect.isclass(v) and hasattr(v, "name"):
                    metas[v.name] = v
    return metas


def operand_of(torch, meta, parameter):
    t = tensor_of(torch, meta)
    return int(t) if parameter.annotation in (torch.SymInt, int) else t


def under_autocast(torch, model, args):
    """The model as it was captured: where float beside a 16-bit type does not run, it came from autocast, which the text of a
    sample does not hold. The export then has a Cast wherever autocast converts."""
    kinds = {a.dtype for a in args if torch.is_tensor(a)} & {torch.float32, torch.float16, torch.bfloat16}
    if torch.float32 not in kinds or len(kinds) != 2:
        return model
    try:
        with torch.no_grad():
            model(*args)
        return model
    except RuntimeError:
        half = (kinds - {torch.float32}).pop()

    class Captured(torch.nn.Module):
        def forward(self, *operands):
            with torch.autocast("cpu", dtype=half):
                return model(*operands)

    return Captured()


def graphnet(torch, folder):
    if not os.path.exists(os.path.join(folder, "model.py")):
        raise ValueError(f"There is no model.py in {folder}; a line of a list names a folder of GraphNet.")
    metas = read_metas(folder)
    m = load(os.path.join(folder, "model.py"), "model")
    if not hasattr(m, "GraphModule"):
        raise ValueError("model.py has no class GraphModule; it is no sample of GraphNet.")
    m.device = lambda *_args, **_kwargs: torch.device("cpu")  # samples name the GPU that they were captured on
    model = m.GraphModule()
    parameters = inspect.signature(model.forward).parameters
    lost = [n for n in parameters if n not in metas]
    if lost:
        raise ValueError(f"weight_meta.py and input_meta.py do not describe the operand {lost[0]}.")
    args = [operand_of(torch, metas[n], q) for n, q in parameters.items()]
    laws = [getattr(metas[n], "law", None) for n, a in zip(parameters, args) if torch.is_tensor(a)]
    return under_autocast(torch, model, args), args, laws


def stats(torch, t, name, uniform=False):
    x = t.detach().flatten()[:SAMPLE].to(torch.float64)
    e = {"original_name": name}
    if x.numel():
        e.update(mean=float(x.mean()), std=float(x.std(unbiased=False)), min=float(x.min()), max=float(x.max()))
    if uniform:
        e.update(min=0.0, max=1.0, law="uniform")
    return {k: v for k, v in e.items() if isinstance(v, str) or v == v}


def move_weights(torch, graph):
    """Makes inputs of the weights; returns their statistics."""
    found = {}
    for name, v in list(graph.initializers.items()):
        t = v.const_value
        if t.size > MAX_CONST or "." in name:
            found[name] = stats(torch, torch.from_numpy(t.numpy().astype("float64")), name)
            graph.initializers.pop(name)
            v.const_value = None
            graph.inputs.append(v)
    return found


def say_inputs(torch, model, tensors, uniform, laws):
    """Statistics of the inputs; what `passmith task export` says of their laws is kept word for word."""
    told = {}
    for i, (v, a) in enumerate(zip(model.graph.inputs, tensors)):
        law = laws[i] if laws else None
        if law is None:
            told[v.name] = stats(torch, a, v.name, a.untyped_storage().data_ptr() in uniform)
        elif law:
            model.metadata_props["input_law." + v.name] = law
    return told


def export_one(path, out, seed, train):
    import torch
    from onnxscript import ir, optimizer

    uniform, laws = {}, None
    torch.manual_seed(seed)
    if os.path.isdir(path) or not path.endswith(".py"):
        model, args, laws = graphnet(torch, path)
    else:
        model, args = kernelbench(torch, path, uniform)
    model = (into_training(torch, model) if train else model.eval()).cpu()
    args = [a.cpu() if torch.is_tensor(a) else a for a in args]
    if train:
        refuse_random(torch, model, args)
    done = torch.onnx.export(model, tuple(args), dynamo=True, opset_version=OPSET, optimize=False, verbose=False)
    told = say_inputs(torch, done.model, [a for a in args if torch.is_tensor(a)], uniform, laws)
    told.update(move_weights(torch, done.model.graph))
    optimizer.optimize_ir(done.model)
    done.model.metadata_props["source"] = os.path.basename(out).split(".onnx")[0]
    done.model.metadata_props["seed"] = str(seed)
    done.model.metadata_props["mode"] = "training" if train else "eval"
    done.model.metadata_props["tensor_stats"] = json.dumps(told)
    ir.save(done.model, out)


# ---- all of them ----


def run_one(path, out, opts):
    """Empty when the model is written, else why it is not."""
    part = out + ".part"
    cmd = [sys.executable, os.path.abspath(__file__), "--one", path, part, "--seed", str(opts.seed)]
    cmd += ["--train"] if opts.train else []
    try:
        r = subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=opts.time_limit, text=True,
                           errors="replace")
    except subprocess.TimeoutExpired:
        why = f"It takes longer than {opts.time_limit:g} s."
    else:
        said = [s for s in r.stderr.splitlines() if s.strip()]
        named = [s for s in said if re.match(r"[\w.]*(Error|Exception|Exit|Unsupported\w*): ", s)]
        why = "" if not r.returncode else f"The process died of signal {-r.returncode}." if r.returncode < 0 else \
            (named or said)[-1].strip() if said else f"The process ended with {r.returncode}."
    if not why:
        os.replace(part, out)
    elif os.path.exists(part):
        os.remove(part)
    return why


class Table:
    """What became of each problem."""

    def __init__(self, opts):
        self.opts, self.rows, self.done = opts, [], {}

    def export(self, p):
        out = os.path.join(self.opts.out, p.name + ".onnx")
        why = p.why or ("Another problem has this name." if p.name in self.done else run_one(p.path, out, self.opts))
        self.done.setdefault(p.name, (p.path, "" if why else os.path.basename(out)))
        self.rows.append({"problem": p.name, "path": p.path, "model": "" if why else out, "reason": why})
        print(f"{'left out' if why else 'exported'}  {p.name}  {why}".rstrip(), flush=True)

    def export_grouped(self, p):
        """The model's file, or empty. A graph that is in several groups is exported once."""
        if p.name not in self.done or self.done[p.name][0] != p.path:
            self.export(p)
        path, model = self.done[p.name]
        return model if path == p.path else ""


def write_groups(path, groups):
    """A group without a model is no line; the table as JSON has it."""
    if not groups:
        return
    with open(path, "w", encoding="utf-8") as f:
        for g in groups:
            if g["models"]:
                f.write(f"{g['name']}\t{','.join(g['models'])}\t{g['listed']}\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("problem", nargs="*")
    p.add_argument("-o", metavar="DIR", dest="out")
    p.add_argument("--root", action="append", default=[], metavar="DIR", help="where paths of lists begin (several times)")
    p.add_argument("--uids", action="append", default=[], metavar="FILE",
                   help="a list of UID<TAB>PATH that is not beside the list that needs it (several times)")
    p.add_argument("--train", action="store_true", help="in training mode, BatchNorm as plain operators")
    p.add_argument("--time-limit", type=float, default=600, metavar="S", help="seconds of one problem")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--json", metavar="FILE", help="write the table as JSON too")
    p.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    opts = p.parse_args()
    if opts.one:
        export_one(opts.one[0], opts.one[1], opts.seed, opts.train)
        return 0
    if not opts.problem or not opts.out:
        p.error("name problems and -o DIR")
    os.makedirs(opts.out, exist_ok=True)
    table, groups = Table(opts), []
    for found in find_problems(opts.problem, Lists(opts.root, opts.uids)):
        if isinstance(found, Group):
            models = [m for m in map(table.export_grouped, found.problems) if m]
            groups.append({"name": found.name, "models": list(dict.fromkeys(models)), "listed": len(found.problems)})
            print(f"group     {found.name}  {len(models)} of {len(found.problems)} graphs", flush=True)
        else:
            table.export(found)
    write_groups(os.path.join(opts.out, "groups.txt"), groups)
    rows = table.rows
    bad = sum(1 for r in rows if r["reason"])
    print(f"{len(rows) - bad} of {len(rows)} problems exported")
    if opts.json:
        with open(opts.json, "w", encoding="utf-8") as f:
            json.dump({"problems": rows, "groups": groups}, f, indent=1)
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
