# SPDX-License-Identifier: Apache-2.0
"""bench_tools.py - what the tools of tools/bench decide without a GPU and without PyTorch: modes, the best of them, held-out models, draws."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["PASSMITH_ROOT"], "tools", "bench"))

from common import fresh, held_out, systems_file, torch_modes
from tap import case, run


def refuses(f, *args, words=()):
    try:
        f(*args)
    except ValueError as e:
        assert str(e).endswith(".") and all(w in str(e) for w in words), e
        return
    raise AssertionError(f"{args} was taken")


@case
def modes_have_parts():
    """a mode's name says how the module runs, whether cuDNN searches and whether a graph is replayed"""
    assert torch_modes.mode("max-autotune-search-graph") == ("max-autotune-search-graph", "max-autotune", True, True)
    assert torch_modes.mode("eager") == ("eager", "eager", False, False)
    assert torch_modes.title("inductor-search") == "TorchInductor, cuDNN search"
    assert torch_modes.title("inductor-search-graph", search=False) == "TorchInductor, CUDA graph"
    assert torch_modes.column("eager") == "torch-eager" and torch_modes.system("eager") == "torch eager"


@case
def what_is_no_mode():
    """what is no mode is refused with a sentence"""
    refuses(torch_modes.parse, "eager,fast", words=("'fast'", "max-autotune"))
    refuses(torch_modes.parse, "eager-graph-search", words=("'eager-graph-search'",))
    refuses(torch_modes.parse, "eager,eager", words=("twice",))
    refuses(torch_modes.parse, "", words=("empty",))
    refuses(torch_modes.parse, "reduce-overhead-graph", words=("CUDA graph",))


@case
def a_process_for_each_switch():
    """modes with and without cuDNN's search come apart, each in its order"""
    assert torch_modes.groups(torch_modes.parse(torch_modes.CAREFUL)) == [["eager", "inductor"], ["eager-search", "inductor-search", "max-autotune-search"]]
    assert torch_modes.groups(["inductor-search"]) == [["inductor-search"]]


@case
def the_best():
    """the best is the least time of any kind asked for; what was not measured does not count"""
    times = {"eager": {"wall": {"seconds": 3.0}, "graph_wall": {"seconds": 2.0}}, "inductor": {"wall": {"seconds": 2.5}}, "max-autotune": {}}
    assert torch_modes.best(times, torch_modes.HOST) == (2.0, "eager", "graph_wall")
    assert torch_modes.best(times, ("wall",)) == (2.5, "inductor", "wall")
    assert torch_modes.best(times, ("replay",)) is None


@case
def old_files():
    """a file of before, whose modes all searched, gets the names of today once"""
    data = {"rows": {"a": {"ways": {"passmith": 1, "eager": 2, "eager-graph": 3, "reduce-overhead": 4}}}, "modes": "eager,eager-graph"}
    for _ in range(2):
        torch_modes.renew(data, lambda d: [r["ways"] for r in d["rows"].values()])
        assert data["rows"]["a"]["ways"] == {"passmith": 1, "eager-search": 2, "eager-search-graph": 3, "reduce-overhead-search": 4}, data
        assert data["modes"] == "eager-search,eager-search-graph"


@case
def held_out_models():
    """a tenth of the models is held out, by the name alone"""
    names = [f"timm__model_{k}" for k in range(10000)]
    assert 900 < len(held_out.choose(names, "held-out")) < 1100
    assert sorted(held_out.choose(names, "held-out") + held_out.choose(names, "kept")) == sorted(names) == sorted(held_out.choose(names, "all"))
    # The rule does not change: what was held out once stays so.
    assert [n for n in names[:40] if held_out.held_out(n)] == HELD_OF_40
    for n in names[:40]:
        assert held_out.held_out(f"/data/x.y/{n}.onnx") == held_out.held_out(n) == held_out.held_out(n + ".gpt")
    refuses(held_out.choose, names, "some", words=("'some'",))


HELD_OF_40 = ["timm__model_1", "timm__model_10", "timm__model_33"]
CODE = {"commit": "ab" * 20, "committed_at": 1000, "dirty": 0}


@case
def draws_after_the_code():
    """a draw comes after the commit, and of a clean tree"""
    assert fresh.objection(CODE, 1001, False) is None
    assert "after the draw" in fresh.objection(CODE, 1000, False)
    assert "3 files differ" in fresh.objection(dict(CODE, dirty=3), 1001, False)
    assert fresh.objection(dict(CODE, dirty=3), 1001, True) is None
    assert "not known" in fresh.objection({}, 1001, True)


@case
def draws_go_on():
    """a run goes on with its draw only at the same commit, with the same programs and the same question"""
    draw = dict(CODE, asked={"tasks": 3}, programs={"passmith": "x"})
    same = (CODE, {"tasks": 3}, {"passmith": "x"})
    assert fresh.again(draw, *same) is None
    assert "cdcdcdcdcdcd" in fresh.again(draw, dict(CODE, commit="cd" * 20), *same[1:])
    assert "differ" in fresh.again(draw, dict(CODE, dirty=1), *same[1:])
    assert "tasks 3, and now it is 4" in fresh.again(draw, CODE, {"tasks": 4}, same[2])
    assert "another passmith" in fresh.again(draw, CODE, same[1], {"passmith": "y"})


@case
def what_is_drawn():
    """subgraphs whose list of operators the benchmark lacks, one of each list before a second one, in an order that only the seed decides"""
    have = [("Add,Mul", "1"), ("Add,Mul", "2"), ("Exp,Add", "3"), ("MatMul,Add", "4"), ("Relu,Add", "5")]
    drawn = fresh.chosen(have, {"MatMul,Add"}, 7)
    assert sorted(s for s, _ in drawn[:3]) == ["Add,Mul", "Exp,Add", "Relu,Add"] and drawn[3][0] == "Add,Mul" and sorted(g for _, g in drawn) == list("1235")
    assert fresh.chosen(have[::-1], {"MatMul,Add"}, 7) == drawn
    fewer = fresh.chosen(have[:4], {"MatMul,Add"}, 7)
    assert [d for d in drawn if d in fewer] == fewer, "what else there is changes no place"
    orders = {tuple(fresh.chosen(have, set(), seed)) for seed in range(40)}
    assert len(orders) > 10, "another seed, another draw"
    assert fresh.eligible(["/m/a.onnx", "/m/timm__model_33.onnx", "/m/b.onnx"], {"b"}, "all") == ["/m/a.onnx", "/m/timm__model_33.onnx"]
    assert fresh.eligible(["/m/a.onnx", "/m/timm__model_33.onnx", "/m/b.onnx"], {"b"}, "held-out") == ["/m/timm__model_33.onnx"]


@case
def one_file_of_times():
    """the file of times has what was measured, null for what declined, and the reason for what failed"""
    clocks = {"replay": 2e-6, "cold": 3e-6, "wall": 4e-6}
    bench = {"systems": {}, "faster": [], "graphs": [{"task": 1, "ordinal": 0, "variant": "shape 0, float: 8", "systems": {
        "eager": {"status": "correct", "changed": False, "smallest_t": -10, **clocks}, "fuse": {"status": "correct", "changed": False, "smallest_t": -10, **clocks},
        "torch-inductor": {"status": "correct", "changed": True, "smallest_t": -3, **clocks},
        "torch-eager": {"status": "correct", "changed": True, "smallest_t": -10, "wall": 4e-6}}}]}
    record = {"times": {"torch inductor": {"graph_wall": {"seconds": 1.5e-6}}, "control": {"graph_wall": {"seconds": 1}}}, "failed": {"max-autotune-search": "No."}}
    ours = {"class": "Add", "launches": 2, "times": {"passmith fuse": {"wall": {"seconds": 1e-6}}, "passmith eager": {"wall": None}}}
    g, = systems_file.assemble(bench, {(1, 0): "h"}, {"h": record}, {"h": ours}, {})["graphs"]
    assert g == {"task": 1, "variant": "shape 0, float: 8", "class": "Add", "launches": 2, "eager": [2.0, 3.0, 4.0], "fuse": None, "torch-inductor": [2.0, 3.0, 4.0, -3],
                 "graph_host": {"torch-inductor": 1.5, "fuse": 1.0}, "failed": {"torch-max-autotune-search": "No."}}, g
    g, = systems_file.assemble(bench, {}, {"h": record}, {"h": ours}, {})["graphs"]
    assert "graph_host" not in g and "failed" not in g and g["launches"] == 0


@case
def both_ways():
    """by the host's clock the best of PyTorch is that of launches, or of launches and replays"""
    g = {"task": 1, "torch-eager": [9, 9, 8], "torch-inductor": [5, 6, 10, -3], "eager": [1, 1, 4], "fuse": None, "graph_host": {"torch-inductor": 3, "eager": 1, "fuse": 1}}
    assert systems_file.best_of_torch(g, systems_file.REPLAY) == (5, "inductor", "launched")
    assert systems_file.best_of_torch(g, systems_file.HOST) == (8, "eager", "launched")
    assert systems_file.best_of_torch(g, systems_file.HOST_REPLAYED) == (3, "inductor", "replayed")
    assert systems_file.over_best([g], "fuse", systems_file.HOST) == [2.0], "what declined has the eager run's time"
    assert systems_file.over_best([g], "fuse", systems_file.HOST_REPLAYED) == [3.0]
    assert systems_file.passes_of([g]) == ["fuse"] and systems_file.modes_of([g]) == ["eager", "inductor"]
    assert systems_file.best_of_torch({"task": 1, "eager": [1, 1, 1]}, 0) is None and systems_file.equal_or_faster([0.979, 0.98, 2]) == 2


run()
