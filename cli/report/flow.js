// SPDX-License-Identifier: Apache-2.0
// The flow picture: bytes between memories, as ribbons whose width is their share of the largest.

// Columns from left to right; what is written stands at the right once more.
const flowPlaces = {
  HBM: 0,
  L2: 1,
  L1: 2,
  UB: 2,
  L0A: 3,
  L0B: 3,
  BT: 3,
  FB: 3,
  L0C: 3,
  "L2 written": 4,
  "HBM written": 5,
};

// [{from, to, bytes, name}] of a report.
function flowsOf(report) {
  const flows = [],
    hbm = report.hbm;
  if (hbm.read_bytes > 0) flows.push({from: "HBM", to: "L2", bytes: hbm.read_bytes, name: "HBM read"});
  for (const path of report.paths) {
    if (path.from === path.to) continue;
    const from = path.from === "GM" ? "L2" : path.from,
      to = path.to === "GM" ? "L2 written" : path.to;
    flows.push({from, to, bytes: path.bytes, name: path.name});
  }
  if (hbm.write_bytes > 0)
    flows.push({from: "L2 written", to: "HBM written", bytes: hbm.write_bytes, name: "HBM written"});
  return flows;
}

function flowNodes(flows, size) {
  const nodes = new Map();
  const at = name =>
    nodes.get(name) || nodes.set(name, {name, column: flowPlaces[name] ?? 3, in: 0, out: 0}).get(name);
  for (const flow of flows) {
    at(flow.from).out += flow.bytes;
    at(flow.to).in += flow.bytes;
  }
  const columns = new Map();
  for (const node of nodes.values()) {
    node.bytes = Math.max(node.in, node.out);
    if (!columns.has(node.column)) columns.set(node.column, []);
    columns.get(node.column).push(node);
  }
  const used = [...columns.keys()].sort((a, b) => a - b);
  const deepest = Math.max(...[...columns.values()].map(list => list.reduce((sum, n) => sum + n.bytes, 0)));
  const scale = (size.height - 120) / deepest;
  used.forEach((column, index) => {
    let y = 34;
    for (const node of columns.get(column)) {
      node.x = used.length > 1 ? (index * (size.width - 130)) / (used.length - 1) : 0;
      node.y = y;
      node.height = Math.max(3, node.bytes * scale);
      node.inAt = node.outAt = y;
      y += node.height + 46;
    }
  });
  return {nodes, scale};
}

function ribbon(flow, nodes, scale, index) {
  const from = nodes.get(flow.from),
    to = nodes.get(flow.to),
    width = Math.max(1.5, flow.bytes * scale);
  const x0 = from.x + 14,
    x1 = to.x,
    y0 = from.outAt,
    y1 = to.inAt,
    bend = (x1 - x0) / 2;
  from.outAt += width;
  to.inAt += width;
  return svg(
    "path",
    {
      fill: hue(index),
      "fill-opacity": 0.55,
      d:
        `M${x0},${y0} C${x0 + bend},${y0} ${x1 - bend},${y1} ${x1},${y1} ` +
        `v${width} C${x1 - bend},${y1 + width} ${x0 + bend},${y0 + width} ${x0},${y0 + width} z`,
    },
    svg("title", null, `${flow.name}: ${bytes(flow.bytes)}`),
  );
}

// All amounts stand in the table of paths too, for those who do not see the picture.
function flowPicture(report) {
  const flows = flowsOf(report);
  if (!flows.length) return el("p", null, "The run has moved no bytes between memories.");
  const size = {width: 860, height: 400},
    {nodes, scale} = flowNodes(flows, size);
  const bottom = Math.max(...[...nodes.values()].map(node => node.y + node.height)) + 40;
  const label = flows.map(flow => `${flow.from} to ${flow.to} ${bytes(flow.bytes)}`).join("; ");
  return svg(
    "svg",
    {
      viewBox: `0 0 ${size.width} ${bottom}`,
      width: size.width,
      role: "img",
      "aria-label": "Bytes moved: " + label,
    },
    flows.map((flow, i) => ribbon(flow, nodes, scale, i)),
    [...nodes.values()].map(node => [
      svg("rect", {x: node.x, y: node.y, width: 14, height: node.height, fill: "var(--text)"}),
      svg("text", {x: node.x, y: node.y - 17, "font-weight": 600}, node.name),
      svg("text", {x: node.x, y: node.y - 4, class: "small"}, bytes(node.bytes)),
      node.name === "L2" && node.in < node.out
        ? svg(
            "text",
            {x: node.x, y: node.y + node.height + 14, class: "small"},
            `${bytes(node.out - node.in)} of them by hits`,
          )
        : null,
    ]),
  );
}
