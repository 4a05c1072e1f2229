// SPDX-License-Identifier: Apache-2.0
// Elements, numbers as text, colours. All text goes through text nodes, so no name of a kernel or
// line of a trace can become markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      node.append(child instanceof Node ? child : String(child));
  return node;
}

// el("p", {class: "faint"}, "text", el("b", null, "more"))
function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function section(id, title, about, ...children) {
  return el(
    "section",
    {id, "aria-labelledby": id + "-title"},
    el("h2", {id: id + "-title"}, title),
    about ? el("p", {class: "faint"}, about) : null,
    ...children,
  );
}

// ---- numbers ----

function grouped(value) {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

function percent(part, whole, digits = 1) {
  return whole > 0 ? ((100 * part) / whole).toFixed(digits) + "\u00a0%" : "-";
}

function change(from, to) {
  if (from === to) return "0\u00a0%";
  if (!(from > 0)) return "new";
  const by = (100 * (to - from)) / from;
  return (by > 0 ? "+" : "\u2212") + Math.abs(by).toFixed(Math.abs(by) < 10 ? 2 : 1) + "\u00a0%";
}

function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return (unit ? value.toFixed(1) : value.toString()) + " " + units[unit];
}

// Four digits that say something.
function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return grouped(value);
  return size >= 100 ? value.toFixed(1) : size >= 1 ? value.toFixed(2) : value.toPrecision(2);
}

function micros(ps) {
  return (ps / 1e6).toFixed(3) + " \u00b5s";
}

// Bytes in a time, as 10^9 bytes a second.
function gigabytes(amount, ps) {
  return ps > 0 ? (amount / ps) * 1000 : 0;
}

// ---- colours ----

const hues = ["blue", "orange", "green", "pink", "red", "sky", "yellow", "grey"];
const pipeHues = {S: "grey", V: "green", M: "blue", MTE1: "yellow", MTE2: "orange", MTE3: "pink", FIX: "sky"};

function colour(name) {
  return getComputedStyle(document.documentElement)
    .getPropertyValue("--" + name)
    .trim();
}

// A hue by number in words of CSS, which follow the theme by themselves.
function hue(index) {
  return `var(--${hues[index % hues.length]})`;
}

// Those who draw on a canvas draw again.
const redraws = [];

function themeChanged() {
  for (const redraw of redraws) redraw();
}

// ---- bars of shares ----

// A bar of parts {amount, colour, text}; a part without an amount is left out.
function shareBar(parts, whole) {
  const label = parts
    .filter(p => p.amount > 0)
    .map(p => `${p.text} ${percent(p.amount, whole)}`)
    .join(", ");
  return el(
    "div",
    {class: "bar", role: "img", "aria-label": label, title: label},
    parts
      .filter(p => p.amount > 0)
      .map(p => el("i", {style: `width:${(100 * p.amount) / whole}%;background:${p.colour}`})),
  );
}

function keyList(entries) {
  return el(
    "ul",
    {class: "key"},
    entries.map(([text, paint]) => el("li", null, el("i", {style: "background:" + paint}), text)),
  );
}
