# SPDX-License-Identifier: Apache-2.0
"""ladder.py - how far tensors are from those that are expected: by the ladder of tolerances, and by the largest difference.

The ladder is that of bench/compare/tolerance.h, which `passmith task export --torch` writes into case.json. Tensors are PyTorch's; nothing
of it is imported, so that whoever has the same methods can be compared.
"""
import math

USUAL_T = -5  # the level of PyTorch's own tests (docs/reference/scoring.md)
NEVER = 99    # no level is loose enough


def equal(y, e):
    return bool((y == e).all())


def worst(got, expected):
    """The largest difference, relative to the largest expected element; infinity when types or NaNs differ."""
    if any(y.dtype != e.dtype for y, e in zip(got, expected)):
        return math.inf
    return error(got, expected)


def error(got, exact):
    """As worst, of outputs in a type beside those of a finer one."""
    bad = 0.0
    for y, e in zip(got, exact):
        if y.shape != e.shape:
            return math.inf
        if not e.dtype.is_floating_point:
            bad = max(bad, 0.0 if equal(y, e) else math.inf)
            continue
        y, e = y.double(), e.double()
        ok = e.isfinite()
        if not equal(y.isfinite(), ok):
            return math.inf
        if ok.any():
            scale = max(e[ok].abs().max().item(), 1e-30)
            bad = max(bad, (y[ok] - e[ok]).abs().max().item() / scale)
    return bad


def smallest_t(tolerance, got, expected):
    """The strictest level from which on all outputs pass; NEVER when none does. NaN is right where NaN is expected.

    tolerance: {"torch.float32": [[t, atol, rtol], ...], ...}, case.json's; other types have to be equal."""
    least = -10
    if len(got) != len(expected):
        return NEVER
    for y, e in zip(got, expected):
        if y.dtype != e.dtype or y.shape != e.shape:
            return NEVER
        ladder = tolerance.get(str(e.dtype))
        if ladder is None:
            least = least if equal(y, e) else NEVER
            continue
        y, e = y.double(), e.double()
        same = (y == e) | (y.isnan() & e.isnan())
        passes = {}
        for t, atol, rtol in ladder:
            d = (y - e).abs()
            passes[t] = bool((same | (d.isfinite() & (d <= e.abs() * rtol + atol))).all())
        failed = [t for t in passes if not passes[t]]
        t = max(failed) + 1 if failed else min(passes)
        least = max(least, t if t in passes else NEVER)
    return least


def within(ways, ours="passmith"):
    """Whether ours is as near to the eager run as the usual level, or as what PyTorch compiles itself; or no further from it, or from the same
    model in double, than the eager run is from double. None: nothing says so.

    ways: {name: {"smallest_t": t against the eager run, "error_of_eager": of worst(), "error_of_double": of error(), where there is one}}."""
    t = {n: w["smallest_t"] for n, w in ways.items() if "smallest_t" in w}
    if ours not in t:
        return None
    if t[ours] <= max([USUAL_T] + [v for n, v in t.items() if n != ours and v != NEVER]):
        return True
    eager = max((w["error_of_double"] for n, w in ways.items() if n.startswith("eager") and "error_of_double" in w), default=-1)
    return min(ways[ours].get(e, math.inf) for e in ("error_of_eager", "error_of_double")) <= eager
