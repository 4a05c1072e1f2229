// SPDX-License-Identifier: Apache-2.0
// The timeline: cores and pipes from top to bottom, time from left to right, on a canvas of which
// only the visible rows are drawn, pixel by pixel into an image.

const ROW = 18,
  TOP = 24,
  LABEL = 150,
  TEXT_FROM = 42;

function rgba(name) {
  const probe = el("canvas").getContext("2d");
  probe.fillStyle = colour(name);
  const value = parseInt(probe.fillStyle.slice(1), 16);
  return 0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16);
}

function blend(a, b, share) {
  let out = 0xff000000;
  for (let shift = 0; shift < 24; shift += 8)
    out |= Math.round(((a >> shift) & 255) * (1 - share) + ((b >> shift) & 255) * share) << shift;
  return out;
}

class Timeline {
  // `names`: what lanes and their rows are called, and what the filter finds.
  constructor(slices, total, words, names = ["Core", "Pipe", "instruction, line number, cause"]) {
    Object.assign(this, readLanes(slices));
    this.total = total;
    this.words = words;
    this.names = names;
    this.unit = {name: "\u00b5s", us: 1};
    this.view = {from: 0, to: total};
    this.shown = this.lanes;
    this.mark = null;
    this.pending = false;
    this.frames = 0;
    this.build();
    this.readColours();
    redraws.push(() => {
      this.readColours();
      this.draw();
    });
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  build() {
    this.canvas = el("canvas", {
      tabindex: 0,
      role: "img",
      "aria-describedby": "timeline-keys",
      id: "timeline-canvas",
      "aria-label": `Timeline of ${this.lanes.length} ${this.names[1].toLowerCase()}s with ${this.count} slices`,
    });
    this.spacer = el("div");
    this.box = el("div", {class: "lanes"}, this.canvas, this.spacer);
    this.told = el(
      "div",
      {class: "told", id: "timeline-told", "aria-live": "polite"},
      "Point at a slice, or press Enter for the one in the middle, to see what it is.",
    );
    this.range = el("span", {id: "timeline-range", class: "faint"});
    const cores = [...new Set(this.lanes.map(lane => lane.core))];
    const pipes = [...new Set(this.lanes.map(lane => lane.pipe))];
    const pick = (label, all, list, key) =>
      el(
        "select",
        {
          "aria-label": label,
          id: "timeline-" + key,
          onchange: event => {
            this["only_" + key] = event.target.value;
            this.choose();
          },
        },
        el("option", {value: ""}, all),
        list.map(name => el("option", {value: name}, name)),
      );
    this.tools = el(
      "div",
      {class: "tools"},
      [
        ["Zoom in", () => this.zoom(0.5)],
        ["Zoom out", () => this.zoom(2)],
        ["Whole run", () => this.show(0, this.total)],
      ].map(([text, act]) => el("button", {type: "button", onclick: act}, text)),
      cores.length > 1 && pick(this.names[0], `all ${this.names[0].toLowerCase().replace(/s?$/, "s")}`, cores, "core"),
      pipes.length > 1 && pick(this.names[1], `all ${this.names[1].toLowerCase()}s`, pipes, "pipe"),
      el("input", {
        type: "search",
        id: "timeline-filter",
        placeholder: this.names[2],
        "aria-label": "Filter slices",
        oninput: event => this.filter(event.target.value),
      }),
      this.range,
    );
    this.listen();
  }

  listen() {
    const keys = {
      w: () => this.zoom(0.5),
      "+": () => this.zoom(0.5),
      s: () => this.zoom(2),
      "-": () => this.zoom(2),
      a: () => this.pan(-0.2),
      ArrowLeft: () => this.pan(-0.2),
      d: () => this.pan(0.2),
      ArrowRight: () => this.pan(0.2),
      ArrowUp: () => {
        this.box.scrollTop -= 3 * ROW;
      },
      ArrowDown: () => {
        this.box.scrollTop += 3 * ROW;
      },
      Home: () => this.show(0, this.total),
      Enter: () => this.tell(LABEL + (this.width - LABEL) / 2, this.height / 2),
    };
    this.canvas.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    this.canvas.addEventListener(
      "wheel",
      event => {
        if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
        event.preventDefault();
        this.zoom(Math.exp((event.deltaY || event.deltaX) * 0.002), this.timeAt(event.offsetX));
      },
      {passive: false},
    );
    let drag = null;
    this.canvas.addEventListener("pointerdown", event => {
      drag = {x: event.offsetX, view: {...this.view}, moved: false};
    });
    this.canvas.addEventListener("pointermove", event => {
      if (!drag || !event.buttons) {
        drag = null;
        this.tell(event.offsetX, event.offsetY);
        return;
      }
      const by = ((drag.x - event.offsetX) / (this.width - LABEL)) * (drag.view.to - drag.view.from);
      drag.moved = true;
      this.show(drag.view.from + by, drag.view.to + by);
    });
    this.canvas.addEventListener("pointerup", () => {
      drag = null;
    });
    this.canvas.addEventListener("dblclick", event => this.zoom(0.25, this.timeAt(event.offsetX)));
    this.box.addEventListener("scroll", () => this.request());
  }

  // ---- what is shown ----

  choose() {
    this.shown = this.lanes.filter(
      lane =>
        (!this.only_core || lane.core === this.only_core) &&
        (!this.only_pipe || lane.pipe === this.only_pipe),
    );
    this.resize();
  }

  filter(text) {
    const kept = keptKinds(this.kinds, text);
    this.found = this.lanes.reduce((sum, lane) => sum + lane.filter(kept), 0);
    this.filtered = !!kept;
    this.request();
  }

  show(from, to) {
    const least = 4 * (this.lanes[0] ? this.lanes[0].us : 1e-3);
    const length = Math.min(Math.max(to - from, least), this.total);
    const start = Math.min(Math.max(from + (to - from - length) / 2, 0), this.total - length);
    this.view = {from: start, to: start + length};
    this.request();
  }

  zoom(by, around = (this.view.from + this.view.to) / 2) {
    this.show(around - (around - this.view.from) * by, around + (this.view.to - around) * by);
  }

  pan(by) {
    const step = (this.view.to - this.view.from) * by;
    this.show(this.view.from + step, this.view.to + step);
  }

  timeAt(x) {
    return this.view.from + ((x - LABEL) / (this.width - LABEL)) * (this.view.to - this.view.from);
  }

  // ---- drawing ----

  readColours() {
    this.css = Object.fromEntries(["page", "panel", "text", "line"].map(name => [name, colour(name)]));
    this.page = rgba("page");
    this.waits = rgba("wait");
    this.dim = blend(this.page, rgba("grey"), 0.35);
    this.hues = Object.fromEntries(Object.entries(pipeHues).map(([pipe, name]) => [pipe, rgba(name)]));
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    const rows = TOP + this.shown.length * ROW + 4;
    this.width = this.box.clientWidth;
    this.height = Math.min(this.box.clientHeight || rows, rows);
    this.box.style.height = rows < 700 ? rows + 2 + "px" : "";
    this.spacer.style.height = Math.max(0, rows - this.height) + "px";
    if (this.width < LABEL + 20) return;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = this.width + "px";
    this.canvas.style.height = this.height + "px";
    this.image = null;
    this.draw();
  }

  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  draw() {
    if (!this.canvas.width || this.width < LABEL + 20) return;
    const ratio = this.canvas.width / this.width,
      context = this.canvas.getContext("2d");
    const left = Math.round(LABEL * ratio),
      width = this.canvas.width - left,
      height = this.canvas.height;
    if (!this.image) {
      this.image = context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(this.page);
    const scroll = this.box.scrollTop,
      first = Math.max(0, Math.floor(scroll / ROW));
    const last = Math.min(this.shown.length, Math.ceil((scroll + this.height - TOP) / ROW));
    for (let row = first; row < last; row++) {
      const y = Math.round((TOP + row * ROW - scroll + 2) * ratio),
        tall = Math.round((ROW - 3) * ratio);
      this.paintLane(this.shown[row], width, Math.max(y, Math.round(TOP * ratio)), y + tall);
    }
    context.putImageData(this.image, left, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.writeLabels(context, first, last, scroll);
    this.writeSlices(context, first, last, scroll);
    this.writeAxis(context);
    context.setTransform(1, 0, 0, 1, 0, 0);
    this.frames++;
    this.range.textContent =
      this.tellRange() +
      (this.filtered ? `; ${this.found} of ${this.count} slices match` : `; ${this.count} slices`);
  }

  tellRange() {
    return `${this.view.from.toFixed(3)} to ${this.view.to.toFixed(3)} \u00b5s of ${this.total.toFixed(3)}`;
  }

  // A column of pixels: from below what works, then what waits, by their share of its time.
  paintLane(lane, width, top, bottom) {
    const {from, to} = this.view,
      step = (to - from) / width,
      pixels = this.pixels,
      tall = bottom - top;
    const hue = this.hues[lane.pipe] || this.hues.S,
      match = lane.match,
      limit = Math.floor(pixels.length / width);
    if (tall <= 0) return;
    let index = lane.find(from),
      border = -1;
    let work = lane.until(lane.work, from, index),
      wait = lane.until(lane.wait, from, index);
    let kept = match ? lane.until(match, from, index) : 0;
    for (let x = 0; x < width && index < lane.count; x++) {
      const time = from + (x + 1) * step,
        next = lane.seek(time, index);
      const newWork = lane.until(lane.work, time, next),
        newWait = lane.until(lane.wait, time, next);
      const newKept = match ? lane.until(match, time, next) : 0;
      const busy = this.rows((newWork - work) / step, tall),
        held = Math.min(tall - busy, this.rows((newWait - wait) / step, tall));
      const share = match
        ? Math.min(1, (newKept - kept) / Math.max(1e-12, newWork - work + newWait - wait))
        : 1;
      const begins =
        next < lane.count && lane.start[next] >= time - step && lane.start[next] < time && next !== border;
      const edge = begins && lane.end[next] - lane.start[next] > 4 * step;
      let tint = share === 1 ? hue : blend(this.dim, hue, share),
        pale = share === 1 ? this.waits : blend(this.dim, this.waits, share);
      if (edge) {
        tint = blend(tint, this.page, 0.6);
        pale = blend(pale, this.page, 0.6);
        border = next;
      }
      for (let y = bottom - 1; y >= bottom - busy - held && y >= top; y--)
        if (y < limit) pixels[y * width + x] = y >= bottom - busy ? tint : pale;
      index = next;
      work = newWork;
      wait = newWait;
      kept = newKept;
    }
  }

  // What fills less than a row of pixels is a row all the same: it is there.
  rows(share, tall) {
    return share <= 1e-9 ? 0 : Math.max(1, Math.min(tall, Math.round(share * tall)));
  }

  writeLabels(context, first, last, scroll) {
    context.fillStyle = this.css.page;
    context.fillRect(0, 0, LABEL, this.height);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.strokeStyle = this.css.line;
    for (let row = first; row < last; row++) {
      const lane = this.shown[row],
        y = TOP + row * ROW - scroll,
        begins = row === first || this.shown[row - 1].core !== lane.core;
      context.fillStyle = this.css.text;
      if (y + ROW / 2 > TOP - 6) {
        context.fillText(lane.pipe, LABEL - 40, y + ROW / 2);
        if (begins) context.fillText(lane.core, 4, y + ROW / 2, LABEL - 48);
      }
      if (!begins || row === 0) continue;
      context.beginPath();
      context.moveTo(0, y);
      context.lineTo(this.width, y);
      context.stroke();
    }
  }

  // Names in slices that have room for them.
  writeSlices(context, first, last, scroll) {
    const scale = (this.width - LABEL) / (this.view.to - this.view.from);
    context.save();
    context.beginPath();
    context.rect(LABEL, TOP, this.width - LABEL, this.height - TOP);
    context.clip();
    context.font = "11px system-ui, sans-serif";
    for (let row = first; row < last; row++) {
      const lane = this.shown[row],
        y = TOP + row * ROW - scroll + ROW / 2;
      let index = lane.find(this.view.from),
        told = -1;
      // Slices that have room are wider than the steps, so each of them is met.
      for (let time = this.view.from; time < this.view.to; time += TEXT_FROM / 2 / scale) {
        index = lane.seek(time, index);
        if (index === lane.count) break;
        if (index === told || lane.start[index] > time) continue;
        told = index;
        const kind = this.kinds[lane.kind[index]],
          from = Math.max(this.view.from, lane.start[index]);
        const wide = (Math.min(this.view.to, lane.end[index]) - from) * scale;
        if (wide < TEXT_FROM) continue;
        const text = kind.instruction.length * 6 < wide - 8 || !kind.line ? kind.instruction : `line ${kind.line}`;
        context.fillStyle = kind.waits ? this.css.text : "#ffffff";
        context.strokeStyle = kind.waits ? this.css.page : "#00000099";
        context.lineWidth = kind.waits ? 0 : 2.5;
        const x = LABEL + (from - this.view.from) * scale + 4;
        if (!kind.waits) context.strokeText(text, x, y, wide - 8);
        context.fillText(text, x, y, wide - 8);
      }
    }
    context.restore();
    context.lineWidth = 1;
  }

  writeAxis(context) {
    const {from, to} = this.view,
      width = this.width - LABEL;
    context.fillStyle = this.css.panel;
    context.fillRect(0, 0, this.width, TOP);
    context.fillStyle = this.css.text;
    context.strokeStyle = this.css.line;
    context.font = "12px system-ui, sans-serif";
    context.fillText(this.unit.name, 4, TOP / 2);
    let step = Math.pow(10, Math.floor(Math.log10(((to - from) / width) * 90)));
    for (const more of [2, 2.5, 2]) if ((step / (to - from)) * width < 70) step *= more;
    const digits = Math.max(0, Math.ceil(-Math.log10(step / this.unit.us) + 0.001));
    for (let tick = Math.ceil(from / step); tick * step <= to; tick++) {
      const x = LABEL + ((tick * step - from) / (to - from)) * width;
      context.globalAlpha = 0.4;
      context.beginPath();
      context.moveTo(x, TOP - 5);
      context.lineTo(x, this.height);
      context.stroke();
      context.globalAlpha = 1;
      if (x < this.width - 30) context.fillText(((tick * step) / this.unit.us).toFixed(digits), x + 3, TOP / 2);
    }
  }

  // ---- one slice ----

  tell(x, y) {
    const lane = this.shown[Math.floor((y - TOP + this.box.scrollTop) / ROW)];
    const index = lane && x > LABEL && y > TOP ? lane.at(this.timeAt(x)) : -1;
    if (index < 0) return;
    const kind = this.kinds[lane.kind[index]],
      cause = this.words.causes[kind.cause];
    const length = lane.end[index] - lane.start[index];
    this.told.replaceChildren(
      el("b", null, kind.instruction),
      ` (line ${kind.line}) on ${lane.pipe} of ${lane.core}: `,
      `from ${lane.start[index].toFixed(4)} \u00b5s for ${Math.round(length / lane.us)} cycles`,
      kind.bytes ? `; ${bytes(kind.bytes)} ${kind.path}, ${short(kind.bytes / length / 1000)} GB/s` : "",
      cause ? el("br") : "",
      cause ? `Most of its cycles ${cause.text} (${kind.cause}).` : "",
    );
  }
}

const timelineKeys =
  "Keys, when the picture has the focus: W and S or + and \u2212 zoom, A and D or arrows move, " +
  "Home shows the whole run, Enter tells of the slice in the middle. Ctrl or Shift with the wheel zooms, dragging moves, a double click zooms in.";

function timelineSection(folder, report) {
  const title = "Timeline";
  if (!folder.slices || !folder.slices.lanes.length)
    return section(
      "timeline",
      title,
      null,
      el(
        "p",
        null,
        "The folder has no recorded instructions: run again without ",
        el("code", null, "--timeline=none"),
        " and with ",
        el("code", null, "--timeline-events"),
        " above 0.",
      ),
    );
  const timeline = new Timeline(folder.slices, report.total_ps / 1e6, report.words);
  window.vinciTimeline = timeline; // for those who script the page
  return section(
    "timeline",
    title,
    "A row is a pipe of a core. Coloured: the pipe is busy; grey: it waits for a flag or a barrier; empty: it has no instruction. " +
      "Where slices are narrower than a pixel, the height of a column is the share of its time.",
    report.events_dropped
      ? el(
          "p",
          {class: "warn"},
          `Only the first ${grouped(report.events)} instructions were recorded, ${grouped(report.events_dropped)} later ones are missing (--timeline-events).`,
        )
      : null,
    timeline.tools,
    timeline.box,
    timeline.told,
    el(
      "p",
      {class: "faint", id: "timeline-keys"},
      timelineKeys,
    ),
  );
}
