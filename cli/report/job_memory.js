// SPDX-License-Identifier: Apache-2.0
// Memory of a job's ranks over time: what the first rank of a class holds, by name, one on another.

const stepsDrawn = 2000, // times of a chart; of more, slices of time are drawn by their fullest
  namesDrawn = hues.length;

// Rows of memory.csv as classes: {ranks, names, steps}. A step is {time, held, all}: what is held from there on, by the
// order of the names, and in all.
function readLevels(text) {
  const classes = [];
  for (const row of readCsv(text).rows) {
    const one = (classes[+row.class] = classes[+row.class] || {ranks: row.ranks, names: [], steps: []});
    if (!one.names.includes(row.name)) one.names.push(row.name);
    const last = one.steps[one.steps.length - 1],
      step = last && last.time === +row.time_us ? last : {time: +row.time_us, held: last ? last.held.slice() : []};
    if (step !== last) one.steps.push(step);
    step.held[one.names.indexOf(row.name)] = +row.bytes;
    step.all = +row.all_bytes;
  }
  for (const one of classes.filter(Boolean))
    for (const step of one.steps) step.held = one.names.map((_, i) => step.held[i] || 0);
  return classes.filter(Boolean);
}

// The first of the fullest steps.
const fullest = steps => steps.reduce((most, step) => (step.all > most.all ? step : most), steps[0]);

// What is held at most of each slice of time, where there are too many steps to draw. A slice begins with what the one
// before has left.
function thinned(steps, total) {
  if (steps.length <= stepsDrawn) return steps;
  const slices = [];
  let at = 0,
    left = {time: 0, all: 0, held: steps[0].held.map(() => 0)};
  for (let i = 0; i < stepsDrawn; i++) {
    const from = (total * i) / stepsDrawn,
      to = i + 1 < stepsDrawn ? (total * (i + 1)) / stepsDrawn : Infinity,
      within = steps[at].time === from ? [] : [left];
    for (; at < steps.length && steps[at].time < to; at++) within.push((left = steps[at]));
    slices.push({...fullest(within), time: from});
    if (at === steps.length) break;
  }
  return slices;
}

// Names by what they hold at most, the most first; the smallest ones together where there are more than hues.
function layersOf(one) {
  const order = one.names
    .map((name, i) => ({name, of: step => step.held[i], most: one.steps.reduce((most, step) => Math.max(most, step.held[i]), 0)}))
    .sort((a, b) => b.most - a.most);
  if (order.length <= namesDrawn) return order;
  const rest = order.splice(namesDrawn - 1);
  return [...order, {name: `${rest.length} others`, of: step => rest.reduce((sum, layer) => sum + layer.of(step), 0)}];
}

function memoryUnit(most) {
  return [
    ["GiB", 1024 ** 3],
    ["MiB", 1024 ** 2],
    ["KiB", 1024],
    ["bytes", 1],
  ].find(([, size]) => most >= size || size === 1);
}

// One class: the chart, and a table of names.
function levelPicture(one, total, device, together) {
  const peak = fullest(one.steps),
    layers = together ? [{name: "all memory", of: step => step.all}] : layersOf(one),
    drawn = thinned(one.steps, total),
    [unit, size] = memoryUnit(Math.max(peak.all, 1)),
    steps = [...(drawn[0].time > 0 ? [{time: 0, all: 0, held: one.names.map(() => 0)}] : []), ...drawn],
    last = steps[steps.length - 1];
  if (last.time < total) steps.push({...last, time: total});
  const lines = device && peak.all > device / 2 ? [{label: "memory of the device", value: device / size}] : [];
  return el(
    "div",
    null,
    stackPlot(
      steps.map(step => step.time),
      layers.map(layer => ({label: layer.name, values: steps.map(step => layer.of(step) / size)})),
      {
        x: "time, \u00b5s",
        y: unit,
        label: `Memory of ${nameRanks(one.ranks)} over time; the table below has its peak`,
        lines,
        labels: [{x: peak.time, y: peak.all / size, text: `peak ${bytes(peak.all)}`}],
      },
    ),
    drawn !== one.steps
      ? el("p", {class: "faint", id: "memory-thinned"}, `${grouped(one.steps.length)} changes: each of ${grouped(stepsDrawn)} slices of time is drawn with the most that is held in that slice. memory.csv has all.`)
      : null,
    dataTable(
      [
        {title: "Name", key: "name"},
        {title: "At the peak", key: "peak", number: true, text: row => bytes(row.peak)},
        {title: "Share", number: true, value: row => row.peak, text: row => percent(row.peak, peak.all)},
        {title: "At most", key: "most", number: true, text: row => bytes(row.most)},
        {title: "", value: () => "", cell: row => el("div", {class: "time", style: "width:8rem"}, shareBar([{amount: row.peak, colour: "var(--blue)", text: row.name}], peak.all))},
      ],
      one.names.map((name, i) => ({name, peak: peak.held[i], most: one.steps.reduce((most, step) => Math.max(most, step.held[i]), 0)})),
      {sort: 1, id: "memory-table"},
    ),
  );
}

// "Rank 2 holds most: 3.1 GiB at 1.2 ms, of 64.0 GiB of its device."
function fullestText(memory) {
  const over = memory.device_bytes && memory.peak_bytes > memory.device_bytes;
  return [
    el("b", null, `Rank ${memory.peak_rank} holds most: ${bytes(memory.peak_bytes)}`),
    ` at ${spell(memory.peak_us)}`,
    !memory.device_bytes ? "." : over ? "; " : `, ${percent(memory.peak_bytes, memory.device_bytes)} of the ${bytes(memory.device_bytes)} of its device.`,
    over ? el("b", null, `its device has ${bytes(memory.device_bytes)}, ${bytes(memory.peak_bytes - memory.device_bytes)} too few.`) : null,
  ];
}

function jobMemorySection(text, summary) {
  const classes = text ? readLevels(text) : [],
    about = "What the first rank of a class holds of the memory of its device, as rows allocate and free of the job say.";
  if (!classes.length || !summary.memory)
    return section(
      "memory",
      "Memory over time",
      null,
      el("p", {id: "no-memory"}, "This job says nothing about memory: rows allocate and free do (GROUP.md)."),
    );
  const names = classes.map(one => nameRanks(one.ranks)),
    first = classes.reduce((most, one) => (fullest(one.steps).all > fullest(most.steps).all ? one : most)),
    state = {one: first, way: "by name"},
    place = el("div");
  const draw = () => place.replaceChildren(levelPicture(state.one, summary.time_us, summary.memory.device_bytes, state.way !== "by name"));
  draw();
  return section(
    "memory",
    "Memory over time",
    about,
    el("p", {id: "memory-peak"}, fullestText(summary.memory)),
    el(
      "div",
      {class: "tools"},
      picker("Memory of", names, nameRanks(first.ranks), name => {
        state.one = classes[names.indexOf(name)];
        draw();
      }),
      picker("drawn", ["by name", "in all"], state.way, way => {
        state.way = way;
        draw();
      }),
    ),
    place,
  );
}
