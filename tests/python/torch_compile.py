# SPDX-License-Identifier: Apache-2.0
"""torch_compile.py FOLDER - the backend of torch.compile on the CPU, against PyTorch alone, and passmith.extract.

FOLDER is empty and takes packages.
"""
import logging
import os
import shutil
import subprocess
import sys

import torch
import torch.nn.functional as F

import passmith
import passmith.torch
from tap import case, fails, run

FOLDER = sys.argv[1]
os.environ["PASSMITH_CACHE"] = os.path.join(FOLDER, "cache")
torch.manual_seed(3)
said = []


class Keep(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())


logging.getLogger("passmith.torch").addHandler(Keep())
logging.getLogger("passmith.torch").propagate = False


def compiled(model, **options):
    """A fresh start: no graphs of earlier cases."""
    torch._dynamo.reset()
    passmith.torch.reset()
    said.clear()
    return torch.compile(model, backend="passmith", options=options or None)


def same(model, *inputs, fast=None, **options):
    """Compiles a model, calls it, compares with PyTorch, and returns the report."""
    with torch.no_grad():
        if fast is None:
            fast = compiled(model, **options)
        torch.testing.assert_close(fast(*inputs), model(*inputs), rtol=2e-4, atol=2e-5)
    return passmith.torch.report()


def reasons():
    return [r for g in passmith.torch.report()["fallbacks"] for r in g["reasons"]]


class MLP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = torch.nn.Linear(16, 32), torch.nn.Linear(32, 16), torch.nn.LayerNorm(16)

    def forward(self, x):
        return self.norm(x + self.down(F.gelu(self.up(x))))


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(16, 48, bias=False), torch.nn.Linear(16, 16)

    def forward(self, x, mask):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, 2, 8).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(b, n, 16))


class Conv(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), \
            torch.nn.Conv2d(8, 8, 3, stride=2)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x):
        return self.head(F.relu(self.b(F.relu(self.norm(self.a(x))))).mean((2, 3)))


class Branch(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

    def forward(self, x):
        y = torch.tanh(self.first(x))
        if y.sum() > 1000:  # a value decides: Dynamo makes two graphs
            return y
        return torch.sigmoid(self.second(y)) * y


class Unsupported(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.eigvalsh(x @ x.t())


@case
def mlp():
    """A perceptron is one package, and agrees."""
    r = same(MLP(), torch.randn(4, 16))
    assert (r["graphs"], r["packages"], r["eager_calls"], r["fallbacks"]) == (1, 1, 0, []), r


@case
def attention():
    """An attention block is one package, and agrees."""
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    r = same(Attention(), torch.randn(2, 6, 16), mask)
    assert (r["graphs"], r["packages"], r["eager_calls"]) == (1, 1, 0), r


@case
def conv():
    """A net of convolutions is one package, and agrees; its inputs may have other strides."""
    model = Conv().eval()
    r = same(model, torch.randn(2, 3, 12, 12))
    assert (r["graphs"], r["packages"], r["eager_calls"]) == (1, 1, 0), r
    r = same(model, torch.randn(2, 3, 12, 12).to(memory_format=torch.channels_last))
    assert r["eager_calls"] == 0, r


@case
def branch():
    """Control flow by values makes two graphs, both packages."""
    r = same(Branch(), torch.randn(4, 8))
    assert (r["graphs"], r["packages"], r["eager_calls"]) == (2, 2, 0), r


@case
def unsupported():
    """An operator that ONNX lacks runs in PyTorch: counted, with the reason, which is logged once."""
    model = Unsupported()
    fast = compiled(model)
    for _ in range(3):
        r = same(model, torch.eye(4), fast=fast)
    assert (r["graphs"], r["packages"], r["calls"], r["eager_calls"]) == (1, 0, 3, 3), r
    assert len(r["fallbacks"]) == 1 and r["fallbacks"][0]["calls"] == 3, r
    assert len(said) == 1 and reasons()[0] in said[0] and "export" in said[0], said


@case
def batches():
    """An open batch has a package for each size, up to the limit, and PyTorch beyond it."""
    model = MLP()
    fast = compiled(model, limit=3)
    for n in (4, 5, 6, 7, 8, 5, 7):
        r = same(model, torch.randn(n, 16), fast=fast)
    # The first graph has a fixed size, the second an open one: 5, 6, 7 are its packages, and 8 is too many.
    assert (r["graphs"], r["packages"], r["calls"], r["eager_calls"]) == (2, 4, 7, 1), r
    assert len(reasons()) == 1 and "limit" in reasons()[0], r


@case
def cached():
    """Packages are kept on disk by structure and sizes, whatever the weights are."""
    same(MLP(), torch.randn(3, 16))
    r = same(MLP(), torch.randn(3, 16))
    assert (r["packages"], r["cached"]) == (1, 1), r
    r = same(MLP(), torch.randn(9, 16))
    assert (r["packages"], r["cached"]) == (1, 0), r
    folder = os.path.join(FOLDER, "cache", "torch")
    for name in os.listdir(folder):
        if name.endswith(".pmz"):
            with open(os.path.join(folder, name), "r+b") as f:
                f.truncate(100)
    r = same(MLP(), torch.randn(3, 16))
    assert (r["packages"], r["cached"], r["eager_calls"]) == (1, 0, 0), r
    assert not [n for n in os.listdir(folder) if n.startswith(".")], os.listdir(folder)


@case
def cache_is_bounded():
    """Packages opened longest ago go when all are larger than allowed; the newest stays, however large it is."""
    where = os.path.join(FOLDER, "bounded")

    def make(n, most):
        return same(MLP(), torch.randn(n, 16), cache=where, cache_bytes=most)["cached"]

    def kept():
        return sum(name.endswith(".pmz") for name in os.listdir(os.path.join(where, "torch")))

    make(3, 1 << 30)
    size = sum(e.stat().st_size for e in os.scandir(os.path.join(where, "torch")) if e.name.endswith(".pmz"))
    make(4, 1 << 30)
    assert kept() == 2
    assert make(3, 1 << 30) == 1  # opened last now
    make(5, 2 * size + size // 2)
    assert kept() == 2
    assert make(3, 1 << 30) == 1 and make(5, 1 << 30) == 1 and make(4, 1) == 0
    assert kept() == 1 and len(os.listdir(os.path.join(where, "torch"))) == 2


@case
def weights_change():
    """Weights that change between calls count at once."""
    model = MLP()
    fast = compiled(model)
    same(model, torch.ones(4, 16), fast=fast)
    with torch.no_grad():
        model.up.weight.mul_(-2)
        model.norm.bias.add_(1)
    r = same(model, torch.ones(4, 16), fast=fast)
    assert (r["graphs"], r["calls"], r["eager_calls"]) == (1, 2, 0), r


@case
def gradients():
    """Where gradients are wanted PyTorch runs, and they are right."""
    model = MLP()
    fast = compiled(model)
    x = torch.randn(4, 16)
    fast(x).square().sum().backward()
    got = model.up.weight.grad.clone()
    model.zero_grad()
    model(x).square().sum().backward()
    torch.testing.assert_close(got, model.up.weight.grad)
    r = passmith.torch.report()
    assert r["packages"] == 0 and r["eager_calls"] == 1 and "gradients" in reasons()[0], r


@case
def in_place():
    """A graph that changes its input runs in PyTorch, and changes it; what it makes itself it may change."""
    def step(x):
        x.add_(1)
        return x * 2
    x = torch.zeros(4)
    with torch.no_grad():
        y = compiled(step)(x)
    assert x.tolist() == [1] * 4 and y.tolist() == [2] * 4 and "in place" in reasons()[0], reasons()

    def local(x):
        y = x * 2
        y.add_(1)
        y[:, 0].mul_(3)
        return y
    r = same(local, torch.randn(3, 4))
    assert r["eager_calls"] == 0, r


@case
def random():
    """A graph that draws random numbers runs in PyTorch."""
    r = same(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)).eval(), torch.randn(2, 4))
    assert r["eager_calls"] == 0, r
    with torch.no_grad():
        compiled(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)))(torch.randn(2, 4))
    assert "random" in reasons()[0], reasons()


@case
def views():
    """A result that is a view of an input stays one."""
    def turn(x):
        return x.t(), x * 2
    x = torch.zeros(2, 3)
    with torch.no_grad():
        y, _ = compiled(turn)(x)
    y.add_(1)
    assert x.tolist() == [[1] * 3] * 2 and "shares the memory" in reasons()[0], reasons()


@case
def strides():
    """What depends on how an input lies in memory runs in PyTorch."""
    def f(x):
        return x.as_strided((2, 2), (1, 2), 1) * 2
    x = torch.arange(12.0).view(3, 4).t()
    r = same(f, x)
    assert r["eager_calls"] == 1 and "as_strided" in reasons()[0], r


@case
def own_operators():
    """Graphs with operators of the user's own are not kept on disk: nobody can say when these change."""
    library = torch.library.Library("passmith_test", "DEF")
    library.define("double(Tensor x) -> Tensor")
    library.impl("double", lambda x: x + x, "CompositeImplicitAutograd")

    def f(x):
        return torch.ops.passmith_test.double(x).relu()
    for _ in range(2):
        r = same(f, torch.randn(3, 5))
        assert (r["packages"], r["cached"], r["eager_calls"]) == (1, 0, 0), r


@case
def results():
    """Results that are several, nothing, numbers or given twice come back as they are."""
    def many(x):
        y = x * 2
        return {"a": y, "b": [None, 3, y, y.float().sum()], "n": x.shape[0]}
    for n in (2, 3, 4):
        x = torch.arange(n, dtype=torch.float32)
        with torch.no_grad():
            fast = compiled(many) if n == 2 else fast
            got = fast(x)
        assert got["a"].tolist() == (x * 2).tolist() and got["a"] is got["b"][2] and got["n"] == n, got
        assert got["b"][:2] == [None, 3] and got["b"][3] == 2 * x.sum(), got
    r = passmith.torch.report()
    assert r["eager_calls"] == 0, r


@case
def constants():
    """Tensors that a function makes or holds are part of its package."""
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    def f(x):
        return x @ table + torch.arange(2) + torch.tensor([0.5, 0.25])
    same(f, torch.randn(3, 2))
    table.mul_(-1)
    r = same(f, torch.randn(3, 2))
    assert r["eager_calls"] == 0, r


@case
def halves():
    """Half types agree within their tolerance."""
    for dtype in (torch.float16, torch.bfloat16):
        model, x = MLP().to(dtype), torch.randn(4, 16, dtype=dtype)
        with torch.no_grad():
            got, want = compiled(model)(x), model(x)
        assert got.dtype is dtype
        torch.testing.assert_close(got, want, rtol=3e-2, atol=3e-2)
        assert passmith.torch.report()["eager_calls"] == 0, passmith.torch.report()


@case
def inference_mode():
    """Inference mode works as no_grad does."""
    model = MLP()
    with torch.inference_mode():
        fast = compiled(model)
        torch.testing.assert_close(fast(torch.ones(4, 16)), model(torch.ones(4, 16)), rtol=2e-4, atol=2e-5)
    r = passmith.torch.report()
    assert (r["packages"], r["eager_calls"]) == (1, 0), r


@case
def autocast():
    """Below autocast PyTorch runs."""
    model, x = MLP(), torch.randn(4, 16)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(compiled(model)(x), model(x))
    assert "autocast" in reasons()[0], reasons()


@case
def entry_point():
    """torch.compile finds the backend of an installed package by its entry point, and importing it is no second one."""
    site = os.path.join(FOLDER, "site")
    os.makedirs(os.path.join(site, "passmith-1.dist-info"))
    for name, text in (("METADATA", "Metadata-Version: 2.1\nName: passmith\nVersion: 1\n"),
                       ("entry_points.txt", "[torch_dynamo_backends]\npassmith = passmith.torch:backend\n")):
        with open(os.path.join(site, "passmith-1.dist-info", name), "w", encoding="utf-8") as f:
            f.write(text)
    line = """import torch
f = torch.compile(lambda x: x * x + 1, backend="passmith")
with torch.no_grad():
    assert f(torch.full((3,), 2.0)).tolist() == [5.0] * 3
import passmith.torch
assert passmith.torch.report()["packages"] == 1, passmith.torch.report()
torch._dynamo.reset()
f = torch.compile(lambda x: x * x + 2, backend="passmith")
with torch.no_grad():
    assert f(torch.full((3,), 2.0)).tolist() == [6.0] * 3
assert passmith.torch.report()["packages"] == 2, passmith.torch.report()
"""
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([site, os.path.dirname(os.path.dirname(passmith.__file__))]))
    done = subprocess.run([sys.executable, "-c", line], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == done.stderr == "", (done.stdout, done.stderr)


@case
def lacking():
    """Without onnxscript everything runs in PyTorch, and the reason says so."""
    kept = sys.modules.get("onnxscript")
    sys.modules["onnxscript"] = None
    try:
        r = same(MLP(), torch.randn(11, 16))
        assert r["eager_calls"] == 1 and "onnxscript is not installed" in reasons()[0], r
        with fails(3, "onnxscript"):
            passmith.extract(MLP(), (torch.randn(4, 16),), db=os.path.join(FOLDER, "none.db"))
    finally:
        if kept is None:
            del sys.modules["onnxscript"]
        else:
            sys.modules["onnxscript"] = kept


@case
def options():
    """An option that is none is refused, and passes can be others."""
    try:
        same(MLP(), torch.randn(4, 16), passed="x")
    except Exception as e:
        assert "no option 'passed'" in str(e) and "passes" in str(e), e
    else:
        raise AssertionError("it was taken")
    torch._dynamo.reset()
    model, x = MLP(), torch.randn(4, 16)
    with torch.no_grad():
        fast = torch.compile(model, backend="passmith", mode="reduce-overhead")
        torch.testing.assert_close(fast(x), model(x), rtol=2e-4, atol=2e-5)
    few = os.path.join(FOLDER, "few passes")
    os.makedirs(few)
    shutil.copy(os.path.join(os.environ["PASSMITH_BUILD"], "passes", "silu.so"), few)
    r = same(MLP(), torch.randn(4, 16), passes=few, cache=os.path.join(FOLDER, "other"))
    assert r["packages"] == 1 and r["cached"] == 0, r
    assert any(n.endswith(".pmz") for n in os.listdir(os.path.join(FOLDER, "other", "torch")))


@case
def extract():
    """extract takes a module without its weights, and says what there was."""
    db = os.path.join(FOLDER, "work.db")
    model = MLP().train()
    first = passmith.extract(model, (torch.randn(4, 16),), db=db)
    assert first["models_done"] == 1 and first["models_failed"] == 0 and first["added"]["subgraphs"] > 3, first
    assert model.training and model.up.training, "the module is as it was"
    again = passmith.extract(Attention(), {"x": torch.randn(2, 6, 16), "mask": torch.ones(6, 6).bool()}, db=db)
    assert again["models_done"] == again["added"]["models"] == 1 and again["added"]["subgraphs"] > 3, again
    from passmith import _export
    path = os.path.join(FOLDER, "big.onnx")
    _export.module(torch.nn.Linear(1000, 1000), (torch.randn(1, 1000),), path)
    assert os.path.getsize(path) < 100_000, os.path.getsize(path)
    with fails(4, "Unsupported", "export"):
        passmith.extract(Unsupported(), (torch.eye(4),), db=db)
    with fails(4, "int", "path"):
        passmith.extract(3, db=db)


run()
