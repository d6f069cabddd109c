# SPDX-License-Identifier: Apache-2.0
# generate.py - an independent model of the published scorer, and the vectors it gives.
#
# Run from the repository root: python3 tests/golden/scoring/generate.py
# Written from the description in docs/reference/scoring.md, in exact fractions and 50-digit decimals; only the input
# tensors use numpy, whose legacy generator is what they are defined by. Nothing of the C code is used.
# The build and the tests need the JSON files beside this one, not this program.

import hashlib
import json
import os
import random
import struct
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 50
HERE = os.path.dirname(os.path.abspath(__file__))
RND = random.Random(20261121)
LEVELS = list(range(-10, 6))
RATES = {"float16": ("0.6", "1"), "bfloat16": ("0.3592", "1"), "float32": ("1.1772", "1"), "float64": ("1.4", "1.4")}


def significant(x, digits):
    return float(("%%.%de" % (digits - 1)) % x)


def write(name, value):
    with open(os.path.join(HERE, name), "w") as f:
        f.write(json.dumps(value, indent=None, separators=(",", ":")).replace("},{", "},\n{") + "\n")


# ---- tolerances ----

def tolerance(dtype, t):
    rtol, atol = RATES[dtype]
    return tuple(float("%.2e" % (Decimal(10) ** (Decimal(k) * t))) for k in (atol, rtol))


def tolerances():
    rows = [dict(dtype=d, t=t, atol=tolerance(d, t)[0], rtol=tolerance(d, t)[1]) for d in RATES for t in LEVELS]
    write("tolerance.json", {"rows": rows})


# ---- comparisons ----

FORMATS = {"float16": (11, 5), "bfloat16": (8, 8), "float32": (24, 8), "float64": (53, 11)}
INF = "inf"


def rounded(fmt, x):
    """The Fraction x rounded to a float format: nearest, ties to even; INF with a sign beyond the range."""
    p, ebits = FORMATS[fmt]
    bias = 2 ** (ebits - 1) - 1
    if x == 0:
        return x
    e = 0
    a = abs(x)
    while a >= Fraction(2) ** (e + 1):
        e += 1
    while a < Fraction(2) ** e:
        e -= 1
    unit = Fraction(2) ** (max(e, 1 - bias) - p + 1)
    q, r = divmod(a, unit)
    if r * 2 > unit or (r * 2 == unit and q % 2):
        q += 1
    a = q * unit
    if a >= Fraction(2) ** (bias + 1):
        return INF
    return a if x > 0 else -a


def decode(fmt, bits):
    """Fraction, or 'nan', 'inf', '-inf'."""
    if fmt == "int64":
        return Fraction(bits - (1 << 64) if bits >> 63 else bits)
    p, ebits = FORMATS[fmt]
    bias = 2 ** (ebits - 1) - 1
    sign = -1 if bits >> (p - 1 + ebits) else 1
    e = bits >> (p - 1) & (2 ** ebits - 1)
    m = bits & (2 ** (p - 1) - 1)
    if e == 2 ** ebits - 1:
        return "nan" if m else ("inf" if sign > 0 else "-inf")
    if e == 0:
        return sign * Fraction(m) * Fraction(2) ** (1 - bias - p + 1)
    return sign * (Fraction(m) + 2 ** (p - 1)) * Fraction(2) ** (e - bias - p + 1)


def close_exact(x, y, tol):
    if isinstance(x, str) or isinstance(y, str):
        return x == y and x != "nan"
    return x == y or abs(x - y) <= Fraction(tol[0]) + Fraction(tol[1]) * abs(y)


def close_cuda(fmt, x, y, tol):
    if isinstance(x, str) or isinstance(y, str):
        return x == y and x != "nan"
    if x == y:
        return True
    work = "float64" if fmt == "float64" else "float32"
    store = fmt if fmt in FORMATS else "float32"
    if fmt == "int64":
        x, y = rounded("float32", x), rounded("float32", y)

    def both(v):
        v = rounded(work, v)
        return v if v == INF else rounded(store, v)

    atol, rtol = rounded(work, Fraction(tol[0])), rounded(work, Fraction(tol[1]))
    diff = both(x - y)
    if diff == INF:
        return False
    prod = both(rtol * y)
    if prod == INF:
        return True
    allowed = both(atol + abs(prod))
    return allowed == INF or abs(diff) <= allowed


def bits_of(fmt, x):
    """Bits of a Python float rounded to fmt, or of an int for int64."""
    if fmt == "int64":
        return x & (2 ** 64 - 1)
    if fmt == "float64":
        return struct.unpack("<Q", struct.pack("<d", x))[0]
    if fmt == "float16":
        return struct.unpack("<H", struct.pack("<e", x))[0]
    u = struct.unpack("<I", struct.pack("<f", x))[0]
    return u if fmt == "float32" else u >> 16


def pair(n, fmt, kind, expected, compiled):
    e, c = [decode(fmt, b) for b in expected], [decode(fmt, b) for b in compiled]
    tol_type = "float32" if fmt == "int64" else fmt
    out = {"id": n, "dtype": fmt, "tolerance_dtype": tol_type, "kind": kind}

    def verdicts(f):
        return [int(all(f(x, y, tolerance(tol_type, t)) for x, y in zip(e, c))) for t in LEVELS]

    out["rtol_on_compiled"] = verdicts(lambda x, y, tol: close_cuda(fmt, x, y, tol))
    out["rtol_on_expected"] = verdicts(lambda x, y, tol: close_cuda(fmt, y, x, tol))
    out["rtol_on_compiled_exact"] = verdicts(lambda x, y, tol: close_exact(x, y, tol))
    out["rtol_on_expected_exact"] = verdicts(lambda x, y, tol: close_exact(y, x, tol))
    out["equal"] = int(all(x == y and x != "nan" for x, y in zip(e, c)))
    out["score_passnet"] = [out["equal"]] * 16 if fmt == "int64" else out["rtol_on_compiled"]
    digits = {"float16": 4, "bfloat16": 4, "float32": 8}.get(fmt, 16)
    for key, bits in (("expected_bits", expected), ("compiled_bits", compiled)):
        out[key] = ["0x%0*x" % (digits, b) for b in bits]
    return out


def comparisons():
    pairs = []

    def put(fmt, kind, e, c):
        pairs.append(pair(len(pairs), fmt, kind, e, c))

    for fmt in FORMATS:
        p, ebits = FORMATS[fmt]
        inf = (2 ** ebits - 1) << (p - 1)
        top = inf - 1
        sign = 1 << (p - 1 + ebits)
        one = bits_of(fmt, 1.0)
        put(fmt, "nan and nan", [inf + 1 + (1 << (p - 2))], [inf + 1 + (1 << (p - 2))])
        put(fmt, "inf and inf", [inf, one], [inf, one])
        put(fmt, "inf and -inf", [inf], [inf | sign])
        put(fmt, "zeros of both signs", [0], [sign])
        put(fmt, "greatest and its negative", [top], [top | sign])
        put(fmt, "least subnormal and zero", [1], [0])
        put(fmt, "zero and one", [0], [one])
        put(fmt, "one and far too much", [one], [bits_of(fmt, 30000.0)])
        put(fmt, "empty", [], [])
        for t in (-7, -4, -2, 0, 1):
            # the last candidate inside and the first outside the exact limit, for both operands
            x = Fraction(decode(fmt, bits_of(fmt, 0.71 + 0.01 * t)))
            atol, rtol = (Fraction(v) for v in tolerance(fmt, t))
            limit = x + atol + rtol * x
            below = bits_of(fmt, float(limit))
            while decode(fmt, below) == "inf" or decode(fmt, below) > limit:
                below -= 1
            put(fmt, "at the limit of t=%d" % t, [bits_of(fmt, float(x))], [below])
            put(fmt, "past the limit of t=%d" % t, [bits_of(fmt, float(x))], [below + 1])
    for a, b in ((0, 1), (7, 7), (2 ** 24, 2 ** 24 + 1), (2 ** 63 - 1, -2 ** 63), (10, 20), (100000, 5), (-3, 3),
                 (1000, 1001), (2 ** 62, 2 ** 62 + 1)):
        put("int64", "%d and %d" % (a, b), [bits_of("int64", a)], [bits_of("int64", b)])
    for fmt in FORMATS:
        while sum(q["dtype"] == fmt for q in pairs) < 20 + (fmt == "float32"):
            e = [RND.gauss(0, 1) for _ in range(4)]
            c = [v * (1 + RND.gauss(0, 10.0 ** RND.randint(-6, 0))) for v in e]
            put(fmt, "random", [bits_of(fmt, v) for v in e], [bits_of(fmt, v) for v in c])
    write("allclose.json", {"meta": {"t": LEVELS}, "pairs": pairs})


# ---- shapes ----

def broadcast(a, b):
    n = max(len(a), len(b))
    a, b = [1] * (n - len(a)) + a, [1] * (n - len(b)) + b
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        return None
    return [y if x == 1 else x for x, y in zip(a, b)]


def shapes():
    rows = []
    for e, c in (([2, 3], [2, 3]), ([2, 3], [3]), ([2, 3], [2]), ([], [1]), ([2, 3], [3, 2]), ([2, 1, 3], [5, 1]),
                 ([0], [1]), ([0, 2], [3, 2]), ([4], [2, 2]), ([1, 1, 1, 7], [7])):
        both = broadcast(e, c)
        empty = both is not None and 0 in both
        rows.append({"expected_shape": e, "compiled_shape": c, "equal": int(e == c),
                     "allclose": "RuntimeError" if both is None else 1,
                     "status_torch_harness": "shape_mismatch" if both is None
                     else "runtime_fail" if empty else "correct"})
    write("shape_rules.json", {"rows": rows})


# ---- timing ----

def quantile(s, q):
    pos = q * (len(s) - 1)
    i = int(pos)
    if i + 1 >= len(s):
        return s[-1]
    return s[i] + (s[i + 1] - s[i]) * (pos - i)


def timings():
    lists = [[3.25], [2.0, 1.0], [1.0, 2.0, 4.0], [0.5] * 9 + [80.0], [RND.lognormvariate(0, 0.02) for _ in range(100)],
             [RND.lognormvariate(1, 0.5) for _ in range(37)], [0.0, 0.0, 1.0], [10.0, 10.5, 11.0, 11.5, 12.0, 12.5]]
    rows = []
    for times in lists:
        s = sorted(Fraction(v) for v in times)
        med, q1, q3 = (quantile(s, Fraction(k, 4)) for k in (2, 1, 3))
        mean = sum(s) / len(s)
        var = sum((v - mean) ** 2 for v in s) / len(s)
        std = (Decimal(var.numerator) / Decimal(var.denominator)).sqrt()
        row = {"times_ms": times, "unrounded": {"median": float(med), "q1": float(q1), "q3": float(q3)}}
        if med > 0 and (q3 - q1) / med > Fraction(1, 5):
            row["raises"] = "RuntimeError"
        row["stats"] = {k: significant(float(v), 6) for k, v in
                        (("median", med), ("iqr", q3 - q1), ("mean", mean), ("std", std), ("min", s[0]), ("max", s[-1]))}
        rows.append(row)
    speed = []
    for a, b in ((1.0, 3.0), (3.0, 1.0), (1.0, 1.0), (0.125, 99999.0), (1e-06, 10.0), (123456.0, 0.001), (2.5, 1.25),
                 (0.333333, 0.666667)):
        text = "%.5f" % (a / b)
        speed.append({"eager_median": a, "compiled_median": b, "printed": text, "score_speedup": float(text)})
    write("timing.json", {"stats": rows, "speedup": speed})


# ---- inputs ----

def inputs():
    import numpy as np

    metas = []

    def meta(cls, dtype, shape, mean=None, std=None, data=None, **bounds):
        metas.append(dict(cls=cls, name="arg_%d" % len(metas), dtype="torch." + dtype, shape=shape, mean=mean, std=std,
                          data=data, **bounds))

    meta("z", "float32", [3, 2], 0.0, 1.0)
    meta("m", "int64", [9], min_val=2, max_val=40)
    meta("B", "float64", [4], -1.0, 3.0)
    meta("a", "bool", [11])
    meta("k", "float16", [5], 0.0, 4.0, min_val=-0.25)
    meta("j", "bfloat16", [5], 90.0, 200.0)
    meta("c", "int32", [6], 3.0, 40.0)
    meta("d", "float32", [2], 7.0, 0.0)
    meta("e", "int8", [3], data=[1, -2, 127])
    meta("f", "float32", [0], 0.0, 1.0)
    meta("y", "int8", [4], min_val=-100, max_val=100)
    rng = np.random.RandomState(99)
    order = sorted(metas, key=lambda m: m["cls"])
    done = {}
    for m in order:
        if "min_val" in m and "max_val" in m and "int" in m["dtype"]:
            done[m["cls"]] = rng.randint(m["min_val"], m["max_val"] + 1, size=m["shape"], dtype=np.int64)
    out = []
    for m in order:
        kind = m["dtype"][6:]
        if m["cls"] in done:
            v = done[m["cls"]]
        elif m["data"] is not None:
            v = np.array(m["data"])
        elif kind == "bool":
            v = rng.random_sample(m["shape"]) > 0.5
        elif m["std"] == 0:
            v = np.full(m["shape"], m["mean"])
        else:
            v = rng.standard_normal(m["shape"]) * m["std"] * 0.2 + m["mean"] if 0 not in m["shape"] else np.zeros(0)
        if kind == "bfloat16":
            w = np.clip(truncated_bf16(v), -100, 100)
            bits = [b >> 16 for b in w.astype("<f4").view("<u4").ravel().tolist()]
            raw = b"".join(struct.pack("<H", b) for b in bits)
        else:
            v = v.astype("float32") if kind == "float16" else v
            v = v.astype(kind)
            if kind.startswith("float"):
                if "min_val" in m:
                    v = np.maximum(v, v.dtype.type(m["min_val"]))
                v = np.clip(v, v.dtype.type(-100), v.dtype.type(100))
            raw = v.tobytes()
        size = len(raw) // v.size if v.size else 1
        first = ["0x" + raw[i:i + size][::-1].hex() for i in range(0, min(len(raw), 16 * size), size)]
        out.append({"name": m["name"], "dtype": m["dtype"], "shape": m["shape"], "numel": int(v.size), "first_bits": first,
                    "sha256_little_endian_bytes": hashlib.sha256(raw).hexdigest()})
    write("inputs.json", {"seed": 99, "metas_in_file_order": metas, "tensors_in_draw_order": out})


def truncated_bf16(v):
    """Values of v rounded to bfloat16 through float32, as float32."""
    import numpy as np

    got = []
    for x in np.asarray(v).astype("float32").ravel().tolist():
        got.append(float(rounded("bfloat16", Fraction(x))))
    return np.array(got, dtype="float32")


# ---- scores ----

D = Decimal
B_DEFAULT = [("0", "0.1"), ("0.5", "0.25")]


def errno(status, extended):
    s = status.lower()
    if "accuracy" in s:
        return 1
    if not extended:
        return 3 if "compile_fail" in s else 2
    if any(w in s for w in ("nan", "inf", "type_mismatch", "shape_mismatch")):
        return 2
    return 4 if "compile_fail" in s else 3


def forgiven_from(e, extended):
    return e if extended else (1 if e == 1 else 3)


def correct(r, t):
    return r["status"] == "correct" and all(
        o["close"][t + 10] == 1 if o["dtype"] in RATES else o["equal"] == 1 for o in r["outputs"])


def rect(s, p):
    return s if s >= 1 else s ** (p + 1)


def gmean(values):
    if any(v == 0 for v in values):
        return D(0)
    return (sum(v.ln() for v in values) / len(values)).exp()


def run(records, p_text, b_text, extended, newer):
    p, b = D(p_text), D(b_text)
    levels = LEVELS if extended else LEVELS[:-1]
    speeds = [None if r["speedup_e2e"] is None else D(r["speedup_e2e"]) for r in records]
    es, s = [], []
    for t in levels:
        s.append(gmean([rect(v, p) if correct(r, t) else b for r, v in zip(records, speeds)]))
        row = []
        for r, v in zip(records, speeds):
            if correct(r, min(t, 1)):
                row.append(rect(v, p))
                continue
            name = "accuracy" if r["status"] == "correct" else r["status"]
            lost = name in ("eager_fail", "reference_fail") and not (newer and not extended)
            ok = t >= 1 and not lost and t >= forgiven_from(errno(name, extended), extended)
            row.append(D(1) if ok else b)
        es.append(gmean(row))
    out = {"p": float(p), "b": float(b), "ES": es, "S": s}
    out.update(macro(records, speeds, p, b, extended, levels))
    out["micro_macro_match"] = all(abs(x - y) <= D("0.001") + D("0.001") * y for x, y in zip(es, out["expected_ES"]))
    if not extended:
        w = {t: D("0.001") if t < -5 or t > 3 else D(1) if t < -2 else D("0.8") ** (t + 3) for t in levels}
        g = {t: D("0.001") if t < -7 else D("0.13") if t == -7 else D("0.40") if t == -6 else D("0.48") for t in levels}
        if 0 in es:
            out["AS"], out["graphnet_weighted_log10"] = D(0), "-inf"
        else:
            out["AS"] = (sum(w[t] * v.ln() for t, v in zip(levels, es)) / sum(w.values())).exp()
            out["graphnet_weighted_log10"] = sum(g[t] * v.log10() for t, v in zip(levels, es)) / sum(g.values())
    return {k: [float(v) for v in x] if isinstance(x, list) else float(x) if isinstance(x, Decimal) else x
            for k, x in out.items()}


def power(x, y):
    return D(1) if y == 0 else D(0) if x == 0 else x ** y


def macro(records, speeds, p, b, extended, levels):
    out = {k: [] for k in ("alpha", "beta", "gamma", "lambda", "eta", "expected_S", "expected_ES", "correct_count")}
    wrong = [errno("accuracy" if r["status"] == "correct" else r["status"], extended) for r in records if not correct(r, 1)]
    pi = {e: D(wrong.count(e)) / len(wrong) for e in sorted(set(wrong))}
    for t in levels:
        good = [v for r, v in zip(records, speeds) if correct(r, min(t, 1))]
        slow = [v for v in good if v < 1]
        lam = D(len(good)) / len(records)
        eta = D(len(slow)) / len(good) if good else D(0)
        alpha, beta = gmean(good) if good else D(1), gmean(slow) if slow else D(1)
        gamma = b if t <= 0 else power(b, sum((v for e, v in pi.items() if t < forgiven_from(e, extended)), D(0)))
        speed = power(alpha, lam) * power(beta, lam * eta * p)
        for k, v in (("alpha", alpha), ("beta", beta), ("gamma", gamma), ("lambda", lam), ("eta", eta),
                     ("expected_S", speed * power(b, 1 - lam)), ("expected_ES", speed * power(gamma, 1 - lam)),
                     ("correct_count", len(good))):
            out[k].append(v)
    out["pi_frozen"] = {str(e): float(v) for e, v in pi.items()}
    return out


def record(status, speedup, *outputs):
    return {"status": status, "speedup_e2e": speedup, "outputs": list(outputs)}


def passes_from(dtype, t, equal=0):
    return {"dtype": dtype, "equal": equal, "close": [int(u >= t) for u in LEVELS]}


def scores():
    cases = []

    def put(note, *records):
        records = list(records)
        cases.append({"id": "own_%03d" % len(cases), "note": note, "records": records, "expected": {
            "passnet": {"default": [run(records, p, b, 0, 0) for p, b in B_DEFAULT],
                        "mismatch_extended": [run(records, p, b, 1, 0) for p, b in B_DEFAULT]},
            "graphnet": {"default": [run(records, p, b, 0, 1) for p, b in B_DEFAULT]}},
            "per_record": [{"correct": [int(correct(r, t)) for t in LEVELS]} |
                           {"errno_" + n: None if r["status"] == "correct" else errno(r["status"], x)
                            for n, x in (("default", 0), ("mismatch_extended", 1))} for r in records]})

    put("fast and right", record("correct", 2.0, passes_from("float32", -5)))
    put("slow and right", record("correct", 0.25, passes_from("float16", -7)))
    put("right only at loose levels", record("correct", 3.0, passes_from("bfloat16", 1)))
    put("becomes right at t=2, after the freeze", record("correct", 3.0, passes_from("float64", 2)))
    put("never right", record("correct", 3.0, passes_from("float32", 9)))
    put("integers have no tolerance", record("correct", 1.5, passes_from("int64", -10, 0)))
    put("integers equal", record("correct", 1.5, passes_from("int64", 9, 1)))
    put("speedup printed as zero", record("correct", 0.0, passes_from("float32", -5)), record("correct", 2.0))
    put("no outputs", record("correct", 1.25))
    for status in ("accuracy", "runtime_fail", "compile_fail", "eager_fail", "reference_fail", "shape_mismatch", "nan",
                   "COMPILE_FAIL", "Eager_Fail", "inference_fail"):
        put("status " + status, record(status, 9.0), record("correct", 1.75, passes_from("float32", -4)))
    for _ in range(6):
        records = []
        for _ in range(RND.randint(2, 9)):
            outs = [passes_from(RND.choice(["float16", "bfloat16", "float32", "float64", "int64", "bool"]),
                                RND.randint(-10, 7), int(RND.randint(0, 3) > 0)) for _ in range(RND.randint(1, 3))]
            status = RND.choice(["correct"] * 6 + ["accuracy", "eager_fail", "runtime_fail", "compile_fail"])
            records.append(record(status, round(RND.lognormvariate(0, 1), 5), *outs))
        put("random", *records)
    write("scores.json", {"cases": cases})


tolerances()
comparisons()
shapes()
timings()
inputs()
scores()
