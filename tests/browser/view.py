#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""view.py - the pages of passmith view in a browser. view.py BUILD [--shots DIR]

What holds for the pages of a report holds here (looks.py). Besides, groups open by a click and by keyboard, drawings are made
larger and moved, text can be read on boxes of every colour, and a difference of two models leads to what changed.
"""
import os
import re
import shutil
import subprocess
import sys

from looks import CONTRAST, ENTER, TAB, look_order, look_quiet, look_rules, look_sizes, main, passmith

HERE = os.path.dirname(os.path.abspath(__file__))
HOSTILE = ["</title><script>document.title='broken'</script>", "\u202eevil\u001b[31m", "w" * 10000, "a</text><img src=x>"]
DOWN = "\ue015"
FRAME = ".sheet.first .canvas"


def make_tower(tmp):
    """20 equal layers with operators of several kinds: too many for one level."""
    lines, last = [], "x"
    for i in range(20):
        scope = "/layer.%d/" % i
        for k, call in enumerate(("Tanh(%s)", "MatMul(%s, x)", "Softmax<axis=1>(%s)", "Transpose<perm=[1, 0]>(%s)", "Add(%s, x)", "Exp(%s)")):
            out = "y" if (i, k) == (19, 5) else "h%d_%d" % (i, k)
            lines.append('["%sop%d"] %s = %s' % (scope, k, out, call % last))
            last = out
    return write(tmp, "tower.gpt", "tower (float[8,8] x) => (float[8,8] y)\n{\n%s\n}\n" % "\n".join(lines))


def make_hostile(tmp):
    lines, last = [], "x"
    for i, name in enumerate(HOSTILE):
        out = "y" if i == len(HOSTILE) - 1 else "h%d" % i
        lines.append('["%s"] %s = Tanh(%s)' % (name, out, last))
        last = out
    return write(tmp, "hostile.gpt", "m (float[4] x) => (float[4] y)\n{\n%s\n}\n" % "\n".join(lines))


def write(tmp, name, text):
    path = os.path.join(tmp, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def make_view(build, tmp, model):
    out = os.path.join(tmp, os.path.basename(model) + ".html")
    passmith(build, "view", model, "-o", out, "--layout", "own")
    return out


def make_diff(build, tmp, tower):
    """The tower against a copy with other names of values, a hostile node put in and one taken out."""
    with open(tower, encoding="utf-8") as f:
        text = re.sub(r"\bh(\d+_\d+)", r"k\1", f.read())
    text = text.replace("k9_2 = Softmax<axis=1>(k9_1)", "k9_2 = Softmax<axis=1>(k9_1)\n[\"%s\"] put = Neg(k9_2)" % HOSTILE[3])
    text = text.replace("k9_3 = Transpose<perm=[1, 0]>(k9_2)", "k9_3 = Transpose<perm=[1, 0]>(put)")
    text = text.replace("k14_2 = Softmax<axis=1>(k14_1)", "k14_2 = Softmax<axis=0>(k14_1)")
    out = os.path.join(tmp, "diff.html")
    passmith(build, "view", tower, write(tmp, "edited.gpt", text), "-o", out, "--layout", "own")
    return out


# ---- what is looked at ----

def look_html(run, name, path):
    if not shutil.which("tidy"):
        run.check(True, name + ": HTML by tidy's rules # SKIP tidy is not here")
        return
    said = subprocess.run(["tidy", "-q", "-e", "--drop-empty-elements", "no", path], capture_output=True, text=True, check=False).stderr
    # Tidy takes a link in SVG for one in HTML.
    said = [line for line in said.splitlines() if line.startswith("line ") and not re.search(r'<a> proprietary attribute "(class|href)"', line)]
    run.check(not said, name + ": HTML by tidy's rules", said)


SHOWN = "return Array.from(document.querySelectorAll('.sheet')).filter((e) => e.checkVisibility()).map((e) => e.id)"


def look_groups(run, b, path):
    b.open(path)
    run.equal(b.run(SHOWN), ["g0"], "the whole is shown first, alone")
    b.click(".sheet.first svg a text")
    b.wait("return location.hash === '#g1'")
    run.equal(b.run(SHOWN), ["g1"], "a click on a group shows it, alone")
    look_rules(run, b, "a group", path + "#g1")
    b.click("#g1 nav a")
    b.wait("return location.hash === '#g0'")
    run.equal(b.run(SHOWN), ["g0"], "the way back leads to the whole")
    b.open(path)
    b.run("document.querySelector('.sheet.first svg a').focus()")
    b.press(ENTER)
    b.wait("return location.hash === '#g1'")
    run.equal(b.run(SHOWN), ["g1"], "the enter key on a group shows it")
    b.press(TAB)
    run.check(b.run("return document.activeElement.closest('#g1') !== null"), "and the tabulator goes on in it")


def scene(b):
    """Size of the drawing in percent of its own, and where the frame is."""
    return b.run("const f = document.querySelector(arguments[0]), s = f.querySelector('svg'), box = s.viewBox.baseVal;"
                 "return [Math.round(100 * s.getBoundingClientRect().width / box.width), f.scrollLeft, f.scrollTop]", FRAME)


def below(b, x, y):
    """The point of the drawing at a place of the window, as shares of its size."""
    return b.run("const r = document.querySelector(arguments[0] + ' svg').getBoundingClientRect();"
                 "return [(arguments[1] - r.left) / r.width, (arguments[2] - r.top) / r.height]", FRAME, x, y)


def middle(b):
    return b.run("const f = document.querySelector(arguments[0]); f.scrollIntoView({block: 'center'});"
                 "const r = f.getBoundingClientRect(); return [r.left + f.clientWidth / 2, r.top + f.clientHeight / 2]", FRAME)


def near(a, c):
    return all(abs(p - q) < 0.01 for p, q in zip(a, c))


def look_keys(run, b, path):
    b.open(path)
    b.run("document.querySelector(arguments[0]).focus()", FRAME)
    sizes = []
    for key in "++--=0":
        b.press(key)
        sizes.append(scene(b)[0])
    run.equal(sizes, [125, 156, 125, 100, 125, 100], "keys make a drawing larger, smaller and as it is")
    for _ in range(7):
        b.press("+")
    b.press(DOWN)
    run.check(b.wait("return document.querySelector(arguments[0]).scrollTop > 0", FRAME), "arrows move it")
    run.equal(b.run("return document.querySelector('.sheet.first output').textContent"), "%d %%" % scene(b)[0], "its size is said")
    for _ in range(20):
        b.press("+")
    run.equal(scene(b)[0], 800, "and has an end")


def look_buttons(run, b, path):
    b.open(path)
    sizes = []
    for number in (1, 1, 2, 3):
        b.click(".sheet.first .zoom button:nth-of-type(%d)" % number)
        sizes.append(scene(b)[0])
    run.equal(sizes, [125, 156, 125, 100], "buttons do, too")
    b.click(".sheet.first .zoom button:nth-of-type(4)")
    fits = b.run("const f = document.querySelector(arguments[0]), r = f.querySelector('svg').getBoundingClientRect();"
                 "return [r.width - f.clientWidth, r.height - f.clientHeight]", FRAME)
    run.check(max(fits) <= 1 and scene(b)[0] < 100, "fit shows all of a large drawing", fits)
    run.check(b.run("return document.querySelectorAll('[style]').length") == 0, "no element has a style of its own")


def look_pointer(run, b, path):
    b.open(path)
    x, y = middle(b)
    x -= 300
    at = below(b, x, y)
    b.wheel(x, y, -200, ctrl=True)
    b.wait("return document.querySelector(arguments[0] + ' svg').width.baseVal.value > 1.5 * "
           "document.querySelector(arguments[0] + ' svg').viewBox.baseVal.width", FRAME)
    run.check(abs(below(b, x, y)[1] - at[1]) < 0.01, "the wheel with Ctrl keeps the height below the pointer", (at, below(b, x, y)))
    run.equal(b.run("return visualViewport.scale"), 1, "and leaves the page as it is")
    for _ in range(8):
        b.click(".sheet.first .zoom button")
    x, y = middle(b)
    at = below(b, x, y)
    b.click(".sheet.first .zoom button")
    x, y = middle(b)
    run.check(near(at, below(b, x, y)), "a button keeps the middle of the frame where it is", (at, below(b, x, y)))
    before = scene(b)
    b.drag(x, y, -60, -40)
    after = scene(b)
    run.equal([after[1] - before[1], after[2] - before[2]], [60, 40], "a drag moves the drawing with the pointer")
    b.open(path)
    b.run("const f = document.querySelector(arguments[0]); for (let i = 0; i < 8; i++) f.previousElementSibling.children[0].click();", FRAME)
    b.run("document.querySelector('.sheet.first svg a rect').scrollIntoView({block: 'center', inline: 'center'})")
    x, y = b.run("const r = document.querySelector('.sheet.first svg a rect').getBoundingClientRect();"
                 "return [r.left + r.width / 2, r.top + r.height / 2]")
    before = scene(b)
    b.drag(x, y, 20, 30)
    run.check(scene(b)[2] != before[2] and b.run("return location.hash") == "", "a drag on a group moves it and does not open it",
              (before, scene(b)))
    b.point(x + 20, y + 30, click=True)
    b.wait("return location.hash === '#g1'")
    run.check(True, "a click opens it afterwards")


def look_touch(run, b, path):
    b.open(path)
    x, y = middle(b)
    b.pinch(x, y, 100, 250)
    b.wait("return document.querySelector(arguments[0] + ' svg').width.baseVal.value > 2 * "
           "document.querySelector(arguments[0] + ' svg').viewBox.baseVal.width", FRAME)
    run.equal(scene(b)[0], 250, "two fingers make it as much larger as they go apart")
    run.equal(b.run("return visualViewport.scale"), 1, "and the page stays as it is")


def look_colours(run, b, path):
    """Text on boxes of all colours that drawings have, those included that this page does not use."""
    with open(os.path.join(HERE, "..", "..", "draw", "svg", "svg.css"), encoding="ascii") as f:
        colours = sorted(set(re.findall(r"\.pg \.(\w+) > rect", f.read())))
    run.check(len(colours) > 15, "colours of boxes are found in the style", colours)
    b.open(path, "#g1")
    b.run("const items = document.querySelectorAll('#g1 svg .item');"
          "arguments[0].forEach((c, i) => { const e = items[i % items.length].cloneNode(true); e.setAttribute('class', 'item ' + c);"
          "e.setAttribute('transform', 'translate(' + 400 * (i + 1) + ' 0)'); items[0].parentElement.append(e); })", colours)
    for scheme in ("light", "dark"):
        b.media(scheme=scheme)
        run.equal(b.run(CONTRAST), [], "%s: text on boxes of every colour has a contrast of 4.5" % scheme)
        fills = b.run("return new Set(Array.from(document.querySelectorAll('#g1 svg .item > rect'), (e) => getComputedStyle(e).fill)).size")
        run.check(fills > 15, scheme + ": and they differ", fills)
    b.media()
    b.run("document.styleSheets[0].insertRule('.pg .mark3 > rect { fill: var(--pg-soft) }', document.styleSheets[0].cssRules.length)")
    run.check(any("mark3" in found for found in b.run(CONTRAST)), "the rule sees a box that is too dark", b.run(CONTRAST))


def look_hostile(run, b, path):
    b.open(path)
    run.equal(b.run("return document.title"), "hostile.gpt", "hostile names do nothing")
    run.equal(b.run("return document.querySelectorAll('script').length"), 1, "and make no script")
    run.equal(b.run("return document.querySelectorAll('img, iframe, object, embed, link, form, base, foreignObject').length"), 0,
              "nor anything that loads")
    run.check(b.run("return Array.from(document.querySelectorAll('svg title')).some((e) => e.textContent.includes('<script>'))"),
              "they are found as text")
    bad = b.run("""return Array.from(document.documentElement.outerHTML)
        .filter((c) => /[\\u202a-\\u202e\\u2066-\\u2069\\u200b-\\u200f\\u0000-\\u0008\\u001b]/.test(c)).length""")
    run.equal(bad, 0, "no mark of direction and no control character is left")


def look_diff(run, b, path):
    b.open(path)
    rows = b.run("return Array.from(document.querySelectorAll('#changes tbody tr')).map((e) => e.cells[0].textContent)")
    run.equal(rows, ["added", "changed", "changed"], "a difference has a row for each change")
    marks = b.run("""return ['added', 'removed', 'changed'].map((kind) => Array.from(document.querySelectorAll('.sheet.first .node.' + kind))
        .filter((e) => e.querySelector('.sub').textContent.startsWith(kind)).length)""")
    run.equal(marks, [1, 0, 2], "the first level shows the nodes, marked with a word, too")
    run.check(b.run("return document.querySelectorAll('.sheet.first .group').length > 1"), "what is far from them is folded")
    run.equal(b.run("return document.querySelectorAll('img').length"), 0, "a hostile name of an added node is text")
    b.click(".sheet.first a.group")
    run.check(b.run(SHOWN) != ["g0"], "a folded part opens")
    b.click("#changes tbody a")
    run.equal(b.run(SHOWN), ["g0"], "a row leads to the level that shows its node")


def look_bare(run, b, path, tmp):
    """Without its script the page has no buttons, and the frame scrolls."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"<script>.*?</script>", "", f.read(), flags=re.S)
    bare = write(tmp, "bare.html", text)
    b.do("POST", "/url", {"url": "file://" + bare})
    run.equal(b.run("return document.querySelectorAll('.zoom, button').length"), 0, "without the script there are no buttons")
    run.check(b.run("const f = document.querySelector(arguments[0]); f.scrollTop = 50; return f.scrollTop === 50", FRAME),
              "and the frame scrolls")
    b.click(".sheet.first svg a text")
    b.wait("return location.hash === '#g1'")
    run.equal(b.run(SHOWN), ["g1"], "groups open")


def look(run, b, build, tmp, opts):
    tower = make_view(build, tmp, make_tower(tmp))
    hostile = make_view(build, tmp, make_hostile(tmp))
    diff = make_diff(build, tmp, os.path.join(tmp, "tower.gpt"))
    for name, path in (("tower", tower), ("hostile names", hostile), ("difference", diff)):
        look_html(run, name, path)
        b.requests()
        b.open(path)
        look_quiet(run, b, name, path)
        look_order(run, b, name)
        look_rules(run, b, name, path)
        look_sizes(run, b, name.split()[0] + "-view", path, opts.shots, tools=".zoom")
    look_groups(run, b, tower)
    look_keys(run, b, tower)
    look_buttons(run, b, tower)
    look_pointer(run, b, tower)
    look_touch(run, b, tower)
    look_colours(run, b, tower)
    look_hostile(run, b, hostile)
    look_diff(run, b, diff)
    look_bare(run, b, tower, tmp)
    run.equal(b.console(), [], "the console is still empty")


if __name__ == "__main__":
    sys.exit(main(look, __doc__))
