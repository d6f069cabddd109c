#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.py - the pages of passmith report in a browser. report.py BUILD [--shots DIR] [--many]

Makes databases below a temporary folder, writes their reports, and looks at them in a headless Chromium: that nothing is
said on the console and nothing is loaded, that tables sort, filter and link, that all works by keyboard, that text can be
read in both colour schemes and at three sizes, and that hostile names stay text. What is expected is read from the data
block of the same page. --many adds 200 tasks of 20 systems; --shots keeps pictures.
"""
import json
import os
import re
import sqlite3
import subprocess
import sys

from looks import ENTER, TAB, look_order, look_quiet, look_rules, look_sizes, main, passmith
from rules import CONTRAST

HERE = os.path.dirname(os.path.abspath(__file__))


# ---- databases and reports ----

def make_seed(build, tmp):
    """Two tasks of different categories, and a pass that is right on both."""
    graphs = {"silu": "silu (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)\n y = Mul(x, s) }\n",
              "soft": "soft (float[8,32] x) => (float[8,32] y) { s = Exp(x)\n t = ReduceSum<keepdims=1, axes=[1]>(s)\n"
                      " y = Div(s, t) }\n"}
    db = os.path.join(tmp, "seed.db")
    for name, text in graphs.items():
        path = os.path.join(tmp, name + ".gpt")
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        passmith(build, "extract", path, "--db", db)
    passmith(build, "task", "make", "--db", db, "--top", "2", "--shapes", "2")
    doctor = subprocess.run([os.path.join(build, "passmith"), "doctor"], capture_output=True, text=True, check=False).stdout
    weak = ["--weak-sandbox"] if re.search(r"^no *\w*sandbox", doctor, re.M) else []
    passmith(build, "bench", "--db", db, "--baselines", "eager,fuse", "-j", "1", *weak)
    return db


def make_sessions(build, tmp):
    """What agents did, with diffs."""
    db = os.path.join(tmp, "sessions.db")
    passmith(build, "db", "import", os.path.join(HERE, "..", "golden", "trajectory", "sessions.jsonl"), "--db", db)
    return db


def make_models(build, tmp):
    """Two whole models that passes rewrote; of the second, names are hostile."""
    db = os.path.join(tmp, "models.db")
    root = os.path.join(HERE, "..", "..")
    for passes in (["silu", "add_rms_norm"], ["fuse"]):
        args = [x for name in passes for x in ("--pass", os.path.join(build, "passes", name + ".so"))]
        passmith(build, "apply", os.path.join(root, "models", "llama_block.gpt"), *args, "-o", os.path.join(tmp, "o.onnx"), "--db", db)
    con = sqlite3.connect(db)
    con.execute("UPDATE applications SET name = ? WHERE id = 2", ("<img src=x onerror=alert(1)>\u202e" + "n" * 300,))
    con.commit()
    con.close()
    return db


def look_models(run, b, path):
    """Both drawings are there and can be reached by keyboard, and the table of regions sorts."""
    b.open(path)
    run.equal(b.run("return document.querySelectorAll('#models .canvas[tabindex=\"0\"] svg').length"), 4,
              "models: two drawings of each, in the order of the keyboard")
    b.run("document.querySelector('#models .canvas').focus()")
    b.press("+")
    run.equal(b.run("return Array.from(document.querySelectorAll('#models .zoom output')).map((e) => e.textContent)"),
              ["125 %", "100 %", "100 %", "100 %"], "models: a key makes the drawing larger that has the focus")
    column = "return Array.from(document.querySelectorAll('#m2 td[data-key=\"mb\"]')).map((c) => Number(c.dataset.v))"
    b.click('#m2 th[data-key="mb"] button')
    values = b.run(column)
    run.check(len(values) > 1 and values == sorted(values, reverse=True), "models: a click on a heading sorts regions", values)
    run.equal(b.run("return document.querySelectorAll('#models img').length"), 0, "models: a hostile name is text")


def make_report(build, tmp, name, db, *args):
    out = os.path.join(tmp, name + ".html")
    passmith(build, "report", "--db", db, "-o", out, *args)
    return out


def make_many(seed, tmp, name, *args):
    db = os.path.join(tmp, name + ".db")
    subprocess.run([sys.executable, os.path.join(HERE, "make_many.py"), seed, db, *args], check=True)
    return db


def data_of(path):
    with open(path, encoding="utf-8") as f:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', f.read(), re.S).group(1))


# ---- what is looked at ----

COLUMN = """return Array.from(document.querySelectorAll('#b1-table tbody tr')).map((row) => {
    const cell = row.querySelector('[data-key="' + arguments[0] + '"]');
    return cell.dataset.v === undefined ? null : Number(cell.dataset.v); })"""
NAMES = "return Array.from(document.querySelectorAll('#b1-table tbody tr')).map((row) => row.dataset.system)"


def by_system(b, key):
    return dict(zip(b.run(NAMES), b.run(COLUMN, key)))


def near(a, c):
    return a is None and c is None or a is not None and c is not None and abs(a - c) <= 1e-9 + 1e-5 * abs(c)


def same(run, got, want, name):
    wrong = {k: (got.get(k), want[k]) for k in want if not near(got.get(k), want[k])}
    run.check(not wrong and len(got) == len(want), name, wrong)


def look_sort(run, b, path):
    b.open(path)
    b.click('#b1-table th[data-key="gmean cold"] button')
    values = b.run(COLUMN, "gmean cold")
    run.equal(values, sorted(values, reverse=True), "a click on a speedup brings the fastest first")
    run.equal(b.run("return document.querySelector('#b1-table th[data-key=\"gmean cold\"]').getAttribute('aria-sort')"),
              "descending", "the heading says how it is sorted")
    b.click('#b1-table th[data-key="gmean cold"] button')
    values = b.run(COLUMN, "gmean cold")
    run.equal(values, sorted(values), "a second click turns the order round")
    address = b.run("return location.hash")
    order = b.run(NAMES)
    b.open(path, address)
    run.equal(b.run(NAMES), order, "the address brings the same order: " + address)


def look_filters(run, b, path):
    bench = data_of(path)["boards"][0]["bench"]
    group = next(g for g in bench["groups"] if g["category"] and g["dtype"] == "bfloat16")
    b.open(path)
    first = by_system(b, "as")
    same(run, first, {k: v["replay"]["as"] for k, v in bench["systems"].items()}, "the table shows AS of the data")
    b.choose("#b1-category", group["category"])
    b.choose("#b1-dtype", "bfloat16")
    want = {k: v["replay"]["as"] for k, v in group["systems"].items()}
    same(run, by_system(b, "as"), want, "category and element type leave their figures")
    b.choose("#b1-clock", "wall")
    same(run, by_system(b, "as"), {k: v["wall"]["as"] for k, v in group["systems"].items()}, "and the clock that is chosen")
    shown = b.run("return Array.from(document.querySelectorAll('#b1 figure[data-show]')).filter((f) => !f.hidden)"
                  ".map((f) => f.dataset.show)")
    run.equal(shown, ["wall", "wall"], "figures follow the clock")
    b.choose("#b1-t", "-3")
    same(run, by_system(b, "es"), {k: v["wall"]["es"][7] for k, v in group["systems"].items()}, "ES is at the level chosen")
    address = b.run("return location.hash")
    before = b.run("return document.querySelector('#b1-table').textContent")
    b.open(path, address)
    run.equal(b.run("return document.querySelector('#b1-table').textContent"), before, "the address keeps it all")
    b.open(path)
    b.type("#b1-q", "system_03")
    run.equal(b.run("return Array.from(document.querySelectorAll('#b1-table tbody tr')).filter((r) => !r.hidden)"
                    ".map((r) => r.dataset.system)"), ["system_03"], "a search leaves what holds its words")


def look_curve(run, b, path):
    bench = data_of(path)["boards"][0]["bench"]
    b.open(path)
    place = b.run("""const p = document.querySelector('figure[data-kind="es"] svg'); p.scrollIntoView({block: 'center'});
        const r = p.getBoundingClientRect(), d = p.dataset, s = (2 - d.lo) / (d.hi - d.lo);
        return [r.left + (Number(d.x0) + s * (d.x1 - d.x0)) * r.width / p.viewBox.baseVal.width, r.top + r.height / 2]""")
    b.point(*place)
    want = {k: v["replay"]["es"][12] for k, v in bench["systems"].items()}
    same(run, by_system(b, "es"), want, "the pointer over the curve shows ES(2)")
    b.point(2, 2)
    same(run, by_system(b, "es"), {k: v["replay"]["es"][5] for k, v in bench["systems"].items()}, "and no longer beside it")
    b.point(*place, click=True)
    b.point(2, 2)
    same(run, by_system(b, "es"), want, "a click keeps it")
    run.equal(b.run("return [location.hash, document.querySelector('#b1-t').value]"), ["#b1;t=2", "2"],
              "in the address and the slider")


def look_links(run, b, path, pages):
    b.open(path)
    b.click("#tasks-table tbody th a")
    b.wait("return location.hash.startsWith('#t')")
    run.check(b.wait("const r = document.querySelector(location.hash).getBoundingClientRect();"
                     "return r.top < innerHeight && r.bottom > 0"), "a task's link leads to it")
    b.open(pages)
    title = b.run("return document.querySelector('#tasks-table tbody th a').textContent")
    b.click("#tasks-table tbody th a")
    b.wait("return location.href.includes('.tasks/') && document.documentElement.dataset.ready === '1'")
    run.equal(b.run("return document.querySelector('h3').textContent"), title, "so it does in a page of its own")
    b.click(".task a")
    b.wait("return location.hash === '#tasks' && document.documentElement.dataset.ready === '1'")
    run.check(True, "which leads back")


def look_keyboard(run, b, path):
    b.open(path)
    look_order(run, b, "report")
    b.run("document.querySelector('#b1-table th[data-key=\"worst\"] button').focus()")
    b.press(ENTER)
    values = b.run(COLUMN, "worst")
    run.equal(values, sorted(values, reverse=True), "the enter key sorts")


def look_made(run, b, path):
    """What a pass made: drawn, named in words, with its sources closed; all by keyboard."""
    b.open(path)
    made = "document.querySelector('.task details.made')"
    run.check(b.run("return %s.open && %s.querySelector('svg').checkVisibility()" % (made, made)), "the first drawing is seen")
    marks = b.run("return %s.querySelectorAll('svg .mark1').length" % made)
    nodes = b.run("return Number(%s.querySelector('.legend tbody td.num').textContent)" % made)
    run.check(marks > 0 and marks == nodes, "as many nodes have the mark as the table says", [marks, nodes])
    run.equal(b.run("return Array.from(%s.querySelectorAll('svg .mark1')).every((e) => e.textContent.includes('kernel 1'))"
                    % made), True, "and each says it in words")
    same = b.run("const box = getComputedStyle(%s.querySelector('svg .mark1 > rect')).fill;"
                 "return box === getComputedStyle(%s.querySelector('.swatch.mark1')).backgroundColor" % (made, made))
    run.check(same, "the table's colour is the drawing's")
    source = made + ".querySelector('details')"
    run.equal(b.run("return %s.open || %s.querySelector('pre.code').checkVisibility()" % (source, source)), False,
              "the source is closed")
    b.run("%s.querySelector('summary').focus()" % source)
    b.press(ENTER)
    run.equal(b.run("return %s.open && %s.querySelector('pre.code').checkVisibility()" % (source, source)), True,
              "the enter key opens it")
    b.press(TAB)
    run.equal(b.run("return document.activeElement.className"), "code", "and the tabulator goes into it, to scroll")
    for scheme in ("light", "dark"):
        b.media(scheme=scheme)
        run.equal(b.run(CONTRAST), [], "%s: an open source has a contrast of 4.5" % scheme)
    b.media()


def look_hostile(run, b, path, tmp):
    b.open(path)
    run.equal(b.run("return document.title"), "Passmith report", "hostile names do nothing")
    run.equal(b.run("return document.querySelectorAll('script').length"), 2, "and make no script")
    run.equal(b.run("return document.querySelectorAll('img, iframe, object, embed, link, form, base').length"), 0,
              "nor anything that loads")
    for kind in ("name", "as", "wrong"):
        b.click('#tasks-table th[data-key="%s"] button' % kind)
    b.type("#tasks-q", "<script>")
    run.check(b.run("return Array.from(document.querySelectorAll('#tasks-table tbody tr')).filter((r) => !r.hidden).length")
              > 0, "they are found as text")
    run.equal(b.run("return document.title"), "Passmith report", "after sorting and searching they did nothing either")
    bad = b.run("""return Array.from(document.documentElement.outerHTML)
        .filter((c) => /[\\u202a-\\u202e\\u2066-\\u2069\\u200b-\\u200f\\u0000-\\u0008\\u001b]/.test(c)).length""")
    run.equal(bad, 0, "no mark of direction and no control character is left")
    # The policy holds where the writer should fail: a script that somebody adds does not run.
    with open(path, encoding="utf-8") as f:
        text = f.read()
    broken = os.path.join(tmp, "broken.html")
    with open(broken, "w", encoding="utf-8") as f:
        f.write(text.replace("</body>", "<script>document.title='broken'</script><p onclick=\"document.title='broken'\" "
                                        "id='bait'>bait</p></body>"))
    b.open(broken)
    b.click("#bait")
    run.equal(b.run("return document.title"), "Passmith report", "the policy stops a script that is not the page's")
    run.check(any("Content Security Policy" in m for m in b.console()), "and says so")
    b.requests()


def look_many(run, b, build, seed, tmp):
    path = make_report(build, tmp, "many", make_many(seed, tmp, "many", "--gpu", "NVIDIA H200"))
    b.requests()
    size = os.path.getsize(path)
    run.check(size < 5000000, "200 tasks of 20 systems are less than 5 MB", size)
    b.open(path)
    took = b.run("const t = performance.getEntriesByType('navigation')[0]; return t.loadEventEnd")
    print("# 200 tasks of 20 systems: %d bytes, loaded in %d ms" % (size, took))
    run.equal(b.run("return document.querySelectorAll('#b1-table tbody tr').length"), 21, "all are in its ranking")
    look_quiet(run, b, "many", path)


def look(run, b, build, tmp, opts):
    seed = make_seed(build, tmp)
    gpu = make_many(seed, tmp, "gpu", "--tasks", "6", "--systems", "5", "--gpu", "NVIDIA H200")
    report = make_report(build, tmp, "gpu", gpu)
    pages = make_report(build, tmp, "pages", gpu, "--pages")
    hostile = make_report(build, tmp, "hostile", make_many(seed, tmp, "hostile", "--tasks", "7", "--systems", "7", "--hostile"))
    for name, path in (("gpu", report), ("hostile", hostile)):
        b.requests()
        b.open(path)
        look_quiet(run, b, name, path)
        look_rules(run, b, name, path)
        look_sizes(run, b, name, path, opts.shots)
    sessions = make_report(build, tmp, "sessions", make_sessions(build, tmp))
    b.requests()
    b.open(sessions)
    look_quiet(run, b, "sessions", sessions)
    look_rules(run, b, "sessions", sessions)
    run.check(b.run("return document.querySelectorAll('.diff .add').length > 0"), "sessions: diffs are open")
    models = make_report(build, tmp, "models", make_models(build, tmp))
    b.requests()
    b.open(models)
    look_quiet(run, b, "models", models)
    look_rules(run, b, "models", models)
    look_sizes(run, b, "models", models, opts.shots)
    look_models(run, b, models)
    look_sort(run, b, report)
    look_filters(run, b, report)
    look_curve(run, b, report)
    look_links(run, b, report, pages)
    look_keyboard(run, b, report)
    look_made(run, b, report)
    run.equal(b.console(), [], "the console is still empty")
    look_hostile(run, b, hostile, tmp)
    if opts.many:
        look_many(run, b, build, seed, tmp)


if __name__ == "__main__":
    sys.exit(main(look, __doc__))
