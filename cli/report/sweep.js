// SPDX-License-Identifier: Apache-2.0
// A sweep: its points as a table, curves over a number, the Pareto front, and the tornado of a
// sensitivity study.

function isNumber(text) {
  return text !== "" && Number.isFinite(+text);
}

// Sizes and rates such as 96MiB or 1.6GHz as plain numbers; others as they are.
function amountOf(text) {
  const found = /^(-?[\d.]+(?:e-?\d+)?)\s*([A-Za-z/]*)$/.exec(text);
  if (!found) return NaN;
  const scale = {
    KiB: 1024,
    MiB: 1024 ** 2,
    GiB: 1024 ** 3,
    k: 1e3,
    M: 1e6,
    G: 1e9,
    T: 1e12,
    m: 1e-3,
    u: 1e-6,
    n: 1e-9,
    p: 1e-12,
  };
  const unit = Object.keys(scale).find(
    name => found[2].startsWith(name) && (name.length > 1 || found[2].length > 1),
  );
  return +found[1] * (unit ? scale[unit] : 1);
}

function readSweep(text) {
  const table = readCsv(text),
    end = table.names.indexOf("status");
  const inputs = table.names.slice(1, end),
    outputs = table.names
      .slice(end + 3)
      .filter(
        name =>
          table.rows.some(row => isNumber(row[name])) && new Set(table.rows.map(row => row[name])).size > 1,
      );
  const params = inputs.filter(name => new Set(table.rows.map(row => row[name])).size > 1);
  const numbers = params.filter(
    name => table.rows.some(row => Number.isFinite(amountOf(row[name]))) && !/^(workload|soc)$/.test(name),
  );
  return {...table, inputs, params, outputs, numbers, done: table.rows.filter(row => row.status === "ok")};
}

// The number with which the cycles differ most, from one of its values to another.
function strongest(sweep) {
  const effect = name => {
    const sums = new Map();
    for (const row of sweep.done) {
      const [sum, count] = sums.get(row[name]) || [0, 0];
      sums.set(row[name], [sum + +row.total_cycles, count + 1]);
    }
    const means = [...sums.values()].map(([sum, count]) => sum / count);
    return Math.max(...means) - Math.min(...means);
  };
  return sweep.numbers.slice().sort((a, b) => effect(b) - effect(a))[0];
}

// Sizes are told in their units.
function tickText(sweep, name) {
  return sweep.done.every(row => !row[name] || /B$/.test(row[name])) && sweep.numbers.includes(name)
    ? value => bytes(value)
    : null;
}

function picker(label, names, value, changed) {
  return el(
    "label",
    null,
    label + " ",
    el(
      "select",
      {onchange: event => changed(event.target.value)},
      names.map(name => el("option", {value: name, selected: name === value}, name)),
    ),
  );
}

// ---- tornado ----

// Points in which one number is not as in the base, which has none: what `vinci sensitivity` leaves.
function tornadoRows(sweep) {
  const isBase = row => sweep.numbers.every(name => row[name] === "");
  const base = sweep.done.find(isBase);
  if (!base || sweep.done.filter(isBase).length !== 1) return null;
  const rows = sweep.numbers
    .map(name => {
      const points = sweep.done
        .filter(row => row[name] !== "" && sweep.numbers.every(other => other === name || row[other] === ""))
        .sort((x, y) => amountOf(x[name]) - amountOf(y[name]));
      const cycles = points.map(row => +row.total_cycles - base.total_cycles);
      return {
        name,
        points,
        low: points[0],
        high: points[points.length - 1],
        saves: Math.max(0, ...cycles.map(c => -c)),
        costs: Math.max(0, ...cycles),
      };
    })
    .filter(row => row.points.length);
  return {base: +base.total_cycles, rows: rows.sort((x, y) => y.saves + y.costs - x.saves - x.costs)};
}

function tornadoSection(tornado) {
  const most = Math.max(1, ...tornado.rows.map(row => Math.max(row.saves, row.costs)));
  const effect = row => (row ? change(tornado.base, +row.total_cycles) : "-");
  return section(
    "tornado",
    "Which numbers of the chip matter",
    `Each number alone at its lowest and highest value; the run as it is takes ${grouped(tornado.base)} cycles.`,
    dataTable(
      [
        {title: "Number", key: "name"},
        {title: "Low", number: true, value: r => r.low[r.name]},
        {title: "High", number: true, value: r => r.high[r.name]},
        {title: "Change at low, at high", value: r => `${effect(r.low)}, ${effect(r.high)}`},
        {title: "Saves | costs", value: r => r.saves + r.costs, cell: r => twin(r.saves, r.costs, most)},
      ],
      tornado.rows,
      {id: "tornado-table", class: "tornado"},
    ),
  );
}

// ---- curves ----

function curvesSection(sweep) {
  const state = {
    x: strongest(sweep),
    y: sweep.outputs.includes("total_cycles") ? "total_cycles" : sweep.outputs[0],
  };
  const place = el("div");
  const draw = () => {
    const others = sweep.params.filter(name => name !== state.x),
      groups = new Map();
    for (const row of sweep.done) {
      const x = amountOf(row[state.x]),
        y = +row[state.y];
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      const label =
        others
          .filter(name => row[name] !== "")
          .map(name => `${name}=${row[name]}`)
          .join(" ") || state.y;
      if (!groups.has(label)) groups.set(label, {label, line: true, points: []});
      groups.get(label).points.push({x, y});
    }
    const shown = [...groups.values()].slice(0, 12);
    shown.forEach(group => group.points.sort((a, b) => a.x - b.x));
    place.replaceChildren(
      shown.length
        ? pointPlot(shown, {
            x: state.x,
            y: state.y,
            text: tickText(sweep, state.x),
            label: `${state.y} over ${state.x}`,
          })
        : el("p", null, "No points."),
      groups.size > 12
        ? el(
            "p",
            {class: "faint"},
            `The first 12 of ${groups.size} curves are shown; the table has all points.`,
          )
        : "",
    );
  };
  draw();
  return section(
    "curves",
    "Curves",
    "A curve for each combination of the other numbers.",
    el(
      "div",
      {class: "tools"},
      picker("Over", sweep.numbers, state.x, value => {
        state.x = value;
        draw();
      }),
      picker("of", sweep.outputs, state.y, value => {
        state.y = value;
        draw();
      }),
    ),
    place,
  );
}

// ---- Pareto ----

// Points that no other point beats in both; less is better in both.
function paretoFront(points) {
  const order = points.slice().sort((a, b) => a.x - b.x || a.y - b.y),
    front = [];
  let least = Infinity;
  for (const point of order)
    if (point.y < least) {
      front.push(point);
      least = point.y;
    }
  return front;
}

function paretoSection(sweep) {
  const costs = [...sweep.numbers, ...sweep.outputs],
    state = {
      x: strongest(sweep),
      y: sweep.outputs.includes("duration_us") ? "duration_us" : sweep.outputs[0],
    };
  const place = el("div");
  const draw = () => {
    const points = sweep.done
      .map(row => ({
        x: isNumber(row[state.x]) ? +row[state.x] : amountOf(row[state.x]),
        y: +row[state.y],
        row,
      }))
      .filter(point => Number.isFinite(point.x) && Number.isFinite(point.y));
    const front = paretoFront(points);
    place.replaceChildren(
      points.length
        ? pointPlot(
            [
              {label: "points", points, hue: "grey"},
              {label: "front", line: true, points: front, hue: "red"},
            ],
            {
              x: state.x,
              y: state.y,
              text: tickText(sweep, state.x),
              label: `Pareto front of ${state.y} against ${state.x}`,
            },
          )
        : el("p", null, "No points."),
      dataTable(
        [
          {title: state.x, number: true, value: p => p.x, text: p => p.row[state.x]},
          {title: state.y, number: true, value: p => p.y, text: p => p.row[state.y]},
          ...sweep.params
            .filter(name => name !== state.x)
            .map(name => ({title: name, value: p => p.row[name]})),
        ],
        front,
        {id: "pareto-table", caption: "On the front", shown: 12},
      ),
    );
  };
  draw();
  return section(
    "pareto",
    "Pareto front",
    "Points that no other point beats in both: less is better on both axes.",
    el(
      "div",
      {class: "tools"},
      picker("Cost", costs, state.x, value => {
        state.x = value;
        draw();
      }),
      picker("against", sweep.outputs, state.y, value => {
        state.y = value;
        draw();
      }),
    ),
    place,
  );
}

function sweepSections(folder) {
  const sweep = readSweep(folder.table),
    failed = sweep.rows.length - sweep.done.length;
  const best = sweep.done.slice().sort((a, b) => a.total_cycles - b.total_cycles)[0],
    tornado = tornadoRows(sweep);
  const say = row =>
    sweep.params
      .filter(name => row[name] !== "")
      .map(name => `${name} = ${row[name]}`)
      .join(", ") || "the chip as it is";
  const sections = [
    section(
      "first",
      "What the sweep found",
      null,
      el(
        "p",
        {class: "lead"},
        `${sweep.rows.length} points, ${sweep.done.length} simulated`,
        failed ? `, ${failed} failed` : "",
        ".",
      ),
      best
        ? el(
            "p",
            {id: "best"},
            "Fastest: ",
            el("b", null, say(best)),
            ` with ${grouped(+best.total_cycles)} cycles, ${best.duration_us} \u00b5s, ${best.bound} bound.`,
          )
        : null,
    ),
  ];
  const alone = tornado && tornado.rows.length > 1; // numbers one at a time: no curve has more than two points
  if (alone) sections.push(tornadoSection(tornado));
  else if (sweep.numbers.length && sweep.outputs.length && sweep.done.length > 1)
    sections.push(curvesSection(sweep), paretoSection(sweep));
  sections.push(
    section(
      "points",
      "Points",
      null,
      dataTable(
        [
          ...(alone
            ? [{title: "Changed", value: say}]
            : sweep.params.map(name => ({
                title: name,
                key: name,
                number: sweep.numbers.includes(name),
                value: row => (sweep.numbers.includes(name) ? amountOf(row[name]) : row[name]),
                text: row => row[name],
              }))),
          {title: "status", key: "status"},
          ...sweep.outputs.map(name => ({title: name, key: name, number: true})),
          {title: "bound", key: "bound"},
          ...(failed ? [{title: "error", key: "error"}] : []),
        ],
        sweep.rows,
        {filter: "filter points", shown: 25, id: "point-table"},
      ),
    ),
  );
  return sections;
}
