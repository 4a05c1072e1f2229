// SPDX-License-Identifier: Apache-2.0
// Two runs: how long each takes, and by which causes they differ. Differences sum to the whole.

function criticalParts(report) {
  const parts = new Map();
  if (!report.critical) return parts;
  for (const turn of report.critical.turns)
    parts.set(causeName(turn), (parts.get(causeName(turn)) || 0) + turn.cycles);
  for (const rest of report.critical.rests) parts.set(rest.text, (parts.get(rest.text) || 0) + rest.cycles);
  const told = [...parts.values()].reduce((sum, n) => sum + n, 0);
  parts.set("smaller causes", report.total_cycles - told);
  return parts;
}

function causeDifferences(a, b) {
  const left = criticalParts(a),
    right = criticalParts(b);
  return [...new Set([...left.keys(), ...right.keys()])]
    .map(name => ({name, a: left.get(name) || 0, b: right.get(name) || 0}))
    .map(row => ({...row, by: row.b - row.a}))
    .filter(row => row.a || row.b)
    .sort((x, y) => Math.abs(y.by) - Math.abs(x.by));
}

function signed(value) {
  return (value > 0 ? "+" : value < 0 ? "\u2212" : "") + grouped(Math.abs(value));
}

function judged(row) {
  const better =
    row.better === "neutral" || row.a === row.b
      ? ""
      : row.b < row.a === (row.better === "lower")
        ? "good"
        : "bad";
  return el(
    "span",
    {class: better},
    change(row.a, row.b),
    better ? ` (${better === "good" ? "better" : "worse"})` : "",
  );
}

function counterRows(a, b) {
  const right = new Map(b.counters.map(counter => [counter[0], counter]));
  const rows = a.counters.map(([name, value, unit, better]) => ({
    name,
    unit,
    better,
    a: value,
    b: right.has(name) ? right.get(name)[1] : 0,
  }));
  const known = new Set(rows.map(row => row.name));
  for (const [name, value, unit, better] of b.counters)
    if (!known.has(name)) rows.push({name, unit, better, a: 0, b: value});
  return rows.filter(row => row.a || row.b);
}

function chipName(report) {
  const changed = Object.entries(report.changed).map(([key, value]) => `${key} = ${value}`);
  return report.soc + (changed.length ? ` with ${changed.join(", ")}` : " as it is");
}

function compareSection(folders) {
  const [a, b] = folders.map(folder => folder.report),
    names = folders.map((folder, i) => `${"AB"[i]} (${folder.name})`);
  const by = b.total_ps - a.total_ps,
    sameChip = a.config_digest === b.config_digest,
    sameInput = a.input_digest === b.input_digest;
  const rows = causeDifferences(a, b),
    most = Math.max(1, ...rows.map(row => Math.abs(row.by)));
  return section(
    "compare",
    "Comparison",
    `A is ${folders[0].name}, B is ${folders[1].name}. ` +
      (sameChip
        ? "Both ran on the same chip. "
        : `The chips differ: A ran on ${chipName(a)}, B on ${chipName(b)}. `) +
      (sameInput ? "Both ran the same trace." : "The traces differ."),
    el(
      "p",
      {class: "lead", id: "verdict"},
      el(
        "b",
        null,
        by === 0
          ? "B takes as long as A"
          : `B takes ${percent(Math.abs(by), a.total_ps, 2)} ${by < 0 ? "less" : "more"} time than A`,
      ),
      `: ${micros(a.total_ps)} and ${micros(b.total_ps)}. A is ${a.bound} bound, B is ${b.bound} bound.`,
    ),
    el("h3", null, "Why: cycles on the critical path"),
    el(
      "p",
      {class: "faint"},
      `The differences sum to ${signed(b.total_cycles - a.total_cycles)} cycles, that of the totals.`,
    ),
    dataTable(
      [
        {title: "Cause", key: "name"},
        {title: names[0], number: true, key: "a", text: r => grouped(r.a)},
        {title: names[1], number: true, key: "b", text: r => grouped(r.b)},
        {title: "Difference", number: true, key: "by", text: r => signed(r.by)},
        {
          title: "Less | more",
          value: r => r.by,
          cell: r => twin(Math.max(0, -r.by), Math.max(0, r.by), most),
        },
      ],
      rows,
      {shown: 12, id: "difference-table", class: "tornado"},
    ),
    el("h3", null, "All counters"),
    dataTable(
      [
        {title: "Counter", key: "name"},
        {title: "Unit", key: "unit"},
        {title: "A", number: true, key: "a", text: r => grouped(r.a)},
        {title: "B", number: true, key: "b", text: r => grouped(r.b)},
        {
          title: "Change",
          number: true,
          value: r => (r.a ? Math.abs(r.b / r.a - 1) : r.b ? Infinity : 0),
          text: r => change(r.a, r.b),
          cell: judged,
        },
      ],
      counterRows(a, b),
      {filter: "filter counters", shown: 15, id: "counter-table"},
    ),
  );
}

// A bar to the left and one to the right of a line in the middle.
function twin(left, right, most) {
  const part = (amount, paint) =>
    el("i", {style: `display:block;height:100%;width:${(100 * amount) / most}%;background:${paint}`});
  return el(
    "div",
    {class: "twin"},
    el("span", null, part(left, "var(--green)")),
    el("span", null, part(right, "var(--red)")),
  );
}
