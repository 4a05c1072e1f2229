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

// What a study measures, the first that its table has: column, and the value as text.
const measures = [
  {name: "total_cycles", text: value => `${grouped(value)} cycles`},
  {name: "total_us", text: value => spell(value)},
  {name: "net.time_ps", text: value => spell(value / 1e6)},
  {name: "job.time_ps", text: value => spell(value / 1e6)},
];

// A table of a list begins with the parameters; others have "point" before them, and behind them
// what ran: "workload" or "network", which follows from the parameters.
function readSweep(text) {
  const table = readCsv(text),
    end = table.names.indexOf("status"),
    points = table.names[0] === "point";
  const measure = measures.find(one => table.names.includes(one.name));
  if (end < 0 || !measure) throw new Error("results.csv is not the table of a study");
  const params = table.names.slice(points ? 1 : 0, points ? end - 1 : end);
  const done = table.rows.filter(row => row.status === "ok"),
    values = name => new Set(table.rows.map(row => row[name])),
    told = new Set([measure.name, "duration_us"]);
  const outputs = table.names
    .slice(end + 1)
    .filter(name => !/^(exit_code|error|bound|operators|failed)$/.test(name))
    .filter(name => done.some(row => isNumber(row[name])) && (told.has(name) || values(name).size > 1));
  const numbers = params.filter(name => {
    const given = [...values(name)].filter(value => value !== "");
    return given.length > 0 && given.every(value => Number.isFinite(amountOf(value)));
  });
  const varied = params.filter(name => values(name).size > 1),
    workloads = points ? [...values(table.names[end - 1])] : [];
  return {...table, params, varied, outputs, numbers, measure, done, workloads};
}

// What all points run: the words that their workloads share, "" when they run different operators.
function commonWorkload(workloads) {
  const [first, ...others] = workloads.map(text => text.split(" "));
  if (!first || others.some(words => words[0] !== first[0])) return "";
  return first.filter(word => others.every(words => words.includes(word))).join(" ");
}

// "matmul m=512 on Ascend910B4: 18 points"
function sweepSubject(folder) {
  const sweep = readSweep(folder.table),
    study = folder.study || {},
    chip = sweep.params.includes("soc") ? `${new Set(sweep.rows.map(row => row.soc)).size} chips` : study.chip;
  const what =
    commonWorkload(sweep.workloads) || (study.list ? `operators of ${study.list.replace(/.*\//, "")}` : "a study");
  return `${what}${chip ? ` on ${chip}` : ""}: ${sweep.rows.length} point${sweep.rows.length === 1 ? "" : "s"}`;
}

// What a column is, with its unit, for an axis.
function axisName(name) {
  if (name === "total_cycles") return "cycles (total_cycles)";
  if (/_us$/.test(name)) return `\u00b5s (${name})`;
  if (/_ps$/.test(name)) return `ps (${name})`;
  return /bytes/.test(name) ? `bytes (${name})` : name;
}

// The parameter with which the measure differs most, from one of its values to another.
function strongest(sweep, names) {
  const effect = name => {
    const sums = new Map();
    for (const row of sweep.done) {
      const [sum, count] = sums.get(row[name]) || [0, 0];
      sums.set(row[name], [sum + +row[sweep.measure.name], count + 1]);
    }
    const means = [...sums.values()].map(([sum, count]) => sum / count);
    return Math.max(...means) - Math.min(...means);
  };
  return names.slice().sort((a, b) => effect(b) - effect(a))[0];
}

// The place of a row on the axis of a parameter: its number, or of a text its place among all.
function axisOf(sweep, name) {
  if (!sweep.params.includes(name)) return {at: row => (isNumber(row[name]) ? +row[name] : NaN)};
  if (sweep.numbers.includes(name))
    return {at: row => (row[name] === "" ? NaN : amountOf(row[name])), text: tickText(sweep, name)};
  const texts = [...new Set(sweep.rows.map(row => row[name]))];
  return {
    at: row => texts.indexOf(row[name]),
    text: value => (Number.isInteger(value) && value in texts ? texts[value] || "as it is" : ""),
    texts,
  };
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
  const {name: measured} = sweep.measure,
    given = row => sweep.params.filter(name => row[name] !== "").length;
  const base = sweep.done.find(row => given(row) === 0);
  if (!base || sweep.numbers.length !== sweep.params.length) return null;
  if (sweep.rows.filter(row => given(row) !== 1).length !== 1) return null;
  const rows = sweep.numbers
    .map(name => {
      const points = sweep.done
        .filter(row => row[name] !== "" && sweep.numbers.every(other => other === name || row[other] === ""))
        .sort((x, y) => amountOf(x[name]) - amountOf(y[name]));
      const by = points.map(row => row[measured] - base[measured]);
      return {
        name,
        points,
        low: points[0],
        high: points[points.length - 1],
        saves: Math.max(0, ...by.map(c => -c)),
        costs: Math.max(0, ...by),
      };
    })
    .filter(row => row.points.length);
  return {base: +base[measured], rows: rows.sort((x, y) => y.saves + y.costs - x.saves - x.costs)};
}

// A value of a number of the chip with its unit: as it was given, or else what the name says.
function withUnit(name, value) {
  if (!isNumber(value)) return value;
  const units = [
    [/(^|[._])bytes_per_/, "B per cycle"],
    [/cycles(_per_repeat)?$/, "cycles"],
    [/bytes$/, "B"],
    [/_scale$/, "times"],
  ];
  const found = units.find(([pattern]) => pattern.test(name));
  return found ? `${value} ${found[1]}` : value;
}

// "cube.fp16_cycles matters most: 0.5 cycles saves 2.34 %, 2 cycles costs 6.63 %."
function tornadoText(sweep, tornado) {
  const {name: measured} = sweep.measure,
    [most] = tornado.rows,
    still = tornado.rows.filter(row => !row.saves && !row.costs),
    effect = (row, point) => {
      const by = point[measured] - tornado.base;
      return `${withUnit(row.name, point[row.name])} ${by ? `${by < 0 ? "saves" : "costs"} ${percent(Math.abs(by), tornado.base, 2)}` : "changes nothing"}`;
    };
  if (!most.saves && !most.costs) return el("p", {id: "best"}, "No number changes the duration.");
  return el(
    "p",
    {id: "best"},
    el("b", null, most.name),
    ` matters most: ${most.points.map(point => effect(most, point)).join(", ")}.`,
    still.length ? ` ${still.map(row => row.name).join(", ")} change${still.length === 1 ? "s" : ""} nothing.` : "",
  );
}

function tornadoSection(sweep, tornado) {
  const most = Math.max(1, ...tornado.rows.map(row => Math.max(row.saves, row.costs)));
  const effect = row => (row ? change(tornado.base, +row[sweep.measure.name]) : "-");
  return section(
    "tornado",
    "Numbers of the chip, each alone",
    `Each number alone at its lowest and highest value; the run as it is takes ${sweep.measure.text(tornado.base)}.`,
    dataTable(
      [
        {title: "Number", key: "name"},
        {title: "Low", number: true, value: r => amountOf(r.low[r.name]), text: r => withUnit(r.name, r.low[r.name])},
        {title: "High", number: true, value: r => amountOf(r.high[r.name]), text: r => withUnit(r.name, r.high[r.name])},
        {title: "Change at low, at high", value: r => `${effect(r.low)}, ${effect(r.high)}`},
        {title: "Saves | costs", value: r => r.saves + r.costs, cell: r => twin(r.saves, r.costs, most)},
      ],
      tornado.rows,
      {id: "tornado-table", class: "tornado"},
    ),
  );
}

// ---- curves ----

const CURVES_SHOWN = 12,
  TICKS_MAX = 8;

// Curves nearer to each other than this share of the range of y are one on the screen.
const CURVE_NEAR = 1 / 300;

// "l2.size=48MiB hbm.bandwidth_scale=1" of rows that share a curve: values that differ stand with commas, those of a
// parameter whose values are all there are left out.
function curveLabel(sweep, rows, others, y) {
  const words = others.map(name => {
    const all = new Set(sweep.done.map(row => row[name])).size,
      values = [...new Set(rows.map(row => row[name]))].map(value => value || "as it is");
    return values.length === all && all > 1 ? `any ${name}` : `${name}=${values.join(",")}`;
  });
  return words.join(" ") || y;
}

// A curve for each combination of the other parameters; those that would hide each other are one, which says so.
function curveGroups(sweep, x, y) {
  const others = sweep.varied.filter(name => name !== x),
    {at} = axisOf(sweep, x),
    groups = new Map();
  for (const row of sweep.done) {
    const point = {x: at(row), y: isNumber(row[y]) ? +row[y] : NaN};
    if (!Number.isFinite(point.x) || !Number.isFinite(point.y)) continue;
    const key = others.map(name => row[name]).join("\n");
    if (!groups.has(key)) groups.set(key, {rows: [], line: true, points: []});
    groups.get(key).points.push(point);
    groups.get(key).rows.push(row);
  }
  const all = [...groups.values()],
    ys = all.flatMap(group => group.points.map(point => point.y)),
    near = (Math.max(...ys) - Math.min(...ys)) * CURVE_NEAR;
  const shown = [];
  for (const group of all) {
    group.points.sort((a, b) => a.x - b.x);
    const same = shown.find(
      other =>
        other.points.length === group.points.length &&
        other.points.every((p, i) => p.x === group.points[i].x && Math.abs(p.y - group.points[i].y) <= near),
    );
    if (same) same.rows.push(...group.rows);
    else shown.push(group);
  }
  for (const group of shown) group.label = curveLabel(sweep, group.rows, others, y);
  return shown;
}

function curvesSection(sweep, best) {
  const state = {x: strongest(sweep, sweep.varied), y: sweep.measure.name};
  const place = el("div", {id: "curve-plot"});
  const draw = () => {
    const groups = curveGroups(sweep, state.x, state.y),
      {at, text, texts} = axisOf(sweep, state.x),
      marked = [{label: "the fastest point", hue: "red", large: true, points: [{x: at(best), y: +best[state.y]}]}];
    const shown = groups.slice(0, CURVES_SHOWN),
      xs = [...new Set(shown.flatMap(group => group.points.map(point => point.x)))].sort((a, b) => a - b);
    const bestAt = marked[0].points[0];
    place.replaceChildren(
      shown.length
        ? pointPlot([...shown, ...marked.filter(group => Number.isFinite(group.points[0].x))], {
            x: axisName(state.x),
            y: axisName(state.y),
            text,
            texts,
            splits: !texts && xs.length <= TICKS_MAX ? xs : undefined,
            labels: Number.isFinite(bestAt.x) && Number.isFinite(bestAt.y) ? [{...bestAt, text: "the fastest point"}] : [],
            label: `${state.y} over ${state.x}`,
          })
        : el("p", null, "No points."),
      groups.length > shown.length
        ? el(
            "p",
            {class: "faint"},
            `The first ${shown.length} of ${groups.length} curves are shown; the table has all points.`,
          )
        : "",
    );
  };
  draw();
  return section(
    "curves",
    "Curves",
    "A curve for each combination of the other parameters; those that lie on each other are one, and its name says so.",
    el(
      "div",
      {class: "tools"},
      picker("Over", sweep.varied, state.x, value => {
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

function paretoSection(sweep, best) {
  const costs = [...sweep.numbers, ...sweep.outputs],
    state = {
      x: strongest(sweep, sweep.numbers),
      y: sweep.outputs.includes("duration_us") ? "duration_us" : sweep.measure.name,
    };
  const place = el("div");
  const draw = () => {
    const {at, text} = axisOf(sweep, state.x);
    const points = sweep.done
      .map(row => ({x: at(row), y: isNumber(row[state.y]) ? +row[state.y] : NaN, row}))
      .filter(point => Number.isFinite(point.x) && Number.isFinite(point.y));
    const front = paretoFront(points),
      xs = [...new Set(points.map(point => point.x))].sort((a, b) => a - b),
      fastest = points.find(point => point.row === best);
    place.replaceChildren(
      points.length
        ? pointPlot(
            [
              {label: "points", points, hue: "grey"},
              {label: "front", line: true, points: front, hue: "red"},
            ],
            {
              x: axisName(state.x),
              y: axisName(state.y),
              text,
              splits: sweep.params.includes(state.x) && xs.length <= TICKS_MAX ? xs : undefined,
              labels: fastest ? [{...fastest, text: "the fastest point"}] : [],
              label: `Pareto front of ${state.y} against ${state.x}`,
            },
          )
        : el("p", null, "No points."),
      dataTable(
        [
          {title: state.x, number: true, value: p => p.x, text: p => p.row[state.x]},
          {title: state.y, number: true, value: p => p.y, text: p => p.row[state.y]},
          ...sweep.varied
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

// "device.cube_cores = 8, l2.size = 96MiB"
function pointText(sweep, row) {
  return (
    sweep.params
      .filter(name => row[name] !== "")
      .map(name => `${name} = ${row[name]}`)
      .join(", ") || "the chip as it is"
  );
}

function bestText(sweep, best) {
  const {name, text} = sweep.measure,
    equal = sweep.done.filter(row => +row[name] === +best[name]).length - 1;
  return el(
    "p",
    {id: "best"},
    "Fastest: ",
    el("b", null, pointText(sweep, best)),
    ` with ${text(+best[name])}`,
    best.duration_us ? `, ${spell(+best.duration_us)}` : "",
    best.bound ? `, ${best.bound} bound` : "",
    equal ? `; ${equal} other ${equal === 1 ? "point is" : "points are"} as fast` : "",
    ".",
  );
}

// ---- parameters ----

// A value counts as enough when its best point takes at most this share more than the fastest.
const ENOUGH = 0.01;
const OUTPUTS_SHOWN = 3;

// Curves show two parameters at once; of more, parallel coordinates do.
const PAIR = 2;

// By parameter and value: the best point with that value, against the fastest of all.
function parameterRows(sweep, best) {
  const {name: measured} = sweep.measure;
  return sweep.varied.flatMap(name => {
    const values = [...new Set(sweep.done.map(row => row[name]))];
    return values.map(value => {
      const least = Math.min(...sweep.done.filter(row => row[name] === value).map(row => +row[measured]));
      return {name, value, least, over: least / best[measured] - 1};
    });
  });
}

// What to choose: "l2.size makes no difference", "48MiB of l2.size is enough".
function adviceText(sweep, rows, name) {
  const own = rows.filter(row => row.name === name),
    worst = own.reduce((a, b) => (b.over > a.over ? b : a)),
    told = row => row.value || "the value of the chip";
  if (own.length < 2) return null;
  if (worst.over < 0.0005) return `${name}: all ${own.length} values are as fast.`;
  const order = sweep.numbers.includes(name)
    ? own.filter(row => row.value !== "").sort((a, b) => amountOf(a.value) - amountOf(b.value))
    : own.slice().sort((a, b) => a.over - b.over);
  const enough = order.find(row => row.over <= ENOUGH) || own.reduce((a, b) => (b.over < a.over ? b : a));
  const by = percent(1 - (1 + enough.over) / (1 + worst.over), 1);
  return `${name}: ${told(enough)}${enough.over > 0 ? ` is enough, within ${percent(ENOUGH, 1, 0)} of the fastest; it` : ""} saves ${by} against ${told(worst)}.`;
}

function parametersSection(sweep, best) {
  const rows = parameterRows(sweep, best),
    most = Math.max(1e-9, ...rows.map(row => row.over));
  return section(
    "parameters",
    "What each parameter does",
    "The best point with each value, against the fastest of all.",
    el(
      "ul",
      {id: "advice"},
      sweep.varied
        .map(name => adviceText(sweep, rows, name))
        .filter(Boolean)
        .map(text => el("li", null, text)),
    ),
    dataTable(
      [
        {title: "Parameter", key: "name"},
        {title: "Value", key: "value", text: row => row.value || "as it is"},
        {title: "Best", number: true, key: "least", text: row => sweep.measure.text(row.least)},
        {
          title: "More than the fastest",
          number: true,
          key: "over",
          text: row => (row.over > 0 ? "+" + percent(row.over, 1) : "the fastest"),
        },
        {title: "", value: () => "", cell: row => timeBar(row.over, most)},
      ],
      rows,
      {shown: 24, id: "parameter-table"},
    ),
  );
}

function pointsSection(sweep, alone) {
  const param = name => ({
    title: name,
    key: name,
    number: sweep.numbers.includes(name),
    value: row => (sweep.numbers.includes(name) && row[name] !== "" ? amountOf(row[name]) : row[name]),
    text: row => row[name],
  });
  return section(
    "points",
    "Points",
    null,
    dataTable(
      [
        ...(alone ? [{title: "Changed", value: row => pointText(sweep, row)}] : sweep.params.map(param)),
        {title: "status", key: "status"},
        ...sweep.outputs.map((name, i) => ({title: name, key: name, number: true, more: i >= OUTPUTS_SHOWN})),
        sweep.names.includes("bound") ? {title: "bound", key: "bound"} : null,
        sweep.done.length < sweep.rows.length ? {title: "error", key: "error"} : null,
      ].filter(Boolean),
      sweep.rows,
      {filter: "filter points", shown: 25, id: "point-table"},
    ),
  );
}

function sweepSections(folder) {
  const sweep = readSweep(folder.table),
    {name} = sweep.measure,
    failed = sweep.rows.length - sweep.done.length;
  const best = sweep.done.slice().sort((a, b) => a[name] - b[name])[0],
    tornado = tornadoRows(sweep),
    alone = tornado && tornado.rows.length > 1; // numbers one at a time: no curve has more than two points
  const sections = [
    section(
      "first",
      alone ? "Which number matters most" : "What the sweep found",
      null,
      el(
        "p",
        {class: "lead", id: "sweep-total"},
        sweep.workloads.length === 1 ? [el("b", null, sweep.workloads[0]), ": "] : "",
        `${sweep.rows.length} points, ${sweep.done.length} simulated`,
        failed ? `, ${failed} failed` : "",
        ".",
      ),
      alone ? tornadoText(sweep, tornado) : best ? bestText(sweep, best) : null,
    ),
  ];
  if (alone) sections.push(tornadoSection(sweep, tornado));
  else if (sweep.varied.length && sweep.done.length > 1) {
    sections.push(parametersSection(sweep, best));
    if (sweep.varied.length > PAIR) sections.push(parallelSection(sweep, best));
    sections.push(curvesSection(sweep, best));
    if (sweep.numbers.length) sections.push(paretoSection(sweep, best));
  }
  sections.push(pointsSection(sweep, alone));
  return sections;
}
