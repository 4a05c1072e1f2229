# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by the DevTools protocol over a pair of pipes: messages are JSON, each ended
by a zero byte. So no package but Python is needed."""
import base64, json, os, select, shutil, subprocess, tempfile, time


class Browser:
    def __init__(self, program, width=1200, height=900):
        self.profile = tempfile.mkdtemp(prefix="vinci-chromium-")
        here_read, there_write = os.pipe()
        there_read, here_write = os.pipe()
        self.read, self.write, self.number, self.buffer, self.errors = here_read, here_write, 0, b"", []
        environment = dict(os.environ, HOME=self.profile, XDG_CONFIG_HOME=self.profile, XDG_CACHE_HOME=self.profile)
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                   "--force-color-profile=srgb", "--remote-debugging-pipe", "--user-data-dir=" + self.profile]

        def fds():  # Chromium reads from 3 and writes to 4
            reading, writing = os.dup(there_read), os.dup(there_write)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(command, preexec_fn=fds, close_fds=False, env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_read)
        os.close(there_write)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.requests = []
        self.size(width, height)

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        self.process.wait(timeout=20)
        shutil.rmtree(self.profile, ignore_errors=True)

    def cpu_seconds(self):
        """CPU time of the renderer and of all other processes of the browser, from /proc."""
        parents, used = {}, {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % pid) as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
                with open("/proc/%s/cmdline" % pid) as line:
                    renders = "--type=renderer" in line.read()
            except OSError:
                continue  # has ended
            parents[int(pid)] = int(fields[1])
            used[int(pid)] = ((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), renders)

        def is_ours(pid):
            while pid and pid != self.process.pid:
                pid = parents.get(pid, 0)
            return pid != 0

        ours = [used[pid] for pid in used if is_ours(pid)]
        return sum(seconds for seconds, renders in ours if renders), sum(seconds for seconds, renders in ours if not renders)

    # ---- messages ----

    def message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                raise RuntimeError("the browser does not answer")
            piece = os.read(self.read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, message):
        """Events: what went wrong on the page, and what it asked for."""
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, seconds=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message(seconds)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.note(answer)

    # ---- what a user does ----

    def open(self, path):
        self.errors, self.requests = [], []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        end = time.monotonic() + 60
        while self.run("document.readyState") != "complete" or not self.run("!!document.querySelector('section, .warn')"):
            if time.monotonic() > end:
                raise RuntimeError("the page does not load")
            time.sleep(0.05)
        self.frame()

    def run(self, text):
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def frame(self):
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def text(self, selector):
        return self.run("(e => e && e.textContent)(document.querySelector(%s))" % json.dumps(selector))

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def key(self, key, code=None):
        text = key if len(key) == 1 else None
        for kind in ("keyDown", "keyUp"):
            params = {"type": kind, "key": key, "code": code or key}
            if key == "Tab":
                params["windowsVirtualKeyCode"] = 9
            if text and kind == "keyDown":
                params["text"] = text
            self.call("Input.dispatchKeyEvent", **params)
        self.frame()

    def type_into(self, selector, text):
        self.run("(e => { e.focus(); e.value = ''; })(document.querySelector(%s))" % json.dumps(selector))
        self.call("Input.insertText", text=text)
        self.frame()

    def screenshot(self, path, selector=None):
        kind = path.rsplit(".", 1)[1]
        params = {"format": kind, "quality": 75} if kind == "webp" else {"format": kind}
        if selector:
            box = self.run("(b => [b.left + scrollX, b.top + scrollY, b.width, b.height])(document.querySelector(%s).getBoundingClientRect())"
                           % json.dumps(selector))
            params.update(captureBeyondViewport=True,
                          clip={"x": box[0], "y": box[1], "width": box[2], "height": box[3], "scale": 1})
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", **params)["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"])
