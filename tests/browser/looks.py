# SPDX-License-Identifier: Apache-2.0
"""looks.py - what the browser's tests share: counting, and what every page must keep."""
import argparse
import base64
import os
import subprocess
import sys
import tempfile

import webdriver
from rules import CONTRAST, RULES

TAB = "\ue004"
ENTER = "\ue007"
SIZES = {"phone": (360, 740), "tablet": (820, 1180), "desk": (1440, 900)}


class Run:
    """Counts checks as TAP."""

    def __init__(self):
        self.n = self.failed = 0

    def check(self, ok, name, why=""):
        self.n += 1
        self.failed += not ok
        print("%sok %d - %s" % ("" if ok else "not ", self.n, name))
        if not ok and why != "":
            print("# " + str(why)[:2000])
        sys.stdout.flush()

    def equal(self, got, want, name):
        self.check(got == want, name, "got %r, expected %r" % (got, want))


def passmith(build, *args):
    done = subprocess.run([os.path.join(build, "passmith"), *args, "--quiet"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit("passmith %s: %s%s" % (" ".join(args), done.stdout, done.stderr))
    return done.stdout


def look_quiet(run, b, name, path):
    """Nothing on the console, nothing loaded but the page."""
    run.equal(b.console(), [], name + ": the console stays empty")
    asked = [u for u in b.requests() if u not in ("about:blank", "data:,") and not u.startswith("file://" + path)]
    run.equal(asked, [], name + ": no request leaves the page")


def look_order(run, b, name):
    """The tabulator, on the page that is open."""
    want = b.run("""return Array.from(document.querySelectorAll('a[href], button, input, select, summary, [tabindex]'))
        .filter((e) => e.checkVisibility({contentVisibilityAuto: true})).slice(0, 30).map((e, i) => { e.dataset.at = i; return i; })""")
    got, bare = [], []
    for _ in want:
        b.press(TAB)
        at, outline = b.run("const e = document.activeElement;"
                            "return [Number(e.dataset.at), getComputedStyle(e).outlineStyle]")
        got.append(at)
        if outline == "none":
            bare.append(at)
    run.equal(got, want, name + ": the tabulator goes through all in reading order")
    run.equal(bare, [], name + ": what has the focus is marked")


def look_rules(run, b, name, path):
    """Both schemes: contrast; and what makes a page usable without eyes or mouse."""
    b.open(path)
    run.equal(b.run(RULES), [], name + ": labels, names, headings, unique ids")
    for scheme in ("light", "dark"):
        b.media(scheme=scheme)
        run.equal(b.run(CONTRAST), [], "%s, %s: all text has a contrast of 4.5" % (name, scheme))
    b.media()


def look_sizes(run, b, name, path, shots, tools=".filters"):
    """Nothing is wider than the window; on paper there are no `tools`, which only work on a screen."""
    for size, (width, height) in SIZES.items():
        b.size(width, height)
        b.open(path)
        over = b.run("return document.documentElement.scrollWidth - innerWidth")
        run.check(over <= 0, "%s, %s: nothing is wider than the window" % (name, size), over)
        for scheme in ("light", "dark") if shots else ():
            b.media(scheme=scheme)
            with open(os.path.join(shots, "%s-%s-%s.png" % (name, size, scheme)), "wb") as f:
                f.write(base64.b64decode(b.screenshot()))
        b.media()
    b.cdp("Emulation.clearDeviceMetricsOverride", {})
    b.media(kind="print")
    run.check(b.run("return Array.from(document.querySelectorAll(arguments[0])).every((e) => getComputedStyle(e).display === 'none')",
                    tools), name + ": on paper without what cannot be used there")
    b.media()


def main(look, about):
    """Runs look(run, browser, build, tmp, opts) with a browser, or says that there is none."""
    p = argparse.ArgumentParser(description=about)
    p.add_argument("build")
    p.add_argument("--shots")
    p.add_argument("--many", action="store_true")
    opts = p.parse_args()
    browser, driver = webdriver.programs()
    if not browser or not driver:
        print("1..0 # SKIP no chromium with chromedriver is here (apt-get install chromium chromium-driver)")
        return 0
    if opts.shots:
        os.makedirs(opts.shots, exist_ok=True)
    run = Run()
    with tempfile.TemporaryDirectory() as tmp:
        b = webdriver.Browser(browser, driver)
        try:
            look(run, b, os.path.abspath(opts.build), tmp, opts)
        finally:
            b.close()
    print("1..%d" % run.n)
    print("%d passed, %d failed" % (run.n - run.failed, run.failed))
    return 1 if run.failed else 0
