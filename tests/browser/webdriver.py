# SPDX-License-Identifier: Apache-2.0
"""webdriver.py - a browser driven by chromedriver on the loopback interface (W3C WebDriver), with the standard library."""
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

WAIT_SECONDS = 120
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def programs():
    """The browser and its driver, or None for what is not here."""
    return (shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome"),
            shutil.which("chromedriver"))


class Browser:
    """One headless browser with an empty profile."""

    def __init__(self, browser, driver):
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.session = None
        for line in self.process.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                self.base = "http://127.0.0.1:" + found.group(1)
                break
        else:
            raise RuntimeError("chromedriver ended before it listened")
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        options = {"binary": browser, "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                               "--hide-scrollbars", "--window-size=1280,900"]}
        answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]
        self.do("POST", "/timeouts", {"pageLoad": WAIT_SECONDS * 1000, "script": WAIT_SECONDS * 1000})

    def close(self):
        """Ends the browser, then its driver."""
        try:
            if self.session:
                self.ask("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait()

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=2 * WAIT_SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"]) from e

    def do(self, method, path, body=None):
        return self.ask(method, self.session + path, body)

    def cdp(self, command, params):
        return self.do("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def run(self, script, *args):
        """What a piece of JavaScript returns."""
        return self.do("POST", "/execute/sync", {"script": script, "args": list(args)})

    def wait(self, script, *args):
        """Until a piece of JavaScript returns something true: a condition, never a time."""
        end = time.monotonic() + WAIT_SECONDS
        while True:
            value = self.run(script, *args)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError("never true: " + script)
            time.sleep(0.02)

    def open(self, path, fragment=""):
        """Loads a file anew, until its script is ready."""
        self.do("POST", "/url", {"url": "about:blank"})
        self.do("POST", "/url", {"url": "file://" + path + fragment})
        self.wait("return document.documentElement.dataset.ready === '1'")

    def find(self, selector):
        return self.do("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center', inline: 'center'})", selector)
        self.do("POST", "/element/%s/click" % self.find(selector), {})

    def type(self, selector, text):
        self.do("POST", "/element/%s/value" % self.find(selector), {"text": text})

    def press(self, key):
        """A key without an element: to whatever has the focus."""
        self.do("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def point(self, x, y, click=False):
        """Moves the pointer to a place of the window."""
        moves = [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}]
        if click:
            moves += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.do("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": moves}]})

    def drag(self, x, y, dx, dy):
        """The left button goes down at a place, and up elsewhere."""
        places = [(x, y), (x + dx / 2, y + dy / 2), (x + dx, y + dy)]
        moves = [{"type": "pointerMove", "duration": 0, "x": int(px), "y": int(py)} for px, py in places]
        moves.insert(1, {"type": "pointerDown", "button": 0})
        moves.append({"type": "pointerUp", "button": 0})
        self.do("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": moves}]})

    def wheel(self, x, y, delta, ctrl=False):
        self.cdp("Input.dispatchMouseEvent", {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": delta,
                                              "modifiers": 2 if ctrl else 0})

    def pinch(self, x, y, before, after):
        """Two fingers, so far apart first and last."""
        def touch(kind, apart):
            points = [] if apart is None else [{"x": x - apart / 2, "y": y, "id": 0}, {"x": x + apart / 2, "y": y, "id": 1}]
            self.cdp("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        self.cdp("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
        touch("touchStart", before)
        touch("touchMove", (before + after) / 2)
        touch("touchMove", after)
        touch("touchEnd", None)
        self.cdp("Emulation.setTouchEmulationEnabled", {"enabled": False})

    def choose(self, selector, value):
        """A value of a field, as a person sets it: with its event."""
        self.run("const f = document.querySelector(arguments[0]); f.value = arguments[1];"
                 "f.dispatchEvent(new Event('input', {bubbles: true}))", selector, value)

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1,
                                                        "mobile": width < 600})

    def media(self, kind="screen", scheme="light"):
        self.cdp("Emulation.setEmulatedMedia", {"media": kind, "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def screenshot(self):
        return self.do("GET", "/screenshot")

    def console(self):
        """Messages of the console since the last call."""
        return [entry["message"] for entry in self.do("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that were asked for since the last call."""
        found = []
        for entry in self.do("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found
