# SPDX-License-Identifier: Apache-2.0
"""Pages of `vinci report` in a headless Chromium: report_page.py CHROMIUM FOLDER CHECK [PICTURES].

What the page shows is compared with summary.json and CSV tables of the run, from which the page was not
made. A problem is a line on standard output."""
import base64, csv, json, os, re, shlex, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from browser import Browser

WAITS = ("wait_flag", "pipe_barrier", "ffts_cross_core_sync", "wait_flag_dev")


def same(what, found, wanted):
    if found != wanted:
        print("%s is %r, not %r" % (what, found, wanted))


def near(what, found, wanted, by):
    if found is None or abs(found - wanted) > by:
        print("%s is %r, not %r +- %r" % (what, found, wanted, by))


def number(text):
    """The first number of a text for people."""
    if text is None:
        return None
    kept = "".join(c for c in text.replace("\u202f", "").replace("\u2212", "-") if c in "0123456789.- ")
    return float(kept.split()[0]) if kept.split() else None


def micros(text):
    """Microseconds of the first time for people, "27.08 ms" or "+3.1 \u00b5s"."""
    found = re.search("([-\u2212]?[0-9.\u202f]+) (s|ms|\u00b5s)", text)
    return number(found.group(1)) * {"s": 1e6, "ms": 1e3, "\u00b5s": 1}[found.group(2)]


class Page:
    def __init__(self, browser, folder, name, pictures):
        self.browser, self.folder, self.pictures = browser, folder, pictures
        self.page = os.path.join(folder, name + ".html")
        self.results = os.path.join(folder, name)
        browser.size(1280, 900)
        browser.open(self.page)

    def json(self, name):
        with open(os.path.join(self.results, name)) as text:
            return json.load(text)

    def table(self, name):
        with open(os.path.join(self.results, name), newline="") as text:
            return list(csv.DictReader(text))

    def quiet(self):
        """Nothing went wrong on the page, and nothing was asked for but the page."""
        self.browser.frame()
        same("errors of the console", self.browser.errors, [])
        said = self.browser.run("document.body.innerText + [...document.querySelectorAll('[title], [aria-label]')]"
                                ".map(e => ' ' + e.getAttribute('title') + '; ' + e.getAttribute('aria-label')).join('').replace(/null/g, '')")
        same("words of a number that is none", re.findall(r".{0,30}(?:NaN|undefined|Infinity|\bnull\b).{0,10}", said), [])
        same("requests", [url for url in self.browser.requests if not url.startswith("data:")], ["file://" + os.path.abspath(self.page)])

    def rows(self, selector):
        return self.browser.run("[...document.querySelectorAll(%s)].map(row => [...row.cells].map(cell => cell.textContent))"
                                % json.dumps(selector + " tbody tr"))

    def picture(self, name, selector=None):
        self.browser.frame()
        if self.pictures:
            self.browser.screenshot(os.path.join(self.pictures, name + ".webp"), selector)


def command(page):
    """The title block has the command of the folder, and the digest of each input."""
    told = page.json("command.json")
    shown = page.browser.run("[...document.querySelectorAll('header .command')].map(e => e.textContent)")
    wanted = [told["command"], "vinci " + told["version"]] + ["%(file)s (%(digest)s)" % one for one in told["inputs"]]
    if not shown or not all(part in shown[0] for part in wanted):
        print("the title says %r, not %r" % (shown, wanted))


def levers(page):
    """Levers of a network or a job: those of summary.json, in order, with their options."""
    told = page.json("summary.json")["levers"]
    for selector, chosen in (("#levers li", [one for one in told if one["saved_us"] > 0]), ("#levers-kept li", [one for one in told if one["saved_us"] < 0])):
        same("options of " + selector, page.browser.run("[...document.querySelectorAll('%s code')].map(e => e.textContent)" % selector),
             [one["change"] for one in chosen])


# ---- runs -----------------------------------------------------------------------------------

def numbers(page):
    """Durations, cycles, shares of pipes, bytes, the roofline: from summary.json, by formulas of their own."""
    command(page)
    run, text = page.json("summary.json"), page.browser.text
    near("duration", number(text("#duration")), run["duration_us"], 0.0006)
    same("cycles", int(number(text("#cycles"))), run["total_cycles"])
    same("bound", text("#bound").split(":")[0], run["bound"])
    for pipe, counters in run["pipes"].items():
        shown = text("#busy-AIC-" + pipe)
        if counters["busy_cycles"] and shown:
            near("busy share of " + pipe, number(shown), 100 * counters["utilization"], 0.06)
    shown = {row[0]: number(row[1]) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[row[1].split()[1]] for row in page.rows("#path-table")}
    moved = {path: amount for path, amount in run["bytes"].items() if amount}
    same("paths", sorted(shown), sorted(moved))
    for path, amount in moved.items():
        near("bytes of " + path, shown.get(path), amount, amount * 0.01)
    roofline(page, run)
    page.quiet()


def roofline(page, run):
    hbm = run["hbm"]["read_bytes"] + run["hbm"]["write_bytes"]
    l2 = 128 * sum(run["l2"][key] for key in ("read_hits", "read_misses", "write_hits", "write_misses"))
    operations = 2 * 1024 ** 3  # of the product that the test runs
    shown = {row[0]: row for row in page.rows("#roofline-table")}
    for memory, amount in (("HBM", hbm), ("L2", l2)):
        near("operations per byte of " + memory, number(shown[memory][2]), operations / amount, 0.005 * operations / amount)
        near("rate under " + memory, number(shown[memory][4]), operations / run["duration_us"] / 1e6, 0.06)
        if number(shown[memory][4]) > number(shown[memory][3]):
            print("the run is above the roof of " + memory)
    if hbm >= l2:
        print("the run has no hits: the roofs cannot differ")
    traffic_over_time(page)


def traffic_over_time(page):
    """Steps sum to the bytes of the run, and none holds more than device memory can move by its peak; a
    step may end within the last accesses of all channels, a percent or two more."""
    run, report = page.json("summary.json"), page.json("report.json")
    over, step = report["over_time"], report["over_time"]["hbm_step_ps"]
    same("bytes of HBM over time", [sum(over["hbm_read"]), sum(over["hbm_write"])],
         [run["hbm"]["read_bytes"], run["hbm"]["write_bytes"]])
    most = max(read + written for read, written in zip(over["hbm_read"], over["hbm_write"]))
    if most > 1.1 * report["hbm"]["peak_bytes_per_second"] * step / 1e12:
        print("a step of %d ps has %d bytes of device memory" % (step, most))
    if len(over["hbm_read"]) * step < run["duration_us"] * 1e6:
        print("the steps end before the run")


def cause(page):
    """The cause, its number and the promise are those of the report for people."""
    with open(os.path.join(page.folder, "report.txt")) as text:
        lines = text.read().split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("Cause "))
    told = " ".join(line.strip() for line in [lines[first][6:]] + [l for l in lines[first + 1:first + 3] if l.startswith("   ")])
    shown = page.browser.text("#cause").replace("\u00a0", " ")
    if not told.startswith(shown.split(":")[0]):
        print("the page says %r, the report %r" % (shown, told))
    saved = page.browser.text("#saving").replace("\u00a0", " ")
    if "is expected to save %s of the run" % saved not in told or page.browser.text("#turn code") not in told:
        print("the page promises %s by %s, the report says %r" % (saved, page.browser.text("#turn code"), told))
    if len(page.browser.text("#advice")) < 20:
        print("no advice")
    same("levers", [number(text.split("expected to take")[1]) for text in page.browser.run("[...document.querySelectorAll('#levers li')].map(e => e.textContent)")],
         [number(line.split("expected to take")[1]) for line in " ".join(l.strip() if l.startswith("    ") else "\n" + l for l in lines[first:first + 20]).split("\n") if line.startswith("Kernel ")])
    saving = [number(row[5].split("saves")[1]) for row in page.rows("#critical-table") if "saves" in row[5]]
    same("causes by saving", saving, sorted(saving, reverse=True))
    total, shares = page.json("summary.json")["total_cycles"], page.rows("#critical-table")
    page.browser.run("document.querySelector('#critical-table .tools button:not([hidden]):not(.wider)')?.click()")
    same("sum of the critical path", sum(int(number(row[1])) for row in page.rows("#critical-table")), total)
    if not shares:
        print("no rows of the critical path")


def lanes(page):
    """Slices of each pipe of each core sum to its busy cycles, less waits."""
    data, busy = page.json("slices.json"), {}
    for lane in data["lanes"]:
        numbers_of = lane["slices"]
        busy[lane["core"], lane["pipe"]] = sum(numbers_of[i + 1] for i in range(0, len(numbers_of), 3) if not data["kinds"][numbers_of[i + 2]][5])
        if min(numbers_of[0::3]) < 0 or min(numbers_of[1::3]) < 1:
            print("slices of %s %s overlap" % (lane["core"], lane["pipe"]))
    for core in page.json("summary.json")["cores"]:
        for pipe, counters in core["pipes"].items():
            if pipe != "S":  # the scalar unit's own work is no instruction of a pipe
                same("busy cycles of %s %s" % (core["name"], pipe), busy.get((core["name"], pipe), 0), counters["busy_cycles"])
    for kind in data["kinds"]:
        same("whether %s waits" % kind[1], bool(kind[5]), kind[1] in WAITS or kind[1] == "set_flag")


def zoom(page):
    """Zoom, move and filter by keys and fields; the slice in the middle."""
    browser, view = page.browser, "[vinciTimeline.view.from, vinciTimeline.view.to]"
    total = browser.run("vinciTimeline.total")
    same("slices", browser.run("vinciTimeline.count"), sum(len(lane["slices"]) // 3 for lane in page.json("slices.json")["lanes"]))
    browser.run("document.getElementById('timeline-canvas').focus()")
    browser.key("w")
    browser.key("+")
    start, end = browser.run(view)
    near("a quarter of the run", end - start, total / 4, 1e-6)
    near("its middle", (start + end) / 2, total / 2, 1e-6)
    browser.key("d")
    near("moved by a fifth", browser.run(view)[0], start + (end - start) / 5, 1e-6)
    browser.key("Home")
    same("the whole run", browser.run(view), [0, total])
    data = page.json("slices.json")
    wanted = sum(data["kinds"][lane["slices"][i + 2]][1] == "mad" for lane in data["lanes"] for i in range(0, len(lane["slices"]), 3))
    browser.type_into("#timeline-filter", "mad")
    if "; %d of " % wanted not in browser.text("#timeline-range"):
        print("filter mad: %r, not %d" % (browser.text("#timeline-range"), wanted))
    browser.type_into("#timeline-filter", "")
    browser.run("(e => { e.value = 'M'; e.dispatchEvent(new Event('change')); })(document.getElementById('timeline-pipe'))")
    same("pipes shown", browser.run("[...new Set(vinciTimeline.shown.map(lane => lane.pipe))]"), ["M"])
    browser.run("(t => { const lane = t.shown[0]; t.show(lane.start[5], lane.end[5]); })(vinciTimeline)")
    browser.frame()
    # A lane is 18 px high and the first begins below the axis, 24 px: its first row is in the middle of 66 px.
    browser.run("vinciTimeline.tell(400, 30)")
    if "mad" not in browser.text("#timeline-told"):
        print("a slice of M is %r" % browser.text("#timeline-told"))
    browser.run("document.querySelector('#timeline-pipe').value = ''; vinciTimeline.only_pipe = ''; vinciTimeline.choose(); vinciTimeline.show(0, vinciTimeline.total)")
    page.quiet()


def hotspots(page):
    browser, hot = page.browser, page.table("hotspots.csv")
    shown = page.rows("#hotspot-table")
    same("hottest line", [shown[0][0], number(shown[0][1])], [hot[0]["line"], float(hot[0]["critical_cycles"])])
    with open(os.path.join(page.results, "matmul.csv")) as text:
        same("text of that line", shown[0][4], text.read().split("\n")[int(hot[0]["line"]) - 1])
    browser.type_into("#hotspot-table input", "mad")
    same("rows with mad", len(page.rows("#hotspot-table")), sum("mad" in row["instruction"] for row in hot))
    browser.type_into("#hotspot-table input", "")
    browser.run("[...document.querySelectorAll('#hotspot-table th button')].find(b => b.textContent === 'Cycles').click()")
    column = [number(row[6]) for row in page.rows("#hotspot-table")]
    same("sorted by cycles", column, sorted(column, reverse=True))
    same("the largest of all", column[0], max(float(row["cycles"]) for row in hot))


def looks(page):
    """Dark, narrow, on paper; what a user sees of each is in the pictures."""
    browser = page.browser
    page.picture("first", "#first")
    page.picture("timeline", "#timeline")
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    for _ in range(2):
        browser.run("document.getElementById('theme').click()")
    if browser.text("#theme") != "Theme: dark" or browser.run("getComputedStyle(document.body).backgroundColor") == background:
        print("the dark theme is as the light one")
    page.picture("dark", "#timeline")
    browser.run("document.getElementById('theme').click()")
    browser.size(390, 844)
    browser.frame()
    width = browser.run("document.documentElement.scrollWidth")
    if width > 390:
        print("a window of 390 pixels shows a page of %d" % width)
    page.picture("narrow")
    browser.size(1280, 900)
    if len(browser.pdf()) < 20000:
        print("paper shows nothing")
    page.quiet()
    browser.open(page.page)
    browser.key("Tab")
    same("the first stop of the keyboard", browser.run("document.activeElement.className"), "skip")
    unnamed = browser.run("[...document.querySelectorAll('button, input, select')].filter(e => !e.hidden && !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).length")
    same("controls without a name", unnamed, 0)
    page.quiet()


def many(page):
    """CPU time of a frame with a million slices, drawing and showing, in views from the whole run down to a
    thousandth. Time by the clock would tell of the load of the machine."""
    count, frames = page.browser.run("vinciTimeline.count"), 120
    if count < 1000000:
        print("only %d slices" % count)
    traffic_over_time(page)
    before = page.browser.cpu_seconds()
    drawn = page.browser.run("""new Promise(done => { const t = vinciTimeline, first = t.frames; let i = 0;
      const frame = () => { if (i++ === %d) return done(t.frames - first);
        const wide = t.total * Math.pow(.8, i %% 30), middle = t.total * (.3 + i / 400);
        t.show(middle - wide / 2, middle + wide / 2); requestAnimationFrame(frame); };
      requestAnimationFrame(frame); })""" % frames)
    used = sum(page.browser.cpu_seconds()) - sum(before)
    same("frames drawn", drawn, frames)
    print("# %d slices: %.1f ms of CPU time a frame, %.0f frames a second" % (count, 1000 * used / frames, frames / used))
    if used / frames > 1 / 30:
        print("that is less than 30 frames a second")
    page.quiet()


def hostile(page):
    if page.browser.run("window.broken"):
        print("a name has become a script")
    if "</script><script>window.broken=1</script>" not in page.browser.text("#title"):
        print("the title is %r" % page.browser.text("#title"))
    page.quiet()


def compare(page):
    browser = page.browser
    with open(os.path.join(page.folder, "second", "summary.json")) as text:
        second = json.load(text)
    first = page.json("summary.json")
    change = 100 * (second["duration_us"] / first["duration_us"] - 1)
    near("verdict", number(browser.text("#verdict").split("takes")[1]), abs(change), 0.006)
    if ("less" if change < 0 else "more") not in browser.text("#verdict b"):
        print("verdict is %r" % browser.text("#verdict"))
    browser.run("document.querySelectorAll('#difference-table .tools button, #counter-table .tools button').forEach(b => b.hidden || b.click())")
    same("sum of the differences", sum(int(number(row[3])) for row in page.rows("#difference-table")), second["total_cycles"] - first["total_cycles"])
    counters = {row[0]: row for row in page.rows("#counter-table")}
    same("cycles", [int(number(cell)) for cell in counters["total_cycles"][2:4]], [first["total_cycles"], second["total_cycles"]])
    page.quiet()


def older(page):
    """Of a build that did not tell what the critical path has found, nor what the kernel can do."""
    run, shown = page.json("summary.json"), page.browser.text("#bound")
    same("bound", shown.split(":")[0], run["bound"])
    same("rows that are not known", page.browser.run("document.querySelectorAll('#state, #levers').length"), 0)
    page.quiet()


# ---- sweeps, lists, networks ------------------------------------------------------------------

def sweep(page):
    command(page)
    rows = page.table("results.csv")
    same("points", len(page.rows("#point-table")), len(rows))
    fastest = min(int(row["total_cycles"]) for row in rows)
    if "with %s cycles" % "{:,}".format(fastest).replace(",", "\u202f") not in page.browser.text("#best"):
        print("the fastest is %r, not %d" % (page.browser.text("#best"), fastest))
    front = [(number(row[0]), number(row[1])) for row in page.rows("#pareto-table")]
    points = [(float(row["device.cube_cores"]), float(row["duration_us"])) for row in rows]
    wanted = sorted({p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)})
    same("Pareto front", sorted(set(front)), wanted)
    page.picture("sweep", "#pareto")
    page.quiet()


# What each study varies; the page has to find that in the table.
STUDIES = {
    "list_one": ["device.vector_cores"], "list_many": ["l2.size", "memory", "device.cube_cores"], "trace": ["ub.reads_per_group"],
    "net": ["hbm.bandwidth_scale", "memory"], "texts": ["op.dtype"], "shapes": ["op.m", "op.k", "network"],
    "lua": ["device.cube_cores", "l2.size"], "equal": ["cube.fp16_cycles"],
}


def parameters(page, names, params, done, column):
    """The best point with each value of each parameter, and what is said of a parameter that makes no difference."""
    best, wanted, advice = min(float(row[names.index(column)]) for row in done), [], page.browser.text("#advice") or ""
    for name in params:
        values = list(dict.fromkeys(row[names.index(name)] for row in done))
        least = [min(float(row[names.index(column)]) for row in done if row[names.index(name)] == value) for value in values]
        if len({row[names.index(name)] for row in done}) > 1 and max(least) < best * 1.0005 and "%s: all %d values are as fast" % (name, len(values)) not in advice:
            print("the advice on %s: %r" % (name, advice))
        if page.browser.run("!!document.querySelector('#parameter-table')"):
            wanted += [[name, value or "as it is", time / best - 1] for value, time in zip(values, least) if len(values) > 1]
    shown = [[row[0], row[1], 0 if row[3] == "the fastest" else number(row[3]) / 100] for row in page.rows("#parameter-table")]
    same("values of parameters", [row[:2] for row in shown], [row[:2] for row in wanted])
    for have, want in zip(shown, wanted):
        near("%s=%s" % tuple(have[:2]), have[2], want[2], 0.0006)


def curves(page, names, params, done):
    """No curve lies on another: as many names as there are different curves over the parameter that is chosen."""
    over, of = page.browser.run("[...document.querySelectorAll('#curves select')].map(e => e.value)")
    found = {}
    others = [name for name in params if name != over and len({row[names.index(name)] for row in done}) > 1]
    for row in done:
        key = tuple(row[names.index(name)] for name in others)
        if row[names.index(of)] and row[names.index(over)]:
            found.setdefault(key, []).append((row[names.index(over)], float(row[names.index(of)])))
    heights = [y for points in found.values() for _, y in points]
    near_by = (max(heights) - min(heights)) / 300 if heights else 0
    different = []
    for points in (sorted(points) for points in found.values()):
        if not any(len(points) == len(other) and all(p[0] == o[0] and abs(p[1] - o[1]) <= near_by for p, o in zip(points, other)) for other in different):
            different.append(points)
    named = page.browser.run("[...document.querySelectorAll('#curve-plot .key li')].map(e => e.textContent)")
    same("curves", len([name for name in named if name != "the fastest point"]), len(different))
    if "the fastest point" not in named:
        print("the fastest point is not marked: %r" % named)


def study(page):
    """Every cell of the table of points, the fastest, the parameters to choose from: from results.csv."""
    command(page)
    with open(os.path.join(page.results, "results.csv"), newline="") as text:
        names, *rows = list(csv.reader(text))
    params = STUDIES[os.path.basename(page.results)]
    page.browser.run("document.querySelector('#point-table .tools button:not([hidden]):not(.wider)')?.click()")
    heads = page.browser.run("[...document.querySelectorAll('#point-table th')].map(head => head.textContent)")
    same("first columns", heads[:len(params) + 1], params + ["status"])
    places = [names.index(head) for head in heads]
    same("points", page.rows("#point-table"), [[row[place] for place in places] for row in rows])
    done = [row for row in rows if row[names.index("status")] == "ok"]
    failed = len(rows) - len(done)
    lead = page.browser.text("#sweep-total")
    wanted = "%d points, %d simulated%s." % (len(rows), len(done), ", %d failed" % failed if failed else "")
    if not lead.endswith(wanted):
        print("the page counts %r, not %r" % (lead, wanted))
    column, scale = measured(names)
    times = [float(row[names.index(column)]) for row in done]
    best, told = done[times.index(min(times))], page.browser.text("#best")
    place = [(name, best[names.index(name)]) for name in params]
    same("place of the fastest", page.browser.text("#best b"), ", ".join("%s = %s" % pair for pair in place if pair[1]) or "the chip as it is")
    if column == "total_cycles":
        same("time of the fastest", number(told.split(" with ")[1]), min(times))
    else:
        near("time of the fastest", micros(told.split(" with ")[1]), min(times) * scale, min(times) * scale / 100)
    if times.count(min(times)) > 1 and "%d other point" % (times.count(min(times)) - 1) not in told:
        print("equal points are not told: %r" % told)
    varied = [name for name in params if len({row[names.index(name)] for row in rows}) > 1]
    title = page.browser.text("#title")
    if not any(word in title for word in ("Ascend910B4", "Ascend910B1")) or "%d point" % len(rows) not in title:
        print("the title is %r" % title)
    parameters(page, names, params, done, column)
    selects = "[...document.querySelectorAll('#curves select')].map(list => [...list.options].map(option => option.value))"
    same("parameters of curves", page.browser.run(selects)[0], varied)
    for picked in range(2):
        for value in page.browser.run(selects)[picked]:
            page.browser.run("(e => { e.value = %s; e.dispatchEvent(new Event('change')); })(document.querySelectorAll('#curves select')[%d])" % (json.dumps(value), picked))
            page.browser.frame()
            if not page.browser.run("!!document.querySelector('#curve-plot canvas')"):
                print("no curve over or of %s" % value)
    curves(page, names, params, done)
    page.quiet()


def measured(names):
    """The column that a study measures, and what makes microseconds of its values."""
    return next((column, scale) for column, scale in (("total_cycles", 1), ("total_us", 1), ("net.time_ps", 1e-6)) if column in names)


def at_once(page):
    """All parameters at once: with each value of each parameter, as many lines as points, and the fastest of these."""
    browser, rows = page.browser, page.table("results.csv")
    done, params = [row for row in rows if row["status"] == "ok"], STUDIES[os.path.basename(page.results)]
    varied = [name for name in params if len({row[name] for row in done}) > 1]
    column, scale = measured(done[0])
    if os.path.basename(page.results) == "shapes":
        page.picture("parallel", "#parallel")
    lists = "[...document.querySelectorAll('#parallel select')]"
    same("parameters to choose", browser.run(lists + ".map(list => list.parentNode.firstChild.textContent.trim())"), varied + ["Result"])
    best = min(float(row[column]) for row in done)

    def chosen(kept, what):
        browser.frame()
        told = browser.text("#parallel-told")
        same("lines with " + what, browser.run("document.querySelectorAll('#parallel-plot polyline.kept').length"), len(kept))
        same("lines without " + what, browser.run("document.querySelectorAll('#parallel-plot polyline.left').length"), len(done) - len(kept))
        if not told.startswith("All %d points" % len(done) if len(kept) == len(done) else "%d of %d points" % (len(kept), len(done))):
            print("with %s: %r" % (what, told))
        time = min(float(row[column]) for row in kept)
        first = next(row for row in kept if float(row[column]) == time)
        same("the fastest with " + what, browser.text("#parallel-told b"), ", ".join("%s = %s" % (name, first[name]) for name in params if first[name]))
        shown = told.split(" with ")[1]
        near("its time with " + what, number(shown) if column == "total_cycles" else micros(shown), time * scale, time * scale / 100)
        if len(kept) < len(done) and time > best:
            near("its cost with " + what, number(told.split(", ")[-1]), 100 * (time / best - 1), 0.06)

    chosen(done, "any value")
    for place, name in enumerate(varied):
        for value in dict.fromkeys(row[name] for row in done):
            browser.run("(e => { e.value = %s; e.dispatchEvent(new Event('change')); })(%s[%d])" % (json.dumps(value), lists, place))
            chosen([row for row in done if row[name] == value], "%s=%s" % (name, value))
        browser.run("(e => { e.value = 'any'; e.dispatchEvent(new Event('change')); })(%s[%d])" % (lists, place))
    # By the keyboard, and two values together.
    browser.run(lists + "[0].focus()")
    browser.key("ArrowDown")
    picked = browser.run(lists + "[0].value")
    other = done[-1][varied[1]]
    browser.run("(e => { e.value = %s; e.dispatchEvent(new Event('change')); })(%s[1])" % (json.dumps(other), lists))
    chosen([row for row in done if row[varied[0]] == picked and row[varied[1]] == other], "%s=%s and %s=%s" % (varied[0], picked, varied[1], other))
    # The thick line goes through the marks of the fastest, and ends at the left of the axis of the result.
    ends = browser.run("(line => line.getAttribute('points').split(' ').map(at => +at.split(',')[0]))(document.querySelector('#parallel-plot polyline.best'))")
    marks = browser.run("[...document.querySelectorAll('#parallel-plot circle')].map(mark => +mark.getAttribute('cx'))")
    if len(ends) != len(marks) or any(abs(a - b) > 0.06 for a, b in zip(ends, marks)):
        print("the line has its places at %r, the marks at %r" % (ends, marks))
    for result in browser.run("[...%s.at(-1).options].map(option => option.value)" % lists):
        browser.run("(e => { e.value = %s; e.dispatchEvent(new Event('change')); })(%s.at(-1))" % (json.dumps(result), lists))
        places = browser.run("[...document.querySelectorAll('#parallel-plot polyline')].filter(line => line.getAttribute('points').includes('NaN')).length")
        same("lines without a place for " + result, places, 0)
    browser.size(390, 844)
    browser.frame()
    same("width", browser.run("document.documentElement.scrollWidth"), 390)
    browser.size(1280, 900)
    page.quiet()


def no_parallel(page):
    same("coordinates of two parameters", page.browser.run("document.querySelectorAll('#parallel').length"), 0)


def tornado(page):
    rows = page.table("results.csv")
    numbers_of = [name for name in rows[0] if name == "hbm.bandwidth_scale" or name == "cube.fp16_cycles"]
    base = next(int(row["total_cycles"]) for row in rows if not any(row[name] for name in numbers_of))
    effects = {name: [int(row["total_cycles"]) - base for row in rows if row[name]] for name in numbers_of}
    wanted = sorted(numbers_of, key=lambda name: -max(max(effects[name]), 0) - max(-min(effects[name]), 0))
    same("tornado", [row[0] for row in page.rows("#tornado-table")], wanted)
    low = next(row for row in rows if row[wanted[0]] == "0.5")
    near("saving of half", number(re.search("0.5 cycles saves ([0-9.]+).%", page.browser.text("#best")).group(1)),
         100 * (base - int(low["total_cycles"])) / base, 0.006)
    same("units", [row[1:3] for row in page.rows("#tornado-table")], [["0.5 cycles", "2 cycles"], ["0.5 times", "2 times"]])
    page.quiet()


def list_of_operators(page):
    command(page)
    rows = page.table("op_summary.csv")
    narrow = page.browser.run("document.querySelectorAll('#operator-table thead th').length")
    overflows = page.browser.run("(e => e.scrollWidth - e.clientWidth)(document.querySelector('#operator-table .scroll'))")
    if overflows > 0:
        print("%d pixels of the table are hidden at 1200" % overflows)
    page.browser.run("document.querySelector('#operator-table .wider').click()")
    heads = page.browser.run("[...document.querySelectorAll('#operator-table thead th')].map(e => e.textContent)")
    if len(heads) <= narrow:
        print("no more columns than before: %r" % heads)
    shown = page.rows("#operator-table")
    def time(row):
        return float(row["sim_duration_us"] or 0) * int(row["weight"])

    longest_first = sorted(rows, key=lambda row: -time(row))
    same("operators by time", [row[0] for row in shown], [row["Op Name"] for row in longest_first])
    for row, cells in zip(longest_first, shown):
        state = row["l2_start"] + " (assumed)" if row["status"] == "ok" else ""
        same("L2 of " + row["Op Name"], cells[heads.index("L2 at the start")].split(",")[0], state)
        same("shapes of " + row["Op Name"], cells[heads.index("Shapes")], row["lowered"])
    total = sum(time(row) for row in rows)
    near("time in all", micros(page.browser.text("#list-total b")), total, total / 100)
    # The line of the range ends where the range of the time ends, on the scale of the bars.
    most = max(float(row["sim_duration_us"] or 0) for row in rows)
    ends = page.browser.run("[...document.querySelectorAll('#operator-table tbody tr')].map(row => { const line = row.querySelector('.range'), bar = row.querySelector('.bar');"
                            " const [l, b] = [line, bar].map(e => e && e.getBoundingClientRect()); return l && b && [(l.left - b.left) / b.width, (l.right - b.left) / b.width]; })")
    for row, places in zip(longest_first, ends):
        time_us = float(row["sim_duration_us"] or 0)
        wanted = [time_us * (1 - float(row["expected_p90"] or 0)) / most, time_us * (1 + float(row["expected_p90"] or 0)) / most]
        if row.get("sim_duration_low_us"):
            wanted = [float(row["sim_duration_low_us"]) / most, float(row["sim_duration_high_us"]) / most]
        if places:
            near("start of the range of " + row["Op Name"], places[0], wanted[0], 0.03)
            near("end of the range of " + row["Op Name"], places[1], max(wanted[1], wanted[0] + 0.02), 0.03)
    slowest = page.browser.run("[...document.querySelectorAll('#slowest b')].map(e => e.textContent)")
    same("slowest with their shapes", slowest, [row["lowered"] for row in longest_first if row["status"] == "ok"][:5])
    kinds = {}
    for row in rows:
        kinds[row["OP Type"]] = kinds.get(row["OP Type"], 0) + time(row)
    for kind, count, us, *_ in page.rows("#kind-table"):
        near("time of " + kind, number(us), kinds.pop(kind), 0.001)
    same("kinds that are missing", kinds, {})
    if "Ascend910B4" not in page.browser.text("#title") or "model revision" not in page.browser.text("#origin"):
        print("title and origin: %r, %r" % (page.browser.text("#title"), page.browser.text("#origin")))
    page.quiet()


def network(page):
    command(page)
    levers(page)
    summary, rows = page.json("summary.json"), page.table("nodes.csv")
    near("time of the network", micros(page.browser.text("#network-total b:nth-of-type(2)")), summary["time_us"], summary["time_us"] / 100)
    slowest = max(rows, key=lambda row: float(row["duration_us"]))
    same("slowest node", page.rows("#node-table")[0][0], slowest["node"])
    near("kinds", sum(number(row[2]) for row in page.rows("#kind-table")), sum(float(row["duration_us"]) for row in rows), 0.01)
    # Slices of nodes in the timeline have the time of the nodes; others wait.
    timed = page.browser.run("vinciTimeline.lanes.map(lane => lane.kind.reduce((sum, kind, i) => sum + (vinciTimeline.kinds[kind].waits ? 0 : lane.end[i] - lane.start[i]), 0)).reduce((a, b) => a + b)")
    near("slices", timed, sum(float(row["duration_us"]) for row in rows), 0.01)
    same("title", page.browser.text("#title").split(" (")[0], "%s on %s" % (summary["network"], summary["chip"]))
    # The command of a kernel's page is that of the node which is chosen, and its run takes about the node's time.
    same("command", page.browser.text("#kernel-command").split()[:3], ["vinci", "run", slowest["op"]])
    page.browser.run("[...document.querySelectorAll('#node-table button.link')].find(b => b.textContent === 'act').click()")
    words, act = shlex.split(page.browser.text("#kernel-command").split(" && ")[0])[1:], next(row for row in rows if row["node"] == "act")
    same("chosen command", words[1:3], [act["op"], act["args"]])
    alone = subprocess.run([os.environ["VINCI"]] + words[:words.index("--savings=all")] + ["--json"],
                           capture_output=True, text=True, check=True).stdout
    near("a kernel by its command", json.loads(alone)["duration_us"], float(act["duration_us"]), 0.05 * float(act["duration_us"]))
    page.quiet()


def units(page):
    """Copies and tasks have lanes of their own beside the AI Cores, with the time of their nodes."""
    lanes = page.browser.run("vinciTimeline.lanes.map(lane => [lane.core, lane.kind.reduce((sum, kind, i) => sum + (vinciTimeline.kinds[kind].waits ? 0 : lane.end[i] - lane.start[i]), 0)])")
    of = {"kernel": "AI Cores", "copy": "copies h2d", "task": "LOADER"}
    wanted = {}
    for row in page.table("nodes.csv"):
        wanted[of[row["kind"]]] = wanted.get(of[row["kind"]], 0) + float(row["duration_us"])
    same("units", [name for name, _ in lanes], ["AI Cores", "copies h2d", "LOADER"])
    for name, time in lanes:
        near("time of " + name, time, wanted[name], 0.01)
    # Of the time without a kernel most belongs to the loader, alone or beside a copy.
    told = {row[0]: micros(row[1]) for row in page.rows("#exposed-table")}
    total = page.json("summary.json")["time_us"]
    near("time without a kernel", sum(told.values()), total - wanted["AI Cores"], 0.01 * total)
    same("what runs meanwhile", sorted(told), ["LOADER", "LOADER and copies h2d", "copies h2d", "nothing: the host issues, the launch"])
    same("longest", page.rows("#exposed-table")[0][0], "LOADER")
    page.quiet()


def pair_of_networks(page):
    first, second = page.json("summary.json"), json.load(open(os.path.join(page.folder, "network2", "summary.json")))
    by = second["time_us"] - first["time_us"]
    verdict = page.browser.text("#verdict")
    if ("times as long" if second["time_us"] >= 2 * first["time_us"] else "more time") not in verdict:
        print("verdict is %r" % verdict)
    parts = sum(micros(row[3]) for row in page.rows("#part-table"))
    near("sum of the parts", parts, by, abs(by) / 50)
    nodes = {row["node"]: float(row["duration_us"]) for row in page.table("nodes.csv")}
    for row in page.rows("#pair-table"):
        near("A of " + row[0], micros(row[1]), nodes[row[0]], nodes[row[0]] / 100)
    page.quiet()


def pair_of_lists(page):
    rows, others = page.table("op_summary.csv"), {}
    with open(os.path.join(page.folder, "weights2", "op_summary.csv"), newline="") as text:
        others = {row["Op Name"]: row for row in csv.DictReader(text)}
    shown = {row[0]: row for row in page.rows("#pair-table")}
    same("operators", sorted(shown), sorted(row["Op Name"] for row in rows))
    total = 0
    for row in rows:
        by = (float(others[row["Op Name"]]["sim_duration_us"]) - float(row["sim_duration_us"])) * int(row["weight"])
        near("difference of " + row["Op Name"], micros(shown[row["Op Name"]][3]), by, abs(by) / 50 + 0.006)
        total += by
    near("sum by kind", sum(micros(row[3]) for row in page.rows("#part-table")), total, abs(total) / 50 + 0.02)
    if "Ascend910B1" not in page.browser.text("#first") or "Ascend910B4" not in page.browser.text("#first"):
        print("the chips are not named: %r" % page.browser.text("#first"))
    page.quiet()


def pair_of_sweeps(page):
    """Points that both have, with the difference of their cycles; the fastest of each side."""
    def points(rows):
        keys = ("hbm.bandwidth_scale", "device.cube_cores")
        return {", ".join("%s = %s" % (key, row[key]) for key in keys): int(row["total_cycles"]) for row in rows if row["status"] == "ok"}

    with open(os.path.join(page.folder, "sweep2", "results.csv"), newline="") as text:
        second = points(csv.DictReader(text))
    first = points(page.table("results.csv"))
    shown = {row[0]: row for row in page.rows("#pair-table")}
    same("points", sorted(shown), sorted(set(first) & set(second)))
    for name in set(first) & set(second):
        near("difference of " + name, number(shown[name][3]), second[name] - first[name], 0.5)
    if "not shown: %d only in A" % len(set(first) - set(second)) not in page.browser.text("#points"):
        print("points of A alone are not told")
    same("the fastest", page.browser.text("#moved"), "The fastest point of A is also the fastest of B.")
    ratio = 1
    for name in set(first) & set(second):
        ratio *= (second[name] / first[name]) ** (1 / len(set(first) & set(second)))
    near("mean", number(page.browser.text("#verdict b")), 100 * abs(ratio - 1), 0.02)
    page.quiet()


PARTS = {"computing": "computing", "exposed.moving": "communication that nothing hides", "exposed.waiting": "waiting for other ranks in a collective",
         "idle.host": "waiting for the host", "idle.events": "waiting for events or times", "idle.ended": "done before the last rank"}


def ranks_named(text):
    """"0-1" as the page names ranks."""
    return ("ranks " if "-" in text or " " in text else "rank ") + text


def pair_of_jobs(page):
    """Parts, collectives and ends of each class of ranks are those of `vinci diff --csv`; memory that of both folders."""
    name = os.path.basename(page.results)
    with open(os.path.join(page.folder, name + ".csv"), newline="") as text:
        told = list(csv.DictReader(text))
    folders = [page.results, os.path.join(page.folder, {"helds": "held2", "idles": "idle2"}.get(name, "job2"))]
    summaries = [json.load(open(os.path.join(folder, "summary.json"))) for folder in folders]
    by = summaries[1]["time_us"] - summaries[0]["time_us"]
    near("verdict", micros(page.browser.text("#verdict")), summaries[0]["time_us"], summaries[0]["time_us"] / 100)
    classes = sorted({row["group"] for row in told if row["table"] == "ranks"})
    same("classes", sorted(row[0] for row in page.rows("#rank-table")), [ranks_named(one) for one in classes])
    parts_of_classes(page, told, classes, by)
    ends = {row[0]: row for row in page.rows("#rank-table")}
    for one in classes:
        for side, summary in enumerate(summaries):
            end = summary["ranks"][int(one.replace("-", " ").split()[0])]["end_us"]
            near("end of " + one, micros(ends[ranks_named(one)][1 + side]), end, end / 100)
    page.browser.run("[...document.querySelectorAll('#collectives .wider, #collectives .tools:last-child button')].forEach(b => b.hidden || b.click())")
    shown = {(row[0], row[1], row[4]): row for row in page.rows("#pair-table")}
    wanted = [row for row in told if row["table"] == "exposed"]
    same("collectives", len(shown), len(wanted))
    for row, time, size in zip(wanted, *([r for r in told if r["table"] == table] for table in ("collective", "bytes"))):
        here = [cells for key, cells in shown.items() if key[:2] == (row["name"], ranks_named(row["group"])) and same_size(cells[4], size)]
        if len(here) != 1:
            print("rows of %s: %r" % (row["name"], here))
            continue
        for cell, side in ((5, "a"), (6, "b")):
            near("%s of %s" % (side, row["name"]), micros(here[0][cell]), int(row[side]) / 1e6, int(row[side]) / 1e8 + 0.001)
        near("time of " + row["name"], micros(here[0][2]), int(time["a"]) / 1e6, int(time["a"]) / 1e8)
    memory_of_classes(page, folders, classes)
    page.picture(name)
    page.quiet()


def same_size(cell, row):
    unit = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[cell.split()[1]]
    return abs(number(cell) * unit - int(row["a"])) <= 0.051 * unit


def parts_of_classes(page, told, classes, by):
    """Each class when it is chosen; the sentence names the class that ends last (of several the one that waits least), its
    largest part, and its collective."""
    waits = {}
    for one in classes:
        page.browser.run("(e => { e.value = '%s'; e.dispatchEvent(new Event('change')); })(document.querySelector('#parts select'))" % ranks_named(one))
        shown, total = {row[0]: row for row in page.rows("#part-table")}, 0
        rows = {PARTS[row["name"]]: row for row in told if row["table"] == "ranks" and row["group"] == one}
        for name, row in rows.items():
            sides = [int(row[side]) / 1e6 for side in "ab"]
            if any(sides):
                for side, us in enumerate(sides):
                    near("%s of %s" % (name, one), micros(shown[name][1 + side]), us, us / 100 + 0.001)
                total += micros(shown[name][3])
        same("parts of " + one, len(shown), sum(row["a"] != "0" or row["b"] != "0" for row in rows.values()))
        near("sum of the parts of " + one, total, by, 0.02 * abs(by) + 0.01)
        waits[one] = [sum(int(rows[PARTS[name]][side]) for side in "ab") for name in ("idle.ended", "exposed.waiting")]
    why = page.browser.text("#why")
    least = min(classes, key=lambda one: waits[one])
    if "On %s, which end" % ranks_named(least) not in why:
        print("not %s: %r" % (least, why))
    most = max((row for row in told if row["table"] == "ranks" and row["group"] == least), key=lambda row: abs(int(row["change"])))
    if PARTS[most["name"]] not in page.browser.text("#why b"):
        print("not %s: %r" % (most["name"], why))
    near("the largest part", micros(page.browser.text("#why b")), int(most["change"]) / 1e6, abs(int(most["change"])) / 1e8)
    which = max((row for row in told if row["table"] == "exposed" and row["group"] == least), key=lambda row: abs(int(row["change"])))
    if int(which["change"]) == 0:
        return same("a collective that changes", page.browser.text("#which"), None)
    near("change of " + which["name"], micros(page.browser.text("#which").split(which["name"])[1]), int(which["change"]) / 1e6, abs(int(which["change"])) / 1e8)


def memory_of_classes(page, folders, classes):
    """Peaks of the first ranks of classes, and by name what sums to the peak of the fullest."""
    if not os.path.exists(os.path.join(folders[0], "memory.csv")):
        return same("memory of jobs that do not say", page.browser.run("document.querySelectorAll('#memory').length"), 0)
    unit, shown, peaks = {"B": 1, "MiB": 2**20, "GiB": 2**30}, {row[0]: row for row in page.rows("#memory-pair-table")}, {}
    for side, folder in enumerate(folders):
        with open(os.path.join(folder, "memory.csv"), newline="") as text:
            rows = list(csv.DictReader(text))
        for one in classes:
            peaks[one, side] = max(int(row["all_bytes"]) for row in rows if row["ranks"] == one)
            cell = shown[ranks_named(one)][1 + side]
            near("peak of " + one, number(cell) * unit[cell.split()[1]], peaks[one, side], 0.051 * unit[cell.split()[1]])
    fullest = max(peaks, key=peaks.get)[0]
    for side in range(2):
        held = [row[1 + side] for row in page.rows("#memory-name-table") if row[1 + side] != "-"]
        near("names at the peak", sum(number(cell) * unit[cell.split()[1]] for cell in held), peaks[fullest, side], peaks[fullest, side] / 50)


def idle(page):
    """A rank that does nothing has a row, and no class."""
    same("ranks", [row[0] for row in page.rows("#rank-table")], ["0", "1", "2"])
    same("classes", page.browser.run("document.querySelector('#timeline p').textContent.split(' of ')[0]"), "2 classes")
    page.quiet()


def fits(page):
    """No page is wider than a telephone, and each says what it is."""
    page.browser.size(390, 900)
    page.browser.open(page.page)
    same("width", page.browser.run("document.documentElement.scrollWidth"), 390)
    page.browser.size(1200, 900)
    page.browser.open(page.page)
    page.quiet()


def job(page):
    command(page)
    levers(page)
    summary, rows = page.json("summary.json"), page.table("collectives.csv")
    near("time of the job", micros(page.browser.text("#job-total b:nth-of-type(2)")), summary["time_us"], summary["time_us"] / 100)
    same("ranks", [row[0] for row in page.rows("#rank-table")], [str(rank["rank"]) for rank in summary["ranks"]])
    longest = max(float(row["duration_us"]) for row in rows)
    near("longest collective", micros(page.rows("#collective-table")[0][6]), longest, longest / 100)
    # What nothing hides, on the first rank of each class, is what the ranks say.
    told, first = page.rows("#exposed-table"), {row["ranks"]: row["ranks"].split("-")[0].split()[0] for row in page.table("timeline.csv")}
    ranks = {str(rank["rank"]): rank for rank in summary["ranks"]}
    for name, rank in first.items():
        exposed = sum(micros(row[5]) for row in told if row[0].split(" ", 1)[1] == name)
        near("exposed of ranks " + name, exposed, ranks[rank]["exposed_us"], 0.02 * ranks[rank]["exposed_us"] + 0.1)
    same("levels", [row[0] for row in page.rows("#link-table")], sorted({row["level"] for row in page.table("links.csv")}))
    same("no memory", page.browser.text("#no-memory")[:35], "This job says nothing about memory:")
    path = sum(micros(row[2]) for row in page.rows("#path-table"))
    near("critical path", path, summary["time_us"], 0.02 * summary["time_us"])
    page.quiet()


def held(page):
    """What a class of ranks holds, by name and in all, at the peak that summary.json has; the chart has the steps."""
    memory, rows = page.json("summary.json")["memory"], page.table("memory.csv")
    told = page.browser.text("#memory-peak").replace("\u00a0", " ")
    for part in ("Rank %d holds most: %.1f GiB" % (memory["peak_rank"], memory["peak_bytes"] / 2**30),
                 "%.1f %% of the %.1f GiB of its device" % (100 * memory["peak_bytes"] / memory["device_bytes"], memory["device_bytes"] / 2**30)):
        if part not in told:
            print("%r is not in %r" % (part, told))
    near("time of the peak", micros(told), memory["peak_us"], memory["peak_us"] / 100)
    for name, amount in ((one["name"], one["peak_bytes"]) for one in memory["names"]):
        shown = {row[0]: row[1] for row in page.rows("#memory-table")}.get(name)
        unit = {"B": 1, "MiB": 2**20, "GiB": 2**30}[shown.split()[1]]
        near("held of " + name, number(shown) * unit, amount, 0.051 * unit)  # one digit behind the point
    same("by name", page.browser.run("document.querySelectorAll('#memory .u-legend .u-series').length"), len(memory["names"]) + 2)
    picture = page.browser.run("(e => e.getContext('2d').getImageData(0, 0, e.width, e.height).data.some(v => v > 0))"
                               "(document.querySelector('#memory canvas'))")
    same("the chart is drawn", picture, True)
    page.picture("memory", "#memory")
    page.browser.run("(e => { e.value = 'in all'; e.dispatchEvent(new Event('change')); })(document.querySelectorAll('#memory select')[1])")
    page.browser.frame()
    same("in all", page.browser.run("document.querySelectorAll('#memory .u-legend .u-series').length"), 3)
    other = next(row["ranks"] for row in rows if row["ranks"] != str(memory["peak_rank"]))
    page.browser.run("(e => { e.value = 'rank %s'; e.dispatchEvent(new Event('change')); })(document.querySelectorAll('#memory select')[0])" % other)
    most = max(int(row["all_bytes"]) for row in rows if row["ranks"] == other)
    shown = sum(number(row[1]) * {"B": 1, "MiB": 2**20, "GiB": 2**30}[row[1].split()[1]] for row in page.rows("#memory-table"))
    near("peak of rank " + other, shown, most, most / 50)
    page.browser.size(390, 900)
    page.browser.frame()
    same("width", page.browser.run("document.documentElement.scrollWidth"), 390)
    page.browser.size(1280, 900)
    page.quiet()


def late(page):
    """Each class of ranks against each other: when they end, how much more they compute, by name."""
    summary, rows = page.json("summary.json"), page.table("timeline.csv")
    ranks = {rank["rank"]: rank for rank in summary["ranks"]}
    classes = {row["ranks"]: row["class"] for row in rows}
    of = {name: ranks[int(name.replace("-", " ").split()[0])] for name in classes}
    last, first = max(classes, key=lambda name: of[name]["end_us"]), min(classes, key=lambda name: of[name]["end_us"])
    lists = "[...document.querySelectorAll('#why-late select')]"
    same("classes", page.browser.run(lists + ".map(list => list.value)"), ["ranks " + last, "ranks " + first])

    def told(a, b):
        text, by = page.browser.text("#late"), of[a]["end_us"] - of[b]["end_us"]
        near("end of %s after %s" % (a, b), micros(text.split(" end ")[1]), abs(by), abs(by) / 100)
        if (" after " if by > 0 else " before ") not in text:
            print("ranks %s against %s: %r" % (a, b, text))
        for words, key in (("communication", "exposed_us"), ("computing", "computing_us")):
            part = next(part for part in text.split(": ")[1].split(", ") if words in part)
            more = of[a][key] - of[b][key]
            near(words, micros(part) * (1 if " more " in part else -1), more, abs(more) / 100)
        sums = {}
        for row in rows:
            if row["kind"] == "work" and row["ranks"] in (a, b):
                by = float(row["duration_us"]) * (1 if row["ranks"] == a else -1)
                sums[row["name"]] = sums.get(row["name"], 0) + by
        shown = {row[0]: micros(row[3]) for row in page.rows("#late-table")}
        for name, by in sums.items():
            near("work " + name, shown.get(name + " (work)"), by, abs(by) / 100 + 0.01)

    told(last, first)
    for place, name in enumerate((first, last)):
        page.browser.run("(e => { e.value = %s; e.dispatchEvent(new Event('change')); })(%s[%d])" % (json.dumps("ranks " + name), lists, place))
    told(first, last)
    page.quiet()


def ends(page):
    """Ends that look the same and are not; a rank that is late for it waited, and neither computed nor communicated."""
    first = page.browser.text("#first").replace("\u00a0", " ")
    if "2 ranks end last, rank 3 among them; that one: 100.0 % of the time computing" not in first:
        print("the end is %r" % first)
    lists = "[...document.querySelectorAll('#why-late select')]"
    for a, b, wanted in (("rank 1", "rank 0", "Rank 1 ends 90.00 ms after rank 0: 90.00 ms more waiting before its end."),
                         ("rank 0", "rank 1", "Rank 0 ends 90.00 ms before rank 1: 90.00 ms less waiting before its end."),
                         ("rank 1", "rank 2", "Rank 1 ends 0.050 \u00b5s before rank 2: 90.00 ms less computing, 90.00 ms more waiting before its end."),
                         ("rank 3", "rank 2", "Rank 3 ends with rank 2: both take the same for all.")):
        for place, name in enumerate((a, b)):
            page.browser.run("(e => { e.value = %s; e.dispatchEvent(new Event('change')); })(%s[%d])" % (json.dumps(name), lists, place))
        same("%s against %s" % (a, b), page.browser.text("#late"), wanted)
        waits = {row[0]: micros(row[3]) for row in page.rows("#late-table")}.get("nothing (waits before its end)")
        same("waits of %s against %s" % (a, b), waits, {"rank 0 rank 1": -90000, "rank 3 rank 2": None}.get(a + " " + b, 90000))
    page.quiet()


def pair_of_energies(page):
    """Two accounts: the sum, the parts, differences that sum to that of the whole."""
    sides = [page.json("summary.json")["energy"], json.load(open(os.path.join(page.folder, page.browser.text("#compare p, #first p").split("B is ")[1].split(".")[0], "summary.json")))["energy"]]
    wholes = [side.get("whole", side)["uj"] for side in sides]
    parts = [side.get("parts") or {name: side[name] for name in ("work", "links", "time")} for side in sides]
    verdict = page.browser.text("#energy-verdict")
    near("verdict", number(verdict.split("takes")[1]), 100 * abs(wholes[1] / wholes[0] - 1), 0.006)
    if ("less" if wholes[1] < wholes[0] else "more") not in verdict:
        print("verdict is %r" % verdict)
    shown = {row[0]: micro_joules(row[3]) for row in page.rows("#energy-pair-table")}
    same("parts", sorted(shown), sorted(name for name in parts[0] if parts[0][name]["uj"] or parts[1][name]["uj"]))
    for name, by in shown.items():
        wanted = parts[1][name]["uj"] - parts[0][name]["uj"]
        near("difference of " + name, by, wanted, abs(wanted) / 100 + 1e-5)
    same("accounts of one", page.browser.run("document.querySelectorAll('#energy-table').length"), 0)
    page.quiet()


def micro_joules(text):
    return number(text) * {"J": 1e6, "mJ": 1e3, "\u00b5J": 1, "nJ": 1e-3, "pJ": 1e-6}[text.split()[-1]]


def energy(page):
    """The account of summary.json: sum, parts, intervals."""
    account = page.json("summary.json")["energy"]
    parts = account.get("parts") or {name: account[name] for name in ("work", "links", "time")}
    whole = account.get("whole", account)
    near("energy", micro_joules(page.browser.text("#energy-total b")), whole["uj"], 0.01 * whole["uj"])
    shown = {row[0]: row for row in page.rows("#energy-table")}
    same("parts", sorted(shown), sorted(name for name, part in parts.items() if part["high_uj"] > 0))
    for name, row in shown.items():
        for column, key in ((1, "uj"), (4, "low_uj"), (5, "high_uj")):
            near("%s of %s" % (key, name), micro_joules(row[column]), parts[name][key], 0.01 * parts[name][key] + 1e-6)
        near("share of " + name, number(row[2]), 100 * parts[name]["uj"] / whole["uj"], 0.06)
    page.picture("energy_" + os.path.basename(page.results), "#energy")
    page.browser.size(390, 800)
    page.browser.frame()
    wide = page.browser.run("document.documentElement.scrollWidth")
    if wide > 390:
        print("%d pixels wide on 390" % wide)
    page.quiet()


def lone_energy(page):
    """Two results of which one alone kept an account: that is shown, and whose it is."""
    energy(page)
    side = "B" if os.path.basename(page.results) == "lone_job" else "A"
    if not page.browser.text("#energy p").startswith("Of %s: the other result has no account" % side):
        print("not told whose account: %r" % page.browser.text("#energy p"))
    same("tables of two", page.browser.run("document.querySelectorAll('#energy-pair-table').length"), 0)


def no_energy(page):
    same("sections of energy", page.browser.run("document.querySelectorAll('#energy').length"), 0)


CHECKS = {
    "run": ("run", [numbers, cause, lanes, zoom, hotspots, looks]), "many": ("many", [many]), "hostile": ("hostile", [hostile]), "older": ("older", [older]),
    "compare": ("pair", [compare]), "sweep": ("sweep", [sweep]), "tornado": ("tornado", [tornado]),
    **{"study_" + name: (name, [study, at_once if len(STUDIES[name]) > 2 else no_parallel]) for name in STUDIES},
    "list": ("list", [list_of_operators]), "weights": ("weights", [list_of_operators]), "network": ("network", [network]), "loader": ("loader", [units]), "job": ("job", [job, late, no_energy]), "held": ("held", [held]), "ends": ("ends", [ends]), "idle": ("idle", [idle]),
    "networks": ("networks", [pair_of_networks, fits]), "lists": ("lists", [pair_of_lists]),
    "sweeps": ("sweeps", [pair_of_sweeps, fits]), "jobs": ("jobs", [pair_of_jobs, fits]), "helds": ("helds", [pair_of_jobs, fits]), "idles": ("idles", [pair_of_jobs]),
    **{"energy_" + name: ("energy_" + name, [energy]) for name in ("run", "network", "job")},
    **{"energies_" + name: ("energies_" + name, [pair_of_energies]) for name in ("run", "network", "job")},
    **{"lone_" + name: ("lone_" + name, [lone_energy]) for name in ("run", "network", "job")},
}


# Each kind of page, for people to look at and for cli/REPORT.md.
KINDS = {"run": "kernel", "compare": "kernels", "sweep": "sweep", "tornado": "sensitivity", "weights": "list", "lists": "lists",
         "network": "network", "networks": "networks", "job": "job", "sweeps": "sweeps", "jobs": "jobs"}


def shape_of(page):
    """What decides the sections of a page: the kind of its folders, how many these are, and of a sweep what it is of."""
    return tuple(page.browser.run("(d => [d.kind, d.folders.length, !!document.getElementById('tornado')])"
                                  "(JSON.parse(document.getElementById('data').textContent))"))


def gallery(page, kind):
    """KIND-wide.webp, KIND-narrow.webp and both in dark colours: what a window shows first. KIND.webp has all four."""
    browser, shown = page.browser, []
    for theme in ("", "-dark"):
        for name, width, height in (("wide", 1200, 900), ("narrow", 390, 844)):
            browser.size(width, height)
            browser.open(page.page)
            while browser.text("#theme") != ("Theme: dark" if theme else "Theme: light"):
                browser.run("document.getElementById('theme').click()")
            browser.frame()
            page.picture(kind + "-" + name + theme)
            with open(os.path.join(page.pictures, kind + "-" + name + theme + ".webp"), "rb") as picture:
                shown.append("<img height=450 src='data:image/webp;base64,%s'>" % base64.b64encode(picture.read()).decode())
    sheet = os.path.join(page.folder, "four.html")
    with open(sheet, "w") as out:
        out.write("<body style='margin:0;background:#888'><section style='width:832px;display:flex;flex-wrap:wrap;gap:8px;padding:6px'>%s"
                  % "".join(shown))
    browser.size(844, 920, 1.25)
    browser.open(sheet)
    page.picture(kind)
    browser.size(1200, 900)


def kinds(shapes):
    """Each kind of page has pictures: the kinds that the program knows, one folder and two, and those that the checks above
    have met. The pictures of all are in cli/REPORT.md."""
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with open(os.path.join(top, "traces", "report", "folder.c")) as text:
        known = re.findall(r'\[REPORT_\w+\] = \{"(\w+)"', text.read())
    if len(known) < 5:
        print("the table of kinds in traces/report/folder.c has another form: %s" % known)
    pictured = {shapes[name] for name in KINDS if name in shapes}
    for kind in known:
        for folders in (1, 2):
            if (kind, folders, False) not in pictured:
                print("no picture of a page of %d folders of kind %s: KINDS lacks a check" % (folders, kind))
    for name, shape in shapes.items():
        if shape not in pictured:
            print("no picture of a page as that of check %s: %s" % (name, shape))
    with open(os.path.join(top, "cli", "REPORT.md")) as text:
        told = re.findall(r"!\[[^\]]*\]\(report/kinds/([^)]*)\.webp\)", text.read())
    same("kinds in cli/REPORT.md", sorted(told), sorted(KINDS.values()))
    same("files in cli/report/kinds", sorted(os.listdir(os.path.join(top, "cli", "report", "kinds"))), sorted(kind + ".webp" for kind in KINDS.values()))


def main():
    program, folder, pictures = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
    browser, shapes = Browser(program), {}
    try:
        for name, (results, checks) in CHECKS.items():
            page = Page(browser, folder, results, pictures)
            for check in checks:
                print("== %s %s" % (name, check.__name__), flush=True)
                try:
                    check(page)
                except Exception as error:  # a wrong page is a result, not the end of the test
                    print("%s: %s" % (type(error).__name__, error))
            shapes[name] = shape_of(page)
            if pictures and name in KINDS:
                gallery(page, KINDS[name])
        print("== kinds kinds", flush=True)
        kinds(shapes)
    finally:
        browser.close()
    print("== end", flush=True)


main()
